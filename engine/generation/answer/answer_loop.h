// The decode loop: samples a token, converts it to text, checks for the end of the answer.
//
// Used by TurnAnswer after the compression event. One token per step over the ragged cache, which other answers may share; decode-phase
// methods evict in the same step. A step may also read drafted tokens (prompt_lookup.h, head_drafts.h), which are kept as far as the answer
// then takes them. Reasoning is separated from the answer; the loop closes it when it reaches its token limit. After a stop string the
// conversation holds exactly the text before it, all of it cached. Stop ends the loop after the next token; such an answer can be
// continued, like one that reached its length. Cancel throws Interrupted, and so does Stop during the prefill of a begun answer. Throws
// Exception(kNumericFailure) on NaN logits, after the text so far was emitted. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/stopwatch.h"
#include "engine/generation/answer/head_drafts.h"
#include "engine/generation/answer/prompt_lookup.h"
#include "engine/generation/context/request_context.h"
#include "engine/generation/conversation/answer_text.h"
#include "engine/generation/conversation/decode_step.h"
#include "engine/generation/conversation/token_choice.h"
#include "engine/generation/prefill/answer_start.h"
#include "engine/messages/events.h"
#include "engine/sampling/sampling.h"
#include "engine/sampling/stop_matcher.h"

namespace winnow {

struct Answer {
  StopReason reason = StopReason::kLength;
  bool open = false;  // unfinished: its last token is not cached yet, and it can be continued
  std::string text;
  std::string thought;
  std::int64_t thought_tokens = 0;      // including those of a begun answer
  double thought_ms = 0.0;              // from the first token to the end of the reasoning
  std::vector<std::int64_t> token_ids;  // generated, the stop token included
  std::vector<SlotCounts> layers;       // slots in use per layer at the end
  std::int64_t kv_bytes_full = 0;       // of thread and answer, uncompressed
  double decode_total_ms = 0.0;
  std::int64_t drafted_tokens = 0;  // of token_ids: read as a draft
  double tokens_per_s = 0.0;        // without the first step: from the median one, with drafts from all
};

// Tokens that an answer from this position on may have; one that nobody has limited ends with the context.
int longest_answer(const RequestContext& context, const Sampling& sampling, std::int64_t position);
// The most tokens of reasoning among them: if nobody has limited the answer, it leaves room for what follows it. Negative: all.
int longest_thought(const Sampling& sampling, int longest);

class AnswerLoop {
 public:
  // start's first step, if any, must be of the token that its logits and sampling give. Decoded tokens are appended to the conversation's
  // cache, origins and ids. on_first_token runs when the first token is known.
  AnswerLoop(const RequestContext& context, const Sampling& sampling, AnswerStart start, std::function<void()> on_first_token);

  // Decodes the next token, after those of a begun answer. Returns false when the answer has ended.
  bool step();
  // The halves of a step, for answers that are decoded together. Returns false when the answer has ended; else unread() is what a decode
  // step of the conversation is to read, if there is something, and end_step() takes what came of it and its time.
  bool begin_step();
  std::optional<TokenToRead> unread();
  // For an answer that has its steps to itself.
  std::optional<TokenToRead> unread_with_draft();
  void end_step(const TokenToRead& read, double elapsed_ms);
  int tokens_left() const { return longest_ - steps_; }  // at most
  // Emits the remaining text. Call once, after the last step.
  Answer finish();

  Conversation& conversation() { return start_.state; }
  const Conversation& conversation() const { return start_.state; }
  const BegunAnswer& begun() const { return start_.begun; }

 private:
  void read_begun();
  // The first token is already cached, as the conversation's last.
  bool next_was_read() const { return steps_ == 0 && start_.first_step; }
  std::int64_t choose();
  std::int64_t next_token();
  std::optional<TokenSampled> probability_of(std::int64_t token) const;
  // Emits the text released by a token; returns its part of the answer.
  std::string tell(const SplitText& told);
  void deliver(const std::string& text, TextKind kind);
  SplitText follow(std::int64_t token);
  void note_held(const std::string& said);
  void read_up_to_stop(const std::string& said);
  void sample_event();
  // The answer has come to the next drafted token.
  void reach_drafted();
  // Drafted tokens that the answer does not take leave the conversation.
  void drop_draft();
  void note_steps();
  void went_on();
  bool end(StopReason reason);

  RequestContext context_;
  Sampling sampling_;
  AnswerStart start_;  // its logits are updated: those of the last cached position
  std::function<void()> on_first_token_;
  int longest_;  // tokens
  TokenChoice choice_;
  AnswerText text_;
  ThoughtLimit thought_limit_;
  StopMatcher stops_;
  // With stop strings: the state before the first token whose text is partly held back, and the text emitted since.
  std::optional<Conversation> before_held_;
  std::string said_since_;
  std::int32_t first_generated_;
  int steps_ = 0;
  std::optional<std::int64_t> unread_;
  PromptLookup lookup_;
  HeadDrafts head_;
  bool drafted_by_head_ = false;                       // the last draft
  std::vector<std::int64_t> ahead_;                    // drafted tokens that the conversation holds and the answer has not come to
  at::Tensor ahead_logits_;                            // [ahead, vocabulary]
  std::vector<std::vector<LayerState>> ahead_states_;  // TokenToRead's
  at::Tensor hidden_;  // [1 + ahead, hidden], of the token that the answer has come to and those ahead; undefined as TokenToRead's
  struct {
    std::size_t rows = 0;  // tokens that it read
    std::size_t kept = 0;  // of them in the answer
    double elapsed_ms = 0.0;
  } last_step_;
  bool over_ = false;
  std::vector<double> step_ms_;  // a token, without the first step
  Stopwatch since_sample_;
  Stopwatch since_first_;
  Answer answer_;
};

}  // namespace winnow
