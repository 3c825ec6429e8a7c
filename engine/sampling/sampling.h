// How the next token is drawn. Plain data; used by engine/sampling and sent with a Turn.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace winnow {

struct Sampling {
  double temperature = 0.0;  // 0: greedy
  int top_k = 0;             // 0: off
  double top_p = 1.0;
  double min_p = 0.0;
  double repetition_penalty = 1.0;
  std::uint64_t seed = 0;
  int max_new_tokens = 256;
  std::vector<std::string> stop_strings;
};

}  // namespace winnow
