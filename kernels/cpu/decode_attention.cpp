// Decode attention for CPUs, compiled once per instruction set and chosen at run time (Highway).
//
// Work: one pass over K and V. A block of K rows is scored against all query heads of the group while it is in the first-level cache, the
// online softmax is updated once per block, then the block's V rows are added to all heads' outputs. While K is scored the same rows of V
// are prefetched, and while V is added the next block's K: the memory system always has a stream ahead of it.
// Accumulation is fp32. No alignment is assumed. A non-finite logit makes the outputs of its head NaN, as in the reference.
#include "kernels/api/decode_attention.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/cpu/run_checked.h"
#include "kernels/reference/check_attention.h"
#include "kernels/reference/half.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/decode_attention.cpp"
#include <hwy/foreach_target.h>  // IWYU pragma: keep

#include <hwy/cache_control.h>

#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace winnow::kernels {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
HWY_INLINE hn::Vec<D> load(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hwy::bfloat16_t* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::bfloat16_t, D>(), from));
}
template <class D>
HWY_INLINE hn::Vec<D> load(D d, const hwy::float16_t* from) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<hwy::float16_t, D>(), from));
}

// int8 and int16.
template <class D, class T, std::enable_if_t<std::is_integral_v<T>>* = nullptr>
HWY_INLINE hn::Vec<D> load(D d, const T* from) {
  const hn::Rebind<std::int32_t, D> whole;
  return hn::ConvertTo(d, hn::PromoteTo(whole, hn::LoadU(hn::Rebind<T, D>(), from)));
}

// Two codes of 4 bits.
struct CodePair {
  std::uint8_t codes;
};

// Rows of a block, from one of them on.
template <class T>
struct Rows {
  const T* HWY_RESTRICT first;
  std::int64_t head_dim;

  Rows(const void* block, const DecodeAttentionArgs& args) : first(static_cast<const T*>(block)), head_dim(args.head_dim) {}
  HWY_INLINE std::int64_t row_bytes() const { return head_dim * static_cast<std::int64_t>(sizeof(T)); }
  HWY_INLINE Rows from(std::int64_t row) const {
    Rows rows = *this;
    rows.first += row * head_dim;
    return rows;
  }
  template <class D>
  HWY_INLINE hn::Vec<D> load_at(D d, std::int64_t row, std::int64_t i) const {
    return load(d, first + row * head_dim + i);
  }
};

template <>
struct Rows<CodePair> {
  const std::uint8_t* HWY_RESTRICT first;
  const std::uint16_t* HWY_RESTRICT scales;
  std::int64_t head_dim;
  std::int64_t spans;

  Rows(const void* block, const DecodeAttentionArgs& args)
      : first(static_cast<const std::uint8_t*>(block)),
        scales(reinterpret_cast<const std::uint16_t*>(first + args.block_slots * code_bytes(RowCodes::kInt4, args.head_dim))),
        head_dim(args.head_dim),
        spans((args.head_dim + kScaleSpan - 1) / kScaleSpan) {}
  HWY_INLINE std::int64_t row_bytes() const { return (head_dim + 1) / 2; }
  HWY_INLINE Rows from(std::int64_t row) const {
    Rows rows = *this;
    rows.first += row * row_bytes();
    rows.scales += row * spans;
    return rows;
  }
  HWY_INLINE std::int64_t half(std::int64_t span) const { return (std::min(kScaleSpan, head_dim - span * kScaleSpan) + 1) / 2; }
  // Elements of a span's halves from the i-th of each on.
  template <class D>
  HWY_INLINE void load_pair(D d, std::int64_t row, std::int64_t span, std::int64_t i, hn::Vec<D>& low, hn::Vec<D>& high) const {
    const hn::Rebind<std::int32_t, D> whole;
    const std::uint8_t* const codes = first + row * row_bytes() + span * (kScaleSpan / 2) + i;
    const auto pairs = hn::PromoteTo(whole, hn::LoadU(hn::Rebind<std::uint8_t, D>(), codes));
    const auto low_codes = hn::And(pairs, hn::Set(whole, 15));
    const auto high_codes = hn::ShiftRight<4>(pairs);
    const auto scale = hn::Set(d, bf16_to_float(scales[row * spans + span]));
#if HWY_TARGET <= HWY_AVX3
    if constexpr (hn::MaxLanes(D()) == 16) {  // a table of what 16 codes mean costs one multiplication
      const auto table = hn::Mul(hn::Iota(d, -8.0F), scale);
      low = hn::TableLookupLanes(table, hn::IndicesFromVec(d, low_codes));
      high = hn::TableLookupLanes(table, hn::IndicesFromVec(d, high_codes));
      return;
    }
#endif
    const auto least = hn::Mul(scale, hn::Set(d, -8.0F));
    low = hn::MulAdd(hn::ConvertTo(d, low_codes), scale, least);
    high = hn::MulAdd(hn::ConvertTo(d, high_codes), scale, least);
  }
};

