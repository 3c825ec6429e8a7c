#include "engine/generation/requests/plan_turn.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "engine/device/free_memory.h"
#include "engine/generation/context/cache_shape.h"
#include "engine/generation/prefill/foreseen_cache.h"
#include "engine/generation/prefill/segment_compression.h"
#include "engine/generation/reading/media_reading.h"
#include "engine/generation/requests/run_turn.h"
#include "engine/generation/segment/foreseen_positions.h"
#include "engine/generation/segment/media_encoder.h"
#include "engine/generation/segment/media_pruning.h"
#include "engine/generation/segment/prompt.h"
#include "engine/generation/segment/turn_pins.h"
#include "engine/generation/segment/turn_segment.h"
#include "engine/recipes/budget.h"

namespace winnow {
namespace {

// The segment as the decoder will get it, without embeddings.
struct ForeseenSegment {
  SegmentTokens tokens;
  std::int64_t pruned = 0;            // visual tokens that leave before the decoder
  bool estimated = false;             // Planned::estimated
  std::int64_t longest_position = 0;  // after the prompt, or after what is known of it before a video is decoded
  TurnWork work;
};

struct ForeseenMedium {
  std::vector<TokenOrigin> origins;
  std::vector<std::int32_t> pinned;  // which of them
};

// Before a video is decoded its frames' true times are not known: they lie a little before the times that its plan asks for. Pins that
// name no frame count as the nearest one.
std::vector<bool> foreseen_pins(std::span<const Pin> pins, std::int32_t number, const OpenedMedia& medium,
                                std::span<const double> known_s) {
  constexpr double kFrameS = 0.1;  // hardly a video shows a frame longer
  const FramePlan& plan = medium.request.plan;
  const bool video = medium.request.kind == MediaKind::kVideo;
  const int frames = video ? medium.source->frame_count() : 1;
  const double spacing = medium.frame_s();
  const std::vector<double> standing = video ? medium.source->standing_until_s() : std::vector<double>();
  const std::vector<double> asked = standing.empty() ? std::vector<double>() : medium.source->asked_times_s();
  const auto time_of = [&](int frame) {
    if (!known_s.empty()) return known_s[static_cast<std::size_t>(frame)];
    if (!asked.empty()) return asked[static_cast<std::size_t>(frame)];
    return plan.from_s + (plan.every_s > 0.0 ? frame : frame + 0.5) * spacing;
  };
  std::vector<bool> pinned(static_cast<std::size_t>(frames), false);
  for (const Pin& pin : pins) {
    if (pin.media != number) continue;
    if (!video) {
      pinned.front() = true;
      continue;
    }
    const double later = known_s.empty() ? std::min(kFrameS, 0.5 * spacing) : 0.0;
    int nearest = 0;
    bool found = false;
    for (int frame = 0; frame < frames; ++frame) {
      const double time = time_of(frame);
      if (std::abs(time - pin.from_s) < std::abs(time_of(nearest) - pin.from_s)) nearest = frame;
      const double stands = standing.empty() ? time : std::max(time, standing[static_cast<std::size_t>(frame)]);
      if (stands < pin.from_s || time > pin.to_s + later) continue;
      pinned[static_cast<std::size_t>(frame)] = true;
      found = true;
    }
    if (!found) pinned[static_cast<std::size_t>(nearest)] = true;
  }
  return pinned;
}

ForeseenMedium foresee_medium(std::vector<TokenOrigin> origins, const std::vector<bool>& pinned,
                              std::optional<double> share_before_decoder) {
  ForeseenMedium medium;
  for (std::size_t i = 0; i < pinned.size(); ++i) {
    if (pinned[i]) medium.pinned.push_back(static_cast<std::int32_t>(i));
  }
  if (!share_before_decoder) {
    medium.origins = std::move(origins);
    return medium;
  }
  // Like pruned_media(): a share of the patches, every pinned one, every newline embedding. Which ones is not known: any will do.
  std::int64_t patches = 0;
  std::int64_t pinned_patches = 0;
  for (std::size_t i = 0; i < origins.size(); ++i) {
    if (origins[i].row < 0) continue;
    ++patches;
    if (pinned[i]) ++pinned_patches;
  }
  const std::int64_t kept = std::max(round_half_up(*share_before_decoder * static_cast<double>(patches)), pinned_patches);
  origins.resize(origins.size() - static_cast<std::size_t>(patches - kept));
  medium.origins = std::move(origins);
  std::iota(medium.pinned.begin(), medium.pinned.end(), 0);
  return medium;
}

struct SeenMedium {
  const OpenedMedia& item;
  const CachedFeatures* known;      // null: it has not been encoded
  const std::vector<bool>& frames;  // which are pinned
};

// Leaves out what RecipeSpec::before leaves unread. How much that is where the pictures decide, known features tell. Returns false for an
// estimate.
bool leave_unread(const RequestContext& context, const RecipeSpec& recipe, const SeenMedium& seen, ForeseenMedium& medium) {
  const MediaKind kind = seen.item.request.kind;
  const VisionLanguageModel& network = context.network();
  const auto pinned_among = [&](std::span<const TokenOrigin> origins) {
    return pinned_tokens(seen.frames, {kind, origins, network.info().traits.joined_frames});
  };
  bool exact = drop_unread(medium.origins, kind, recipe.before, pinned_among(medium.origins));
  if (!exact && seen.known != nullptr) {
    const std::vector<bool> pinned = pinned_among(seen.known->features.origins);
    const MediumToThin thin{seen.known->features, kind, pinned, network.text().hidden_size()};
    medium.origins = with_subtitles(thinned_media(thin, recipe, context.interrupt).media.origins, seen.item.subtitles);
    exact = true;
  }
  if (recipe.before.thins()) std::iota(medium.pinned.begin(), medium.pinned.end(), 0);  // of what stays; which ones: any will do
  return exact;
}

// Without a video's subtitles.
std::int64_t visual_tokens_of(std::span<const TokenOrigin> origins) {
  return std::ranges::count(origins, Modality::kVisual, &TokenOrigin::modality);
}

// The segment's tokens are added to working's origins.
ForeseenSegment foresee(const RequestContext& context, const Turn& turn, const Recipe& recipe, Conversation& working) {
  const std::size_t cached = working.thread.size();
  const MediaEncoder encoder(context);
  const std::optional<VisionJudge> judge = vision_judge(recipe);
  const std::vector<OpenedMedia> media = encoder.open_all(std::span(turn.messages).subspan(cached));
  require_pictures(media, turn.recipe.before);
  const PromptSegment prompt = build_prompt({context.model, turn.messages, turn.prompt, working}, prompt_media(media));
  require_tokens(prompt);
  const VisionLanguageModel& network = context.network();

  ForeseenSegment segment;
  const std::int64_t before_decoding = foreseen_position(network, prompt, media, working.next_position, turn.recipe.before);
  segment.tokens.first_original = working.next_original();
  segment.tokens.pinned = working.pinned;
  std::vector<ForeseenMedium> foreseen;
  for (std::size_t i = 0; i < media.size(); ++i) {
    context.interrupt.throw_if_requested();
    const OpenedMedia& item = media[i];
    working.frame_s.push_back(item.frame_s());
    const std::vector<TokenOrigin> origins = foreseen_origins(network, item);
    const std::int32_t number = working.media_count + static_cast<std::int32_t>(i);
    const Encoding how = encoding_of(turn, judge, number);
    const CachedFeatures* known = encoder.remembered(item, how);
    const std::vector<bool> frames =
        foreseen_pins(turn.pins, number, item, known != nullptr ? std::span<const double>(known->actual_s) : std::span<const double>());
    std::optional<double> share;
    if (judge && item.request.kind != MediaKind::kDocument) share = recipe.composition().pruning->before_decoder(recipe.budget().retention);
    foreseen.push_back(foresee_medium(origins, pinned_tokens(frames, {item.request.kind, origins, encoder.joined_frames()}), share));
    const bool exact = leave_unread(context, turn.recipe, {item, known, frames}, foreseen.back());
    segment.estimated = segment.estimated || !exact;
    MediaSampled sampled = sampled_before_decoding(item);
    if (item.request.kind != MediaKind::kDocument) sampled.visual_tokens = visual_tokens_of(origins);
    context.emit(std::move(sampled));
    segment.pruned += std::ssize(origins) - std::ssize(foreseen.back().origins);
    if (known != nullptr) continue;
    if (item.request.kind == MediaKind::kVideo) {
      segment.work.video_frames += encoder.unremembered_frames(item, how);
    } else if (item.request.kind == MediaKind::kImage) {
      segment.work.image_tokens += std::ssize(origins);
    }
  }
  std::size_t next = 0;
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < prompt.token_ids.size(); ++i) {
    if (next == prompt.media_at.size() || prompt.media_at[next] != i) {
      TokenOrigin origin;
      origin.modality = cached == 0 && i < prompt.system_tokens ? Modality::kSystem : Modality::kText;
      segment.tokens.modality.push_back(origin.modality);
      working.origins.push_back(origin);
      ids.push_back(prompt.token_ids[i]);
      continue;
    }
    const std::size_t item = prompt.media_item[next++];
    const ForeseenMedium& medium = foreseen[item];
    const auto first = segment.tokens.first_original + static_cast<std::int32_t>(segment.tokens.size());
    for (const std::int32_t token : medium.pinned) segment.tokens.pinned.push_back(first + token);
    segment.tokens.visual += std::ssize(medium.origins);
    for (TokenOrigin origin : medium.origins) {
      segment.tokens.modality.push_back(origin.modality);
      origin.media = working.media_count + static_cast<std::int32_t>(item);
      working.origins.push_back(origin);
    }
    ids.resize(ids.size() + medium.origins.size(), prompt.token_ids[i]);
  }
  const auto placed = std::span(working.origins).subspan(static_cast<std::size_t>(segment.tokens.first_original));
  segment.tokens.bidirectional = network.bidirectional_spans(placed);
  segment.longest_position =
      std::max(before_decoding, network.positions_for({placed, working.next_position, working.frame_s, ids}).next_position);
  segment.work.prefill_tokens = segment.tokens.size();
  return segment;
}

// For a turn whose media are prepared: its question, read behind them.
ForeseenSegment foresee_question(const RequestContext& context, const Turn& turn, const PreparedContext& prepared, Conversation& working) {
  const TurnSegment question = question_segment(context, turn, prepared.read(), working);
  ForeseenSegment segment;
  segment.tokens = question.tokens;
  segment.longest_position = question.next_position;
  segment.work = question.work;
  return segment;
}

// Memory beside the cache while a layer runs: hidden states, queries, and the layer's keys and values before they are in blocks.
std::int64_t work_bytes(const ModelInfo& model, const KvShape& shape, std::int64_t tokens) {
  const std::int64_t row = (2 * model.heads + 2 * model.kv_heads) * model.head_dim;
  return tokens * row * static_cast<std::int64_t>(at::elementSize(shape.dtype));
}

// Bytes that a token brings into the first layer.
std::int64_t embedding_bytes(const TextDecoder& text) { return static_cast<std::int64_t>(text.embed(at::zeros({1}, at::kLong)).nbytes()); }

// Tells what is known before anything is read.
Planned begun_plan(const RequestContext& context, const Turn& turn, const KvShape& shape) {
  Planned planned;
  planned.tokens.generated = turn.sampling.needed_tokens();
  planned.kv_bytes_per_token = shape.token_bytes();
  planned.state_bytes = shape.state_bytes();
  planned.context_tokens = context.network().info().context_tokens;
  planned.free_bytes = free_memory_bytes(shape.device.is_cuda() ? MemoryOf::kGpu : MemoryOf::kMachine);
  planned.expected_per_token_ms = context.model.speed.ms_per_generated_token;
  return planned;
}

// Nothing is read but the cut answer's last token.
Planned plan_where_cut(const RequestContext& context, const Turn& turn, const Conversation& cut) {
  const KvShape& shape = cut.cache.shape();
  Planned planned = begun_plan(context, turn, shape);
  planned.kv_bytes_full = shape.full_bytes(cut.full_tokens());
  planned.kv_bytes_after_event = cut.cache.bytes_in_use();
  planned.peak_bytes = cut.cache.bytes_allocated();
  planned.fits_context = cut.next_position + 1 + planned.tokens.generated <= planned.context_tokens;
  planned.fits_memory = planned.free_bytes == 0 || planned.tokens.generated * shape.token_bytes() <= planned.free_bytes;
  planned.goes_on_from = cut.makers;
  return planned;
}

}  // namespace

