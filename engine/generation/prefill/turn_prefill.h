// A turn up to its answer: prefilled, compressed, its first token known.
//
// Made by prefill_turn() for one recipe, or by SharedPrefill for several. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/interrupt.h"
#include "engine/base/stopwatch.h"
#include "engine/generation/context/loaded_model.h"
#include "engine/generation/context/turn_trace.h"
#include "engine/generation/prefill/first_step.h"
#include "engine/generation/prefill/segment_compression.h"
#include "engine/generation/segment/turn_segment.h"
#include "engine/media/frame_source.h"
#include "engine/messages/events.h"
#include "engine/messages/requests.h"

namespace winnow {

struct ReadyTurn {
  CacheReport report;
  TokenCounts tokens;  // all but `generated`
  TimingsMs timings;   // all but ttft and decode_total
  TurnWork work;
  at::Tensor first_logits;              // fp32 [vocabulary], of the last prompt position
  std::optional<FirstStep> first_step;  // where the event came after it
};

// The messages that `working` does not hold yet, under turn.recipe. A layer whose budget is known is compacted before the next begins,
// unless `full` is given: it becomes the conversation with the prefilled segment, uncompressed. opener, full and trace may be null; first:
// asked where the event comes after the first answer token. Errors: Exception, Interrupted (working is then of no use).
ReadyTurn prefill_turn(LoadedModel& model, MediaOpener* opener, const Turn& turn, const ChooseFirst& first, Conversation& working,
                       std::optional<Conversation>* full, TurnTrace* trace, const EmitEvent& emit, const InterruptToken& interrupt);

// One prefill of a whole thread that several recipes watch. It stays in full; each recipe compresses a fork, which shares what it keeps.
class SharedPrefill {
 public:
  // recipes must outlive it; there may be none. pins: as prepare_segment(). Errors: Exception, Interrupted.
  SharedPrefill(LoadedModel& model, MediaOpener* opener, std::span<const Message> thread, std::span<const Pin> pins, int max_new_tokens,
                std::span<const Recipe* const> recipes, const EmitEvent& emit, const InterruptToken& interrupt);
  SharedPrefill(const SharedPrefill&) = delete;
  SharedPrefill& operator=(const SharedPrefill&) = delete;

  const Conversation& full() const { return full_; }
  const at::Tensor& first_logits() const { return first_logits_; }
  const TimingsMs& timings() const { return timings_; }  // without any recipe's part
  // Compresses `working`, a fork of full(), under recipe number `index`. Each recipe once. first: as prefill_turn().
  ReadyTurn compress(std::size_t index, const ChooseFirst& first, Conversation& working, const EmitEvent& emit);
  // What a turn under this recipe alone would have waited for the prefill.
  double waited_ms(std::size_t index) const { return shared_ms_ + events_.at(index).statistics_ms(); }

 private:
  const VisionLanguageModel& network_;
  Conversation full_;
  TimingsMs timings_;
  TurnSegment segment_;
  std::vector<SegmentCompression> events_;  // borrow segment_
  at::Tensor first_logits_;
  double shared_ms_ = 0.0;  // from media to the last layer, without any recipe's statistics
};

}  // namespace winnow
