// The decode loop, a token at a time: samples it, turns it into text, watches for the end.
//
// Used by TurnAnswer after the compression event. One token a step over the ragged cache; decode-phase methods evict in the same step.
// What the model thinks first is told apart; a thought that is as long as it may be is ended by the loop, in the model's place.
// Where a stop string ends the answer, the conversation holds exactly what was said before it, all of it read.
// Stop ends the loop with the next token, which like an answer's that reached its length can be gone on from; Cancel throws Interrupted,
// and so does Stop while what the answer begins with is read.
// Throws Exception(kNumericFailure) on NaN logits: the text so
// far was already emitted. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/stopwatch.h"
#include "engine/generation/context/request_context.h"
#include "engine/generation/conversation/answer_text.h"
#include "engine/generation/conversation/token_choice.h"
#include "engine/generation/prefill/answer_start.h"
#include "engine/messages/events.h"
#include "engine/sampling/sampling.h"
#include "engine/sampling/stop_matcher.h"

namespace winnow {

struct Answer {
  StopReason reason = StopReason::kLength;
  bool open = false;  // its last token is not read: it did not come to its end, and can go on
  std::string text;
  std::string thought;
  std::int64_t thought_tokens = 0;      // with those that it begins with
  double thought_ms = 0.0;              // from the first token to the end of the thought
  std::vector<std::int64_t> token_ids;  // generated, the stop token included
  std::vector<SlotCounts> layers;       // slots in use per layer at the end
  std::int64_t kv_bytes_full = 0;       // what the thread and the answer take uncompressed
  double decode_total_ms = 0.0;
  double tokens_per_s = 0.0;  // from the median step, first step left out
};

class AnswerLoop {
 public:
  // A first step must be of the token that the start's logits and sampling give. Generated tokens that the model has read are appended to
  // the conversation's cache, origins and ids. on_first_token runs when the first is known.
  AnswerLoop(const RequestContext& context, const Sampling& sampling, AnswerStart start, std::function<void()> on_first_token);

  // The next token, behind those that the answer begins with. False when the answer has come to its end.
  bool step();
  // Says what is left to be said. Once, after the last step.
  Answer finish();

  Conversation& conversation() { return start_.state; }
  const Conversation& conversation() const { return start_.state; }
  const BegunAnswer& begun() const { return start_.begun; }

 private:
  void read_begun();
  // That the first token was read before, and is the conversation's last.
  bool next_was_read() const { return steps_ == 0 && start_.first_step; }
  std::int64_t choose();
  std::int64_t next_token();
  // Tells what a token let be told; what it said of the answer.
  std::string tell(const SplitText& told);
  void deliver(const std::string& text, TextKind kind);
  SplitText follow(std::int64_t token);
  void note_held(const std::string& said);
  void read_up_to_stop(const std::string& said);
  void sample_event();
  bool end(StopReason reason);

  RequestContext context_;
  Sampling sampling_;
  AnswerStart start_;  // its logits move on: of the last position read
  std::function<void()> on_first_token_;
  TokenChoice choice_;
  AnswerText text_;
  std::vector<std::int64_t> closing_;  // tokens that are to come, whatever the model would say; the next one first
  StopMatcher stops_;
  // Where stop strings are: the state before the first token of which something is held back, and what was said since.
  std::optional<Conversation> before_held_;
  std::string said_since_;
  std::int32_t first_generated_;
  int steps_ = 0;
  bool over_ = false;
  std::vector<double> step_ms_;  // but the first step's
  Stopwatch since_sample_;
  Stopwatch since_first_;
  Answer answer_;
};

}  // namespace winnow
