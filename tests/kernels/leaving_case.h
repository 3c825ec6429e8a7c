// Slots of some heads that leave, at random: who is similar, what moves and flows, keys brought to length 1. Copied to where the
// operators run (cuda/runner.h); with host pointers for the references.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/api/cuda_change_slots.h"
#include "kernels/api/cuda_nearest_slots.h"
#include "kernels/api/cuda_unit_keys.h"
#include "kernels/reference/element.h"
#include "tests/kernels/narrow.h"

namespace winnow::kernels::testing {

inline std::vector<std::byte> random_rows(ElementType type, std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  std::vector<std::byte> memory(static_cast<std::size_t>(count) * element_bytes(type));
  for (std::int64_t i = 0; i < count; ++i) set_element(memory.data(), type, i, normal(random));
  return memory;
}

// Heads with a slot each that leaves; every other head compares values, too, and not all of its slots take part. Rows lie block after block
// in one array of keys and one of values; in every head two slots are the same as the one that leaves.
class SimilarCase {
 public:
  static constexpr std::int64_t kBlockSlots = 64;

  SimilarCase(ElementType type, std::int64_t head_dim, std::vector<std::int32_t> slots)
      : type(type), head_dim(head_dim), slots(std::move(slots)) {
    for (const std::int32_t count : this->slots) {
      first_block.push_back(blocks);
      blocks += (count + kBlockSlots - 1) / kBlockSlots;
      longest = std::max<std::int64_t>(longest, count);
    }
    keys = random_rows(type, blocks * kBlockSlots * head_dim, static_cast<unsigned>(head_dim + blocks));
    values = random_rows(type, blocks * kBlockSlots * head_dim, static_cast<unsigned>(head_dim + blocks + 1));
    among.assign(static_cast<std::size_t>(blocks * kBlockWords), 0xB5ADD3B7U);
    for (std::size_t head = 0; head < this->slots.size(); ++head) {
      const std::int32_t count = this->slots[head];
      leaving.push_back(count / 3);
      if (count < 8) continue;
      copy_row(head, count / 3, count / 2);
      copy_row(head, count / 3, count - 1);
    }
  }

  std::int64_t parts() const { return (longest + kNearestSlotPart - 1) / kNearestSlotPart; }

  // rows_at: where keys or values lie; tables: pointers to their blocks, which the asked ones point into.
  std::vector<const void*> table(const std::byte* rows_at) const {
    std::vector<const void*> pointers;
    for (std::int64_t block = 0; block < blocks; ++block)
      pointers.push_back(rows_at + static_cast<std::size_t>(block * kBlockSlots * head_dim) * element_bytes(type));
    return pointers;
  }
  std::vector<SimilarAsked> asked(const void* const* keys_at, const void* const* values_at, const std::uint32_t* among_at) const {
    std::vector<SimilarAsked> all;
    for (std::size_t head = 0; head < slots.size(); ++head) {
      const bool both = head % 2 == 1;
      all.push_back({keys_at + first_block[head], both ? values_at + first_block[head] : nullptr,
                     both ? among_at + first_block[head] * kBlockWords : nullptr, slots[head], leaving[head]});
    }
    return all;
  }
  CudaNearestSlotsArgs args(const SimilarAsked* asked_at, SimilarFound* found_at) const {
    return {type, head_dim, kBlockSlots, static_cast<std::int64_t>(slots.size()), parts(), asked_at, found_at};
  }

  void expect_near(const std::vector<SimilarFound>& actual) const {
    const std::vector<const void*> of_keys = table(keys.data());
    const std::vector<const void*> of_values = table(values.data());
    const std::vector<SimilarAsked> questions = asked(of_keys.data(), of_values.data(), among.data());
    std::vector<SimilarFound> expected(actual.size());
    ASSERT_EQ(cuda_nearest_slots_reference(args(questions.data(), expected.data())), LaunchStatus::kOk);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(actual[i].slot < 0, expected[i].slot < 0) << i;
      if (expected[i].slot < 0) continue;
      ASSERT_NEAR(actual[i].similarity, expected[i].similarity, 1e-5) << i;
      if (actual[i].slot == expected[i].slot && actual[i].count == expected[i].count) continue;
      // Of rows that are not the same others may come as near, but for the last digits.
      ASSERT_LT(expected[i].similarity, 0.9999F) << i << ": slots " << actual[i].slot << " and " << expected[i].slot;
    }
  }

  ElementType type;
  std::int64_t head_dim;
  std::vector<std::int32_t> slots, leaving;
  std::vector<std::int64_t> first_block;
  std::vector<std::byte> keys, values;
  std::vector<std::uint32_t> among;  // of every block's slots
  std::int64_t blocks = 0, longest = 0;

 private:
  static constexpr std::int64_t kBlockWords = kBlockSlots / kNearestSlotWordSlots;

