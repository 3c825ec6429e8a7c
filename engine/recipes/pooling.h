// One-dimensional pooling of scores, stride 1, same length: keeps the neighbours of a high score together.
//
// Used by scorers with an observation window. No torch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

enum class Pooling : int { kAverage = 1, kMaximum = 2 };

// kernel: odd, >= 1. Average divides by the kernel size at the borders too (zeros outside); maximum ignores what is outside.
std::vector<float> pool_scores(std::span<const float> scores, std::int64_t kernel, Pooling pooling);
// The same into `pooled`, which is as long as the scores and elsewhere.
void pool_scores(std::span<const float> scores, std::int64_t kernel, Pooling pooling, std::span<float> pooled);

}  // namespace winnow
