// Samples the next token from logits: greedily, or randomly after temperature, top-k, top-p and min-p.
//
// Used by engine/sampling on the host and engine/generation on a GPU, where one call replaces fp64 copies, reductions and sorts of the
// whole vocabulary. The definition is kernels/reference/sample_token.cpp. A GPU samples exactly the same id for the same draw: scores are
// ordered as fp32 values, and weights are integers (kernels/reference/sample_weights.h), whose sums do not depend on the order.
//
// Order: repetition penalty on seen ids, temperature, top-k, top-p, min-p. The best id always remains. The smaller id wins a tie; top-k
// keeps all that tie with the k-th. The sampled id is the first whose cumulative weight exceeds uniform * total weight. Never throws, never
// allocates. kBadArgument: a missing pointer, a setting outside its range. kUnsupported: more than kMaxChoices ids. kDeviceError: a launch
// failed.
#pragma once

#include <cstdint>

#include "kernels/api/element_type.h"

namespace winnow::kernels {

inline constexpr std::int64_t kMaxChoices = std::int64_t{1} << 20;

// Written instead of an id if a logit is NaN or +infinity, and if all are -infinity.
inline constexpr std::int64_t kNotANumber = -1;
inline constexpr std::int64_t kNothingLeft = -2;

struct SampleTokenArgs {
  const float* logits = nullptr;  // [vocabulary]; -infinity means never
  std::int64_t vocabulary = 0;
  double temperature = 0.0;         // 0: greedy
  std::int64_t top_k = 0;           // 0: off
  double top_p = 1.0;               // in [0, 1]; 0 keeps the best
  double min_p = 0.0;               // in [0, 1]
  double repetition_penalty = 1.0;  // > 0
  double uniform = 0.0;             // the draw, in [0, 1)
  std::uint8_t* seen = nullptr;     // [vocabulary], not 0 where the penalty applies; null: nowhere
  // [fresh_count], ids marked as seen before sampling; those outside the vocabulary are ignored.
  const std::int64_t* fresh = nullptr;
  std::int64_t fresh_count = 0;
  std::uint64_t* workspace = nullptr;  // [choice_workspace(vocabulary)]
  std::int64_t* choice = nullptr;      // [1], an id, kNotANumber or kNothingLeft
};

// Ids that a thread block of the GPU sorts.
inline constexpr std::int64_t kChoiceChunk = 1024;

inline std::int64_t choice_chunks(std::int64_t vocabulary) { return (vocabulary + kChoiceChunk - 1) / kChoiceChunk; }
inline std::int64_t choice_workspace(std::int64_t vocabulary) { return choice_chunks(vocabulary) * (1 + 2 * kChoiceChunk); }

// All pointers host memory.
LaunchStatus sample_token_reference(const SampleTokenArgs& args);
// All pointers device memory. stream: a cudaStream_t; does not wait for the device. choice_launches() launches.
LaunchStatus cuda_sample_token(const SampleTokenArgs& args, void* stream);
inline int choice_launches(const SampleTokenArgs& args) { return args.temperature == 0.0 ? 2 : 3; }

}  // namespace winnow::kernels