template <class T>
HWY_INLINE void prefetch_row(const Rows<T>& rows, std::int64_t row) {
  const char* bytes = reinterpret_cast<const char*>(rows.first) + row * rows.row_bytes();
  for (std::int64_t i = 0; i < rows.row_bytes(); i += 64) hwy::Prefetch(bytes + i);
}

// One scale for a row of codes: they are multiplied by it where the row has become one number.
template <class T>
inline constexpr bool kRowScales = std::is_same_v<T, std::int8_t>;

template <class T>
HWY_INLINE const float* row_scales(const DecodeAttentionArgs& args, const void* block) {
  return reinterpret_cast<const float*>(static_cast<const T*>(block) + args.block_slots * args.head_dim);
}

// The bias of a block that its rows are stored without; it is added before a logit's lanes are summed.
struct LackedBias {
  const float* scales = nullptr;           // of the block's keys in 8 bits
  const std::int32_t* of_slots = nullptr;  // as in DecodeKeyBias, from the block's first slot on; null: nothing is lacking
};

template <class T>
HWY_INLINE LackedBias lacked_bias(const DecodeAttentionArgs& args, const void* keys, std::int64_t first) {
  if (args.key_bias.query == nullptr) return {};
  return {kRowScales<T> ? row_scales<T>(args, keys) : nullptr, args.key_bias.of_slots + first};
}

// sums[head][row] = the row's scale * sums[head][row] + the query's products with the row's bias.
template <class T, int kHeads, int kRows, class D>
HWY_INLINE void add_bias(D d, const DecodeAttentionArgs& args, std::int64_t head, std::int64_t row, const LackedBias& lacked,
                         hn::Vec<D> (&sums)[kHeads][kRows]) {
  const DecodeKeyBias& bias = args.key_bias;
  const float* HWY_RESTRICT query = bias.query + head * DecodeKeyBias::kUnit;
  const std::int16_t* HWY_RESTRICT rotations[kRows];
  for (int r = 0; r < kRows; ++r) {
    rotations[r] = bias.rotations + lacked.of_slots[row + r] * bias.row_units * DecodeKeyBias::kUnit;
    if constexpr (kRowScales<T>) {
      const auto scale = hn::Set(d, lacked.scales[row + r]);
      for (int h = 0; h < kHeads; ++h) sums[h][r] = hn::Mul(sums[h][r], scale);
    }
  }
  for (std::int64_t unit = 0; unit < bias.count; ++unit, query += args.group * DecodeKeyBias::kUnit) {
    const std::int64_t first = bias.units[unit] * DecodeKeyBias::kUnit;
    for (std::int64_t i = 0; i < DecodeKeyBias::kUnit; i += static_cast<std::int64_t>(hn::Lanes(d))) {
      hn::Vec<D> rotation[kRows];
      for (int r = 0; r < kRows; ++r) rotation[r] = load(d, rotations[r] + first + i);
      for (int h = 0; h < kHeads; ++h) {
        const auto q = hn::LoadU(d, query + h * DecodeKeyBias::kUnit + i);
        for (int r = 0; r < kRows; ++r) sums[h][r] = hn::MulAdd(q, rotation[r], sums[h][r]);
      }
    }
  }
}

