// Tokens of an answer to text, parted into what the model thinks and what it answers; and back, for an answer that is read again.
//
// Used by AnswerLoop, score_answer() and the descriptions of context_probe.h. Engine thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/generation/context/loaded_model.h"
#include "engine/text/detokenizer.h"
#include "engine/text/thought_splitter.h"

namespace winnow {

// Whether a prompt of these tokens, which may be its last ones, ends within a thought.
ThoughtStart thought_start(const LoadedModel& model, std::span<const std::int64_t> prompt);

class AnswerText {
 public:
  // model must outlive this.
  AnswerText(const LoadedModel& model, ThoughtStart start);

  // What the token lets be told. Special tokens say nothing, but for those that mark a thought.
  SplitText push(std::int64_t token);
  // What was held back, when no more follows.
  SplitText flush();

  // Of the tokens so far: those up to the end of the thought, its marks included. 0: nothing was thought.
  std::int64_t thought_tokens() const { return thought_tokens_; }
  bool thinking() const { return splitter_.thinking(); }
  bool answering() const { return splitter_.answering(); }
  // Of the answer: something is held back, as a beginning of a character or of a mark.
  bool holds() const { return splitter_.undecided() || (!thinking() && detokenizer_.holds()); }

 private:
  SplitText split(std::string_view text);

  const LoadedModel& model_;
  Detokenizer detokenizer_;
  ThoughtSplitter splitter_;
  std::int64_t tokens_ = 0;
  std::int64_t thought_tokens_ = 0;
};

// An answer as the model would have written it, for a state whose prompt has that start. A thought that an answer follows is ended.
std::vector<std::int64_t> written_tokens(const LoadedModel& model, ThoughtStart start, const std::string& thought,
                                         const std::string& answer);
// What ends a thought for the model.
std::vector<std::int64_t> closing_tokens(const LoadedModel& model);

}  // namespace winnow
