// Prefill attention for CPUs, compiled once per instruction set and chosen at run time (Highway).
//
// Work: rows of all heads of the group lie one behind the other, a position's heads together, and go in blocks of kRows. For every tile of
// keys, which stays in the second-level cache with its values, each block takes three steps: logits (products of the block's rows with a
// panel of keys, in registers), a softmax that goes on where the last tile's ended, and the product of its weights with the values, added
// to what the block has. Both products are one loop: the left side is broadcast, lanes are keys or elements of values, and the depth is
// packed so that one load has all lanes of a step (prefill_products-inl.h). Where column sums are wanted the weights stay until the rows'
// sums are known (prefill_columns-inl.h). Accumulation is fp32.
#include "kernels/api/prefill_attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "kernels/cpu/run_checked.h"
#include "kernels/reference/check_attention.h"
#include "kernels/reference/element.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/prefill_attention.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/highway.h>

#include "kernels/cpu/exp2-inl.h"
#include "kernels/cpu/prefill_columns-inl.h"
#include "kernels/cpu/prefill_products-inl.h"

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

template <class Products>
class Rows {
  using Element = typename Products::Element;
  using Step = typename Products::Step;
  static constexpr std::int64_t kElements = Products::kElements;

 public:
  explicit Rows(const PrefillAttentionArgs& args)
      : args_(args),
        total_(args.group * args.rows),
        padded_(round_up(total_, kBlockRows)),
        depth_((args.head_dim + kElements - 1) / kElements),
        width_(round_up(args.head_dim, kLanes)),
        kept_(args) {
    constexpr std::size_t kLine = 64;
    const auto address = reinterpret_cast<std::uintptr_t>(args.workspace);
    next_ = args.workspace + ((kLine - address % kLine) % kLine) / sizeof(float);
    queries_ = reinterpret_cast<Step*>(take(padded_ * depth_ + 1));  // one behind a row of odd size
    keys_ = reinterpret_cast<Step*>(take(kKeyTile * depth_));
    values_ = reinterpret_cast<Step*>(take(kKeyTile / kElements * width_));
    weights_ = reinterpret_cast<Step*>(take(kBlockRows * kKeyTile));
    row_ = reinterpret_cast<Step*>(take(depth_ + 1));
    logits_ = take(kBlockRows * kKeyTile);
    output_ = take(padded_ * width_);
    maxima_ = take(padded_ + kMostLanes);
    sums_ = take(padded_);
  }

  void run() {
    pack_queries();
    std::fill_n(output_, padded_ * width_, 0.0F);
    std::fill_n(maxima_, padded_, -std::numeric_limits<float>::infinity());
    std::fill_n(sums_, padded_, 0.0F);
    const std::int64_t seen = std::min(args_.keys, args_.seen_by_first + args_.rows - 1);  // by the last row
    for (std::int64_t first = 0; first < seen; first += kKeyTile) {
      const std::int64_t count = std::min(kKeyTile, seen - first);
      pack_keys(first, count);
      pack_values(first, count);
      for (std::int64_t block = 0; block < padded_; block += kBlockRows) {
        const std::int64_t limit = std::min(count, args_.seen_by_first + position(block + kBlockRows - 1) - first);
        if (limit > 0) attend(block, first, limit);
      }
    }
    write();
    if (kept_.wanted()) kept_.write_sums(maxima_, sums_);
  }

 private:
  float* take(std::int64_t floats) {
    float* const taken = next_;
    next_ += round_up(floats, kMostLanes);
    return taken;
  }

  // A block's last rows may not exist; they are as the last that does.
  std::int64_t position(std::int64_t row) const { return std::min(row, total_ - 1) / args_.group; }

  void pack_queries() {
    for (std::int64_t row = 0; row < padded_; ++row) {
      const std::int64_t head = std::min(row, total_ - 1) % args_.group;
      const std::int64_t from = head * args_.query_head_stride + position(row) * args_.query_row_stride;
      Products::pack_row(static_cast<const Element*>(args_.query) + from, args_.head_dim, queries_ + row * depth_);
    }
  }

  // [panel][depth][kPanel]; keys that do not exist are 0.
  void pack_keys(std::int64_t first, std::int64_t count) {
    for (std::int64_t j = 0; j < round_up(count, kPanel); ++j) {
      Step* HWY_RESTRICT to = keys_ + j / kPanel * depth_ * kPanel + j % kPanel;
      if (j >= count) {
        for (std::int64_t i = 0; i < depth_; ++i) to[i * kPanel] = 0;
        continue;
      }
      Products::pack_row(static_cast<const Element*>(args_.key) + (first + j) * args_.key_stride, args_.head_dim, row_);
      const Step* HWY_RESTRICT from = row_;
      for (std::int64_t i = 0; i < depth_; ++i) to[i * kPanel] = from[i];
    }
  }

