// One token of several answers by one decode step: of a comparison's columns, or of several requests' turns.
//
// Each has begin_step(), unread() and end_step(), as AnswerLoop has; what the step meets is in TokenToRead::failure, also where it is of
// all. Engine thread only.
#pragma once

#include <optional>
#include <vector>

#include "engine/base/stopwatch.h"
#include "engine/generation/conversation/decode_step.h"

namespace winnow {

// Those of `going` that end leave it, and finish(answer) is called.
template <class Each, class Finish>
void step_together(const VisionLanguageModel& network, std::vector<Each*>& going, const Finish& finish) {
  std::vector<Each*> reading;
  std::vector<TokenToRead> tokens;
  std::erase_if(going, [&](Each* answer) {
    if (!answer->begin_step()) {
      finish(*answer);
      return true;
    }
    if (const std::optional<TokenToRead> token = answer->unread()) {
      reading.push_back(answer);
      tokens.push_back(*token);
    }
    return false;
  });
  if (tokens.empty()) return;
  const Stopwatch watch;
  try {
    decode_step_together(network, tokens);
  } catch (...) {
    for (TokenToRead& token : tokens) token.failure = std::current_exception();
  }
  const double elapsed_ms = watch.elapsed_ms();
  for (std::size_t i = 0; i < reading.size(); ++i) reading[i]->end_step(tokens[i], elapsed_ms);
}

}  // namespace winnow
