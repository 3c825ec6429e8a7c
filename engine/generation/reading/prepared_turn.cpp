#include "engine/generation/prefill/context_turn.h"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/stopwatch.h"
#include "engine/device/cuda_plugin.h"
#include "engine/generation/prefill/clip_stream.h"
#include "engine/generation/prefill/context_probe.h"
#include "engine/generation/prefill/frame_retrieval.h"
#include "engine/generation/prefill/segment_prefill.h"

namespace winnow {
namespace {

// The same votes with `rows` that got none before them.
HeadScores with_rows_before(const HeadScores& votes, std::int64_t rows) {
  HeadScores all{votes.heads, rows + votes.columns, {}};
  all.values.reserve(static_cast<std::size_t>(all.heads * all.columns));
  for (std::int64_t head = 0; head < votes.heads; ++head) {
    all.values.insert(all.values.end(), static_cast<std::size_t>(rows), 0.0F);
    const std::span<const float> row = votes.row(head);
    all.values.insert(all.values.end(), row.begin(), row.end());
  }
  return all;
}

// The first `rows` rows, of a prompt that goes on with text.
void cut_after(BegunTurn& begun, std::int64_t rows) {
  TurnSegment& segment = begun.segment;
  Conversation& conversation = begun.conversation;
  const auto end = static_cast<std::size_t>(segment.tokens.first_original + rows);
  // Text's position is the same on every axis.
  segment.next_position = segment.positions.select(1, rows).select(0, 0).item<std::int64_t>();
  segment.hidden = segment.hidden.narrow(0, 0, rows);
  segment.positions = segment.positions.narrow(1, 0, rows);
  segment.originals.resize(static_cast<std::size_t>(rows));
  conversation.origins.resize(end);
  conversation.token_ids.resize(end);
  conversation.positions.cut(static_cast<std::int64_t>(end));
}

LogitRows rows_of(const TurnTrace* trace, LogitRows untraced) {
  return trace != nullptr && trace->wanted == TraceLogits::kAllPositions ? LogitRows::kAll : untraced;
}

// Adds a segment's rows to the trace of a turn.
void trace_rows(TurnTrace& trace, const at::Tensor& positions, const at::Tensor& logits) {
  const at::Tensor here = positions.to(at::kCPU);
  trace.position_ids = trace.position_ids.defined() ? at::cat({trace.position_ids, here}, 1) : here.contiguous();
  if (!logits.defined()) return;
  const at::Tensor scores = logits.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
  trace.logits = trace.logits.defined() ? at::cat({trace.logits, scores}) : scores;
}

void add(TimingsMs& all, const TimingsMs& more) {
  all.media += more.media;
  all.preprocess += more.preprocess;
  all.vision += more.vision;
  all.prefill += more.prefill;
  all.statistics += more.statistics;
  all.compress += more.compress;
}

// Behind the media in `working`.
ReadyTurn read_question(const RequestContext& context, const PreparedContext& prepared, TurnSegment& question, Conversation working) {
  TurnTrace* const trace = context.trace;
  std::optional<Recipe> recipe;
  std::optional<FrameRetrieval> retrieval;
  PrefillHooks hooks;
  if (prepared.store) {
    recipe.emplace(recipe_for(prepared.recipe, context.network().info()));
    // Nothing of the question is in the cache yet, but its names are.
    retrieval.emplace(context, *recipe, prepared.tokens, working);
    hooks.before_layer = [&](LayerId layer, const TurnSegment& segment) { retrieval->before_layer(layer, segment); };
  }
  const SegmentPrefill prefill = prefill_segment(context, question, working, hooks, rows_of(trace, LogitRows::kLast));
  if (retrieval) retrieval->compression().finish(working, context.emit);
  if (trace != nullptr) {
    trace_rows(*trace, question.positions, prefill.logits);
    const std::span<const std::int64_t> ids =
        std::span(working.token_ids).subspan(static_cast<std::size_t>(prepared.tokens.first_original));
    trace->input_ids = at::tensor(std::vector<std::int64_t>(ids.begin(), ids.end()), at::kLong);
  }
  ReadyTurn ready{{std::move(working), prefill.last_logits(), {}}, {}, question.tokens.counts(), question.timings, question.work};
  ready.timings.prefill = prefill.elapsed_ms;
  if (retrieval) {
    ready.timings.statistics = retrieval->ms();
    ready.timings.compress = retrieval->compression().compress_ms();
    ready.timings.prefill -= ready.timings.statistics + ready.timings.compress;
  }
  const EventOutcome outcome = retrieval ? retrieval->compression().outcome() : prepared.outcome;
  ready.report = cache_report(outcome, ready.start.state, context.network().info());
  ready.report.description = prepared.description;
  if (trace != nullptr) trace->kept = ready.report.kept;
  return ready;
}

// Rows [first, first + count) of a segment, to be prefilled by themselves.
TurnSegment part_of(const TurnSegment& segment, std::int64_t first, std::int64_t count) {
  TurnSegment part;
  part.hidden = segment.hidden.narrow(0, first, count).clone();
  part.positions = segment.positions.narrow(1, first, count);
  const bool last = first + count == segment.positions.size(1);
  // Every axis goes on from a clip's end in the same way where one clip follows the other.
  part.next_position = last ? segment.next_position : segment.positions.select(1, first + count).min().item<std::int64_t>();
  const auto from = segment.originals.begin() + static_cast<std::ptrdiff_t>(first);
  part.originals.assign(from, from + static_cast<std::ptrdiff_t>(count));
  return part;
}

// All of the media, from which questions fetch.
PreparedContext prepare_store(const RequestContext& context, const Turn& turn, const Recipe& recipe, BegunTurn& begun,
                              const SegmentTokens& judged) {
  Conversation& working = begun.conversation;
  TurnSegment& segment = begun.segment;
  working.cache.reset_peak();
  PrefillHooks hooks;
  hooks.window = {recipe.composition().media_window, judged.context_begin()};
  const SegmentPrefill prefill = prefill_segment(context, segment, working, hooks, rows_of(context.trace, LogitRows::kNone));
  if (context.trace != nullptr) trace_rows(*context.trace, segment.positions, prefill.logits);
  TimingsMs timings = segment.timings;
  timings.prefill = prefill.elapsed_ms;
  TurnWork work = segment.work;
  work.prefill_tokens = judged.size();
  PreparedContext store{std::move(working), turn.recipe, judged, std::move(segment.media), std::move(segment.ids_to_media)};
  store.store = true;
  store.timings = timings;
  store.work = work;
  return store;
}

// Clip by clip. begun holds nothing but the media and what stands before them.
std::optional<PreparedContext> prepare_stream(const RequestContext& context, const Turn& turn, const Recipe& recipe, BegunTurn& begun,
                                              const SegmentTokens& judged) {
  Conversation& working = begun.conversation;
  TurnSegment& segment = begun.segment;
  const std::int64_t first = judged.context_begin();
  const auto origins = std::span(working.origins).last(static_cast<std::size_t>(judged.size() - first));
  working.cache.reset_peak();
  PrefillHooks hooks;
  hooks.says_progress = false;
  TimingsMs timings = segment.timings;
  const auto read = [&](std::int64_t begin, std::int64_t count) {
    TurnSegment part = part_of(segment, begin, count);
    const SegmentPrefill prefill = prefill_segment(context, part, working, hooks, rows_of(context.trace, LogitRows::kNone));
    if (context.trace != nullptr) trace_rows(*context.trace, part.positions, prefill.logits);
    timings.prefill += prefill.elapsed_ms;
  };
  if (first > 0) read(0, first);
  ClipStream stream(recipe, working.cache, judged);
  const auto clips = clips_of(origins, recipe.composition().streaming.clip_frames);
  Description description;
  for (std::size_t i = 0; i < clips.size(); ++i) {
    context.interrupt.throw_if_requested();
    context.emit(Progress{Phase::kPrefill, i, clips.size()});
    const auto [begin, count] = clips[i];
    read(first + begin, count);
    const ClipTokens clip{segment.hidden.narrow(0, first + begin, count),
                          origins.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count)), segment.probe};
    if (Description said = stream.after_clip(context, recipe, working, clip); !said.words.empty()) description = std::move(said);
  }
  segment.hidden.reset();
  working.compressed = true;
  working.decode_policy = {};
  timings.statistics = stream.statistics_ms();
  timings.compress = stream.compress_ms();
  TurnWork work = segment.work;
  work.prefill_tokens = judged.size();
  EventOutcome outcome = streamed_outcome(stream, working.cache.shape());
  return PreparedContext{
      std::move(working),     turn.recipe, judged, std::move(segment.media), std::move(segment.ids_to_media), false, {}, std::move(outcome),
      std::move(description), timings,     work};
}

}  // namespace

