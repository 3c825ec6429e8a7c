// What the CUDA operators and their references refuse; no device code runs.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "kernels/reference/check_attention.h"
#include "kernels/reference/check_products.h"
#include "kernels/reference/check_slots.h"
#include "kernels/reference/check_statistics.h"
#include "tests/kernels/cuda_cross_modal_case.h"
#include "tests/kernels/cuda_sparsity_case.h"
#include "tests/kernels/merging_case.h"
#include "tests/kernels/ragged_decode_case.h"
#include "tests/kernels/rotate_append_case.h"
#include "tests/kernels/shared_attention_case.h"

namespace winnow::kernels {
namespace {

using testing::CudaColumnsCase;
using testing::CudaCrossModalCase;
using testing::CudaSparsityCase;
using testing::NearestCase;
using testing::RaggedDecodeCase;
using testing::SharedAttentionCase;

// What becomes of good arguments when one is changed; of the reference, too, where there is one.
template <class Args>
class Changed {
 public:
  explicit Changed(const Args& good, LaunchStatus (*reference)(const Args&) = nullptr) : good_(good), reference_(reference) {
    EXPECT_EQ(check_arguments(good), LaunchStatus::kOk);
  }
  template <class Change>
  void operator()(LaunchStatus status, const Change& change) const {
    Args args = good_;
    change(args);
    EXPECT_EQ(check_arguments(args), status);
    if (reference_ == nullptr) return;
    EXPECT_EQ(reference_(args), status);
  }

 private:
  Args good_;
  LaunchStatus (*reference_)(const Args&);
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
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.query = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.workspace = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.slots = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.parts = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.type = static_cast<ElementType>(9); });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.slots = none; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.slots = beyond; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.probabilities = output.data(); });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.block_slots = 32; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.kv_heads = kMaxCudaKvHeads + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.group = kMaxGroup + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.head_dim = kMaxHeadDim + 1; });
}

TEST(CudaArguments, OfRotateAppendAreChecked) {
  testing::RotateAppendCase problem(ElementType::kBf16, 2, {3, 64}, 8);
  const Changed expect(problem.args());
  constexpr LaunchStatus kBad = LaunchStatus::kBadArgument;
  expect(kBad, [](auto& args) { args.input = nullptr; });
  expect(kBad, [](auto& args) { args.cosine = nullptr; });
  expect(kBad, [](auto& args) { args.queries = nullptr; });
  expect(kBad, [](auto& args) { args.key_blocks = nullptr; });
  expect(kBad, [](auto& args) { args.heads = 0; });
  expect(kBad, [](auto& args) { args.half = 0; });
  expect(kBad, [](auto& args) { args.type = ElementType(9); });
  expect(kBad, [](auto& args) { args.table_stride = 1; });  // the second head's slot would lie behind its blocks
  expect(LaunchStatus::kUnsupported, [](auto& args) { args.kv_heads = kMaxAppendHeads + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& args) { args.half = kMaxRotaryPairs; });
}