// Scaled logits of a block's kRows keys from `row` on for kHeads queries, in the workspace. Without a bias, int8 rows still lack their
// scales.
template <int kHeads, int kRows, class D, class T>
HWY_INLINE void score_tile(D d, const DecodeAttentionArgs& args, std::int64_t head, const Rows<T>& block, std::int64_t row,
                           const LackedBias& lacked) {
  const std::int64_t head_dim = args.head_dim;
  const float* HWY_RESTRICT query = args.query + head * head_dim;
  const Rows<T> keys = block.from(row);
  hn::Vec<D> sums[kHeads][kRows];
  for (int h = 0; h < kHeads; ++h) {
    for (int r = 0; r < kRows; ++r) sums[h][r] = hn::Zero(d);
  }
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if constexpr (std::is_same_v<T, CodePair>) {
    for (std::int64_t span = 0; span < keys.spans; ++span, query += kScaleSpan) {
      const std::int64_t half = keys.half(span);
      for (std::int64_t i = 0; i < half; i += lanes) {
        hn::Vec<D> low[kRows], high[kRows];
        for (int r = 0; r < kRows; ++r) keys.load_pair(d, r, span, i, low[r], high[r]);
        for (int h = 0; h < kHeads; ++h) {
          const auto q_low = hn::LoadU(d, query + h * head_dim + i);
          const auto q_high = hn::LoadU(d, query + h * head_dim + half + i);
          for (int r = 0; r < kRows; ++r) sums[h][r] = hn::MulAdd(q_high, high[r], hn::MulAdd(q_low, low[r], sums[h][r]));
        }
      }
    }
  } else {
    for (std::int64_t i = 0; i < head_dim; i += lanes) {
      hn::Vec<D> key[kRows];
      for (int r = 0; r < kRows; ++r) key[r] = keys.load_at(d, r, i);
      for (int h = 0; h < kHeads; ++h) {
        const auto q = hn::LoadU(d, query + h * head_dim + i);
        for (int r = 0; r < kRows; ++r) sums[h][r] = hn::MulAdd(q, key[r], sums[h][r]);
      }
    }
  }
  if (lacked.of_slots != nullptr) add_bias<T>(d, args, head, row, lacked, sums);
  float* HWY_RESTRICT scores = args.workspace + head * args.block_slots + row;
  for (int h = 0; h < kHeads; ++h) {
    for (int r = 0; r < kRows; ++r) scores[h * args.block_slots + r] = args.scale * hn::GetLane(hn::SumOfLanes(d, sums[h][r]));
  }
}

template <int kHeads, int kRows, class D, class T>
HWY_INLINE void score_heads(D d, const DecodeAttentionArgs& args, std::int64_t head, const Rows<T>& keys, const Rows<T>& values,
                            std::int64_t count, const LackedBias& lacked) {
  std::int64_t row = 0;
  for (; row + kRows <= count; row += kRows) {
    if (head == 0) {
      for (int r = 0; r < kRows; ++r) prefetch_row(values, row + r);
    }
    score_tile<kHeads, kRows>(d, args, head, keys, row, lacked);
  }
  for (; row < count; ++row) score_tile<kHeads, 1>(d, args, head, keys, row, lacked);
}

// Tiles of 4 x 2 sums fill the 16 registers of AVX2; fewer heads take more rows to keep as many multiply-adds in flight.
template <class D, class T>
HWY_INLINE void score_block(D d, const DecodeAttentionArgs& args, const Rows<T>& keys, const Rows<T>& values, std::int64_t count,
                            const LackedBias& lacked) {
  std::int64_t head = 0;
  for (; head + 4 <= args.group; head += 4) score_heads<4, 2>(d, args, head, keys, values, count, lacked);
  switch (args.group - head) {
    case 3: score_heads<3, 2>(d, args, head, keys, values, count, lacked); break;
    case 2: score_heads<2, 4>(d, args, head, keys, values, count, lacked); break;
    case 1: score_heads<1, 8>(d, args, head, keys, values, count, lacked); break;
    default: break;
  }
}

// Replaces the scores of one head by exp(score - maximum), returns their sum. `maximum` is updated; the returned factor brings what was
// accumulated under the old maximum to the new one.
struct SoftmaxStep {
  float sum;
  float factor;
};

