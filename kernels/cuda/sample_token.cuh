// The device code of sample_token; launched by sample_token.cu, run on CPU threads in tests (tests/kernels/cuda_on_cpu.h).
//
// A thread block finds the best key of a chunk of ids. Greedy, one more takes the best of those. Else a thread block sorts each chunk and
// adds up its weights from the best on, and the last launch, one thread block, halves its way to the least key that top-k and top-p keep:
// how many of a chunk's keys are above any key, and what they weigh, is a search in the sorted chunk, so the vocabulary is never read
// again. Sums are integers, so the order of threads does not matter.
#pragma once

#include <cstdint>

#include "kernels/api/sample_token.h"
#include "kernels/reference/sample_weights.h"

namespace winnow::kernels::cuda {

constexpr int kChoiceThreads = 256;
constexpr int kChunk = static_cast<int>(kChoiceChunk);
constexpr int kChunkPart = kChunk / kChoiceThreads;  // of a thread
constexpr int kMostOwnChunks = static_cast<int>(kMaxChoices / kChoiceChunk) / kChoiceThreads;

// The threads of a block reduce in groups first: two barriers, behind which the next call may write again.
constexpr int kGroupThreads = 16;
constexpr int kGroups = kChoiceThreads / kGroupThreads;

struct ChooseLaunch {
  SampleTokenArgs args;
  double least_value;
  int chunks;
  std::uint64_t* bests;    // [chunks]
  std::uint64_t* keys;     // [chunks, kChunk], each chunk's from the best on
  std::uint64_t* weights;  // [chunks, kChunk], of a key and all before it
};

// args have been checked.
inline ChooseLaunch plan_launch(const SampleTokenArgs& args) {
  const std::int64_t chunks = choice_chunks(args.vocabulary);
  std::uint64_t* const keys = args.workspace + chunks;
  return {args, least_choice_value(args), static_cast<int>(chunks), args.workspace, keys, keys + chunks * kChoiceChunk};
}

__device__ inline std::uint64_t larger(std::uint64_t a, std::uint64_t b) { return a > b ? a : b; }

__device__ inline int chunk_size(const ChooseLaunch& launch, int chunk) {
  const std::int64_t left = launch.args.vocabulary - std::int64_t{chunk} * kChunk;
  return left < kChunk ? static_cast<int>(left) : kChunk;
}

// The greatest of the block's threads, in all of them.
__device__ inline std::uint64_t block_best(std::uint64_t own) {
  __shared__ std::uint64_t bests[kChoiceThreads];
  __shared__ std::uint64_t of_groups[kGroups];
  const int thread = static_cast<int>(threadIdx.x);
  bests[thread] = own;
  __syncthreads();
  if (thread < kGroups) {
    for (int i = thread + kGroups; i < kChoiceThreads; i += kGroups) own = larger(own, bests[i]);
    of_groups[thread] = own;
  }
  __syncthreads();
  std::uint64_t best = 0;
  for (int group = 0; group < kGroups; ++group) best = larger(best, of_groups[group]);
  return best;
}

struct BlockSum {
  std::uint64_t before;  // what the threads before this one have
  std::uint64_t total;
};

__device__ inline BlockSum block_sum(std::uint64_t own) {
  __shared__ std::uint64_t sums[kChoiceThreads];
  __shared__ std::uint64_t of_groups[kGroups];
  const int thread = static_cast<int>(threadIdx.x);
  const int own_group = thread / kGroupThreads;
  sums[thread] = own;
  __syncthreads();
  BlockSum sum = {};
  for (int i = own_group * kGroupThreads; i < thread; ++i) sum.before += sums[i];
  if (thread % kGroupThreads == kGroupThreads - 1) of_groups[own_group] = sum.before + own;
  __syncthreads();
  for (int group = 0; group < kGroups; ++group) {
    if (group < own_group) sum.before += of_groups[group];
    sum.total += of_groups[group];
  }
  return sum;
}

__device__ inline std::uint64_t best_of_all(const ChooseLaunch& launch) {
  std::uint64_t best = 0;
  for (int chunk = static_cast<int>(threadIdx.x); chunk < launch.chunks; chunk += kChoiceThreads) best = larger(best, launch.bests[chunk]);
  return block_best(best);
}

// Threads: kChoiceThreads; grid: chunks.
__global__ void __launch_bounds__(kChoiceThreads) find_best(ChooseLaunch launch) {
  const SampleTokenArgs& args = launch.args;
  const int chunk = static_cast<int>(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{chunk} * kChunk;
  const int size = chunk_size(launch, chunk);
  for (std::int64_t i = thread; i < args.fresh_count; i += kChoiceThreads) {
    const std::int64_t id = args.fresh[i];
    if (id >= first && id < first + size) args.seen[id] = 1;
  }
  __syncthreads();
  std::uint64_t best = 0;
  for (int i = thread; i < size; i += kChoiceThreads) best = larger(best, choice_key(args, first + i));
  best = block_best(best);
  if (thread == 0) launch.bests[chunk] = best;
}

// Threads: kChoiceThreads; grid: 1.
__global__ void __launch_bounds__(kChoiceThreads) take_best(ChooseLaunch launch) {
  const std::uint64_t best = best_of_all(launch);
  if (threadIdx.x == 0) *launch.args.choice = choice_of_best(best);
}

// Threads: kChoiceThreads; grid: chunks.
__global__ void __launch_bounds__(kChoiceThreads) sort_chunk(ChooseLaunch launch) {
  __shared__ std::uint64_t keys[kChunk];
  const std::uint64_t best = best_of_all(launch);
  if (choice_of_best(best) < 0) return;  // all threads
  const int chunk = static_cast<int>(blockIdx.x);
  const int thread = static_cast<int>(threadIdx.x);
  const std::int64_t first = std::int64_t{chunk} * kChunk;
  const int size = chunk_size(launch, chunk);
  for (int i = thread; i < kChunk; i += kChoiceThreads) keys[i] = i < size ? choice_key(launch.args, first + i) : 0;
  // Bitonic: runs of alternating order are merged into runs of twice the length.
  for (int run = 2; run <= kChunk; run *= 2) {
    for (int step = run / 2; step > 0; step /= 2) {
      __syncthreads();
      for (int pair = thread; pair < kChunk / 2; pair += kChoiceThreads) {
        const int i = pair / step * 2 * step + pair % step;
        const bool falling = (i & run) == 0;
        const std::uint64_t a = keys[i];
        const std::uint64_t b = keys[i + step];
        if ((a < b) == falling) {
          keys[i] = b;
          keys[i + step] = a;
        }
      }
    }
  }
  __syncthreads();
  std::uint64_t sums[kChunkPart];
  std::uint64_t own = 0;
#pragma unroll
  for (int i = 0; i < kChunkPart; ++i) {
    const int place = thread * kChunkPart + i;
    if (place < size) own += choice_weight(choice_value(keys[place], best, launch.args.temperature));
    sums[i] = own;
  }
  const std::uint64_t before = block_sum(own).before;
#pragma unroll
  for (int i = 0; i < kChunkPart; ++i) {
    const int place = thread * kChunkPart + i;
    launch.keys[first + place] = keys[place];
    launch.weights[first + place] = before + sums[i];
  }
}

// The chunks of a thread of the last launch, which are neighbours: how many of a chunk's keys, the best ones, are kept.
struct OwnChunks {
  int first;
  int count;
  int kept[kMostOwnChunks];
};

__device__ inline OwnChunks own_chunks(const ChooseLaunch& launch) {
  const int each = (launch.chunks + kChoiceThreads - 1) / kChoiceThreads;
  OwnChunks own = {};
  own.first = min(static_cast<int>(threadIdx.x) * each, launch.chunks);
  own.count = min(each, launch.chunks - own.first);
#pragma unroll
  for (int i = 0; i < kMostOwnChunks; ++i) own.kept[i] = i < own.count ? chunk_size(launch, own.first + i) : 0;
  return own;
}

// The weight of a chunk's first `count` keys.
__device__ inline std::uint64_t weight_of(const ChooseLaunch& launch, int chunk, int count) {
  return count == 0 ? 0 : launch.weights[chunk * kChunk + count - 1];
}

__device__ inline std::uint64_t kept_weight(const ChooseLaunch& launch, const OwnChunks& own) {
  std::uint64_t sum = 0;
#pragma unroll
  for (int i = 0; i < kMostOwnChunks; ++i) sum += weight_of(launch, own.first + i, own.kept[i]);
  return sum;
}

// The first place in [low, high) of a chunk whose key keeps(key), which is true of the better ones, is false for; high where there is none.
template <class Keeps>
__device__ inline int first_dropped(const ChooseLaunch& launch, int chunk, int low, int high, const Keeps& keeps) {
  while (low < high) {
    const int middle = (low + high) / 2;
    if (keeps(launch.keys[chunk * kChunk + middle])) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Keeps the keys from X on, X being the greatest for which they reach what is wanted: reaches(the sum of of(chunk, how many of its keys)).
// Bits of X below `last` are 0.
template <class Of, class Reaches>
__device__ inline void keep_what_reaches(const ChooseLaunch& launch, OwnChunks& own, int last, const Of& of, const Reaches& reaches) {
  int surely_kept[kMostOwnChunks] = {};
  std::uint64_t least = 0;
  for (int bit = kChoiceKeyBits - 1; bit >= last; --bit) {
    const std::uint64_t trial = least | std::uint64_t{1} << bit;
    int above[kMostOwnChunks];
    std::uint64_t sum = 0;
#pragma unroll
    for (int i = 0; i < kMostOwnChunks; ++i) {
      const int chunk = own.first + i;
      above[i] = first_dropped(launch, chunk, surely_kept[i], own.kept[i], [&](std::uint64_t key) { return key >= trial; });
      sum += of(chunk, above[i]);
    }
    const bool reached = reaches(block_sum(sum).total);
    if (reached) least = trial;
#pragma unroll
    for (int i = 0; i < kMostOwnChunks; ++i) {
      if (reached) {
        own.kept[i] = above[i];
      } else {
        surely_kept[i] = above[i];
      }
    }
  }
}

__device__ inline void keep_top_k(const ChooseLaunch& launch, OwnChunks& own) {
  const auto k = static_cast<std::uint64_t>(launch.args.top_k);
  if (k == 0 || launch.args.top_k >= launch.args.vocabulary) return;
  keep_what_reaches(
      launch, own, kChoiceIdBits, [](int /*chunk*/, int count) { return static_cast<std::uint64_t>(count); },
      [&](std::uint64_t kept) { return kept >= k; });
}

__device__ inline void keep_top_p(const ChooseLaunch& launch, OwnChunks& own) {
  if (launch.args.top_p >= 1.0) return;
  const double limit = launch.args.top_p * static_cast<double>(block_sum(kept_weight(launch, own)).total);
  keep_what_reaches(
      launch, own, 0, [&](int chunk, int count) { return weight_of(launch, chunk, count); },
      // The best one weighs the most: where that is enough, no other is kept.
      [&](std::uint64_t weight) { return weight > 0 && static_cast<double>(weight) >= limit; });
}

__device__ inline void keep_min_p(const ChooseLaunch& launch, OwnChunks& own, std::uint64_t best) {
  if (launch.args.min_p == 0.0) return;
#pragma unroll
  for (int i = 0; i < kMostOwnChunks; ++i) {
    own.kept[i] = first_dropped(launch, own.first + i, 0, own.kept[i],
                                [&](std::uint64_t key) { return choice_value(key, best, launch.args.temperature) >= launch.least_value; });
  }
}

// Threads: kChoiceThreads; grid: 1.
__global__ void __launch_bounds__(kChoiceThreads) draw_token(ChooseLaunch launch) {
  __shared__ std::uint64_t weights[kChunk];  // of the chunk that the draw falls into, by id
  __shared__ int chosen_chunk;
  __shared__ int chosen_kept;
  __shared__ std::uint64_t before_chosen;
  const int thread = static_cast<int>(threadIdx.x);
  const std::uint64_t best = best_of_all(launch);
  if (choice_of_best(best) < 0) {  // all threads
    if (thread == 0) *launch.args.choice = choice_of_best(best);
    return;
  }
  OwnChunks own = own_chunks(launch);
  keep_top_k(launch, own);
  keep_top_p(launch, own);
  keep_min_p(launch, own, best);

  // Sums that the draw does not exceed come before those that it does: one chunk, and one id of it, is where that changes.
  const BlockSum sum = block_sum(kept_weight(launch, own));
  const double target = launch.args.uniform * static_cast<double>(sum.total);
  const auto beyond = [&](std::uint64_t weight) { return static_cast<double>(weight) > target; };
  std::uint64_t running = sum.before;
#pragma unroll
  for (int i = 0; i < kMostOwnChunks; ++i) {
    const std::uint64_t more = running + weight_of(launch, own.first + i, own.kept[i]);
    if (beyond(more) && !beyond(running)) {
      chosen_chunk = own.first + i;
      chosen_kept = own.kept[i];
      before_chosen = running;
    }
    running = more;
  }
  for (int i = thread; i < kChunk; i += kChoiceThreads) weights[i] = 0;
  __syncthreads();
  for (int i = thread; i < chosen_kept; i += kChoiceThreads) {
    const std::int64_t id = choice_id(launch.keys[chosen_chunk * kChunk + i]);
    weights[id % kChunk] = weight_of(launch, chosen_chunk, i + 1) - weight_of(launch, chosen_chunk, i);
  }
  __syncthreads();
  std::uint64_t part = 0;
#pragma unroll
  for (int i = 0; i < kChunkPart; ++i) part += weights[thread * kChunkPart + i];
  running = before_chosen + block_sum(part).before;
#pragma unroll
  for (int i = 0; i < kChunkPart; ++i) {
    const std::uint64_t more = running + weights[thread * kChunkPart + i];
    if (beyond(more) && !beyond(running)) *launch.args.choice = std::int64_t{chosen_chunk} * kChunk + thread * kChunkPart + i;
    running = more;
  }
}

}  // namespace winnow::kernels::cuda
