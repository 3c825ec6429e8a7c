// How likely a model holds each token to be next: the logarithm of the softmax of its logits, as they are.
//
// Used by AnswerLoop for callers that ask for probabilities. Natural logarithms, summed in double precision.
//
// logits: fp32 [vocabulary]; -inf means never. Borrowed. Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

class LogProbabilities {
 public:
  explicit LogProbabilities(std::span<const float> logits);

  double operator[](std::int64_t token) const { return static_cast<double>(logits_[static_cast<std::size_t>(token)]) - log_sum_exp_; }
  // The most likely tokens first; of equal ones the smaller id. At most the whole vocabulary.
  std::vector<std::int64_t> likeliest(std::size_t count) const;

 private:
  std::span<const float> logits_;
  double log_sum_exp_ = 0.0;
};

}  // namespace winnow
