// A prefilled and compressed turn, ready to decode. Made by TurnPrefill or ready_context_turn(), consumed by TurnAnswer. Plain data,
// engine thread only.
#pragma once

#include "engine/generation/prefill/answer_start.h"
#include "engine/messages/events.h"
#include "engine/metrics/figures.h"
#include "engine/metrics/machine_speed.h"

namespace winnow {

struct ReadyTurn {
  AnswerStart start;
  CacheReport report;
  TokenCounts tokens;  // without `generated`
  TimingsMs timings;   // without ttft and decode_total
  TurnWork work;
};

}  // namespace winnow
