// A turn up to its answer: prefilled, compressed. Made by TurnPrefill or ready_context_turn(), used up by TurnAnswer. Plain data, engine
// thread only.
#pragma once

#include "engine/generation/prefill/answer_start.h"
#include "engine/messages/events.h"
#include "engine/metrics/figures.h"
#include "engine/metrics/machine_speed.h"

namespace winnow {

struct ReadyTurn {
  AnswerStart start;
  CacheReport report;
  TokenCounts tokens;  // all but `generated`
  TimingsMs timings;   // all but ttft and decode_total
  TurnWork work;
};

}  // namespace winnow
