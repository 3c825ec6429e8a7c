// The definition of correct: slot by slot, sums in double.
#include "kernels/api/cuda_nearest_slots.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "kernels/api/cuda_unit_keys.h"
#include "kernels/reference/check_slots.h"
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

// The definition of correct: key by key, in double.
LaunchStatus cuda_unit_keys_reference(const CudaUnitKeysArgs& args) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const auto half = static_cast<std::size_t>(args.head_dim / 2);
  std::vector<double> key(static_cast<std::size_t>(args.head_dim));
  for (std::int64_t i = 0; i < args.count; ++i) {
    const UnitKey& one = args.keys[i];
    for (std::size_t c = 0; c < key.size(); ++c) key[c] = element(one.key, args.type, static_cast<std::int64_t>(c));
    for (std::size_t c = 0; args.frequencies != nullptr && c < half; ++c) {
      const double angle = one.rotation * args.frequencies[c];  // rounded to fp32, as positions are rotated everywhere
      const double low = key[c];
      const double high = key[half + c];
      key[c] = low * std::cos(angle) - high * std::sin(angle);
      key[half + c] = high * std::cos(angle) + low * std::sin(angle);
    }
    double squares = 0.0;
    for (const double number : key) squares += number * number;
    args.lengths[i] = static_cast<float>(std::sqrt(squares));
    const double length = std::max<double>(args.lengths[i], kLeastKeyLength);
    for (std::size_t c = 0; c < key.size(); ++c)
      set_element(one.key, args.type, static_cast<std::int64_t>(c), static_cast<float>(key[c] / length));
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
