// The definition of correct: slot by slot, sums in double.
#include "kernels/api/cuda_nearest_slots.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "kernels/reference/check_leaving_slots.h"
#include "kernels/reference/element.h"

namespace winnow::kernels {
namespace {

struct Row {
  const void* block;
  std::int64_t first;
};

Row row_of(const void* const* blocks, std::int64_t slot, const CudaNearestSlotsArgs& args) {
  return {blocks[slot / args.block_slots], slot % args.block_slots * args.head_dim};
}

double product(const Row& a, const Row& b, const CudaNearestSlotsArgs& args) {
  double sum = 0.0;
  for (std::int64_t i = 0; i < args.head_dim; ++i)
    sum += static_cast<double>(element(a.block, args.type, a.first + i)) * element(b.block, args.type, b.first + i);
  return sum;
}

double length(const Row& row, const CudaNearestSlotsArgs& args) {
  return std::max<double>(std::sqrt(product(row, row, args)), kLeastKeyLength);
}

double cosine(const void* const* blocks, std::int64_t a, std::int64_t b, const CudaNearestSlotsArgs& args) {
  const Row first = row_of(blocks, a, args);
  const Row second = row_of(blocks, b, args);
  return product(first, second, args) / length(first, args) / length(second, args);
}

bool takes_part(const SimilarAsked& asked, std::int64_t slot) {
  if (slot == asked.slot) return false;
  return asked.among == nullptr || (asked.among[slot / kNearestSlotWordSlots] >> (slot % kNearestSlotWordSlots) & 1U) != 0;
}

}  // namespace

LaunchStatus cuda_nearest_slots_reference(const CudaNearestSlotsArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  for (std::int64_t i = 0; i < args.count; ++i) {
    const SimilarAsked& asked = args.asked[i];
    for (std::int64_t part = 0; part < args.parts; ++part) {
      SimilarFound found;
      const std::int64_t end = std::min<std::int64_t>(asked.slots, (part + 1) * kNearestSlotPart);
      for (std::int64_t slot = part * kNearestSlotPart; slot < end; ++slot) {
        if (!takes_part(asked, slot)) continue;
        double both = cosine(asked.key_blocks, asked.slot, slot, args);
        if (asked.value_blocks != nullptr) both *= cosine(asked.value_blocks, asked.slot, slot, args);
        const auto similarity = static_cast<float>(both);
        if (std::isnan(similarity)) continue;
        if (found.slot < 0 || similarity > found.similarity) {
          found = {similarity, static_cast<std::int32_t>(slot), 1};
        } else if (similarity == found.similarity) {
          ++found.count;
        }
      }
      args.found[i * args.parts + part] = found;
    }
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
