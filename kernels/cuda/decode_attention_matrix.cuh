// Decode attention of 16-bit elements on the tensor cores (tensor_core.cuh); launched by decode_attention.cu in place of attend_part where
// the head size is 64, 128 or 256. Run on CPU threads in tests.
//
// A warp takes kStep slots at a time; what the four warps of a thread block found is joined in shared memory at the end. For each step
//   1. logits: A is the queries of up to 8 heads, B the keys of 8 slots. An element of a product may stand anywhere in its sum: lane t of
//      four takes elements [8t, 8t + 8) of every 32 by one load, and queries lie in A as keys lie in B;
//   2. online softmax in registers: a row of the tile is a head, whose slots lie in four neighbouring lanes;
//   3. output: A is the probabilities, rounded to T in rows 0 to 7 and what the rounding took away in rows 8 to 15, so that the sums of
//      both have 16 bits and more of them; B is the values of 16 slots: lane (g, t) takes elements [8g, 8g + 8) of every 64, of four slots.
// K and V go from memory to registers, every load 16 bytes, all loads of a step under way at once where registers suffice.
#pragma once

#include "kernels/cuda/decode_attention.cuh"
#include "kernels/cuda/tensor_core.cuh"

namespace winnow::kernels::cuda {

// True if attend_matrix_part<T, head_dim> is there and may read these.
template <class T>
bool takes_tensor_core(const DecodeLaunch& launch) {
  return sizeof(T) == 2 && (launch.head_dim == 64 || launch.head_dim == 128 || launch.head_dim == 256) && is_aligned(launch.query);
}

template <int kHeadDim>
inline constexpr bool kFits = kHeadDim <= 128;  // keys and values of a step into registers at the same time
template <int kHeadDim>
inline constexpr int kStep = kFits<kHeadDim> ? 32 : 16;  // slots of a warp's step

template <class T, int kHeadDim>
__global__ void __launch_bounds__(kThreads, kFits<kHeadDim> ? 2 : 1) attend_matrix_part(DecodeLaunch args) {
  let_next_begin();
  wait_for_earlier();
  constexpr int kSlots = kStep<kHeadDim>;
  constexpr int kKeyTiles = kSlots / 8;       // slots that B has
  constexpr int kKeyLoads = kHeadDim / 32;    // of a lane, for a key
  constexpr int kValueTiles = kSlots / 16;    // slots that B has
  constexpr int kValueLoads = kHeadDim / 64;  // of a lane, for a value
  using Words = Pack<unsigned, 4>;            // 8 elements
  __shared__ float outputs[kWarps * kHeads * kHeadDim];
  __shared__ float maxima[kWarps * kHeads];
  __shared__ float sums[kWarps * kHeads];
  __shared__ float weights[kWarps * kHeads];

  const int thread = static_cast<int>(threadIdx.x);
  const int warp = thread / 32;
  const int row = thread % 32 / 4;     // g: of the tile, a head; or a slot of B
  const int column = thread % 32 % 4;  // t
  const PartOfHeads own = own_part(args);
  const int kv_head = own.kv_head;
  const int heads = own.heads;
  const int begin = own.part * args.part_rows;
  const int end = min(slots_of(args, kv_head), begin + args.part_rows);
  if (begin >= end) return;  // a shorter head than others; the whole thread block returns
  const std::int64_t global_head = own.first_head;
  const void* const* key_blocks = args.key_blocks + kv_head * args.table_stride;
  const void* const* value_blocks = args.value_blocks + kv_head * args.table_stride;

  Words query[kKeyLoads] = {};
  if (row < heads) {
    const auto* from = reinterpret_cast<const unsigned*>(static_cast<const T*>(args.query) + (global_head + row) * kHeadDim);
#pragma unroll
    for (int i = 0; i < kKeyLoads; ++i) query[i] = load<4>(from + 16 * i + 4 * column);
  }
  float output[kValueLoads][8][4] = {};  // [64 elements][element of 8][D of the tensor core]
  float highest = minus_infinity();      // of the head `row`
  float sum = 0.0F;                      // of this lane's slots

  for (int tile = begin + warp * kSlots; tile < end; tile += kWarps * kSlots) {
    const int count = min(kSlots, end - tile);
    const int block = tile / args.block_slots;
    const std::int64_t offset = static_cast<std::int64_t>(tile % args.block_slots) * kHeadDim;
    const auto* keys = reinterpret_cast<const unsigned*>(static_cast<const T*>(key_blocks[block]) + offset);
    const auto* values = reinterpret_cast<const unsigned*>(static_cast<const T*>(value_blocks[block]) + offset);
    const auto begin_of = [&](int slot) { return min(slot, count - 1) * (kHeadDim / 2); };  // past the end: any slot

    Words key[kKeyTiles][kKeyLoads];
    Words value[kValueTiles][4][kValueLoads];
#pragma unroll
    for (int n = 0; n < kKeyTiles; ++n) {
#pragma unroll
      for (int i = 0; i < kKeyLoads; ++i) key[n][i] = load<4>(keys + begin_of(8 * n + row) + 16 * i + 4 * column);
    }
    const auto load_values = [&] {
#pragma unroll
      for (int n = 0; n < kValueTiles; ++n) {
#pragma unroll
        for (int r = 0; r < 4; ++r) {  // slots 2t, 2t + 1, 2t + 8, 2t + 9
          const int slot = 16 * n + 2 * column + r % 2 + r / 2 * 8;
#pragma unroll
          for (int i = 0; i < kValueLoads; ++i) value[n][r][i] = load<4>(values + begin_of(slot) + 32 * i + 4 * row);
        }
      }
    };
    if constexpr (kFits<kHeadDim>) load_values();

    float logits[kKeyTiles][4] = {};
#pragma unroll
    for (int i = 0; i < kKeyLoads; ++i) {
#pragma unroll
      for (int half = 0; half < 4; half += 2) {
        const unsigned a[4] = {query[i].values[half], 0U, query[i].values[half + 1], 0U};
#pragma unroll
        for (int n = 0; n < kKeyTiles; ++n) {
          const unsigned b[2] = {key[n][i].values[half], key[n][i].values[half + 1]};
          multiply_add(T(), logits[n], a, b);
        }
      }
    }

    if constexpr (!kFits<kHeadDim>) load_values();

    const float before = highest;
#pragma unroll
    for (int n = 0; n < kKeyTiles; ++n) {
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const int slot = 8 * n + 2 * column + c;
        logits[n][c] = slot < count ? logits[n][c] * args.scale : minus_infinity();
        if (args.logits != nullptr && row < heads && slot < count)
          args.logits[(global_head + row) * args.logit_stride + tile + slot] = logits[n][c];
        highest = fmaxf(highest, logits[n][c]);
      }
    }
    highest = fmaxf(highest, __shfl_xor_sync(0xFFFFFFFFU, highest, 1));
    highest = fmaxf(highest, __shfl_xor_sync(0xFFFFFFFFU, highest, 2));
    const float factor = expf(before - highest);
    sum *= factor;
    unsigned rounded[kKeyTiles];  // two slots of the head
    unsigned rest[kKeyTiles];
#pragma unroll
    for (int n = 0; n < kKeyTiles; ++n) {
      T high[2];
      T low[2];
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const float probability = 8 * n + 2 * column + c < count ? expf(logits[n][c] - highest) : 0.0F;
        sum += probability;
        narrow(probability, high[c]);
        narrow(probability - upcast(high[c]), low[c]);
      }
      rounded[n] = paired(high[0], high[1]);
      rest[n] = paired(low[0], low[1]);
    }
#pragma unroll
    for (int i = 0; i < kValueLoads; ++i) {
#pragma unroll
      for (int e = 0; e < 8; ++e) {
#pragma unroll
        for (int c = 0; c < 4; ++c) output[i][e][c] *= factor;
      }
    }
#pragma unroll
    for (int n = 0; n < kValueTiles; ++n) {
      const unsigned a[4] = {rounded[2 * n], rest[2 * n], rounded[2 * n + 1], rest[2 * n + 1]};
#pragma unroll
      for (int i = 0; i < kValueLoads; ++i) {
#pragma unroll
        for (int e = 0; e < 8; ++e) {  // two slots' element e of 8 become a pair
          const unsigned halves = e % 2 == 0 ? 0x5410U : 0x7632U;
          const unsigned b[2] = {__byte_perm(value[n][0][i].values[e / 2], value[n][1][i].values[e / 2], halves),
                                 __byte_perm(value[n][2][i].values[e / 2], value[n][3][i].values[e / 2], halves)};
          multiply_add(T(), output[i][e], a, b);
        }
      }
    }
  }

  sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 1);
  sum += __shfl_xor_sync(0xFFFFFFFFU, sum, 2);
  if (column == 0) {
    maxima[warp * kHeads + row] = highest;
    sums[warp * kHeads + row] = sum;
  }
  float* const of_row = outputs + (warp * kHeads + row) * kHeadDim;
