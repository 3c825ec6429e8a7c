// Converts tokens of an answer to text, split into reasoning and answer; and back, for an answer that is prefilled again.
//
// Used by AnswerLoop, score_answer() and the descriptions of context_probe.h. Engine thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/generation/context/loaded_model.h"
#include "engine/text/detokenizer.h"
#include "engine/text/thought_splitter.h"

namespace winnow {

// Tells if a prompt ends inside reasoning; its last tokens suffice.
ThoughtStart thought_start(const LoadedModel& model, std::span<const std::int64_t> prompt);

class AnswerText {
 public:
  // model must outlive this.
  AnswerText(const LoadedModel& model, ThoughtStart start);
  // For plain text that goes on: no part of it is reasoning, and its first word keeps the space before it.
  static AnswerText of_plain_text(const LoadedModel& model);

  // The text that the token completes. Special tokens have no text, except the markers of reasoning and answer, and those of boxes.
  SplitText push(std::int64_t token);
  // The bytes of text that the token would contribute if it came next; of a special one, its name.
  std::string bytes_of(std::int64_t token) const { return detokenizer_.bytes_of(token); }
  // The text held back, at the end.
  SplitText flush();

  // Tokens up to the end of the reasoning, markers included; 0: none.
  std::int64_t thought_tokens() const { return thought_tokens_; }
  bool thinking() const { return splitter_.thinking(); }
  bool answering() const { return splitter_.answering(); }
  // True if answer text is held back: an incomplete character or a possible marker.
  bool holds() const { return splitter_.undecided() || (!thinking() && detokenizer_.holds()); }

 private:
  AnswerText(const LoadedModel& model, Detokenizer detokenizer, ThoughtSplitter splitter)
      : model_(model), detokenizer_(std::move(detokenizer)), splitter_(std::move(splitter)) {}
  SplitText split(std::string_view text);

  const LoadedModel& model_;
  Detokenizer detokenizer_;
  ThoughtSplitter splitter_;
  std::int64_t tokens_ = 0;
  std::int64_t thought_tokens_ = 0;
};

// The tokens of an answer as the model would have generated them after a prompt with that start. Closes the reasoning if an answer follows.
std::vector<std::int64_t> written_tokens(const LoadedModel& model, ThoughtStart start, const std::string& thought,
                                         const std::string& answer);
// The tokens that close reasoning.
std::vector<std::int64_t> closing_tokens(const LoadedModel& model);

// Ends reasoning that is as long as it may be: the tokens that the model is not asked for.
class ThoughtLimit {
 public:
  // most: Sampling::thought_tokens. model must outlive this.
  ThoughtLimit(const LoadedModel& model, int most) : model_(model), most_(most) {}

  std::optional<std::int64_t> forced() const { return closing_.empty() ? std::nullopt : std::optional(closing_.front()); }
  void follow(const AnswerText& text, std::int64_t token);  // after text.push(token)

 private:
  const LoadedModel& model_;
  int most_;
  std::vector<std::int64_t> closing_;  // the next one first
};

}  // namespace winnow
