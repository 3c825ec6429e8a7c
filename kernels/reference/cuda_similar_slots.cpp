// The definition of correct: slot by slot, sums in double.
#include "kernels/api/cuda_similar_slots.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/reference/check_leaving_slots.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {
namespace {

struct Key {
  const void* block;
  std::int64_t first;
};

Key key_of(const SimilarAsked& asked, std::int64_t slot, const CudaSimilarSlotsArgs& args) {
  return {asked.key_blocks[slot / args.block_slots], slot % args.block_slots * args.head_dim};
}

double product(const Key& a, const Key& b, const CudaSimilarSlotsArgs& args) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < args.head_dim; ++i)
    sum += static_cast<double>(element(a.block, args.type, a.first + i)) * element(b.block, args.type, b.first + i);
  return sum;
}

double length(const Key& key, const CudaSimilarSlotsArgs& args) {
  return std::max<double>(std::sqrt(product(key, key, args)), kLeastKeyLength);
}

}  // namespace

LaunchStatus cuda_similar_slots_reference(const CudaSimilarSlotsArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t i = 0; i < args.count; ++i) {
    const SimilarAsked& asked = args.asked[i];
    const Key leaving = key_of(asked, asked.slot, args);
    for (std::int64_t part = 0; part < args.parts; ++part) {
      SimilarFound found;
      const std::int64_t end = std::min<std::int64_t>(asked.slots, (part + 1) * kSimilarPart);
      for (std::int64_t slot = part * kSimilarPart; slot < end; ++slot) {
        if (slot == asked.slot) continue;
        const Key other = key_of(asked, slot, args);
        const auto cosine = static_cast<float>(product(leaving, other, args) / length(leaving, args) / length(other, args));
        if (std::isnan(cosine)) continue;
        if (found.slot < 0 || cosine > found.cosine) {
          found = {cosine, static_cast<std::int32_t>(slot), 1};
        } else if (cosine == found.cosine) {
          ++found.count;
        }
      }
      args.found[i * args.parts + part] = found;
    }
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
