#include "engine/layers/layer_view.h"

#include <bit>
#include <cmath>

namespace winnow {

ReceivedAttention ReceivedAttention::of(ReceivedNeed need, std::int64_t heads, std::int64_t kv_heads, std::int64_t keys) {
  ReceivedAttention received;
  if (need >= ReceivedNeed::kSums) received.sums = at::zeros({heads, keys}, at::kDouble);
  if (need >= ReceivedNeed::kSquares) received.squares = at::zeros({kv_heads, keys}, at::kDouble);
  return received;
}

void ReceivedAttention::add(KvHead kv_head, std::int64_t count, std::span<const float> of_heads, std::span<const float> of_squares) {
  // A probability is 1 at most, so a sum is below 2^bits; adding 1.5 times that rounds to what a double has there.
  const int bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(sums.size(1)))) + 1;
  const double rounding = std::ldexp(1.5, bits);
  const auto add_row = [&](double* to, const float* from) {
    for (std::int64_t j = 0; j < count; ++j) to[j] += (static_cast<double>(from[j]) + rounding) - rounding;
  };
  const std::int64_t group = std::ssize(of_heads) / count;
  double* const to = sums.mutable_data_ptr<double>() + kv_head * group * sums.size(1);
  for (std::int64_t head = 0; head < group; ++head) add_row(to + head * sums.size(1), of_heads.data() + head * count);
  if (squares.defined()) add_row(squares.mutable_data_ptr<double>() + kv_head * sums.size(1), of_squares.data());
}

}  // namespace winnow
