// A golden folder: its model in fp32, its recorded cases, and what a case needs to be run by hand.
#pragma once

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "engine/base/index.h"
#include "engine/model_files/hugging_face_folder.h"
#include "engine/models/registry.h"
#include "engine/models/vision_language_model.h"
#include "tests/support/golden_path.h"
#include "tests/support/golden_tensors.h"

namespace winnow::test_support {

inline std::unique_ptr<VisionLanguageModel> load_golden_model(const std::string& name, at::ScalarType dtype = at::kFloat) {
  ModelSource source{.package = std::make_shared<HuggingFaceFolder>(golden_folder(name) + "/model"), .plan = {.arithmetic = dtype}};
  return load_model(source);
}

inline GoldenTensors golden_of(const std::string& folder) { return GoldenTensors(golden_folder(folder) + "/golden.safetensors"); }

inline MediaFacts video_facts(std::int64_t frames) { return {MediaKind::kVideo, {}, frames, 0.0, true}; }
inline MediaFacts image_facts(int height_px, int width_px, bool only_image = true) {
  return {MediaKind::kImage, {width_px, height_px}, 1, 0.0, only_image};
}

inline MediaFacts image_facts(const RgbImage& picture) { return image_facts(picture.height_px, picture.width_px); }

// The pixels that the processor made of the recorded bytes; by the mean and the deviation that are recorded beside them.
inline at::Tensor pixels_of(const at::Tensor& levels) { return (levels.to(at::kFloat) / 255.0 - 0.5) / 0.5; }
inline at::Tensor pixels_of(const GoldenTensors& golden, const std::string& levels) {
  const auto channels = [&](const char* key) { return golden.load(key).view({3, 1, 1}); };
  return (golden.load(levels).to(at::kFloat) / 255.0 - channels("mean")) / channels("deviation");
}

// Features of all media of a case, in prompt order; undefined for a case without.
inline at::Tensor encode_case(const VisionLanguageModel& model, const GoldenTensors& golden, const std::string& name,
                              std::vector<TokenOrigin>& origins) {
  if (!golden.has(name + ".pixel_levels")) return {};
  const at::Tensor pixels = pixels_of(golden.load(name + ".pixel_levels"));
  std::vector<MediaFeatures> media;
  if (name == "video") {
    const MediaFacts facts = video_facts(pixels.size(0));
    media.push_back(model.join(facts, model.encode(facts, {pixels, 0, 0}, {}, {})));
  } else {
    const at::Tensor sizes = golden.load(name + ".image_sizes");
    for (std::int64_t image = 0; image < pixels.size(0); ++image) {
      // Several images in one array are padded to the same number of tiles; each is a single tile.
      const at::Tensor tiles = pixels.size(0) > 1 ? pixels[image].narrow(0, 0, 1) : pixels[image];
      const MediaFacts facts = image_facts(sizes[image][0].item<int>(), sizes[image][1].item<int>(), pixels.size(0) == 1);
      media.push_back(model.join(facts, model.encode(facts, {tiles, 0, 0}, {}, {})));
    }
  }
  std::vector<at::Tensor> features;
  for (const MediaFeatures& part : media) {
    features.push_back(part.features);
    origins.insert(origins.end(), part.origins.begin(), part.origins.end());
  }
  return at::cat(features, 0);
}

// Input embeddings with the features in the placeholders' places.
inline at::Tensor embed_case(const VisionLanguageModel& model, const at::Tensor& ids, const at::Tensor& features) {
  at::Tensor hidden = model.text().embed(ids);
  if (features.defined()) {
    const at::Tensor places = (ids == model.prompt().image_token_id).logical_or(ids == model.prompt().video_token_id).nonzero().squeeze(1);
    hidden = hidden.index_copy(0, places, features);
  }
  return hidden;
}

// Runs tokens [first, first + rows) of a prompt through all layers on top of the cache; hidden is [rows, hidden].
inline at::Tensor prefill(const TextDecoder& text, at::Tensor hidden, std::int64_t first, KvCache& cache,
                          PrefillObserver* observer = nullptr, const InterruptToken& interrupt = {}, const AttentionWindow& window = {}) {
  const at::Tensor positions = at::arange(first, first + hidden.size(0), at::kLong).unsqueeze(0);
  std::vector<std::int32_t> original(static_cast<std::size_t>(hidden.size(0)));
  std::iota(original.begin(), original.end(), static_cast<std::int32_t>(first));
  for (LayerId layer{0}; layer < text.layers(); ++layer) {
    text.prefill_layer(layer, hidden, positions, original, cache, observer, window, interrupt);
  }
  return hidden;
}

}  // namespace winnow::test_support
