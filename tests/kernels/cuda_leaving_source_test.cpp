// The CUDA kernels of slots that leave after a decoded token: their own source on CPU threads (cuda_on_cpu.h), against kernels/reference.
#include <gtest/gtest.h>

#include "tests/kernels/cuda_on_cpu.h"

#include "kernels/cuda/change_slots.cuh"
#include "kernels/cuda/nearest_slots.cuh"
#include "kernels/cuda/unit_keys.cuh"
#include "kernels/reference/check_leaving_slots.h"
#include "tests/kernels/leaving_case.h"

namespace winnow::kernels {
namespace {

using testing::ChangeCase;
using testing::SimilarCase;
using testing::UnitKeysCase;

template <class Work>
void with_number(ElementType type, const Work& work) {
  if (type == ElementType::kFp32) return work(float{});
  if (type == ElementType::kBf16) return work(cuda::Bf16{});
  work(cuda::Fp16{});
}

TEST(CudaNearestSlots, AreTheReferences) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : {1, 20, 130}) {
      const SimilarCase problem(type, head_dim, {1, 2, 63, 530});
      SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " head_dim " << head_dim);
      const std::vector<const void*> of_keys = problem.table(problem.keys.data());
      const std::vector<const void*> of_values = problem.table(problem.values.data());
      const std::vector<SimilarAsked> asked = problem.asked(of_keys.data(), of_values.data(), problem.among.data());
      std::vector<SimilarFound> found(asked.size() * static_cast<std::size_t>(problem.parts()));
      const CudaNearestSlotsArgs args = problem.args(asked.data(), found.data());
      ASSERT_EQ(check_arguments(args), LaunchStatus::kOk);
      with_number(type, [&](auto number) {
        cuda::launch_on_cpu({static_cast<unsigned>(args.parts), static_cast<unsigned>(args.count), 1}, 32 * cuda::kNearestSlotWarps,
                            [&] { cuda::find_similar<decltype(number)>(args); });
      });
      problem.expect_near(found);
    }
  }
}

// The leaving key (3, 4) beside (6, 8), (4, -3), nothing and what is no number.
TEST(CudaNearestSlots, AreKnownByHand) {
  const float nan = std::nanf("");
  const std::vector<float> keys = {4, -3, 3, 4, nan, 1, 0, 0, 6, 8};
  const void* const block = keys.data();
  const auto found_by = [](const SimilarAsked& asked) {
    SimilarFound found;
    EXPECT_EQ(cuda_nearest_slots_reference({ElementType::kFp32, 2, 64, 1, 1, &asked, &found}), LaunchStatus::kOk);
    return found;
  };
  const SimilarFound found = found_by({&block, nullptr, nullptr, 5, 1});
  EXPECT_EQ(found.slot, 4);
  EXPECT_FLOAT_EQ(found.similarity, 1.0F);
  EXPECT_EQ(found.count, 1);
  EXPECT_LT(found_by({&block, nullptr, nullptr, 1, 0}).slot, 0);
  const std::uint32_t first_four = 0xFU;
  EXPECT_FLOAT_EQ(found_by({&block, nullptr, &first_four, 5, 1}).similarity, 0.0F);
  // With the values the most similar key is the least similar slot.
  const std::vector<float> values = {0, 1, 1, 0, 1, 0, 1, 0, -1, 0};
  const void* const of_values = values.data();
  const SimilarFound both = found_by({&block, &of_values, nullptr, 5, 1});
  EXPECT_EQ(both.slot, 0);
  EXPECT_FLOAT_EQ(both.similarity, 0.0F);
  EXPECT_EQ(both.count, 2);
  const std::uint32_t last = 0x10U;
  EXPECT_FLOAT_EQ(found_by({&block, &of_values, &last, 5, 1}).similarity, -1.0F);
}

TEST(CudaUnitKeys, AreTheReferences) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : {2, 24, 130}) {
      for (const bool rotated : {false, true}) {
        SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " head_dim " << head_dim << " rotated " << rotated);
        UnitKeysCase problem(type, head_dim, rotated, 5);
        std::vector<std::byte> rows = problem.rows;
        const std::vector<UnitKey> keys = problem.keys(rows.data());
        std::vector<float> lengths(5);
        const CudaUnitKeysArgs args = problem.args(keys.data(), problem.frequencies.data(), lengths.data());
        ASSERT_EQ(check_arguments(args), LaunchStatus::kOk);
        with_number(type, [&](auto number) {
          cuda::launch_on_cpu({static_cast<unsigned>(args.count), 1, 1}, cuda::kUnitKeyThreads,
                              [&] { cuda::make_unit_keys<decltype(number)>(args); });
        });
        problem.expect_near(rows, lengths);
      }
    }
  }
}

// (3, 4) rotated by minus a right angle is (4, -3); both have the length 5.
TEST(CudaUnitKeys, AreKnownByHand) {
  float rows[] = {3, 4, 3, 4};
  const UnitKey keys[] = {{rows, 0.0F}, {rows + 2, -2.0F}};
  const float frequency = 1.57079633F / 2.0F;
  float lengths[2] = {};
  ASSERT_EQ(cuda_unit_keys_reference({ElementType::kFp32, 2, 2, keys, &frequency, lengths}), LaunchStatus::kOk);
  const float expected[] = {0.6F, 0.8F, 0.8F, -0.6F};
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(rows[i], expected[i], 1e-6) << i;
  EXPECT_FLOAT_EQ(lengths[0], 5.0F);
  EXPECT_FLOAT_EQ(lengths[1], 5.0F);
}