  void copy_row(std::size_t head, std::int32_t from, std::int32_t to) {
    const std::int64_t first = first_block[head] * kBlockSlots;
    for (std::vector<std::byte>* rows : {&keys, &values}) {
      for (std::int64_t i = 0; i < head_dim; ++i)
        set_element(rows->data(), type, (first + to) * head_dim + i,
                    static_cast<float>(element(rows->data(), type, (first + from) * head_dim + i)));
    }
    among[static_cast<std::size_t>((first + to) / kNearestSlotWordSlots)] |= 1U << (to % kNearestSlotWordSlots);
  }
};

// Keys at random, one after the other, and one that is nothing.
class UnitKeysCase {
 public:
  UnitKeysCase(ElementType type, std::int64_t head_dim, bool rotated, std::int64_t count)
      : type(type), head_dim(head_dim), count(count), rows(random_rows(type, count * head_dim, static_cast<unsigned>(head_dim))) {
    for (std::int64_t i = 0; i < head_dim; ++i) set_element(rows.data(), type, (count - 1) * head_dim + i, 0.0F);
    for (std::int64_t i = 0; rotated && i < head_dim / 2; ++i)
      frequencies.push_back(std::pow(10000.0F, -2.0F * static_cast<float>(i) / static_cast<float>(head_dim)));
  }

  std::vector<UnitKey> keys(std::byte* rows_at) const {
    std::vector<UnitKey> all;
    const auto bytes = static_cast<std::size_t>(head_dim) * element_bytes(type);
    for (std::int64_t i = 0; i < count; ++i)
      all.push_back({rows_at + static_cast<std::size_t>(i) * bytes, -static_cast<float>(i * 997 % 4000)});
    return all;
  }
  CudaUnitKeysArgs args(const UnitKey* keys_at, const float* frequencies_at, float* lengths_at) const {
    return {type, head_dim, count, keys_at, frequencies.empty() ? nullptr : frequencies_at, lengths_at};
  }

  // This case's rows become the reference's.
  void expect_near(const std::vector<std::byte>& actual, const std::vector<float>& actual_lengths) {
    const std::vector<UnitKey> all = keys(rows.data());
    std::vector<float> lengths(static_cast<std::size_t>(count));
    ASSERT_EQ(cuda_unit_keys_reference(args(all.data(), frequencies.data(), lengths.data())), LaunchStatus::kOk);
    const double tolerance = type == ElementType::kFp32 ? 2e-6 : type == ElementType::kFp16 ? 1e-3 : 8e-3;
    for (std::size_t i = 0; i < lengths.size(); ++i) ASSERT_NEAR(actual_lengths[i], lengths[i], 1e-5 * (1.0 + lengths[i])) << i;
    for (std::int64_t i = 0; i < count * head_dim; ++i)
      ASSERT_NEAR(element(actual.data(), type, i), element(rows.data(), type, i), tolerance) << i;
  }

  ElementType type;
  std::int64_t head_dim, count;
  std::vector<std::byte> rows;
  std::vector<float> frequencies;
};

// Lists of changes over rows of K and V; in each a row receives, what received moves, and a value receives alone.
class ChangeCase {
 public:
  static constexpr std::int64_t kRowsOfList = 6;

  ChangeCase(ElementType type, std::int64_t head_dim, std::int64_t lists)
      : type(type),
        head_dim(head_dim),
        lists(lists),
        keys(random_rows(type, lists * kRowsOfList * head_dim, 3)),
        values(random_rows(type, lists * kRowsOfList * head_dim, 4)) {
    for (std::int64_t list = 0; list <= lists; ++list) begin.push_back(static_cast<std::int32_t>(4 * list));
  }

  // Of rows that lie there.
  std::vector<SlotChange> changes(std::byte* keys_at, std::byte* values_at) const {
    std::vector<SlotChange> all;
    const auto bytes = static_cast<std::size_t>(head_dim) * element_bytes(type);
    for (std::int64_t list = 0; list < lists; ++list) {
      const auto change = [&](std::int64_t from, std::int64_t to, SlotChange::Kind kind) {
        const std::size_t a = static_cast<std::size_t>(list * kRowsOfList + from) * bytes;
        const std::size_t b = static_cast<std::size_t>(list * kRowsOfList + to) * bytes;
        const auto weight = static_cast<float>(list % 3) * 0.3F;
        all.push_back({keys_at + a, values_at + a, keys_at + b, values_at + b, 0.7F, weight, 1.0F + weight, kind});
      };
      change(0, 1, SlotChange::kReceives);
      change(1, 2, SlotChange::kMoves);
      change(2, 3, SlotChange::kReceivesValue);
      change(5, 0, SlotChange::kMoves);
    }
    return all;
  }
  CudaChangeSlotsArgs args(const SlotChange* changes_at, const std::int32_t* begin_at) const {
    return {type, head_dim, lists, changes_at, begin_at};
  }

  ElementType type;
  std::int64_t head_dim, lists;
  std::vector<std::byte> keys, values;
  std::vector<std::int32_t> begin;
};

}  // namespace winnow::kernels::testing