  // [step of keys][width_]
  void pack_values(std::int64_t first, std::int64_t count) {
    for (std::int64_t j = 0; j < count; j += kElements) {
      Step* const to = values_ + j / kElements * width_;
      const Element* const low = static_cast<const Element*>(args_.value) + (first + j) * args_.value_stride;
      Products::pack_values(low, j + 1 < count ? low + args_.value_stride : nullptr, args_.head_dim, to);
      for (std::int64_t i = args_.head_dim; i < width_; ++i) to[i] = 0;
    }
  }

  // sums = left (kBlockRows rows of `depth` steps) x right (`depth` rows of kCount vectors): begin() says what they start from, end() takes
  // them.
  template <int kCount, class Begin, class End>
  HWY_INLINE void multiply(const Step* HWY_RESTRICT left, std::int64_t left_stride, const Step* HWY_RESTRICT right,
                           std::int64_t right_stride, std::int64_t depth, Begin&& begin, End&& end) const {
    const hn::Rebind<Step, Floats> d;
    Vector sums[kBlockRows][kCount];
    for (int r = 0; r < kBlockRows; ++r) {
      for (int v = 0; v < kCount; ++v) sums[r][v] = begin(r, v);
    }
    for (std::int64_t i = 0; i < depth; ++i) {
      hn::Vec<decltype(d)> lanes[kCount];
      for (int v = 0; v < kCount; ++v) lanes[v] = hn::LoadU(d, right + i * right_stride + v * kLanes);
      for (int r = 0; r < kBlockRows; ++r) {
        const auto one = hn::Set(d, left[r * left_stride + i]);
        for (int v = 0; v < kCount; ++v) sums[r][v] = Products::multiply_add(one, lanes[v], sums[r][v]);
      }
    }
    for (int r = 0; r < kBlockRows; ++r) {
      for (int v = 0; v < kCount; ++v) end(r, v, sums[r][v]);
    }
  }

  // A block over the first `limit` keys of the tile.
  void attend(std::int64_t block, std::int64_t first, std::int64_t limit) {
    const Floats d;
    const Vector scale = hn::Set(d, args_.scale * std::numbers::log2e_v<float>);
    for (std::int64_t j = 0; j < limit; j += kPanel) {
      multiply<kVectors>(
          queries_ + block * depth_, depth_, keys_ + j * depth_, kPanel, depth_, [&](int, int) { return hn::Zero(d); },
          [&](int r, int v, Vector sum) { hn::StoreU(hn::Mul(sum, scale), d, logits_ + r * kKeyTile + j + v * kLanes); });
    }
    alignas(64) float factors[kBlockRows + kMostLanes] = {};
    Step* const weights = kept_.wanted() ? kept_.weights(first / kKeyTile, block) : weights_;
    softmax(block, first, limit, factors, weights);
    const std::int64_t depth = (limit + kElements - 1) / kElements;
    std::int64_t column = 0;
    for (; column + kPanel <= width_; column += kPanel) add_values<kVectors>(block, column, depth, factors, weights);
    if constexpr (kVectors == 4) {
      if (column + 3 * kLanes == width_) return add_values<3>(block, column, depth, factors, weights);
      if (column + 2 * kLanes == width_) return add_values<2>(block, column, depth, factors, weights);
    }
    if (column < width_) add_values<1>(block, column, depth, factors, weights);
  }

  template <int kCount>
  void add_values(std::int64_t block, std::int64_t column, std::int64_t depth, const float* factors, const Step* weights) {
    const Floats d;
    float* HWY_RESTRICT output = output_ + block * width_ + column;
    multiply<kCount>(
        weights, kKeyTile / kElements, values_ + column, width_, depth,
        [&](int r, int v) { return hn::Mul(hn::LoadU(d, output + r * width_ + v * kLanes), hn::Set(d, factors[r])); },
        [&](int r, int v, Vector sum) { hn::StoreU(sum, d, output + r * width_ + v * kLanes); });
  }