TEST(CudaArguments, OfGemvsAreChecked) {
  alignas(16) std::byte memory[160] = {};
  const CudaGemvArgs good{ElementType::kBf16, memory, 2, 16, memory + 64, memory + 98, ElementType::kFp32, memory + 112, {}};
  ASSERT_EQ(check_arguments(good), LaunchStatus::kOk);
  const auto with = [&](const auto& change) {
    CudaGemvArgs args = good;
    change(args);
    return cuda_gemv_reference(args);
  };
  constexpr LaunchStatus kBad = LaunchStatus::kBadArgument;
  EXPECT_EQ(with([](auto& args) { args.matrix = nullptr; }), kBad);
  EXPECT_EQ(with([](auto& args) { args.input = nullptr; }), kBad);
  EXPECT_EQ(with([](auto& args) { args.output = nullptr; }), kBad);
  EXPECT_EQ(with([&](auto& args) { args.matrix = memory + 8; }), kBad);
  EXPECT_EQ(with([&](auto& args) { args.input = memory + 66; }), kBad);
  EXPECT_EQ(with([](auto& args) { args.rows = 0; }), kBad);
  EXPECT_EQ(with([](auto& args) { args.columns = 0; }), kBad);
  EXPECT_EQ(with([](auto& args) { args.columns = 12; }), kBad) << "a row and a half of 16 bytes";
  EXPECT_EQ(with([](auto& args) { args.type = ElementType(7); }), kBad);
  EXPECT_EQ(with([](auto& args) { args.output_type = ElementType::kFp16; }), kBad);
  EXPECT_EQ(with([](auto& args) { args.gated = Activation::kSilu; }), kBad) << "in fp32 of bf16";
  EXPECT_EQ(with([](auto& args) {
              args.output_type = ElementType::kBf16;
              args.gated = Activation(9);
            }),
            kBad);
  EXPECT_EQ(with([](auto& args) { args.rows = kMaxGemvSide + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(with([](auto& args) { args.bias = nullptr; }), LaunchStatus::kOk);
}

TEST(CudaArguments, OfBlockMatricesAreChecked) {
  alignas(16) static std::uint8_t memory[256] = {};
  const CudaBlockGemvArgs product{BlockType::kQ8_0, memory, 32, 2, nullptr, memory, 1, ElementType::kFp32, memory, 2};
  const Changed expect(product, cuda_block_gemv_reference);
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.matrix = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.matrix = memory + 8; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.input = memory + 4; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.output = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.rows = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.inputs = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.output_stride = 1; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.columns = 48; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.columns = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.type = static_cast<BlockType>(99); });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.element = static_cast<ElementType>(9); });
  expect(LaunchStatus::kBadArgument, [](auto& a) {
    a.type = BlockType::kF16;
    a.columns = 12;  // whole blocks and no whole pieces
  });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.inputs = kMaxCudaProductInputs + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.rows = a.output_stride = kMaxCudaMatrixSide + 1; });

  CudaDequantiseRowsArgs dequantise;
  dequantise.type = BlockType::kQ8_0;
  dequantise.matrix = memory;
  dequantise.columns = 32;
  dequantise.rows = 2;
  dequantise.count = 1;
  dequantise.output = memory;
  const Changed expect_dequantise(dequantise, cuda_dequantise_rows_reference);
  const std::int64_t ids[] = {0, 1, 2};
  expect_dequantise(LaunchStatus::kOk, [&](auto& a) {
    a.ids = ids;
    a.count = 3;  // more than there are rows
  });
  expect_dequantise(LaunchStatus::kBadArgument, [](auto& a) { a.first = 2; });
  expect_dequantise(LaunchStatus::kBadArgument, [](auto& a) { a.first = -1; });
  expect_dequantise(LaunchStatus::kBadArgument, [](auto& a) { a.count = 3; });
  expect_dequantise(LaunchStatus::kBadArgument, [](auto& a) { a.count = 0; });
  expect_dequantise(LaunchStatus::kBadArgument, [](auto& a) { a.output = memory + 2; });
  expect_dequantise(LaunchStatus::kBadArgument, [](auto& a) { a.columns = 33; });
  expect_dequantise(LaunchStatus::kUnsupported, [](auto& a) {
    a.rows = a.count = kMaxCudaMatrixSide;
    a.columns = 320;
  });
}

TEST(CudaArguments, OfColumnSumsAreChecked) {
  const CudaColumnsCase problem({ElementType::kFp32, 8, 2, 2, 4, 4, 1});
  CudaColumnsCase::Result result(problem.shape);
  std::vector<double> workspace(64);
  const CudaColumnSumsArgs good = problem.args(result, workspace.data(), 1);
  const auto status = [&](const auto& change) {
    CudaColumnSumsArgs args = good;
    change(args);
    const LaunchStatus checked = check_arguments(args);
    if (checked == LaunchStatus::kOk) return checked;
    EXPECT_EQ(cuda_column_sums_reference(args), checked);
    return checked;
  };
  EXPECT_EQ(status([](CudaColumnSumsArgs&) {}), LaunchStatus::kOk);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.query = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.key = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.log_sum_exp = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.sums = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.workspace = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.workspace = static_cast<char*>(args.workspace) + 4; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.kv_heads = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.group = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.head_dim = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.rows = -1; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.columns = -1; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.parts = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.parts = kMaxCudaGridSide + 1; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.type = static_cast<ElementType>(9); }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.group = kMaxGroup + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.head_dim = kMaxHeadDim + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.kv_heads = 30000; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.rows = kMaxCudaLogitSide + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.columns = kMaxCudaLogitSide + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](CudaColumnSumsArgs& args) { args.rows = 0; }), LaunchStatus::kOk);
}

TEST(CudaArguments, OfCrossModalEntropyAreChecked) {
  const CudaCrossModalCase problem({ElementType::kFp32, 8, 2, 2, 4, 4, 1});
  double entropy = 0.0;
  std::vector<double> workspace(64);
  const auto status = [&](const auto& change) {
    CudaCrossModalArgs args = problem.args(problem.here(entropy, workspace.data(), true), 1, true);
    change(args);
    const LaunchStatus checked = check_arguments(args);
    if (checked == LaunchStatus::kOk) return checked;
    EXPECT_EQ(cuda_cross_modal_entropy_reference(args), checked);
    return checked;
  };
  using Args = CudaCrossModalArgs;
  EXPECT_EQ(status([](Args&) {}), LaunchStatus::kOk);
  EXPECT_EQ(status([](Args& args) { args.seen = nullptr; }), LaunchStatus::kOk);
  EXPECT_EQ(status([](Args& args) { args.rows = 0; }), LaunchStatus::kOk);
  EXPECT_EQ(status([](Args& args) { args.query = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.row_of = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.column_of = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.entropy = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.workspace = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.workspace = static_cast<char*>(args.workspace) + 4; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.parts = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.head_dim = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](Args& args) { args.head_dim = kMaxHeadDim + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](Args& args) { args.rows = kMaxCudaLogitSide / 2 + 1; }), LaunchStatus::kUnsupported);
}