Planned plan_turn(const RequestContext& context, const Turn& asked, const ConversationStates& states) {
  require_question(asked.messages);
  const ModelInfo& info = context.network().info();
  const Turn turn = as_run(asked);
  const KvShape shape = cache_shape(context.network(), turn.recipe);
  const Recipe recipe = recipe_for(turn.recipe, info);
  const TurnStart start = start_of(states, turn, context.model);
  if (const auto* cut = std::get_if<FromCut>(&start)) return plan_where_cut(context, turn, *cut->state);
  Conversation working = fork_start(states, start, context.network(), turn.recipe, UnreadToken::kCounted);
  const CacheMakers goes_on_from = working.makers;
  const bool prepared = std::holds_alternative<FromPrepared>(start);  // the rest is the question
  const bool fetches = prepared && recipe.retrieves();
  const ForeseenSegment segment =
      prepared ? foresee_question(context, turn, *states.prepared, working) : foresee(context, turn, recipe, working);
  const SegmentTokens judged = fetches ? states.prepared->tokens : judged_tokens(recipe, segment.tokens);
  SegmentCompression compression(recipe, judged, info, working);
  const LayerSlots slots =
      compression.foreseen_slots(turn.sampling.max_new_tokens > 1, segment.tokens.size() - (fetches ? 0 : judged.size()));
  const auto reading = compression.compressor().will_compress() || fetches ? media_reading(recipe) : nullptr;
  const bool layer_by_layer = compaction_of(turn) == Compaction::kLayerByLayer;
  const ForeseenCache once = reading == nullptr ? foresee_cache(working.cache, slots, layer_by_layer)
                             : prepared         ? reading->foresee_question(working, judged, slots)
                                                : reading->foresee(working, judged, slots);
  std::optional<ForeseenCache> twice;
  if (slots.by_second_pass && layer_by_layer) twice = foresee_twice(working.cache, slots);
  const bool reads_twice = twice && recipe.reads_twice();

  Planned planned = begun_plan(context, turn, shape);
  planned.tokens = segment.tokens.counts();
  planned.tokens.generated = turn.sampling.needed_tokens();
  planned.tokens.unread = working.pruned_tokens + segment.pruned;
  planned.estimated = segment.estimated;
  planned.kv_bytes_full = shape.full_bytes(working.full_tokens() + segment.pruned + (slots.after_first_token ? 1 : 0));
  planned.kv_bytes_after_event = once.slots * shape.slot_bytes();

  // Asked twice, as prepare_segment() does: before a video is decoded, and with what reaches the decoder.
  planned.fits_context = segment.longest_position + turn.sampling.needed_tokens() <= info.context_tokens;
  const std::int64_t answer = turn.sampling.needed_tokens() * shape.token_bytes();
  const std::int64_t embeddings = segment.tokens.size() * embedding_bytes(context.network().text());  // that the second pass begins with
  const auto way = [&](const ForeseenCache& cache, bool two_passes) {
    PlannedPrefill way;
    way.peak_bytes = cache.peak_blocks * KvCache::kBlockSlots * shape.slot_bytes();
    const std::int64_t prefill = way.peak_bytes + work_bytes(info, shape, segment.tokens.size()) + (two_passes ? embeddings : 0);
    const std::int64_t needed =
        std::max(prefill, planned.kv_bytes_after_event + answer) + planned.state_bytes - working.cache.bytes_allocated();
    way.fits_memory = planned.free_bytes == 0 || needed <= planned.free_bytes;
    TurnWork work = segment.work;
    work.prefill_passes = two_passes ? 2 : 1;
    way.expected_ms = context.model.speed.first_wait(work).value_or(FirstWait()).total_ms();
    return way;
  };
  const FirstWait of_media = context.model.speed.first_wait(segment.work).value_or(FirstWait());  // however often the prompt is read
  planned.expected_reading_ms = of_media.reading_ms;
  planned.expected_encoder_ms = of_media.encoder_ms;
  const PlannedPrefill asked_for = reads_twice ? way(*twice, true) : way(once, false);
  planned.peak_bytes = asked_for.peak_bytes;
  planned.fits_memory = asked_for.fits_memory;
  planned.expected_ms = asked_for.expected_ms;
  if (twice && !reads_twice && twice->peak_blocks < once.peak_blocks) planned.twice = way(*twice, true);
  planned.goes_on_from = goes_on_from;
  return planned;
}

}  // namespace winnow