HWY_INLINE SoftmaxStep softmax_block(float* HWY_RESTRICT scores, std::int64_t count, float& maximum) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  float highest = maximum;
  std::int64_t i = 0;
  if (count >= lanes) {
    auto best = hn::LoadU(d, scores);
    for (i = lanes; i + lanes <= count; i += lanes) best = hn::Max(best, hn::LoadU(d, scores + i));
    highest = std::max(highest, hn::GetLane(hn::MaxOfLanes(d, best)));
  }
  for (; i < count; ++i) highest = std::max(highest, scores[i]);

  // Highway's Exp turns NaN into 0; adding score - score (0 when finite, else NaN) keeps damage visible.
  const auto top = hn::Set(d, highest);
  auto sums = hn::Zero(d);
  for (i = 0; i + lanes <= count; i += lanes) {
    const auto score = hn::LoadU(d, scores + i);
    const auto weight = hn::Add(hn::Exp(d, hn::Sub(score, top)), hn::Sub(score, score));
    hn::StoreU(weight, d, scores + i);
    sums = hn::Add(sums, weight);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  for (; i < count; ++i) {
    scores[i] = std::exp(scores[i] - highest) + (scores[i] - scores[i]);
    sum += scores[i];
  }
  const float factor = maximum == highest ? 1.0F : std::exp(maximum - highest);
  maximum = highest;
  return {sum, factor};
}

// A row of codes in 8 bits is multiplied by its scale where it is one number: its logit before the softmax, its weight after it.
template <class T>
HWY_INLINE void scale_rows(const DecodeAttentionArgs& args, const void* block, std::int64_t count, float* HWY_RESTRICT scores) {
  if constexpr (kRowScales<T>) {
    const float* const scales = row_scales<T>(args, block);
    for (std::int64_t i = 0; i < count; ++i) scores[i] *= scales[i];
  }
}

// output[head] += weights[head][0 .. kRows) * values.
template <int kRows, class D, class T>
HWY_INLINE void add_values(D d, const float* HWY_RESTRICT weights, std::int64_t block_slots, std::int64_t group, const Rows<T>& values,
                           float* HWY_RESTRICT output) {
  const std::int64_t head_dim = values.head_dim;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if constexpr (std::is_same_v<T, CodePair>) {
    for (std::int64_t span = 0; span < values.spans; ++span, output += kScaleSpan) {
      const std::int64_t half = values.half(span);
      for (std::int64_t i = 0; i < half; i += lanes) {
        hn::Vec<D> low[kRows], high[kRows];
        for (int r = 0; r < kRows; ++r) values.load_pair(d, r, span, i, low[r], high[r]);
        for (std::int64_t h = 0; h < group; ++h) {
          float* const of_low = output + h * head_dim + i;
          auto low_sum = hn::LoadU(d, of_low);
          auto high_sum = hn::LoadU(d, of_low + half);
          for (int r = 0; r < kRows; ++r) {
            const auto weight = hn::Set(d, weights[h * block_slots + r]);
            low_sum = hn::MulAdd(weight, low[r], low_sum);
            high_sum = hn::MulAdd(weight, high[r], high_sum);
          }
          hn::StoreU(low_sum, d, of_low);
          hn::StoreU(high_sum, d, of_low + half);
        }
      }
    }
    return;
  } else {
    for (std::int64_t i = 0; i < head_dim; i += lanes) {
      hn::Vec<D> value[kRows];
      for (int r = 0; r < kRows; ++r) value[r] = values.load_at(d, r, i);
      for (std::int64_t h = 0; h < group; ++h) {
        auto sum = hn::LoadU(d, output + h * head_dim + i);
        for (int r = 0; r < kRows; ++r) sum = hn::MulAdd(hn::Set(d, weights[h * block_slots + r]), value[r], sum);
        hn::StoreU(sum, d, output + h * head_dim + i);
      }
    }
  }
}

template <class D>
HWY_INLINE void scale_row(D d, float* HWY_RESTRICT row, std::int64_t head_dim, float factor) {
  const auto f = hn::Set(d, factor);
  for (std::int64_t i = 0; i < head_dim; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    hn::StoreU(hn::Mul(hn::LoadU(d, row + i), f), d, row + i);
  }
}