TEST(CudaArguments, OfRowSparsityAreChecked) {
  const CudaSparsityCase problem({ElementType::kFp32, 8, 2, 2, 4, 4, 1});
  CudaSparsityCase::Result result = problem.begun();
  const CudaSparsityCase::Memory memory = problem.here(result, false);
  const auto status = [&](const auto& change) {
    CudaRowMaximaArgs maxima = problem.maxima_args(memory, 1);
    CudaCountBelowArgs counts = problem.count_args(memory, 1);
    change(maxima);
    change(counts);
    const LaunchStatus checked = check_arguments(maxima);
    EXPECT_EQ(check_arguments(counts), checked);
    if (checked == LaunchStatus::kOk) return checked;
    EXPECT_EQ(cuda_row_maxima_reference(maxima), checked);
    EXPECT_EQ(cuda_count_below_reference(counts), checked);
    return checked;
  };
  EXPECT_EQ(status([](auto&) {}), LaunchStatus::kOk);
  EXPECT_EQ(status([](auto& args) { args.rows = 0; }), LaunchStatus::kOk);
  EXPECT_EQ(status([](auto& args) { args.query = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.key = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.maxima = nullptr; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.kv_heads = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.group = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.head_dim = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.rows = -1; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.columns = -1; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.parts = 0; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.parts = kMaxCudaGridSide + 1; }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.type = static_cast<ElementType>(9); }), LaunchStatus::kBadArgument);
  EXPECT_EQ(status([](auto& args) { args.group = kMaxGroup + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](auto& args) { args.head_dim = kMaxHeadDim + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](auto& args) { args.kv_heads = 30000; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](auto& args) { args.rows = kMaxCudaLogitSide / 2 + 1; }), LaunchStatus::kUnsupported);
  EXPECT_EQ(status([](auto& args) { args.columns = kMaxCudaLogitSide + 1; }), LaunchStatus::kUnsupported);
  CudaCountBelowArgs counts = problem.count_args(memory, 1);
  counts.counts = nullptr;
  EXPECT_EQ(check_arguments(counts), LaunchStatus::kBadArgument);
}

TEST(CudaArguments, OfLeavingSlotsAreChecked) {
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
  expect(LaunchStatus::kOk, [](auto&) {});
  expect(LaunchStatus::kOk, [](auto& a) { a.entry_position = a.frequencies = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.query = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.output = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.key_blocks = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.value_blocks = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.slots = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.listed = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.covered = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.entry_slot = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.entry_factor = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.entry_position = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.frequencies = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.head_dim = 15; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.workspace = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.kv_heads = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.group = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.head_dim = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.block_slots = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.entry_stride = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.parts = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.type = static_cast<ElementType>(9); });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.slots = none; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.slots = many; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.listed = many; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.listed = negative; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.covered = many; });
  expect(LaunchStatus::kBadArgument, [&](auto& a) { a.covered = negative; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.probability_stride = 10; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.kv_heads = kMaxCudaKvHeads + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.group = kMaxGroup + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.head_dim = kMaxHeadDim + 2; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.parts = kMaxSharedParts + 1; });
  const std::int32_t no_tokens[] = {0, 5};
  expect(LaunchStatus::kBadArgument, [&](auto& a) {
    a.listed = no_tokens;
    a.covered = a.slots;
  });
  // What only the reference sees.
  SharedAttentionCase beyond = problem;
  beyond.entry_slot[3] = 70;
  EXPECT_EQ(cuda_shared_attention_reference(beyond.args(beyond.memory(tables, result, workspace.data()), 1)), LaunchStatus::kBadArgument);
}

TEST(CudaArguments, OfNearestRowsAreChecked) {
  const NearestCase problem({8, 3, 9, true});
  NearestCase::Result result = problem.result();
  std::vector<float> workspace(1000);
  const CudaNearestRowsArgs good = problem.args(result, workspace.data(), 1);
  const auto expect = [&](LaunchStatus status, const auto& change) {
    CudaNearestRowsArgs args = good;
    change(args);
    EXPECT_EQ(check_arguments(args), status);
    if (status == LaunchStatus::kOk) return;
    EXPECT_EQ(cuda_nearest_rows_reference(args), status);
  };
  expect(LaunchStatus::kOk, [](auto&) {});
  expect(LaunchStatus::kOk, [](auto& a) { a.second = nullptr; });
  expect(LaunchStatus::kOk, [](auto& a) { a.asking_count = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.type = static_cast<ElementType>(0); });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.first = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.asking = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.among = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.similarity = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.nearest = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.workspace = nullptr; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.width = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.asking_count = -1; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.among_count = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.parts = 0; });
  expect(LaunchStatus::kBadArgument, [](auto& a) { a.parts = kMaxNearestParts + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.width = kMaxNearestRows + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.asking_count = kMaxNearestRows + 1; });
  expect(LaunchStatus::kUnsupported, [](auto& a) { a.among_count = kMaxNearestRows + 1; });
}

}  // namespace
}  // namespace winnow::kernels
