#include "engine/generation/turn_runner.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/compression/recipe.h"
#include "engine/compression/segment_compressor.h"
#include "engine/device/cuda_plugin.h"
#include "engine/generation/answer_loop.h"
#include "engine/generation/cache_figures.h"
#include "engine/generation/media_encoder.h"
#include "engine/generation/message_equality.h"
#include "engine/generation/prompt.h"

namespace winnow {
namespace {

// Earlier messages that `conversation` already holds; 0 if it stands for another thread.
std::size_t cached_messages(const std::optional<Conversation>& conversation, const std::vector<Message>& thread) {
  if (!conversation || conversation->thread.empty() || conversation->thread.size() + 1 != thread.size()) return 0;
  for (std::size_t i = 0; i < conversation->thread.size(); ++i) {
    if (!same_message(conversation->thread[i], thread[i])) return 0;
  }
  return conversation->thread.size();
}

struct PlannedMedia {
  OpenedMedia opened;
  ImageTiling tiling = ImageTiling::kAnyRes;
};

std::vector<PlannedMedia> open_media(const MediaEncoder& encoder, std::span<const Message> messages, const InterruptToken& interrupt) {
  std::vector<PlannedMedia> planned;
  for (const Message& message : messages) {
    const auto images = std::count_if(message.items.begin(), message.items.end(), [](const Item& item) {
      const auto* media = std::get_if<MediaItem>(&item);
      return media != nullptr && media->media.kind == MediaKind::kImage;
    });
    for (const Item& item : message.items) {
      const auto* media = std::get_if<MediaItem>(&item);
      if (media == nullptr) continue;
      // As transformers does for nested image lists: several images in one message are not tiled.
      planned.push_back({encoder.open(media->media, interrupt), images > 1 ? ImageTiling::kSingle : ImageTiling::kAnyRes});
    }
  }
  return planned;
}

void require_context(std::int64_t used, std::int64_t prompt, int answer, std::int64_t limit) {
  if (used + prompt + answer <= limit) return;
  throw Exception(ErrorCode::kContextFull, "",
                  "the model reads " + std::to_string(limit) + " tokens; this would need " + std::to_string(used + prompt) + " and " +
                      std::to_string(answer) + " for the answer (fewer frames or a shorter answer fit)");
}

// Shares of layers that were measured for this model, unless the request brings its own.
RecipeSpec with_model_profile(RecipeSpec spec, const ModelInfo& info) {
  if (spec.method != "prefixkv-profile" || spec.options.contains("shares") || info.prefixkv_shares.empty()) return spec;
  std::string& shares = spec.options["shares"];
  for (const double share : info.prefixkv_shares) shares += (shares.empty() ? "" : ":") + std::to_string(share);
  return spec;
}

std::int64_t metadata_bytes(const Conversation& conversation) {
  return conversation.cache.bytes_metadata() + (conversation.decode_policy ? conversation.decode_policy->bytes_metadata() : 0);
}

std::vector<CompressionNote> codes_of(const SegmentCompressor::Notes& notes) {
  std::vector<CompressionNote> codes;
  if (notes.fallback_rows) codes.push_back(CompressionNote::kFallbackRows);
  if (notes.raised_to_floor) codes.push_back(CompressionNote::kRaisedToFloor);
  if (notes.non_finite > 0) codes.push_back(CompressionNote::kNonFinite);
  return codes;
}

}  // namespace

// The segment as embeddings, with everything that is known about its tokens.
struct TurnRunner::Prefilled {
  at::Tensor hidden;  // [n, hidden]
  std::vector<std::int64_t> token_ids;
  std::vector<TokenOrigin> origins;
  std::int64_t visual_tokens = 0;
};

Finished TurnRunner::run(const Turn& turn, ConversationSlot& slot, const Emit& emit, TurnTrace* trace, const InterruptToken& interrupt) {
  if (turn.messages.empty() || turn.messages.back().role != Role::kUser || turn.messages.back().items.empty()) {
    throw Exception(ErrorCode::kInvalidArgument, "", "a turn must end with a message of the user");
  }
  const bool continues = cached_messages(slot.current, turn.messages) > 0;
  const bool again = !continues && cached_messages(slot.before_last, turn.messages) > 0;
  Conversation working = continues  ? slot.current->fork()
                         : again    ? slot.before_last->fork()
                                    : Conversation(model_.network->text().kv_shape());
  try {
    Finished finished = run_on(working, turn, emit, trace, interrupt);
    if (continues) slot.before_last = std::move(slot.current);
    if (!continues && !again) slot.before_last.reset();
    slot.current = std::move(working);
    return finished;
  } catch (const Interrupted& interrupted) {
    // Nothing was said yet (Stop), or nothing shall have happened (Cancel): the conversation stays as it was.
    Finished finished;
    finished.reason = StopReason::kInterrupted;
    finished.restored = true;
    finished.figures.method = turn.recipe.method;
    finished.figures.retention = turn.recipe.retention;
    finished.figures.seed = turn.sampling.seed;
    return finished;
  }
}

Finished TurnRunner::run_on(Conversation& working, const Turn& turn, const Emit& emit, TurnTrace* trace, const InterruptToken& interrupt) {
  const Stopwatch since_accepted;
  const VisionLanguageModel& network = *model_.network;
  const TextDecoder& text = network.text();
  const ModelInfo& info = network.info();
  const Recipe recipe = Recipe::from_spec(with_model_profile(turn.recipe, info));
  const MediaEncoder encoder(network, opener_, model_.features);
  TimingsMs timings;

  // Media are opened (headers only) before the prompt is built, because time instructions and the context check need their plans.
  const std::size_t cached = working.thread.size();
  const std::span<const Message> fresh(turn.messages.begin() + static_cast<std::ptrdiff_t>(cached), turn.messages.end());
  std::vector<PlannedMedia> media = open_media(encoder, fresh, interrupt);
  std::vector<VideoTimes> videos;
  std::int64_t video_tokens = 0;
  for (const PlannedMedia& item : media) {
    if (item.opened.request.kind != MediaKind::kVideo) continue;
    videos.push_back({item.opened.source->duration_s(), item.opened.source->frame_count()});
    video_tokens += item.opened.video_tokens;
  }
  const PromptSegment segment = build_prompt(model_, turn.messages, cached, videos);
  const auto text_tokens = static_cast<std::int64_t>(segment.token_ids.size() - segment.media_at.size());
  require_context(working.next_position, text_tokens + video_tokens, turn.sampling.max_new_tokens, info.context_tokens);

  std::vector<MediaFeatures> features(media.size());
  for (std::size_t i = 0; i < media.size(); ++i) {
    const auto progress = [&](Phase phase, std::uint64_t done, std::uint64_t total) { emit(Progress{phase, done, total}); };
    CachedFeatures encoded = encoder.encode(media[i].opened, media[i].tiling, timings, trace, progress, interrupt);
    emit(MediaSampled{media[i].opened.request.path, media[i].opened.request.kind, media[i].opened.source->duration_s(), encoded.asked_s,
                      encoded.actual_s, media[i].opened.request.plan});
    features[i] = std::move(encoded.features);
  }

  // Placeholders become the media's embeddings.
  Prefilled segment_state;
  std::vector<at::Tensor> parts;
  const auto add_text = [&](std::size_t begin, std::size_t end) {
    if (begin == end) return;
    const at::Tensor ids = at::tensor(std::vector<std::int64_t>(segment.token_ids.begin() + static_cast<std::ptrdiff_t>(begin),
                                                                segment.token_ids.begin() + static_cast<std::ptrdiff_t>(end)),
                                      at::kLong);
    parts.push_back(text.embed(ids));
    for (std::size_t i = begin; i < end; ++i) {
      segment_state.token_ids.push_back(segment.token_ids[i]);
      TokenOrigin origin;
      origin.modality = cached == 0 && i < segment.system_tokens ? Modality::kSystem : Modality::kText;
      segment_state.origins.push_back(origin);
    }
  };
  std::size_t at = 0;
  for (std::size_t k = 0; k < segment.media_at.size(); ++k) {
    add_text(at, segment.media_at[k]);
    const MediaFeatures& item = features[segment.media_item[k]];
    parts.push_back(item.features);
    for (TokenOrigin origin : item.origins) {
      origin.modality = Modality::kVisual;
      origin.media = working.media_count + static_cast<std::int32_t>(segment.media_item[k]);
      segment_state.origins.push_back(origin);
      segment_state.token_ids.push_back(segment.token_ids[segment.media_at[k]]);
    }
    segment_state.visual_tokens += static_cast<std::int64_t>(item.origins.size());
    if (trace != nullptr) trace->visual_features.push_back(item.features.to(at::kCPU, at::kFloat));
    at = segment.media_at[k] + 1;
  }
  add_text(at, segment.token_ids.size());
  segment_state.hidden = at::cat(parts, 0);
  parts.clear();
  const auto n = static_cast<std::int64_t>(segment_state.origins.size());
  require_context(working.next_position, n, turn.sampling.max_new_tokens, info.context_tokens);

  const std::int32_t first_original = working.next_original();
  const at::Tensor positions = at::arange(working.next_position, working.next_position + n, at::kLong)
                                   .to(segment_state.hidden.device())
                                   .expand({network.position_axes(), n});
  std::vector<Modality> modality;
  modality.reserve(static_cast<std::size_t>(n));
  for (const TokenOrigin& origin : segment_state.origins) modality.push_back(origin.modality);
  working.origins.insert(working.origins.end(), segment_state.origins.begin(), segment_state.origins.end());
  working.token_ids.insert(working.token_ids.end(), segment_state.token_ids.begin(), segment_state.token_ids.end());
  working.media_count += static_cast<std::int32_t>(media.size());

  // Prefill layer by layer; a layer whose budget is known gives its memory back before the next begins.
  SegmentInfo about;
  about.tokens = n;
  about.modality = modality;
  about.first_original = first_original;
  about.layers = text.layers();
  about.kv_heads = info.kv_heads;
  about.heads = info.heads;
  about.compressed_before = working.compressed;
  SegmentCompressor compressor(recipe, about);
  working.cache.reset_peak();
  const Stopwatch prefill_watch;
  double compress_ms = 0.0;
  std::vector<bool> compacted(static_cast<std::size_t>(text.layers()), false);
  const auto compact_ready = [&](std::int64_t prefilled_layers) {
    synchronize_device();  // the layer's own work is prefill, not compression
    const Stopwatch watch;
    for (std::int64_t layer = 0; layer < prefilled_layers; ++layer) {
      if (compacted[static_cast<std::size_t>(layer)] || !compressor.plan_ready(layer)) continue;
      apply_plan(working.cache, compressor, layer, working.merge_state);
      compacted[static_cast<std::size_t>(layer)] = true;
    }
    synchronize_device();
    compress_ms += watch.elapsed_ms();
  };
  const auto layers = static_cast<std::uint64_t>(text.layers());
  for (std::int64_t layer = 0; layer < text.layers(); ++layer) {
    interrupt.throw_if_requested();
    emit(Progress{Phase::kPrefill, static_cast<std::uint64_t>(layer), layers});
    text.prefill_layer(layer, segment_state.hidden, positions, first_original, working.cache, compressor.wants_views() ? &compressor : nullptr,
                       interrupt);
    if (compressor.will_compress()) compact_ready(layer + 1);
  }
  interrupt.throw_if_requested();
  const bool all_rows = trace != nullptr && trace->wanted == TraceLogits::kAllPositions;
  at::Tensor logits = text.logits(all_rows ? segment_state.hidden : segment_state.hidden.narrow(0, n - 1, 1));
  segment_state.hidden.reset();
  synchronize_device();  // so that the prefill's time is the prefill's
  working.next_position += n;
  const double statistics_ms = compressor.statistics_ms();
  timings.statistics = statistics_ms;
  timings.prefill = prefill_watch.elapsed_ms() - statistics_ms - compress_ms;

  if (compressor.will_compress()) {
    emit(Progress{Phase::kCompress, 0, layers});
    compact_ready(text.layers());
    emit(Progress{Phase::kCompress, layers, layers});
  }
  timings.compress = compress_ms;
  const bool has_visual = segment_state.visual_tokens > 0;
  working.compressed = working.compressed || (compressor.will_compress() && has_visual);
  working.decode_policy = next_decode_policy(working.decode_policy.get(), recipe, compressor, working.cache);

  const std::vector<std::int64_t> budgets = compressor.will_compress() ? compressor.budgets() : std::vector<std::int64_t>{};
  CacheReport report;
  report.kv_bytes.full = info.kv_bytes_per_token * working.next_original();
  report.kv_bytes.after_event = working.cache.bytes_in_use();
  report.kv_bytes.end = report.kv_bytes.after_event;
  report.kv_bytes.peak = working.cache.bytes_peak();
  report.kv_bytes.allocated = working.cache.bytes_allocated();
  report.kv_bytes.metadata = metadata_bytes(working);
  report.layers = layer_figures(working.cache, working.origins, budgets);
  for (std::size_t layer = 0; layer < report.layers.size(); ++layer) {
    report.layers[layer].why = compressor.reasons(static_cast<std::int64_t>(layer));
  }
  report.tokens = working.origins;
  report.kept = kept_original(working.cache);
  report.notes = codes_of(compressor.notes());
  Finished finished;
  finished.figures.layers = report.layers;
  finished.figures.kv_bytes = report.kv_bytes;
  finished.figures.notes = report.notes;
  finished.figures.achieved_retention =
      static_cast<double>(report.kv_bytes.after_event) / static_cast<double>(std::max<std::int64_t>(1, report.kv_bytes.full));
  if (trace != nullptr) {
    trace->input_ids = at::tensor(segment_state.token_ids, at::kLong);
    trace->position_ids = positions.to(at::kCPU).contiguous();
    trace->logits = logits.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
    trace->kept = report.kept;
  }
  emit(std::move(report));

  const at::Tensor first_logits = logits.select(0, logits.size(0) - 1).clone();
  logits.reset();
  const AnswerLoop loop(network, *model_.tokenizer, model_.stop_token_ids);
  const Answer answer =
      loop.run(first_logits, turn.sampling, working, emit, [&] { timings.ttft = since_accepted.elapsed_ms(); }, interrupt);
  if (trace != nullptr) trace->generated = answer.token_ids;

  working.thread = turn.messages;
  working.thread.push_back({Role::kAssistant, {TextItem{answer.text}}});

  finished.reason = answer.reason;
  finished.answer = answer.text;
  TurnFigures& figures = finished.figures;
  figures.method = turn.recipe.method;
  figures.retention = turn.recipe.retention;
  figures.seed = turn.sampling.seed;
  figures.tokens.prompt = n;
  figures.tokens.visual = segment_state.visual_tokens;
  figures.tokens.text = n - segment_state.visual_tokens;
  figures.tokens.generated = static_cast<std::int64_t>(answer.token_ids.size());
  figures.kv_bytes.end = working.cache.bytes_in_use();
  figures.kv_bytes.allocated = working.cache.bytes_allocated();
  figures.kv_bytes.peak = working.cache.bytes_peak();
  figures.kv_bytes.metadata = metadata_bytes(working);
  timings.decode_total = answer.decode_total_ms;
  figures.timings_ms = timings;
  figures.tokens_per_s = answer.tokens_per_s;
  return finished;
}

}  // namespace winnow