template <class D, class T>
void attend(D d, const DecodeAttentionArgs& args) {
  constexpr int kValueRows = 8;
  float maximum[kMaxGroup];
  float sum[kMaxGroup];
  std::fill_n(maximum, args.group, -std::numeric_limits<float>::infinity());
  std::fill_n(sum, args.group, 0.0F);
  std::fill_n(args.output, args.group * args.head_dim, 0.0F);

  for (std::int64_t first = 0; first < args.slots; first += args.block_slots) {
    const std::int64_t block = first / args.block_slots;
    const std::int64_t count = std::min(args.block_slots, args.slots - first);
    const Rows<T> keys(args.key_blocks[block], args);
    const Rows<T> values(args.value_blocks[block], args);
    const std::int64_t next_count = std::min(args.block_slots, args.slots - first - count);
    const Rows<T> next_keys(next_count > 0 ? args.key_blocks[block + 1] : args.key_blocks[block], args);

    const LackedBias lacked = lacked_bias<T>(args, args.key_blocks[block], first);
    score_block(d, args, keys, values, count, lacked);
    for (std::int64_t h = 0; h < args.group && lacked.of_slots == nullptr; ++h) {
      scale_rows<T>(args, args.key_blocks[block], count, args.workspace + h * args.block_slots);
    }
    for (std::int64_t h = 0; h < args.group; ++h) {
      float* scores = args.workspace + h * args.block_slots;
      if (args.probabilities != nullptr) std::copy_n(scores, count, args.probabilities + h * args.slots + first);
      const SoftmaxStep step = softmax_block(scores, count, maximum[h]);
      sum[h] = sum[h] * step.factor + step.sum;
      if (step.factor != 1.0F && first > 0) scale_row(d, args.output + h * args.head_dim, args.head_dim, step.factor);
      scale_rows<T>(args, args.value_blocks[block], count, scores);
    }
    std::int64_t row = 0;
    for (; row + kValueRows <= count; row += kValueRows) {
      for (std::int64_t r = row; r < std::min(row + kValueRows, next_count); ++r) prefetch_row(next_keys, r);
      add_values<kValueRows>(d, args.workspace + row, args.block_slots, args.group, values.from(row), args.output);
    }
    for (; row < count; ++row) add_values<1>(d, args.workspace + row, args.block_slots, args.group, values.from(row), args.output);
  }

  for (std::int64_t h = 0; h < args.group; ++h) {
    const float log_sum_exp = maximum[h] + std::log(sum[h]);
    scale_row(d, args.output + h * args.head_dim, args.head_dim, 1.0F / sum[h]);
    if (args.log_sum_exp != nullptr) args.log_sum_exp[h] = log_sum_exp;
    if (args.probabilities != nullptr) {
      float* probabilities = args.probabilities + h * args.slots;
      float top = maximum[h];
      softmax_block(probabilities, args.slots, top);
      for (std::int64_t slot = 0; slot < args.slots; ++slot) probabilities[slot] /= sum[h];
    }
  }
}

// The widest vectors whose lanes divide the head size; of codes that share bytes, each half of a span.
template <class T>
void attend_any_size(const DecodeAttentionArgs& args) {
  constexpr std::int64_t kShared = std::is_same_v<T, CodePair> ? 2 : 1;
  const hn::CappedTag<float, 16> d16;
  const hn::CappedTag<float, 8> d8;
  const hn::CappedTag<float, 4> d4;
  const auto divides = [&](std::size_t lanes) { return args.head_dim % (kShared * static_cast<std::int64_t>(lanes)) == 0; };
  if (divides(hn::Lanes(d16))) return attend<decltype(d16), T>(d16, args);
  if (divides(hn::Lanes(d8))) return attend<decltype(d8), T>(d8, args);
  if (divides(hn::Lanes(d4))) return attend<decltype(d4), T>(d4, args);
  return attend<hn::CappedTag<float, 1>, T>(hn::CappedTag<float, 1>(), args);
}

void decode_attention(const DecodeAttentionArgs& args) {
  if (args.narrow) return args.codes == RowCodes::kInt8 ? attend_any_size<std::int8_t>(args) : attend_any_size<CodePair>(args);
  switch (args.kv_type) {
    case ElementType::kFp32: return attend_any_size<float>(args);
    case ElementType::kBf16: return attend_any_size<hwy::bfloat16_t>(args);
    case ElementType::kFp16: return attend_any_size<hwy::float16_t>(args);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace winnow::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace winnow::kernels {

HWY_EXPORT(decode_attention);

LaunchStatus decode_attention_cpu(const DecodeAttentionArgs& args) { return run_checked(args, HWY_DYNAMIC_DISPATCH(decode_attention)); }

}  // namespace winnow::kernels
#endif  // HWY_ONCE
