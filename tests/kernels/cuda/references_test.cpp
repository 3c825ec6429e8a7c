// References of CUDA operators on cases that are solved by hand, and the layout of blocks on a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/api/append_slots.h"
#include "kernels/api/cuda_change_slots.h"
#include "kernels/api/cuda_merge_rows.h"
#include "kernels/api/cuda_nearest_slots.h"
#include "kernels/api/cuda_unit_keys.h"
#include "kernels/api/gather_slots.h"
#include "tests/kernels/cuda_block_case.h"

namespace winnow::kernels {
namespace {

// One head, two tokens of one element, the second in a new block.
TEST(CudaReferences, AppendSlotsSolveACaseByHand) {
  const std::uint16_t keys[] = {7, 8};
  const std::uint16_t values[] = {70, 80};
  std::uint16_t blocks[4][2] = {};  // K, K, V, V
  void* key_blocks[] = {blocks[0], blocks[1]};
  void* value_blocks[] = {blocks[2], blocks[3]};
  const std::int32_t slots[] = {1};
  AppendSlotsArgs args{.key = keys, .value = values};
  args.key_head_stride = args.value_head_stride = 2;
  args.key_token_stride = args.value_token_stride = 1;
  args.element_bytes = 2;
  args.kv_heads = 1;
  args.tokens = 2;
  args.head_dim = 1;
  args.slots = slots;
  args.key_blocks = key_blocks;
  args.value_blocks = value_blocks;
  args.table_stride = 2;
  args.block_slots = 2;
  ASSERT_EQ(append_slots_reference(args), LaunchStatus::kOk);
  EXPECT_EQ(blocks[0][1], 7);
  EXPECT_EQ(blocks[1][0], 8);
  EXPECT_EQ(blocks[2][1], 70);
  EXPECT_EQ(blocks[3][0], 80);
  EXPECT_EQ(blocks[0][0], 0);
  EXPECT_EQ(blocks[1][1], 0);

  args.tokens = 4;  // past the table
  EXPECT_EQ(append_slots_reference(args), LaunchStatus::kBadArgument);
  args.tokens = 2;
  args.element_bytes = 8;
  EXPECT_EQ(append_slots_reference(args), LaunchStatus::kBadArgument);
}

// Two heads of two-byte rows in blocks of two slots; the second head keeps its slot 0 and gets slot 1 from slot 3.
TEST(CudaReferences, GatherSlotsSolveACaseByHand) {
  std::uint16_t from[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};  // both of head 0, both of head 1
  std::uint16_t to[3][2] = {};                                  // two of head 0, one of head 1
  const void* from_blocks[] = {from[0], from[1], from[2], from[3]};
  void* to_blocks[] = {to[0], to[1], to[2], nullptr};
  const std::int32_t first[] = {0, 1};
  const std::int32_t count[] = {3, 1};
  const std::int32_t sources[] = {3, 0, 2, 3};
  GatherSlotsArgs args{.kv_heads = 2, .row_bytes = 2, .block_slots = 2};
  args.from_key_blocks = args.from_value_blocks = from_blocks;
  args.to_key_blocks = args.to_value_blocks = to_blocks;
  args.from_stride = args.to_stride = 2;
  args.first = first;
  args.count = count;
  args.sources = sources;
  ASSERT_EQ(gather_slots_reference(args), LaunchStatus::kOk);
  EXPECT_EQ(to[0][0], 4);
  EXPECT_EQ(to[0][1], 1);
  EXPECT_EQ(to[1][0], 3);
  EXPECT_EQ(to[1][1], 0) << "untouched";
  EXPECT_EQ(to[2][0], 0) << "untouched";
  EXPECT_EQ(to[2][1], 8);

  const auto expect = [&](LaunchStatus status, const auto& change) {
    GatherSlotsArgs bad = args;
    change(bad);
    EXPECT_EQ(gather_slots_reference(bad), status);
  };
  const std::int32_t beyond[] = {0, 4};
  const std::int32_t negative[] = {-1, 0};
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.row_bytes = 3; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.sources = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.from_value_blocks = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.block_slots = 0; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.first = beyond; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.count = negative; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.kv_heads = kMaxAppendHeads + 1; });
}

// The leaving key (3, 4) beside (6, 8), (4, -3), nothing and what is no number.
TEST(CudaReferences, NearestSlotsAreKnownByHand) {
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

// (3, 4) rotated by minus a right angle is (4, -3); both have the length 5.
TEST(CudaReferences, UnitKeysAreKnownByHand) {
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

// Row 1 takes half of itself and twice row 0, divided by 4; then it moves to row 2, whose value receives row 0 once more.
TEST(CudaReferences, ChangedSlotsAreKnownByHand) {
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

// Row 2 stays as it is; row 0 takes half of itself, row 1 and twice row 2, divided by 4.
TEST(CudaReferences, MergedRowsAreKnownByHand) {
  const float rows[] = {2, 4, 10, 20, 100, 200};
  const std::int32_t stay[] = {2, 0};
  const std::int32_t begin[] = {0, 0, 2};
  const std::int32_t from[] = {1, 2};
  const float own[] = {1, 0.5F};
  const float divisor[] = {1, 4};
  const float weight[] = {1, 2};
  float output[4] = {};
  CudaMergeRowsArgs args{.rows = rows};
  args.row_stride = args.width = 2;
  args.stay = stay;
  args.count = 2;
  args.own = own;
  args.divisor = divisor;
  args.begin = begin;
  args.from = from;
  args.weight = weight;
  args.output = output;
  ASSERT_EQ(cuda_merge_rows_reference(args), LaunchStatus::kOk);
  const float expected[] = {100, 200, 211.0F / 4, 422.0F / 4};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(output[i], expected[i]) << i;

  const auto expect = [&](LaunchStatus status, const auto& change) {
    CudaMergeRowsArgs bad = args;
    change(bad);
    EXPECT_EQ(cuda_merge_rows_reference(bad), status);
  };
  expect(LaunchStatus::kOk, [](auto& a) { a.count = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.rows = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.stay = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.own = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.divisor = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.begin = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.from = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.output = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.width = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.count = -1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.count = kMaxMergedRows + 1; });
}

// Nothing is lost on the way, and no plane reaches into another.
TEST(CudaReferences, BlocksComeBackAsTheyWereStored) {
  for (const BlockType type : testing::kEveryBlockType) {
    SCOPED_TRACE(static_cast<int>(type));
    const std::int64_t elements = block_elements(type);
    const auto bytes = static_cast<std::size_t>(block_bytes(type));
    for (const std::int64_t blocks : {1, 2, 3, 7, 8}) {
      const std::vector<std::uint8_t> stored = random_blocks(type, 3 * blocks * elements, 12);
      std::vector<std::uint8_t> matrix = testing::interleaved(type, stored, blocks * elements);
      std::vector<std::uint8_t> found(stored.size());
      for (std::size_t i = 0; i < stored.size() / bytes; ++i) {
        const auto block = static_cast<std::int64_t>(i);
        stored_block(type, cuda_row_planes<const void*>(matrix.data(), type, 3, blocks * elements, block / blocks), blocks * elements,
                     block % blocks, found.data() + i * bytes);
      }
      EXPECT_EQ(found, stored) << blocks << " blocks of a row";
    }
  }
}

}  // namespace
}  // namespace winnow::kernels