std::optional<PreparedContext> prepare_context(const RequestContext& context, const Turn& turn, const Recipe& recipe, BegunTurn& begun) {
  if (!recipe.context_event()) return std::nullopt;
  const ModelInfo& model = context.network().info();
  const SegmentTokens judged = judged_tokens(recipe, begun.segment.tokens);
  SegmentCompression compression(recipe, judged, model, begun.conversation);
  SegmentCompressor& compressor = compression.compressor();
  if (!compressor.will_compress()) return std::nullopt;
  const std::int64_t end = judged.size();
  require(end < begun.segment.tokens.size(), "prepare_context: a template that writes nothing after the media");
  cut_after(begun, end);
  if (recipe.streams()) return prepare_stream(context, turn, recipe, begun, judged);
  if (recipe.retrieves()) return prepare_store(context, turn, recipe, begun, judged);

  const std::int64_t first = judged.context_begin();
  const ProbeNeed* const need = recipe.needs().probe ? &*recipe.needs().probe : nullptr;
  at::Tensor embeddings;  // the prefill writes into the segment's own
  if (need != nullptr) embeddings = begun.segment.hidden.narrow(0, first, end - first).clone();
  Conversation& working = begun.conversation;
  working.cache.reset_peak();
  PrefillHooks hooks;
  hooks.observer = &compressor;
  const SegmentPrefill prefill = prefill_segment(context, begun.segment, working, hooks, rows_of(context.trace, LogitRows::kNone));
  if (context.trace != nullptr) trace_rows(*context.trace, begun.segment.positions, prefill.logits);
  const double seen_ms = compression.statistics_ms();

  Description description;
  if (need != nullptr) {
    const Stopwatch probing;
    const auto origins = std::span(working.origins).last(static_cast<std::size_t>(end - first));
    description =
        probe_context(context, {working, embeddings, origins, begun.segment.probe}, *need,
                      [&](LayerId layer, const HeadScores& votes) { compressor.on_probe(layer, with_rows_before(votes, first)); });
    synchronize_device();
    compression.add_probe_ms(probing.elapsed_ms());
  }
  compression.finish(working, context.emit);

  TimingsMs timings = begun.segment.timings;
  timings.prefill = prefill.elapsed_ms - seen_ms;
  timings.statistics = compression.statistics_ms();
  timings.compress = compression.compress_ms();
  TurnWork work = begun.segment.work;
  work.prefill_tokens = end;
  return PreparedContext{std::move(working),
                         turn.recipe,
                         judged,
                         std::move(begun.segment.media),
                         std::move(begun.segment.ids_to_media),
                         false,
                         {},
                         compression.outcome(),
                         std::move(description),
                         timings,
                         work};
}