#pragma unroll
  for (int i = 0; i < kValueLoads; ++i) {
#pragma unroll
    for (int c = 0; c < 2; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e) of_row[64 * i + 8 * (2 * column + c) + e] = output[i][e][c] + output[i][e][c + 2];
    }
  }
  __syncthreads();
  if (thread < heads) {
    float whole = maxima[thread];
#pragma unroll
    for (int w = 1; w < kWarps; ++w) whole = fmaxf(whole, maxima[w * kHeads + thread]);
    float total = 0.0F;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) {
      const float weight = begin + w * kSlots < end ? expf(maxima[w * kHeads + thread] - whole) : 0.0F;  // 0: it had nothing to do
      weights[w * kHeads + thread] = weight;
      total = fmaf(weight, sums[w * kHeads + thread], total);
    }
#pragma unroll
    for (int w = 0; w < kWarps; ++w) weights[w * kHeads + thread] /= total;
    store_log_sum_exp(args, own, thread, whole + logf(total));
  }
  __syncthreads();
  for (int i = thread; i < heads * kHeadDim; i += kThreads) {
    const int head = i / kHeadDim;
    float value = 0.0F;
#pragma unroll
    for (int w = 0; w < kWarps; ++w) value = fmaf(weights[w * kHeads + head], outputs[w * kHeads * kHeadDim + i], value);
    if (args.direct) {
      narrow(value, static_cast<T*>(args.output)[global_head * kHeadDim + i]);
    } else {
      args.part_output[((global_head + head) * args.parts + own.part) * kHeadDim + i % kHeadDim] = value;
    }
  }
}

}  // namespace winnow::kernels::cuda