  // Weights of the block's logits under each row's new maximum, and the factors that bring what it has so far to it.
  HWY_INLINE void softmax(std::int64_t block, std::int64_t first, std::int64_t limit, float* HWY_RESTRICT factors, Step* block_weights) {
    constexpr float kNothing = -std::numeric_limits<float>::infinity();
    const Floats d;
    const std::int64_t used = round_up(limit, 2 * kLanes);
    float highest[kBlockRows];
    for (int r = 0; r < kBlockRows; ++r) {
      float* HWY_RESTRICT logits = logits_ + r * kKeyTile;
      const std::int64_t seen = std::clamp<std::int64_t>(args_.seen_by_first + position(block + r) - first, 0, limit);
      for (std::int64_t j = seen; j < used; ++j) logits[j] = kNothing;
      Vector even = hn::LoadU(d, logits);
      Vector odd = hn::LoadU(d, logits + kLanes);
      for (std::int64_t j = 2 * kLanes; j < used; j += 2 * kLanes) {
        even = hn::Max(even, hn::LoadU(d, logits + j));
        odd = hn::Max(odd, hn::LoadU(d, logits + j + kLanes));
      }
      float& before = maxima_[block + r];
      highest[r] = std::max(before, hn::GetLane(hn::MaxOfLanes(d, hn::Max(even, odd))));
      // A row that has seen nothing so far has no maximum, and what it does not see weighs nothing.
      if (seen == 0 && highest[r] == kNothing) highest[r] = 0.0F;
      factors[r] = before - highest[r];
      if (seen > 0) before = highest[r];
    }
    for (std::int64_t r = 0; r < kBlockRows; r += kLanes) hn::StoreU(exp2_of(d, hn::LoadU(d, factors + r)), d, factors + r);
    for (int r = 0; r < kBlockRows; ++r) {
      const float* HWY_RESTRICT logits = logits_ + r * kKeyTile;
      Step* HWY_RESTRICT weights = block_weights + r * (kKeyTile / kElements);
      const Vector top = hn::Set(d, highest[r]);
      Vector even = hn::Zero(d);
      Vector odd = hn::Zero(d);
      for (std::int64_t j = 0; j < used; j += 2 * kLanes) {
        const Vector one = exp2_of(d, hn::Sub(hn::LoadU(d, logits + j), top));
        const Vector two = exp2_of(d, hn::Sub(hn::LoadU(d, logits + j + kLanes), top));
        Products::store_weights(one, two, weights + j / kElements);
        even = hn::Add(even, one);
        odd = hn::Add(odd, two);
      }
      sums_[block + r] = sums_[block + r] * factors[r] + hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
      if (!kept_.wanted()) continue;
      std::fill(weights + used / kElements, weights + kKeyTile / kElements, Step{0});
      kept_.maxima(first / kKeyTile)[block + r] = highest[r];
    }
  }

  void write() const {
    for (std::int64_t row = 0; row < total_; ++row) {
      const std::int64_t head = row % args_.group;
      const bool sees = args_.seen_by_first + position(row) > 0;
      const float sum = sees ? sums_[row] : 1.0F;
      const float* const from = output_ + row * width_;
      const std::int64_t to = head * args_.output_head_stride + position(row) * args_.output_row_stride;
      store_row(from, 1.0F / sum, args_.head_dim, static_cast<Element*>(args_.output) + to);
      const float log_sum = (maxima_[row] + std::log2(sum)) * std::numbers::ln2_v<float>;
      args_.log_sum_exp[head * args_.log_sum_exp_stride + position(row)] = sees ? log_sum : -std::numeric_limits<float>::infinity();
    }
  }

  const PrefillAttentionArgs& args_;
  const std::int64_t total_;   // rows of all heads
  const std::int64_t padded_;  // to whole blocks
  const std::int64_t depth_;   // steps of a head
  const std::int64_t width_;   // lanes of a value
  const KeptWeights<Products> kept_;
  float* next_ = nullptr;  // of the workspace
  Step* queries_;          // [padded_, depth_]
  Step* keys_;
  Step* values_;
  Step* weights_;  // [kBlockRows, kKeyTile / kElements], unless they are kept
  Step* row_;      // one key
  float* logits_;  // [kBlockRows, kKeyTile], to base 2
  float* output_;  // [padded_, width_], not yet divided by the sums
  float* maxima_;
  float* sums_;
};

// visit(products) with those that this processor has for the type.
template <class Visit>
auto with_products(ElementType type, const Visit& visit) {
#if HWY_TARGET == HWY_AVX3
  if (type == ElementType::kBf16 && multiplies_pairs()) return visit(Pairs());
#endif
  switch (type) {
    case ElementType::kBf16: return visit(Singles<hwy::bfloat16_t>());
    case ElementType::kFp16: return visit(Singles<hwy::float16_t>());
    case ElementType::kFp32: break;
  }
  return visit(Singles<float>());
}

void prefill_attention(const PrefillAttentionArgs& args) {
  with_products(args.type, [&](auto products) { Rows<decltype(products)>(args).run(); });
}

std::int64_t kept_floats(const PrefillAttentionArgs& args) {
  return with_products(args.type, [&](auto products) { return KeptWeights<decltype(products)>::floats(args); });
}

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(prefill_attention);
HWY_EXPORT(kept_floats);

std::int64_t prefill_attention_workspace(std::int64_t group, std::int64_t rows, std::int64_t head_dim) {
  const std::int64_t padded = round_up(group * rows, kBlockRows);
  const std::int64_t width = round_up(head_dim, kMostLanes);
  constexpr std::int64_t kParts = 10;  // each begins at a line of the cache
  return 2 * (padded + kKeyTile) * width + 2 * kBlockRows * kKeyTile + width + 2 * padded + 2 * kParts * kMostLanes;
}

std::int64_t prefill_attention_kept(const PrefillAttentionArgs& args) { return HWY_DYNAMIC_DISPATCH(kept_floats)(args); }

LaunchStatus prefill_attention_cpu(const PrefillAttentionArgs& args) { return run_checked(args, HWY_DYNAMIC_DISPATCH(prefill_attention)); }

}  // namespace winnow::kernels
#endif  // HWY_ONCE
