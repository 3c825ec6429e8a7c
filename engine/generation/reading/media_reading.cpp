#include "engine/generation/reading/media_reading.h"

#include <span>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/generation/prefill/traced_rows.h"
#include "engine/generation/reading/read_in_clips.h"
#include "engine/generation/reading/read_once.h"
#include "engine/generation/reading/read_to_fetch.h"
#include "engine/recipes/method_info.h"

namespace winnow {
namespace {

struct PhaseReading {
  MethodPhase phase;
  std::unique_ptr<const MediaReading> (*make)(const Recipe& recipe);
};

template <class How>
std::unique_ptr<const MediaReading> made(const Recipe& recipe) {
  return std::make_unique<How>(recipe);
}

constexpr PhaseReading kReadings[] = {
    {MethodPhase::kContext, made<ReadOnce>},
    {MethodPhase::kStream, made<ReadInClips>},
    {MethodPhase::kRetrieve, made<ReadToFetch>},
};

}  // namespace

bool PreparedContext::is_fetched_from() const {
  const std::optional<RecipeTraits> traits = describe(recipe);
  return traits && traits->fetches;
}

PreparedMedia MediaReading::prepared_media(const UnreadMedia& media) {
  TurnSegment& segment = media.begun.segment;
  PreparedMedia made;
  made.recipe = media.turn.recipe;
  made.tokens = media.judged;
  made.media = std::move(segment.media);
  made.ids_to_media = std::move(segment.ids_to_media);
  made.timings = segment.timings;
  made.work = segment.work;
  made.work.prefill_tokens = media.judged.size();
  return made;
}

ReadyTurn MediaReading::read_question(const RequestContext& context, const PreparedContext& prepared, TurnSegment& question,
                                      Conversation working) const {
  SegmentPrefill prefill = prefill_segment(context, question, working, {}, rows_of(context.trace, LogitRows::kLast));
  return ready_turn(context, prepared, {question, std::move(working), std::move(prefill), prepared.outcome});
}

ReadyTurn MediaReading::ready_turn(const RequestContext& context, const PreparedContext& prepared, QuestionRead read) {
  TurnTrace* const trace = context.trace;
  if (trace != nullptr) {
    trace_rows(trace, read.question.positions, read.prefill.logits);
    const std::span<const std::int64_t> ids =
        std::span(read.working.token_ids).subspan(static_cast<std::size_t>(prepared.tokens.first_original));
    trace->input_ids = at::tensor(std::vector<std::int64_t>(ids.begin(), ids.end()), at::kLong);
  }
  ReadyTurn ready{{std::move(read.working), read.prefill.last_logits(), {}},
                  {},
                  read.question.tokens.counts(),
                  read.question.timings,
                  read.question.work};
  ready.timings.prefill = read.prefill.elapsed_ms;
  ready.report = cache_report(read.outcome, ready.start.state);
  ready.report.description = prepared.description;
  if (trace != nullptr) trace->kept = ready.report.kept;
  return ready;
}

ForeseenCache MediaReading::foresee(const Conversation& before, const SegmentTokens& /*judged*/, const LayerSlots& slots) const {
  return foresee_cache(before.cache, slots, /*layer_by_layer=*/false);
}

ForeseenCache MediaReading::foresee_question(const Conversation& prepared, const SegmentTokens& /*judged*/, const LayerSlots& slots) const {
  return foresee_cache(prepared.cache, slots, /*layer_by_layer=*/false);
}

std::unique_ptr<const MediaReading> media_reading(const Recipe& recipe) {
  if (!recipe.context_event()) return nullptr;
  for (const PhaseReading& reading : kReadings) {
    if (reading.phase == recipe.composition().phase) return reading.make(recipe);
  }
  throw Exception(ErrorCode::kInternal, recipe.composition().method, "a phase before the question without a MediaReading");
}

}  // namespace winnow
