// Parts what a model thinks from what it answers while both are being written, however the text comes in pieces.
//
// Used by engine/generation's AnswerText. A thought stands at the beginning: its first mark is the first that is said, or stands in the
// prompt already. An answer behind a thought may have marks of its own: one that begins it, and one that it ends with. All marks and the
// white space around them belong to neither part. Text that could still become a mark, and white space that could still be the end of a
// part, is held back; joined, what is told is the same for any pieces. Marks elsewhere in an answer are its text. Bytes, not characters:
// marks are whole characters. Threads: confined to one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "engine/text/thought_tags.h"

namespace winnow {

struct SplitText {
  std::string thought;
  std::string answer;
};

enum class ThoughtStart : int {
  kUnsaid = 1,  // the model says whether it thinks
  kOpened = 2,  // the prompt ends within a thought
};

class ThoughtSplitter {
 public:
  // No tags: everything is answer.
  explicit ThoughtSplitter(std::optional<ThoughtTags> tags, ThoughtStart start = ThoughtStart::kUnsaid);

  SplitText push(std::string_view text);
  // The text that was held back, when no more follows.
  SplitText flush();

  bool thinking() const { return state_ == State::kThought; }
  // Everything from here on is answer.
  bool answering() const { return state_ == State::kAnswer || state_ == State::kMarkedAnswer; }
  // True if text that may belong to the answer is held back.
  bool undecided() const { return state_ != State::kThought && !held_.empty(); }
  // True if this piece may belong to a mark that can come next.
  bool expects(std::string_view piece) const;

 private:
  enum class State : int { kBeginning, kThought, kAfterThought, kAnswer, kMarkedAnswer };

  bool advance(SplitText& told);
  void tell_marked_answer(SplitText& told);

  std::optional<ThoughtTags> tags_;
  State state_;
  bool said_ = false;  // of the thought, then of the marked answer: its first character has come
  std::string held_;
};

// That `text` ends within a thought: its last words are the mark that begins one.
bool ends_in_thought(std::string_view text, const ThoughtTags& tags);

}  // namespace winnow
