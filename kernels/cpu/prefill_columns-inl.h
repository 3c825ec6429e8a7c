// The attention that every key receives from the rows of a prefill, out of the weights that its tiles compute anyway.
//
// For prefill_attention.cpp, which is compiled once per instruction set: included after highway.h. A row's weights are exponentials
// under the largest logit that it has met so far, and what they are shares of is known after its last key. So the weights of a call's rows
// are kept, each tile's beside the maximum that it was taken under, and added up at the end, times 2^(maximum then - last maximum) / sum:
// one multiply-add for each instead of a product of queries and keys and an exponential.
#if defined(WINNOW_KERNELS_CPU_PREFILL_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef WINNOW_KERNELS_CPU_PREFILL_COLUMNS_INL_H_
#undef WINNOW_KERNELS_CPU_PREFILL_COLUMNS_INL_H_
#else
#define WINNOW_KERNELS_CPU_PREFILL_COLUMNS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "kernels/api/prefill_attention.h"
#include "kernels/cpu/exp2-inl.h"
#include "kernels/cpu/prefill_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class Products>
class KeptWeights {
  using Step = typename Products::Step;
  static constexpr std::int64_t kRowSteps = kKeyTile / Products::kElements;
  static constexpr int kSums = 2 * kVectors;  // side by side, so that none waits for itself
  static constexpr std::int64_t kChunk = kSums * kLanes;
  static_assert(kKeyTile % kChunk == 0);

 public:
  // Floats of args.kept; 0 where no row sees a key.
  static std::int64_t floats(const PrefillAttentionArgs& args) {
    const KeptWeights layout(args);
    return layout.tiles_ * layout.padded_ * (kRowSteps + 1) + layout.padded_ + kMostLanes;
  }

  explicit KeptWeights(const PrefillAttentionArgs& args)
      : args_(args),
        seen_(std::clamp<std::int64_t>(args.seen_by_first + args.rows - 1, 0, args.keys)),
        tiles_((seen_ + kKeyTile - 1) / kKeyTile),
        padded_(round_up(round_up(args.group * args.rows, kBlockRows), kMostLanes)) {
    if (args.column_sums == nullptr || args.kept == nullptr) return;
    float* const line = align(args.kept);
    weights_ = reinterpret_cast<Step*>(line);
    maxima_ = line + tiles_ * padded_ * kRowSteps;
    factors_ = maxima_ + tiles_ * padded_;
  }

  bool wanted() const { return weights_ != nullptr; }
  // The weights of the rows from `row` on for a tile of keys: kKeyTile of each, one row behind the other.
  Step* weights(std::int64_t tile, std::int64_t row) const { return weights_ + (tile * padded_ + row) * kRowSteps; }
  // The maxima that they are relative to.
  float* maxima(std::int64_t tile) const { return maxima_ + tile * padded_; }

  // maxima, sums: of the rows after the last key; as many as there are rows, to whole lines.
  void write_sums(const float* maxima, const float* sums) const {
    for (std::int64_t head = 0; head < args_.group; ++head)
      std::fill_n(args_.column_sums + head * args_.column_sums_stride, args_.keys, 0.0F);
    if (args_.column_squares != nullptr) std::fill_n(args_.column_squares, args_.keys, 0.0F);
    for (std::int64_t tile = 0; tile < tiles_; ++tile) {
      const std::int64_t begin = std::max<std::int64_t>(0, tile * kKeyTile - args_.seen_by_first + 1);  // the first row that sees its first
      take_factors(tile, begin * args_.group, maxima, sums);
      for (std::int64_t chunk = 0; chunk < std::min(kKeyTile, seen_ - tile * kKeyTile); chunk += kChunk) {
        for (std::int64_t head = 0; head < args_.group; ++head) add_rows(tile, chunk, begin, head);
        if (args_.column_squares != nullptr) add_squares(tile, chunk, begin);
      }
    }
  }

 private:
  static float* align(float* from) {
    constexpr std::size_t kLine = kMostLanes * sizeof(float);
    return from + ((kLine - reinterpret_cast<std::uintptr_t>(from) % kLine) % kLine) / sizeof(float);
  }

  void take_factors(std::int64_t tile, std::int64_t first_row, const float* maxima, const float* sums) const {
    const Floats d;
    for (std::int64_t row = first_row / kLanes * kLanes; row < args_.group * args_.rows; row += kLanes) {
      const Vector rise = hn::Sub(hn::LoadU(d, this->maxima(tile) + row), hn::LoadU(d, maxima + row));
      hn::StoreU(hn::Div(exp2_of(d, rise), hn::LoadU(d, sums + row)), d, factors_ + row);
    }
  }

  void add_rows(std::int64_t tile, std::int64_t chunk, std::int64_t begin, std::int64_t head) const {
    const Floats d;
    Vector sums[kSums];
    for (int v = 0; v < kSums; ++v) sums[v] = hn::Zero(d);
    const std::int64_t end = args_.group * args_.rows;
    for (std::int64_t row = begin * args_.group + head; row < end; row += args_.group) {
      const Step* const from = weights(tile, row) + chunk / Products::kElements;
      const Vector factor = hn::Set(d, factors_[row]);
      for (int v = 0; v < kSums; ++v) sums[v] = hn::MulAdd(Products::load_weights(from, v), factor, sums[v]);
    }
    write(sums, tile, chunk, args_.column_sums + head * args_.column_sums_stride);
  }

  void add_squares(std::int64_t tile, std::int64_t chunk, std::int64_t begin) const {
    const Floats d;
    const Vector share = hn::Set(d, 1.0F / static_cast<float>(args_.group));
    Vector squares[kSums];
    for (int v = 0; v < kSums; ++v) squares[v] = hn::Zero(d);
    for (std::int64_t position = begin; position < args_.rows; ++position) {
      Vector means[kSums];
      for (int v = 0; v < kSums; ++v) means[v] = hn::Zero(d);
      for (std::int64_t row = position * args_.group; row < (position + 1) * args_.group; ++row) {
        const Step* const from = weights(tile, row) + chunk / Products::kElements;
        const Vector factor = hn::Mul(hn::Set(d, factors_[row]), share);
        for (int v = 0; v < kSums; ++v) means[v] = hn::MulAdd(Products::load_weights(from, v), factor, means[v]);
      }
      for (int v = 0; v < kSums; ++v) squares[v] = hn::MulAdd(means[v], means[v], squares[v]);
    }
    write(squares, tile, chunk, args_.column_squares);
  }

  void write(const Vector* sums, std::int64_t tile, std::int64_t chunk, float* columns) const {
    alignas(64) float values[kChunk];
    for (int v = 0; v < kSums; ++v) hn::Store(sums[v], Floats(), values + v * kLanes);
    const std::int64_t first = tile * kKeyTile + chunk;
    std::copy_n(values, std::min(kChunk, seen_ - first), columns + first);
  }

  const PrefillAttentionArgs& args_;
  const std::int64_t seen_;  // keys, by the last row
  const std::int64_t tiles_;
  const std::int64_t padded_;  // rows of all heads, to whole blocks and lines
  Step* weights_ = nullptr;    // [tiles_, padded_, kRowSteps]
  float* maxima_ = nullptr;    // [tiles_, padded_]
  float* factors_ = nullptr;   // [padded_], of one tile
};

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#endif  // per target
