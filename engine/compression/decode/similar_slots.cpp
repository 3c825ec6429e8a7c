#include "engine/compression/decode/similar_slots.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"
#include "engine/kv_cache/element_type.h"

namespace winnow {
namespace {

MergePair most_similar_of(const KvCache& cache, const LeavingSlotOf& leaving) {
  const auto [layer, head, slot] = leaving;
  const std::span<const std::int32_t> original = cache.original(layer, head);
  const at::Tensor key = cache.row_views(layer, head, slot).first.to(at::kFloat);
  const at::Tensor unit = key / key.norm().clamp_min(kernels::kLeastKeyLength);
  std::int64_t best = -1;
  float best_cosine = 0.0F;
  std::int64_t first = 0;
  // A GPU takes all at once: launches and waits for every block cost more than the copy.
  const bool in_blocks = cache.shape().device.is_cpu();
  for (std::int64_t block = 0; block < (in_blocks ? KvCache::blocks_for(cache.slots(layer, head)) : 1); ++block) {
    const at::Tensor rows = in_blocks ? cache.block_view(layer, head, KvPart::kKeys, block) : cache.gather_keys(layer, head);
    const at::Tensor keys = rows.to(at::kFloat);
    const at::Tensor norms = at::linalg_vector_norm(keys, 2, at::IntArrayRef{1}).clamp_min(kernels::kLeastKeyLength);
    const at::Tensor cosines = at::mv(keys, unit).div_(norms).to(at::kCPU).contiguous();
    const float* values = cosines.const_data_ptr<float>();
    for (std::int64_t i = 0; i < cosines.size(0); ++i) {
      const std::int64_t other = first + i;
      if (other == slot) continue;
      const bool older_tie =
          best >= 0 && values[i] == best_cosine && original[static_cast<std::size_t>(other)] < original[static_cast<std::size_t>(best)];
      if (best < 0 || values[i] > best_cosine || older_tie) {
        best = other;
        best_cosine = values[i];
      }
    }
    first += keys.size(0);
  }
  return {static_cast<std::int32_t>(slot), static_cast<std::int32_t>(best), best_cosine};
}

// What the parts of each head found, part after part.
std::vector<kernels::SimilarFound> found_on_device(const KvCache& cache, std::span<const LeavingSlotOf> leaving, std::int64_t parts) {
  const KvShape& shape = cache.shape();
  std::vector<kernels::SimilarAsked> asked;
  for (const LeavingSlotOf& one : leaving) {
    const DeviceBlocks blocks = cache.device_blocks(one.layer);
    asked.push_back({blocks.key_blocks + one.head * blocks.stride, static_cast<std::int32_t>(cache.slots(one.layer, one.head)),
                     static_cast<std::int32_t>(one.slot)});
  }
  static_assert(sizeof(kernels::SimilarAsked) % sizeof(std::int64_t) == 0);
  std::vector<std::int64_t> words(asked.size() * sizeof(kernels::SimilarAsked) / sizeof(std::int64_t));
  std::memcpy(words.data(), asked.data(), asked.size() * sizeof(kernels::SimilarAsked));
  const at::Tensor there = numbers_on(shape.device, words);
  constexpr std::int64_t kFoundWords = sizeof(kernels::SimilarFound) / sizeof(std::int32_t);
  const at::Tensor answers = at::empty({std::ssize(leaving) * parts * kFoundWords}, there.options().dtype(at::kInt));

  kernels::CudaSimilarSlotsArgs args;
  args.type = element_type(shape.row_type());
  args.head_dim = shape.head_dim;
  args.block_slots = KvCache::kBlockSlots;
  args.count = std::ssize(leaving);
  args.parts = parts;
  args.asked = reinterpret_cast<const kernels::SimilarAsked*>(there.const_data_ptr<std::int64_t>());
  args.found = reinterpret_cast<kernels::SimilarFound*>(answers.mutable_data_ptr<std::int32_t>());
  require_launched(cuda_plugin().similar_slots(&args), "the similarity of slots");
  const at::Tensor host = answers.to(at::kCPU);
  const auto* const first = reinterpret_cast<const kernels::SimilarFound*>(host.const_data_ptr<std::int32_t>());
  return {first, first + std::ssize(leaving) * parts};
}

std::vector<MergePair> most_similar_on_device(const KvCache& cache, std::span<const LeavingSlotOf> leaving) {
  std::int64_t longest = 1;
  for (const LeavingSlotOf& one : leaving) longest = std::max(longest, cache.slots(one.layer, one.head));
  const std::int64_t parts = (longest + kernels::kSimilarPart - 1) / kernels::kSimilarPart;
  const std::vector<kernels::SimilarFound> found = found_on_device(cache, leaving, parts);
  std::vector<MergePair> pairs;
  for (std::size_t i = 0; i < leaving.size(); ++i) {
    kernels::SimilarFound best;
    for (const kernels::SimilarFound& part :
         std::span(found).subspan(i * static_cast<std::size_t>(parts), static_cast<std::size_t>(parts))) {
      if (part.slot < 0) continue;
      if (best.slot < 0 || part.cosine > best.cosine) {
        best = part;
      } else if (part.cosine == best.cosine) {
        best.count += part.count;
      }
    }
    // Which of several is the oldest token the device does not know.
    pairs.push_back(best.count > 1 ? most_similar_of(cache, leaving[i])
                                   : MergePair{static_cast<std::int32_t>(leaving[i].slot), best.slot, best.cosine});
  }
  return pairs;
}

}  // namespace

std::vector<MergePair> most_similar(const KvCache& cache, std::span<const LeavingSlotOf> leaving) {
  if (leaving.empty()) return {};
  if (!cache.shape().device.is_cpu()) return most_similar_on_device(cache, leaving);
  std::vector<MergePair> pairs;
  for (const LeavingSlotOf& one : leaving) pairs.push_back(most_similar_of(cache, one));
  return pairs;
}

}  // namespace winnow
