#include "engine/generation/segment/turn_segment.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/generation/segment/media_encoder.h"
#include "engine/generation/segment/media_pruning.h"
#include "engine/generation/segment/prompt.h"
#include "engine/generation/segment/turn_pins.h"

namespace winnow {
namespace {

void require_context(std::int64_t used, std::int64_t prompt, int answer, std::int64_t limit) {
  if (used + prompt + answer <= limit) return;
  throw Exception(ErrorCode::kContextFull, "",
                  "the model reads " + std::to_string(limit) + " tokens; this would need " + std::to_string(used + prompt) + " and " +
                      std::to_string(answer) + " for the answer (fewer frames or a shorter answer fit)");
}

// Placeholders become the media's embeddings. pinned: per medium and token; pinned_rows receives where they are in the segment.
void merge_media(TurnSegment& merged, const PromptSegment& prompt, std::span<const MediaFeatures> features,
                 std::span<const std::vector<bool>> pinned, const TextDecoder& text, std::int32_t first_media, bool first_segment,
                 std::vector<std::int32_t>& pinned_rows, TurnTrace* trace) {
  std::vector<at::Tensor> parts;
  const auto add_text = [&](std::size_t begin, std::size_t end) {
    if (begin == end) return;
    const at::Tensor ids = at::tensor(std::vector<std::int64_t>(prompt.token_ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                                                prompt.token_ids.begin() + static_cast<std::ptrdiff_t>(end)),
                                      at::kLong);
    parts.push_back(text.embed(ids));
    for (std::size_t i = begin; i < end; ++i) {
      merged.token_ids.push_back(prompt.token_ids[i]);
      TokenOrigin origin;
      origin.modality = first_segment && i < prompt.system_tokens ? Modality::kSystem : Modality::kText;
      merged.origins.push_back(origin);
    }
  };
  std::size_t at = 0;
  for (std::size_t k = 0; k < prompt.media_at.size(); ++k) {
    add_text(at, prompt.media_at[k]);
    const MediaFeatures& item = features[prompt.media_item[k]];
    parts.push_back(item.features);
    for (std::size_t token = 0; token < item.origins.size(); ++token) {
      TokenOrigin origin = item.origins[token];
      if (pinned[prompt.media_item[k]][token]) pinned_rows.push_back(static_cast<std::int32_t>(merged.origins.size()));
      origin.modality = Modality::kVisual;
      origin.media = first_media + static_cast<std::int32_t>(prompt.media_item[k]);
      merged.origins.push_back(origin);
      merged.token_ids.push_back(prompt.token_ids[prompt.media_at[k]]);
    }
    merged.visual_tokens += static_cast<std::int64_t>(item.origins.size());
    if (trace != nullptr) trace->visual_features.push_back(item.features.to(at::kCPU, at::kFloat));
    at = prompt.media_at[k] + 1;
  }
  add_text(at, prompt.token_ids.size());
  merged.hidden = at::cat(parts, 0);
  for (const TokenOrigin& origin : merged.origins) merged.modality.push_back(origin.modality);
}

}  // namespace

TurnSegment prepare_segment(LoadedModel& model, MediaOpener* opener, std::span<const Message> thread, std::span<const Pin> pins,
                            int max_new_tokens, const Recipe* recipe, Conversation& working, TimingsMs& timings, TurnTrace* trace,
                            const EmitEvent& emit, const InterruptToken& interrupt) {
  const std::optional<VisionJudge> judge = recipe != nullptr ? vision_judge(*recipe) : std::nullopt;
  const VisionLanguageModel& network = *model.network;
  const ModelInfo& info = network.info();
  const MediaEncoder encoder(network, opener, model.features);
  const std::size_t cached = working.thread.size();

  // Media are opened before the prompt is built, because time instructions and the context check need their plans.
  std::vector<OpenedMedia> media = encoder.open_all(thread.subspan(cached), interrupt);
  require_pins(pins, working.media_count + static_cast<std::int32_t>(media.size()));
  std::int64_t video_tokens = 0;
  for (const OpenedMedia& item : media) video_tokens += item.video_tokens;
  const PromptSegment prompt = build_prompt(model, thread, cached, video_times(media));
  const auto text_tokens = static_cast<std::int64_t>(prompt.token_ids.size() - prompt.media_at.size());
  require_context(working.next_position, text_tokens + video_tokens, max_new_tokens, info.context_tokens);

  TurnSegment segment;
  std::vector<MediaFeatures> features(media.size());
  std::vector<std::vector<bool>> pinned(media.size());  // per medium and token
  for (std::size_t i = 0; i < media.size(); ++i) {
    const OpenedMedia& opened = media[i];
    const double vision_before = timings.vision;
    const auto progress = [&](Phase phase, std::uint64_t done, std::uint64_t total) { emit(Progress{phase, done, total}); };
    CachedFeatures encoded = encoder.encode(media[i], judge, timings, trace, progress, interrupt);
    emit(MediaSampled{opened.request.path, opened.request.kind, opened.source->duration_s(), encoded.asked_s, encoded.actual_s,
                      opened.request.plan});
    features[i] = std::move(encoded.features);
    if (timings.vision > vision_before) {
      if (opened.request.kind == MediaKind::kVideo) segment.work.video_frames += opened.source->frame_count();
      if (opened.request.kind == MediaKind::kImage) segment.work.image_tokens += std::ssize(features[i].origins);
    }
    const MediaKind kind = opened.request.kind;
    const std::int32_t number = working.media_count + static_cast<std::int32_t>(i);
    const std::vector<bool> frames = pinned_frames(pins, {number, kind, opened.request.path, encoded.actual_s});
    pinned[i] = pinned_tokens(frames, kind, features[i].origins);
    if (judge) {
      const std::int64_t before = features[i].features.size(0);
      PrunedMedia pruned = pruned_media(features[i], recipe->composition().pruning->before_decoder(recipe->budget().retention), pinned[i]);
      segment.pins_above_budget = segment.pins_above_budget || pruned.pins_above_budget;
      features[i] = std::move(pruned.media);
      pinned[i] = pinned_tokens(frames, kind, features[i].origins);
      working.pruned_tokens += before - features[i].features.size(0);
    }
  }

  std::vector<std::int32_t> pinned_rows;
  merge_media(segment, prompt, features, pinned, network.text(), working.media_count, cached == 0, pinned_rows, trace);
  const std::int64_t n = segment.tokens();
  require_context(working.next_position, n, max_new_tokens, info.context_tokens);
  segment.work.prefill_tokens = n;
  segment.first_original = working.next_original();
  working.pins.assign(pins.begin(), pins.end());
  for (const std::int32_t row : pinned_rows) working.pinned.push_back(segment.first_original + row);
  segment.originals.resize(static_cast<std::size_t>(n));
  std::iota(segment.originals.begin(), segment.originals.end(), segment.first_original);
  segment.positions = at::arange(working.next_position, working.next_position + n, at::kLong)
                          .to(segment.hidden.device())
                          .expand({network.position_axes(), n});
  working.origins.insert(working.origins.end(), segment.origins.begin(), segment.origins.end());
  working.token_ids.insert(working.token_ids.end(), segment.token_ids.begin(), segment.token_ids.end());
  working.media_count += static_cast<std::int32_t>(media.size());
  return segment;
}

SegmentInfo segment_info(std::span<const Modality> modality, std::int32_t first_original, const ModelInfo& model,
                         const Conversation& working) {
  SegmentInfo about;
  about.tokens = std::ssize(modality);
  about.modality = modality;
  about.first_original = first_original;
  about.layers = working.cache.shape().layers;
  about.kv_heads = model.kv_heads;
  about.heads = model.heads;
  about.compressed_before = working.compressed;
  about.pinned = working.pinned;
  return about;
}

}  // namespace winnow
