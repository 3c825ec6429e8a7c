// Column sums for CPUs, compiled once per instruction set and chosen at run time (Highway).
//
// Work: a tile of keys is turned into columns of fp32, or of pairs of bf16 where the processor multiplies these (AVX-512 BF16), that stay
// in the first-level cache while all rows pass by, a few at a time. The products of these rows with the tile are kept in registers from the
// first multiplication to the sum of their exponentials: nothing of the matrix is stored. Lanes are keys, accumulation is fp32 over at most
// kFlushRows rows, then added to the result. No alignment is assumed.
#include "kernels/api/column_sums.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "kernels/cpu/run_checked.h"
#include "kernels/reference/check_statistics.h"
#include "kernels/reference/element.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/column_sums.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

#include "kernels/cpu/exp2-inl.h"

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;

constexpr int kVectors = 4;  // per tile row
constexpr float kLog2E = 1.44269504F;
constexpr std::int64_t kFlushRows = 64;
// Sums of 4 x 4 need more than 16 registers.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4 || HWY_TARGET == HWY_SSSE3
constexpr int kRows = 2;
#else
constexpr int kRows = 4;
#endif
static_assert(kRows <= kColumnRows);

HWY_INLINE Vector load(Floats d, const float* from) { return hn::LoadU(d, from); }
HWY_INLINE Vector load(Floats d, const hwy::bfloat16_t* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::bfloat16_t, Floats>(), from));
}
HWY_INLINE Vector load(Floats d, const hwy::float16_t* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::float16_t, Floats>(), from));
}

// A step of a product is one element in fp32 or, where the processor multiplies them, a pair of bf16, the first in the low half.
struct Singles {
  using Step = float;
  static HWY_INLINE Vector multiply_add(Vector left, Vector right, Vector sum) { return hn::MulAdd(left, right, sum); }
};
#if HWY_TARGET == HWY_AVX3
struct Pairs {
  using Step = std::uint32_t;
  using Steps = hn::Vec<hn::Rebind<Step, Floats>>;
  static HWY_INLINE Vector multiply_add(Steps left, Steps right, Vector sum) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(left.raw), "v"(right.raw));
    return sum;
  }
};
#endif

// One tile of columns and what has been summed since the last flush.
struct Tile {
  std::int64_t first = 0;  // column
  std::int64_t count = 0;  // columns that exist
  std::int64_t width = 0;  // kVectors vectors
  alignas(64) float sums[kMaxGroup * kColumnTile];
  alignas(64) float squares[kColumnTile];
};

template <class T, class Products = Singles>
class Columns {
  using Step = typename Products::Step;
  static constexpr bool kPairs = !std::is_same_v<Step, float>;

 public:
  explicit Columns(const ColumnSumsArgs& args)
      : args_(args),
        width_(kVectors * static_cast<std::int64_t>(hn::Lanes(d_))),
        depth_(kPairs ? (args.head_dim + 1) / 2 : args.head_dim),
        keys_(reinterpret_cast<Step*>(args.workspace)),
        queries_(keys_ + kColumnTile * depth_) {}

  void run() {
    for (std::int64_t first = 0; first < args_.columns; first += width_) {
      tile_.first = first;
      tile_.count = std::min(width_, args_.columns - first);
      tile_.width = width_;
      clear();
      const std::int64_t begin = std::max<std::int64_t>(0, first - args_.seen_by_first + 1);
      const std::int64_t full = std::clamp<std::int64_t>(first + tile_.count - args_.seen_by_first, begin, std::max(begin, args_.rows));
      if (begin >= args_.rows) return;  // no row sees this column or a later one
      pack();
      std::int64_t row = begin;
      for (; row < full; ++row) rows<1, true>(row, std::min(tile_.count, args_.seen_by_first + row - first));
      flush();
      const bool whole = tile_.count == width_;
      for (std::int64_t last_flush = row; row < args_.rows;) {
        if (row + kRows <= args_.rows) {
          whole ? rows<kRows, false>(row, width_) : rows<kRows, true>(row, tile_.count);
          row += kRows;
        } else {
          whole ? rows<1, false>(row, width_) : rows<1, true>(row, tile_.count);
          ++row;
        }
        if (row - last_flush < kFlushRows && row < args_.rows) continue;
        flush();
        last_flush = row;
      }
    }
  }

 private:
  void clear() {
    std::fill_n(tile_.sums, args_.group * kColumnTile, 0.0F);
    std::fill_n(tile_.squares, kColumnTile, 0.0F);
  }

  void flush() {
    for (std::int64_t head = 0; head < args_.group; ++head) {
      float* to = args_.sums + head * args_.sums_stride + tile_.first;
      for (std::int64_t j = 0; j < tile_.count; ++j) to[j] += tile_.sums[head * kColumnTile + j];
    }
    for (std::int64_t j = 0; args_.squares != nullptr && j < tile_.count; ++j) args_.squares[tile_.first + j] += tile_.squares[j];
    clear();
  }

  // [depth_, width_]
  void pack() {
    for (std::int64_t j = 0; j < width_; ++j) {
      const std::int64_t row = (tile_.first + j) * args_.key_stride;
      for (std::int64_t i = 0; i < depth_; ++i) keys_[i * width_ + j] = j < tile_.count ? step(args_.key, row, i) : Step{0};
    }
  }

  // Step i of the row that begins at element `row`.
  Step step(const void* array, std::int64_t row, std::int64_t i) const {
    if constexpr (kPairs) {
      const auto* const from = static_cast<const std::uint16_t*>(array) + row + 2 * i;
      return from[0] | (2 * i + 1 < args_.head_dim ? static_cast<Step>(from[1]) << 16 : Step{0});
    } else {
      return static_cast<float>(element(array, args_.type, row + i));
    }
  }