TEST(CudaChangeSlots, AreTheReferencesToTheBit) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t head_dim : {1, 64, 130}) {
      SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " head_dim " << head_dim);
      ChangeCase expected(type, head_dim, 7);
      ChangeCase actual(type, head_dim, 7);
      const std::vector<SlotChange> wanted = expected.changes(expected.keys.data(), expected.values.data());
      ASSERT_EQ(cuda_change_slots_reference(expected.args(wanted.data(), expected.begin.data())), LaunchStatus::kOk);
      const std::vector<SlotChange> changes = actual.changes(actual.keys.data(), actual.values.data());
      const CudaChangeSlotsArgs args = actual.args(changes.data(), actual.begin.data());
      with_number(type, [&](auto number) {
        cuda::launch_on_cpu({static_cast<unsigned>(args.lists), 2, 1}, cuda::kChangeThreads,
                            [&] { cuda::change_slots<decltype(number)>(args); });
      });
      EXPECT_EQ(actual.keys, expected.keys);
      EXPECT_EQ(actual.values, expected.values);
    }
  }
}

// Row 1 takes half of itself and twice row 0, divided by 4; then it moves to row 2, whose value receives row 0 once more.
TEST(CudaChangeSlots, AreKnownByHand) {
  float keys[] = {1, 8, 5};
  float values[] = {2, 4, 9};
  const SlotChange changes[] = {{keys, values, keys + 1, values + 1, 0.5F, 2.0F, 4.0F, SlotChange::kReceives},
                                {keys + 1, values + 1, keys + 2, values + 2, 0.0F, 0.0F, 0.0F, SlotChange::kMoves},
                                {keys, values, keys + 2, values + 2, 1.0F, 1.0F, 1.0F, SlotChange::kReceivesValue}};
  const std::int32_t begin[] = {0, 3};
  const CudaChangeSlotsArgs args{ElementType::kFp32, 1, 1, changes, begin};
  ASSERT_EQ(cuda_change_slots_reference(args), LaunchStatus::kOk);
  EXPECT_EQ(keys[1], 1.5F);
  EXPECT_EQ(keys[2], 1.5F);
  EXPECT_EQ(values[1], 1.5F);
  EXPECT_EQ(values[2], 3.5F);
}

TEST(CudaLeavingSlots, RefuseBadArguments) {
  const SlotChange change;
  const std::int32_t begin[] = {0, 1};
  const CudaChangeSlotsArgs good{ElementType::kFp32, 8, 1, &change, begin};
  const auto expect = [](LaunchStatus status, auto args, const auto& spoil) {
    spoil(args);
    EXPECT_EQ(check_arguments(args), status);
  };
  constexpr LaunchStatus kBad = LaunchStatus::kBadArgument;
  expect(LaunchStatus::kOk, good, [](auto&) {});
  expect(kBad, good, [](auto& args) { args.type = ElementType(9); });
  expect(kBad, good, [](auto& args) { args.head_dim = 0; });
  expect(kBad, good, [](auto& args) { args.lists = 0; });
  expect(kBad, good, [](auto& args) { args.changes = nullptr; });
  expect(kBad, good, [](auto& args) { args.begin = nullptr; });
  expect(LaunchStatus::kUnsupported, good, [](auto& args) { args.lists = kMaxChangeLists + 1; });

  const SimilarAsked asked;
  SimilarFound found;
  const CudaNearestSlotsArgs fine{ElementType::kFp32, 8, 64, 1, 1, &asked, &found};
  expect(LaunchStatus::kOk, fine, [](auto&) {});
  expect(kBad, fine, [](auto& args) { args.type = ElementType(9); });
  expect(kBad, fine, [](auto& args) { args.head_dim = 0; });
  expect(kBad, fine, [](auto& args) { args.block_slots = 0; });
  expect(kBad, fine, [](auto& args) { args.count = 0; });
  expect(kBad, fine, [](auto& args) { args.parts = 0; });
  expect(kBad, fine, [](auto& args) { args.asked = nullptr; });
  expect(kBad, fine, [](auto& args) { args.found = nullptr; });
  expect(LaunchStatus::kUnsupported, fine, [](auto& args) { args.head_dim = kMaxSimilarWidth + 1; });
  expect(LaunchStatus::kUnsupported, fine, [](auto& args) { args.parts = kMaxSimilarParts + 1; });

  const UnitKey key;
  float length = 0.0F;
  const float frequency = 1.0F;
  const CudaUnitKeysArgs right{ElementType::kFp32, 8, 1, &key, &frequency, &length};
  expect(LaunchStatus::kOk, right, [](auto&) {});
  expect(LaunchStatus::kOk, right, [](auto& args) { args.frequencies = nullptr, args.head_dim = 7; });
  expect(kBad, right, [](auto& args) { args.type = ElementType(9); });
  expect(kBad, right, [](auto& args) { args.head_dim = 7; });
  expect(kBad, right, [](auto& args) { args.count = 0; });
  expect(kBad, right, [](auto& args) { args.keys = nullptr; });
  expect(kBad, right, [](auto& args) { args.lengths = nullptr; });
  expect(LaunchStatus::kUnsupported, right, [](auto& args) { args.head_dim = kMaxUnitKeyWidth + 2; });
  expect(LaunchStatus::kUnsupported, right, [](auto& args) { args.count = kMaxUnitKeys + 1; });
}

}  // namespace
}  // namespace winnow::kernels
