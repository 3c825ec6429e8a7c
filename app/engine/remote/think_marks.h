// Parts the thoughts that some servers leave in an answer's text from the answer: what stands between <think> and </think>, or marks like
// them, at its beginning.
//
// However the text comes in pieces. What may still become a mark is held back, and white space around marks belongs to neither part. Marks
// elsewhere are the answer's text. Threads: one.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "engine/messages/events.h"

namespace winnow::app {

class ThinkMarks {
 public:
  using Take = std::function<void(TextDelta)>;  // of what is not empty

  void add(std::string_view text, const Take& take);
  void end(const Take& take);  // no more comes: tells what was held back

 private:
  enum class State : int { kBeginning = 1, kThought = 2, kBehindThought = 3, kAnswer = 4 };

  bool advance(const Take& take);
  void tell(std::size_t bytes, TextKind kind, const Take& take);

  State m_state = State::kBeginning;
  std::string_view m_end;  // the mark that ends the thought
  bool m_atBegin = true;   // nothing of the thought has been told
  std::string m_held;
};

}  // namespace winnow::app