  // In fp32 times the scale; pairs keep what they are, and their products are scaled.
  void take_query(std::int64_t head, std::int64_t row, Step* HWY_RESTRICT to) const {
    const std::int64_t at = head * args_.query_head_stride + row * args_.query_row_stride;
    std::int64_t i = 0;
    if constexpr (kPairs) {
      for (; i < depth_; ++i) to[i] = step(args_.query, at, i);
    } else {
      const T* from = static_cast<const T*>(args_.query) + at;
      const auto scale = hn::Set(d_, args_.scale);
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(d_));
      for (; i + lanes <= args_.head_dim; i += lanes) hn::StoreU(hn::Mul(load(d_, from + i), scale), d_, to + i);
      for (; i < args_.head_dim; ++i) to[i] = step(args_.query, at, i) * args_.scale;
    }
  }

  // limit: columns of the tile that these rows see; the others count as 0 where kMasked.
  template <int kCount, bool kMasked>
  HWY_INLINE void rows(std::int64_t row, std::int64_t limit) {
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d_));
    const std::int64_t depth = depth_;
    const std::int64_t width = tile_.width;
    const Step* HWY_RESTRICT keys = keys_;
    Step* HWY_RESTRICT query = queries_;
    const hn::Rebind<Step, Floats> steps;
    const Vector scale = hn::Set(d_, kPairs ? args_.scale : 1.0F);
    alignas(64) float means[kCount * kColumnTile];
    if (args_.squares != nullptr) std::fill_n(means, kCount * kColumnTile, 0.0F);
    for (std::int64_t head = 0; head < args_.group; ++head) {
      for (int r = 0; r < kCount; ++r) take_query(head, row + r, query + r * depth);
      Vector products[kCount][kVectors];
      for (int r = 0; r < kCount; ++r) {
        for (int v = 0; v < kVectors; ++v) products[r][v] = hn::Zero(d_);
      }
      for (std::int64_t i = 0; i < depth; ++i) {
        hn::Vec<decltype(steps)> key[kVectors];
        for (int v = 0; v < kVectors; ++v) key[v] = hn::LoadU(steps, keys + i * width + v * lanes);
        for (int r = 0; r < kCount; ++r) {
          const auto q = hn::Set(steps, query[r * depth + i]);
          for (int v = 0; v < kVectors; ++v) products[r][v] = Products::multiply_add(q, key[v], products[r][v]);
        }
      }
      float* HWY_RESTRICT sums = tile_.sums + head * kColumnTile;
      Vector entropy = hn::Zero(d_);
      for (int v = 0; v < kVectors; ++v) {
        Vector sum = hn::LoadU(d_, sums + v * lanes);
        for (int r = 0; r < kCount; ++r) {
          const Vector x = hn::MulSub(products[r][v], scale, hn::Set(d_, args_.log_sum_exp[head * args_.log_sum_exp_stride + row + r]));
          Vector p = exp2_of(d_, hn::Mul(x, hn::Set(d_, kLog2E)));
          if (kMasked) {
            const std::int64_t seen = std::clamp<std::int64_t>(limit - v * lanes, 0, lanes);
            p = hn::IfThenElseZero(hn::FirstN(d_, static_cast<std::size_t>(seen)), p);
          }
          sum = hn::Add(sum, p);
          if (args_.entropy != nullptr) {
            entropy = hn::Add(entropy, hn::IfThenZeroElse(hn::Eq(p, hn::Zero(d_)), hn::Mul(p, x)));
          }
          if (args_.squares != nullptr) {
            float* mean = means + r * kColumnTile + v * lanes;
            hn::StoreU(hn::Add(hn::LoadU(d_, mean), p), d_, mean);
          }
        }
        hn::StoreU(sum, d_, sums + v * lanes);
      }
      if (args_.entropy != nullptr) args_.entropy[head] -= static_cast<double>(hn::GetLane(hn::SumOfLanes(d_, entropy)));
    }
    if (args_.squares == nullptr) return;
    const auto share = hn::Set(d_, 1.0F / static_cast<float>(args_.group));
    for (int v = 0; v < kVectors; ++v) {
      Vector sum = hn::LoadU(d_, tile_.squares + v * lanes);
      for (int r = 0; r < kCount; ++r) {
        const Vector mean = hn::Mul(hn::LoadU(d_, means + r * kColumnTile + v * lanes), share);
        sum = hn::MulAdd(mean, mean, sum);
      }
      hn::StoreU(sum, d_, tile_.squares + v * lanes);
    }
  }

  const ColumnSumsArgs& args_;
  const Floats d_;
  const std::int64_t width_;
  const std::int64_t depth_;  // steps of a head
  Step* const keys_;          // [depth_, width_]
  Step* const queries_;       // [kRows, depth_]
  Tile tile_;
};

void column_sums(const ColumnSumsArgs& args) {
  switch (args.type) {
    case ElementType::kFp32: return Columns<float>(args).run();
    case ElementType::kBf16:
#if HWY_TARGET == HWY_AVX3
      // Highway 1.0.3 knows no target with them, so they are asked for here.
      if (__builtin_cpu_supports("avx512bf16")) return Columns<hwy::bfloat16_t, Pairs>(args).run();
#endif
      return Columns<hwy::bfloat16_t>(args).run();
    case ElementType::kFp16: return Columns<hwy::float16_t>(args).run();
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(column_sums);

LaunchStatus column_sums_cpu(const ColumnSumsArgs& args) { return run_checked(args, HWY_DYNAMIC_DISPATCH(column_sums)); }

}  // namespace winnow::kernels
#endif  // HWY_ONCE