bool same_media(const std::vector<MediaSampled>& media, const Message& message) {
  std::size_t at = 0;
  for (const Item& item : message.items) {
    const auto* asked = std::get_if<MediaItem>(&item);
    if (asked == nullptr) continue;
    if (at == media.size()) return false;
    const MediaSampled& read = media[at++];
    const MediaRequest& wanted = asked->media;
    if (wanted.path != read.path || wanted.kind != read.kind) return false;
    if (wanted.kind == MediaKind::kVideo && wanted.plan != read.plan) return false;
  }
  return at == media.size();
}

std::vector<Message> media_thread(const PreparedContext& prepared) {
  std::vector<Message> thread = prepared.state.thread;
  thread.push_back({Role::kUser, {}});
  for (const MediaSampled& medium : prepared.media) thread.back().items.emplace_back(MediaItem{{medium.path, medium.kind, medium.plan}});
  return thread;
}

CacheReport prepared_report(const PreparedContext& prepared, const ModelInfo& model) {
  CacheReport report = cache_report(prepared.outcome, prepared.state, model);
  report.description = prepared.description;
  return report;
}

ReadyTurn ready_context_turn(const RequestContext& context, const Turn& turn, PreparedContext& made) {
  Conversation working = std::move(made.state);
  made.state = working.fork();
  std::optional<TurnSegment> question = question_segment(context, turn, made.read(), working);
  require(question.has_value(), "ready_context_turn: another turn's media");
  ReadyTurn ready = read_question(context, made, *question, std::move(working));
  add(ready.timings, made.timings);
  const TokenCounts read = made.tokens.counts();
  ready.tokens.prompt += read.prompt;
  ready.tokens.visual += read.visual;
  ready.tokens.text += read.text;
  ready.work.prefill_tokens += made.work.prefill_tokens;
  ready.work.video_frames = made.work.video_frames;
  ready.work.image_tokens = made.work.image_tokens;
  return ready;
}

std::optional<ReadyTurn> ready_prepared_turn(const RequestContext& context, const Turn& turn, const PreparedContext& prepared) {
  Conversation working = prepared.state.fork();
  std::optional<TurnSegment> question = question_segment(context, turn, prepared.read(), working);
  if (!question) return std::nullopt;
  require_context(context, turn, question->next_position);
  for (const MediaSampled& medium : prepared.media) context.emit(medium);
  return read_question(context, prepared, *question, std::move(working));
}

}  // namespace winnow
