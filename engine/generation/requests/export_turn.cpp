#include "engine/generation/requests/export_turn.h"

#include <utility>

#include "engine/weights/safetensors_writer.h"

namespace winnow {
namespace {

// Rows of patches of native size lie one below the other; tiles of several images are padded to the largest number:
// [images, tiles, 3, side, side]. As transformers has them.
at::Tensor joined_images(const std::vector<at::Tensor>& images) {
  if (images.front().dim() == 2) return at::cat(images, 0);
  std::int64_t tiles = 0;
  for (const at::Tensor& image : images) tiles = std::max(tiles, image.size(0));
  std::vector<at::Tensor> padded;
  for (const at::Tensor& image : images) {
    at::Tensor full = at::zeros({tiles, image.size(1), image.size(2), image.size(3)}, image.options());
    full.narrow(0, 0, image.size(0)).copy_(image);
    padded.push_back(full);
  }
  return at::stack(padded);
}

}  // namespace

void write_turn_trace(const std::string& path, const TurnTrace& trace) {
  std::vector<std::pair<std::string, at::Tensor>> tensors;
  tensors.emplace_back("input_ids", trace.input_ids);
  tensors.emplace_back("position_ids", trace.position_ids);
  if (!trace.image_pixels.empty()) tensors.emplace_back("pixel_values", joined_images(trace.image_pixels));
  if (!trace.video_pixels.empty()) {
    const at::Tensor frames = at::cat(trace.video_pixels, 0);
    tensors.emplace_back("pixel_values_videos", frames.dim() == 2 ? frames : frames.unsqueeze(0));
  }
  if (!trace.visual_features.empty()) tensors.emplace_back("visual_features", at::cat(trace.visual_features, 0));
  tensors.emplace_back("logits", trace.logits);
  tensors.emplace_back("generated", at::tensor(trace.generated, at::kLong));
  for (std::size_t layer = 0; layer < trace.kept.size(); ++layer) {
    for (std::size_t head = 0; head < trace.kept[layer].size(); ++head) {
      const std::vector<std::int32_t>& kept = trace.kept[layer][head];
      tensors.emplace_back("kept." + std::to_string(layer) + "." + std::to_string(head),
                           at::tensor(std::vector<std::int64_t>(kept.begin(), kept.end()), at::kLong));
    }
  }
  write_safetensors(path, tensors);
}

}  // namespace winnow
