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

template <class T>
HWY_INLINE void prefetch_row(const T* row, std::int64_t head_dim) {
  const char* bytes = reinterpret_cast<const char*>(row);
  for (std::int64_t i = 0; i < head_dim * static_cast<std::int64_t>(sizeof(T)); i += 64) hwy::Prefetch(bytes + i);
}

// The bias of a block that its int8 rows are stored without; it is added before a logit's lanes are summed.
struct LackedBias {
  const float* scales = nullptr;           // of the block's keys; null: nothing is lacking
  const std::int32_t* of_slots = nullptr;  // as in DecodeKeyBias, from the block's first slot on
};

template <class T>
HWY_INLINE const float* row_scales(const DecodeAttentionArgs& args, const T* block) {
  return reinterpret_cast<const float*>(block + args.block_slots * args.head_dim);
}

template <class T>
HWY_INLINE LackedBias lacked_bias(const DecodeAttentionArgs& args, const T* keys, std::int64_t first) {
  if (sizeof(T) != 1 || args.key_bias.query == nullptr) return {};
  return {row_scales(args, keys), args.key_bias.of_slots + first};
}

// sums[head][row] = the row's scale * sums[head][row] + the query's products with the row's bias.
template <int kHeads, int kRows, class D>
HWY_INLINE void add_bias(D d, const DecodeAttentionArgs& args, std::int64_t head, std::int64_t row, const LackedBias& lacked,
                         hn::Vec<D> (&sums)[kHeads][kRows]) {
  const DecodeKeyBias& bias = args.key_bias;
  const float* HWY_RESTRICT query = bias.query + head * DecodeKeyBias::kUnit;
  const std::int16_t* HWY_RESTRICT rotations[kRows];
  for (int r = 0; r < kRows; ++r) {
    rotations[r] = bias.rotations + lacked.of_slots[row + r] * bias.row_units * DecodeKeyBias::kUnit;
    const auto scale = hn::Set(d, lacked.scales[row + r]);
    for (int h = 0; h < kHeads; ++h) sums[h][r] = hn::Mul(sums[h][r], scale);
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
HWY_INLINE void score_tile(D d, const DecodeAttentionArgs& args, std::int64_t head, const T* HWY_RESTRICT block, std::int64_t row,
                           const LackedBias& lacked) {
  const std::int64_t head_dim = args.head_dim;
  const float* HWY_RESTRICT query = args.query + head * head_dim;
  const T* HWY_RESTRICT keys = block + row * head_dim;
  hn::Vec<D> sums[kHeads][kRows];
  for (int h = 0; h < kHeads; ++h) {
    for (int r = 0; r < kRows; ++r) sums[h][r] = hn::Zero(d);
  }
  for (std::int64_t i = 0; i < head_dim; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    hn::Vec<D> key[kRows];
    for (int r = 0; r < kRows; ++r) key[r] = load(d, keys + r * head_dim + i);
    for (int h = 0; h < kHeads; ++h) {
      const auto q = hn::LoadU(d, query + h * head_dim + i);
      for (int r = 0; r < kRows; ++r) sums[h][r] = hn::MulAdd(q, key[r], sums[h][r]);
    }
  }
  if constexpr (sizeof(T) == 1) {
    if (lacked.scales != nullptr) add_bias(d, args, head, row, lacked, sums);
  }
  float* HWY_RESTRICT scores = args.workspace + head * args.block_slots + row;
  for (int h = 0; h < kHeads; ++h) {
    for (int r = 0; r < kRows; ++r) scores[h * args.block_slots + r] = args.scale * hn::GetLane(hn::SumOfLanes(d, sums[h][r]));
  }
}

template <int kHeads, int kRows, class D, class T>
HWY_INLINE void score_heads(D d, const DecodeAttentionArgs& args, std::int64_t head, const T* keys, const T* values, std::int64_t count,
                            const LackedBias& lacked) {
  std::int64_t row = 0;
  for (; row + kRows <= count; row += kRows) {
    if (head == 0) {
      for (int r = 0; r < kRows; ++r) prefetch_row(values + (row + r) * args.head_dim, args.head_dim);
    }
    score_tile<kHeads, kRows>(d, args, head, keys, row, lacked);
  }
  for (; row < count; ++row) score_tile<kHeads, 1>(d, args, head, keys, row, lacked);
}

// Tiles of 4 x 2 sums fill the 16 registers of AVX2; fewer heads take more rows to keep as many multiply-adds in flight.
template <class D, class T>
HWY_INLINE void score_block(D d, const DecodeAttentionArgs& args, const T* keys, const T* values, std::int64_t count,
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

// A row of codes is multiplied by its scale where it is one number: its logit before the softmax, its weight after it.
template <class T>
HWY_INLINE void scale_rows(const DecodeAttentionArgs& args, const T* block, std::int64_t count, float* HWY_RESTRICT scores) {
  if constexpr (sizeof(T) == 1) {
    const float* const scales = row_scales(args, block);
    for (std::int64_t i = 0; i < count; ++i) scores[i] *= scales[i];
  }
}

// output[head] += weights[head][0 .. kRows) * values.
template <int kRows, class D, class T>
HWY_INLINE void add_values(D d, const float* HWY_RESTRICT weights, std::int64_t block_slots, std::int64_t group,
                           const T* HWY_RESTRICT values, std::int64_t head_dim, float* HWY_RESTRICT output) {
  for (std::int64_t i = 0; i < head_dim; i += static_cast<std::int64_t>(hn::Lanes(d))) {
    hn::Vec<D> value[kRows];
    for (int r = 0; r < kRows; ++r) value[r] = load(d, values + r * head_dim + i);
    for (std::int64_t h = 0; h < group; ++h) {
      auto sum = hn::LoadU(d, output + h * head_dim + i);
      for (int r = 0; r < kRows; ++r) sum = hn::MulAdd(hn::Set(d, weights[h * block_slots + r]), value[r], sum);
      hn::StoreU(sum, d, output + h * head_dim + i);
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
    const T* keys = static_cast<const T*>(args.key_blocks[block]);
    const T* values = static_cast<const T*>(args.value_blocks[block]);
    const std::int64_t next_count = std::min(args.block_slots, args.slots - first - count);
    const T* next_keys = next_count > 0 ? static_cast<const T*>(args.key_blocks[block + 1]) : nullptr;

    const LackedBias lacked = lacked_bias(args, keys, first);
    score_block(d, args, keys, values, count, lacked);
    for (std::int64_t h = 0; h < args.group && lacked.scales == nullptr; ++h) {
      scale_rows(args, keys, count, args.workspace + h * args.block_slots);
    }
    for (std::int64_t h = 0; h < args.group; ++h) {
      float* scores = args.workspace + h * args.block_slots;
      if (args.probabilities != nullptr) std::copy_n(scores, count, args.probabilities + h * args.slots + first);
      const SoftmaxStep step = softmax_block(scores, count, maximum[h]);
      sum[h] = sum[h] * step.factor + step.sum;
      if (step.factor != 1.0F && first > 0) scale_row(d, args.output + h * args.head_dim, args.head_dim, step.factor);
      scale_rows(args, values, count, scores);
    }
    std::int64_t row = 0;
    for (; row + kValueRows <= count; row += kValueRows) {
      for (std::int64_t r = row; r < std::min(row + kValueRows, next_count); ++r) {
        prefetch_row(next_keys + r * args.head_dim, args.head_dim);
      }
      add_values<kValueRows>(d, args.workspace + row, args.block_slots, args.group, values + row * args.head_dim, args.head_dim,
                             args.output);
    }
    for (; row < count; ++row) {
      add_values<1>(d, args.workspace + row, args.block_slots, args.group, values + row * args.head_dim, args.head_dim, args.output);
    }
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

// The widest vectors whose lanes divide the head size.
template <class T>
void attend_any_size(const DecodeAttentionArgs& args) {
  const hn::CappedTag<float, 16> d16;
  const hn::CappedTag<float, 8> d8;
  const hn::CappedTag<float, 4> d4;
  const auto divides = [&](std::size_t lanes) { return args.head_dim % static_cast<std::int64_t>(lanes) == 0; };
  if (divides(hn::Lanes(d16))) return attend<decltype(d16), T>(d16, args);
  if (divides(hn::Lanes(d8))) return attend<decltype(d8), T>(d8, args);
  if (divides(hn::Lanes(d4))) return attend<decltype(d4), T>(d4, args);
  return attend<hn::CappedTag<float, 1>, T>(hn::CappedTag<float, 1>(), args);
}

void decode_attention(const DecodeAttentionArgs& args) {
  if (args.narrow) return attend_any_size<std::int8_t>(args);
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
