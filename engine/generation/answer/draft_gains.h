// Pauses the drafts of one source while they cost more time than they save, longer each time.
//
// Used by the sources of AnswerLoop's drafts. Engine thread only.
#pragma once

#include <cstddef>

namespace winnow {

class DraftGains {
 public:
  // Asked once a step. False in a pause, and before the time of a step without a draft is known.
  bool worth_a_try();

  // A step took elapsed_ms to read `rows` tokens, a draft's included, of which `kept` became part of the answer.
  void note_step(std::size_t rows, std::size_t kept, double elapsed_ms);

 private:
  double one_row_ms_ = 0.0;  // 0: not known yet
  double saved_ms_ = 0.0;    // by drafts, the latest counting most
  int pause_ = 0;            // steps without a draft after the last loss
  int steps_to_wait_ = 0;
};

}  // namespace winnow
