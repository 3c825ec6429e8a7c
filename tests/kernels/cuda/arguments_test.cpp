// What the CUDA operators and their references refuse; no device code runs.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/reference/check_attention.h"
#include "kernels/reference/check_products.h"
#include "kernels/reference/check_slots.h"
#include "kernels/reference/check_statistics.h"
#include "tests/kernels/changed_arguments.h"
#include "tests/kernels/cuda_cross_modal_case.h"
#include "tests/kernels/cuda_sparsity_case.h"
#include "tests/kernels/merging_case.h"
#include "tests/kernels/ragged_decode_case.h"
#include "tests/kernels/rotate_append_case.h"
#include "tests/kernels/shared_attention_case.h"

namespace winnow::kernels::testing {
namespace {

// Of the rules, and of the reference, where there is one.
template <class Args>
class Changed : public testing::ChangedArguments<Args> {
 public:
  explicit Changed(const Args& good) : testing::ChangedArguments<Args>(good, {check_arguments}) { expect_good(good); }
  Changed(const Args& good, LaunchStatus (*reference)(const Args&)) : testing::ChangedArguments<Args>(good, {check_arguments, reference}) {
    expect_good(good);
  }

 private:
  static void expect_good(const Args& good) { EXPECT_EQ(check_arguments(good), kOk); }
};

TEST(CudaArguments, OfDecodeAttentionAreChecked) {
  RaggedDecodeCase problem(ElementType::kFp32, 32, 2, {70}, 1);
  std::vector<float> output(64);
  CudaDecodeAttentionArgs good = problem.args(1);
  good.query = problem.query.data();
  good.output = output.data();
  good.key_blocks = problem.key_blocks.data();
  good.value_blocks = problem.value_blocks.data();
  good.workspace = output.data();
  const std::int32_t none[] = {0};
  const std::int32_t beyond[] = {1000};
  const Changed expect(good);
  expect.needs(&CudaDecodeAttentionArgs::query, &CudaDecodeAttentionArgs::workspace, &CudaDecodeAttentionArgs::slots);
  expect(kBad, [](auto& a) { a.parts = 0; });
  expect(kBad, [](auto& a) { a.type = static_cast<ElementType>(9); });
  expect(kBad, [&](auto& a) { a.slots = none; });
  expect(kBad, [&](auto& a) { a.slots = beyond; });
  expect(kBad, [&](auto& a) { a.probabilities = output.data(); });
  expect(kTooLarge, [](auto& a) { a.block_slots = 32; });
  expect(kTooLarge, [](auto& a) { a.kv_heads = kMaxCudaKvHeads + 1; });
  expect(kTooLarge, [](auto& a) { a.group = kMaxGroup + 1; });
  expect(kTooLarge, [](auto& a) { a.head_dim = kMaxHeadDim + 1; });
}

TEST(CudaArguments, OfRotateAppendAreChecked) {
  testing::RotateAppendCase problem(ElementType::kBf16, 2, {3, 64}, 8);
  const Changed expect(problem.args());
  expect.needs(&CudaRotateAppendArgs::input, &CudaRotateAppendArgs::cosine, &CudaRotateAppendArgs::queries,
               &CudaRotateAppendArgs::key_blocks);
  expect.needs_some_of(&CudaRotateAppendArgs::heads, &CudaRotateAppendArgs::half);
  expect(kBad, [](auto& args) { args.type = ElementType(9); });
  expect(kBad, [](auto& args) { args.table_stride = 1; });  // the second head's slot would lie behind its blocks
  expect(kTooLarge, [](auto& args) { args.kv_heads = kMaxAppendHeads + 1; });
  expect(kTooLarge, [](auto& args) { args.half = kMaxRotaryPairs; });
}

TEST(CudaArguments, OfGemvsAreChecked) {
  alignas(16) std::byte memory[160] = {};
  const CudaGemvArgs good{ElementType::kBf16, memory, 2, 16, memory + 64, memory + 98, ElementType::kFp32, memory + 112, {}};
  const Changed expect(good, cuda_gemv_reference);
  expect.needs(&CudaGemvArgs::matrix, &CudaGemvArgs::input, &CudaGemvArgs::output);
  expect(kBad, [&](auto& args) { args.matrix = memory + 8; });
  expect(kBad, [&](auto& args) { args.input = memory + 66; });
  expect.needs_some_of(&CudaGemvArgs::rows, &CudaGemvArgs::columns);
  expect(kBad, [](auto& args) { args.columns = 12; });  // a row and a half of 16 bytes
  expect(kBad, [](auto& args) { args.type = ElementType(7); });
  expect(kBad, [](auto& args) { args.output_type = ElementType::kFp16; });
  expect(kBad, [](auto& args) { args.gated = Activation::kSilu; });  // in fp32 of bf16
  expect(kBad, [](auto& args) { args.output_type = ElementType::kBf16, args.gated = Activation(9); });
  expect(kTooLarge, [](auto& args) { args.rows = kMaxGemvSide + 1; });
  expect(kOk, [](auto& args) { args.bias = nullptr; });
}

TEST(CudaArguments, OfBlockMatricesAreChecked) {
  alignas(16) static std::uint8_t memory[256] = {};
  const CudaBlockGemvArgs product{BlockType::kQ8_0, memory, 32, 2, nullptr, memory, 1, ElementType::kFp32, memory, 2};
  const Changed expect(product, cuda_block_gemv_reference);
  expect.needs(&CudaBlockGemvArgs::matrix, &CudaBlockGemvArgs::output);
  expect(kBad, [](auto& a) { a.matrix = memory + 8; });
  expect(kBad, [](auto& a) { a.input = memory + 4; });
  expect.needs_some_of(&CudaBlockGemvArgs::rows, &CudaBlockGemvArgs::inputs, &CudaBlockGemvArgs::columns);
  expect(kBad, [](auto& a) { a.output_stride = 1; });
  expect(kBad, [](auto& a) { a.columns = 48; });
  expect(kBad, [](auto& a) { a.type = static_cast<BlockType>(99); });
  expect(kBad, [](auto& a) { a.element = static_cast<ElementType>(9); });
  expect(kBad, [](auto& a) {
    a.type = BlockType::kF16;
    a.columns = 12;  // whole blocks and no whole pieces
  });
  expect(kTooLarge, [](auto& a) { a.inputs = kMaxCudaProductInputs + 1; });
  expect(kTooLarge, [](auto& a) { a.rows = a.output_stride = kMaxCudaMatrixSide + 1; });

  CudaDequantiseRowsArgs dequantise{.type = BlockType::kQ8_0, .matrix = memory, .columns = 32, .rows = 2, .count = 1, .output = memory};
  const Changed expect_dequantise(dequantise, cuda_dequantise_rows_reference);
  const std::int64_t ids[] = {0, 1, 2};
  expect_dequantise(kOk, [&](auto& a) {
    a.ids = ids;
    a.count = 3;  // more than there are rows
  });
  expect_dequantise(kBad, [](auto& a) { a.first = 2; });
  expect_dequantise(kBad, [](auto& a) { a.first = -1; });
  expect_dequantise(kBad, [](auto& a) { a.count = 3; });
  expect_dequantise(kBad, [](auto& a) { a.count = 0; });
  expect_dequantise(kBad, [](auto& a) { a.output = memory + 2; });
  expect_dequantise(kBad, [](auto& a) { a.columns = 33; });
  expect_dequantise(kTooLarge, [](auto& a) {
    a.rows = a.count = kMaxCudaMatrixSide;
    a.columns = 320;
  });
}

TEST(CudaArguments, OfColumnSumsAreChecked) {
  const CudaColumnsCase problem({ElementType::kFp32, 8, 2, 2, 4, 4, 1});
  CudaColumnsCase::Result result(problem.shape);
  std::vector<double> workspace(64);
  const CudaColumnSumsArgs good = problem.args(result, workspace.data(), 1);
  const Changed expect(good, cuda_column_sums_reference);
  expect.needs(&CudaColumnSumsArgs::query, &CudaColumnSumsArgs::key, &CudaColumnSumsArgs::log_sum_exp, &CudaColumnSumsArgs::sums,
               &CudaColumnSumsArgs::workspace);
  expect(kBad, [](auto& args) { args.workspace = static_cast<char*>(args.workspace) + 4; });
  expect.needs_some_of(&CudaColumnSumsArgs::kv_heads, &CudaColumnSumsArgs::group, &CudaColumnSumsArgs::head_dim,
                       &CudaColumnSumsArgs::parts);
  expect(kBad, [](auto& args) { args.rows = -1; });
  expect(kBad, [](auto& args) { args.columns = -1; });
  expect(kBad, [](auto& args) { args.parts = kMaxCudaGridSide + 1; });
  expect(kBad, [](auto& args) { args.type = static_cast<ElementType>(9); });
  expect(kTooLarge, [](auto& args) { args.group = kMaxGroup + 1; });
  expect(kTooLarge, [](auto& args) { args.head_dim = kMaxHeadDim + 1; });
  expect(kTooLarge, [](auto& args) { args.kv_heads = 30000; });
  expect(kTooLarge, [](auto& args) { args.rows = kMaxCudaLogitSide + 1; });
  expect(kTooLarge, [](auto& args) { args.columns = kMaxCudaLogitSide + 1; });
  expect(kOk, [](auto& args) { args.rows = 0; });
}

TEST(CudaArguments, OfCrossModalEntropyAreChecked) {
  const CudaCrossModalCase problem({ElementType::kFp32, 8, 2, 2, 4, 4, 1});
  double entropy = 0.0;
  std::vector<double> workspace(64);
  const Changed expect(problem.args(problem.here(entropy, workspace.data(), true), 1, true), cuda_cross_modal_entropy_reference);
  expect(kOk, [](auto& args) { args.seen = nullptr; });
  expect(kOk, [](auto& args) { args.rows = 0; });
  expect.needs(&CudaCrossModalArgs::query, &CudaCrossModalArgs::row_of, &CudaCrossModalArgs::column_of, &CudaCrossModalArgs::entropy,
               &CudaCrossModalArgs::workspace);
  expect(kBad, [](auto& args) { args.workspace = static_cast<char*>(args.workspace) + 4; });
  expect.needs_some_of(&CudaCrossModalArgs::parts, &CudaCrossModalArgs::head_dim);
  expect(kTooLarge, [](auto& args) { args.head_dim = kMaxHeadDim + 1; });
  expect(kTooLarge, [](auto& args) { args.rows = kMaxCudaLogitSide / 2 + 1; });
}

TEST(CudaArguments, OfRowSparsityAreChecked) {
  const CudaSparsityCase problem({ElementType::kFp32, 8, 2, 2, 4, 4, 1});
  CudaSparsityCase::Result result = problem.begun();
  const CudaSparsityCase::Memory memory = problem.here(result, false);
  const Changed maxima(problem.maxima_args(memory, 1), cuda_row_maxima_reference);
  const Changed counts(problem.count_args(memory, 1), cuda_count_below_reference);
  const auto expect = [&](LaunchStatus status, const auto& change) {
    maxima(status, change);
    counts(status, change);
  };
  expect(kOk, [](auto& args) { args.rows = 0; });
  maxima.needs(&CudaSeenLogits::query, &CudaSeenLogits::key);
  counts.needs(&CudaSeenLogits::query, &CudaSeenLogits::key);
  maxima.needs(&CudaRowMaximaArgs::maxima);
  counts.needs(&CudaCountBelowArgs::maxima);
  maxima.needs_some_of(&CudaSeenLogits::kv_heads, &CudaSeenLogits::group, &CudaSeenLogits::head_dim, &CudaSeenLogits::parts);
  counts.needs_some_of(&CudaSeenLogits::kv_heads, &CudaSeenLogits::group, &CudaSeenLogits::head_dim, &CudaSeenLogits::parts);
  expect(kBad, [](auto& args) { args.rows = -1; });
  expect(kBad, [](auto& args) { args.columns = -1; });
  expect(kBad, [](auto& args) { args.parts = kMaxCudaGridSide + 1; });
  expect(kBad, [](auto& args) { args.type = static_cast<ElementType>(9); });
  expect(kTooLarge, [](auto& args) { args.group = kMaxGroup + 1; });
  expect(kTooLarge, [](auto& args) { args.head_dim = kMaxHeadDim + 1; });
  expect(kTooLarge, [](auto& args) { args.kv_heads = 30000; });
  expect(kTooLarge, [](auto& args) { args.rows = kMaxCudaLogitSide / 2 + 1; });
  expect(kTooLarge, [](auto& args) { args.columns = kMaxCudaLogitSide + 1; });
  counts.needs(&CudaCountBelowArgs::counts);
}

TEST(CudaArguments, OfLeavingSlotsAreChecked) {
  const SlotChange change;
  const std::int32_t begin[] = {0, 1};
  const Changed change_slots(CudaChangeSlotsArgs{ElementType::kFp32, 8, 1, &change, begin});
  change_slots(kBad, [](auto& args) { args.type = ElementType(9); });
  change_slots.needs_some_of(&CudaChangeSlotsArgs::head_dim, &CudaChangeSlotsArgs::lists);
  change_slots.needs(&CudaChangeSlotsArgs::changes, &CudaChangeSlotsArgs::begin);
  change_slots(kTooLarge, [](auto& args) { args.lists = kMaxChangeLists + 1; });

  const SimilarAsked asked;
  SimilarFound found;
  const Changed nearest(CudaNearestSlotsArgs{ElementType::kFp32, 8, 64, 1, 1, &asked, &found});
  nearest(kBad, [](auto& args) { args.type = ElementType(9); });
  nearest.needs_some_of(&CudaNearestSlotsArgs::head_dim, &CudaNearestSlotsArgs::block_slots, &CudaNearestSlotsArgs::count,
                        &CudaNearestSlotsArgs::parts);
  nearest.needs(&CudaNearestSlotsArgs::asked, &CudaNearestSlotsArgs::found);
  nearest(kTooLarge, [](auto& args) { args.head_dim = kMaxSimilarWidth + 1; });
  nearest(kTooLarge, [](auto& args) { args.parts = kMaxSimilarParts + 1; });

  const UnitKey key;
  float length = 0.0F;
  const float frequency = 1.0F;
  const Changed unit_keys(CudaUnitKeysArgs{ElementType::kFp32, 8, 1, &key, &frequency, &length});
  unit_keys(kOk, [](auto& args) { args.frequencies = nullptr, args.head_dim = 7; });
  unit_keys(kBad, [](auto& args) { args.type = ElementType(9); });
  unit_keys(kBad, [](auto& args) { args.head_dim = 7; });
  unit_keys(kBad, [](auto& args) { args.count = 0; });
  unit_keys.needs(&CudaUnitKeysArgs::keys, &CudaUnitKeysArgs::lengths);
  unit_keys(kTooLarge, [](auto& args) { args.head_dim = kMaxUnitKeyWidth + 2; });
  unit_keys(kTooLarge, [](auto& args) { args.count = kMaxUnitKeys + 1; });
}

TEST(CudaArguments, OfSharedAttentionAreChecked) {
  const SharedAttentionCase problem({ElementType::kFp32, 16, 2, {{90, 30, 40}, {5, 2, 1}}, true});
  SharedAttentionCase::Result result = problem.result(true);
  const SharedAttentionCase::Tables tables(problem, problem.blocks.data());
  std::vector<float> workspace(1);
  const CudaSharedAttentionArgs good = problem.args(problem.memory(tables, result, workspace.data()), 1);
  const Changed expect(good, cuda_shared_attention_reference);
  const std::int32_t none[] = {0, 3};
  const std::int32_t many[] = {1000, 3};
  const std::int32_t negative[] = {-1, 2};
  expect(kOk, [](auto& a) { a.entry_position = a.frequencies = nullptr; });
  expect.needs(&CudaSharedAttentionArgs::query, &CudaSharedAttentionArgs::output, &CudaSharedAttentionArgs::key_blocks,
               &CudaSharedAttentionArgs::value_blocks, &CudaSharedAttentionArgs::slots, &CudaSharedAttentionArgs::listed,
               &CudaSharedAttentionArgs::covered, &CudaSharedAttentionArgs::entry_slot, &CudaSharedAttentionArgs::entry_factor,
               &CudaSharedAttentionArgs::entry_position, &CudaSharedAttentionArgs::frequencies, &CudaSharedAttentionArgs::workspace);
  expect(kBad, [](auto& a) { a.head_dim = 15; });
  expect.needs_some_of(&CudaSharedAttentionArgs::kv_heads, &CudaSharedAttentionArgs::group, &CudaSharedAttentionArgs::head_dim,
                       &CudaSharedAttentionArgs::block_slots, &CudaSharedAttentionArgs::entry_stride, &CudaSharedAttentionArgs::parts);
  expect(kBad, [](auto& a) { a.type = static_cast<ElementType>(9); });
  expect(kBad, [&](auto& a) { a.slots = none; });
  expect(kBad, [&](auto& a) { a.slots = many; });
  expect(kBad, [&](auto& a) { a.listed = many; });
  expect(kBad, [&](auto& a) { a.listed = negative; });
  expect(kBad, [&](auto& a) { a.covered = many; });
  expect(kBad, [&](auto& a) { a.covered = negative; });
  expect(kBad, [](auto& a) { a.probability_stride = 10; });
  expect(kTooLarge, [](auto& a) { a.kv_heads = kMaxCudaKvHeads + 1; });
  expect(kTooLarge, [](auto& a) { a.group = kMaxGroup + 1; });
  expect(kTooLarge, [](auto& a) { a.head_dim = kMaxHeadDim + 2; });
  expect(kTooLarge, [](auto& a) { a.parts = kMaxSharedParts + 1; });
  const std::int32_t no_tokens[] = {0, 5};
  expect(kBad, [&](auto& a) {
    a.listed = no_tokens;
    a.covered = a.slots;
  });
  // What only the reference sees.
  SharedAttentionCase beyond = problem;
  beyond.entry_slot[3] = 70;
  EXPECT_EQ(cuda_shared_attention_reference(beyond.args(beyond.memory(tables, result, workspace.data()), 1)), kBad);
}

TEST(CudaArguments, OfNearestRowsAreChecked) {
  const NearestCase problem({8, 3, 9, true});
  NearestCase::Result result = problem.result();
  std::vector<float> workspace(1000);
  const CudaNearestRowsArgs good = problem.args(result, workspace.data(), 1);
  const Changed expect(good, cuda_nearest_rows_reference);
  expect(kOk, [](auto& a) { a.second = nullptr; });
  expect(kOk, [](auto& a) { a.asking_count = 0; });
  expect(kBad, [](auto& a) { a.type = static_cast<ElementType>(0); });
  expect.needs(&CudaNearestRowsArgs::first, &CudaNearestRowsArgs::asking, &CudaNearestRowsArgs::among, &CudaNearestRowsArgs::similarity,
               &CudaNearestRowsArgs::nearest, &CudaNearestRowsArgs::workspace);
  expect.needs_some_of(&CudaNearestRowsArgs::width, &CudaNearestRowsArgs::among_count, &CudaNearestRowsArgs::parts);
  expect(kBad, [](auto& a) { a.asking_count = -1; });
  expect(kBad, [](auto& a) { a.parts = kMaxNearestParts + 1; });
  expect(kTooLarge, [](auto& a) { a.width = kMaxNearestRows + 1; });
  expect(kTooLarge, [](auto& a) { a.asking_count = kMaxNearestRows + 1; });
  expect(kTooLarge, [](auto& a) { a.among_count = kMaxNearestRows + 1; });
}

}  // namespace
}  // namespace winnow::kernels::testing
