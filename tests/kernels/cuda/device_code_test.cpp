// What no result shows: plans of launches, which version of a kernel takes what, and steps of device code alone. On fibers only.
#include "tests/kernels/cuda_on_cpu.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/api/cuda_decode_attention.h"
#include "kernels/cuda/block_gemv.cuh"
#include "kernels/cuda/column_sums.cuh"
#include "kernels/cuda/column_sums_matrix.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/gated_activation.cuh"
#include "kernels/cuda/gather_slots.cuh"
#include "kernels/cuda/gemv.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/nearest_rows.cuh"
#include "kernels/cuda/rms_norm.cuh"
#include "kernels/cuda/row_sparsity.cuh"
#include "kernels/cuda/sample_token.cuh"
#include "kernels/reference/check_products.h"
#include "tests/kernels/choose_case.h"
#include "tests/kernels/cuda_block_case.h"
#include "tests/kernels/cuda_columns_case.h"
#include "tests/kernels/cuda_sparsity_case.h"
#include "tests/kernels/gated_case.h"
#include "tests/kernels/gather_case.h"
#include "tests/kernels/gemv_case.h"
#include "tests/kernels/merging_case.h"

namespace winnow::kernels::testing {
namespace {

TEST(CudaDeviceCode, DecodePartsFillTheDeviceAndStayLong) {
  EXPECT_EQ(cuda_decode_parts(100, 2, 7, 132), 1);
  EXPECT_EQ(cuda_decode_parts(129, 2, 7, 132), 2);
  EXPECT_EQ(cuda_decode_parts(2048, 2, 7, 132), 16);    // 128 slots each
  EXPECT_EQ(cuda_decode_parts(65536, 2, 7, 132), 132);  // two thread blocks per multiprocessor
  EXPECT_EQ(cuda_decode_parts(65536, 8, 16, 132), 17);  // 16 thread blocks per part
}

TEST(CudaDeviceCode, ColumnPartsFillTheDeviceAndAreWholeTiles) {
  EXPECT_EQ(cuda_column_sums_parts(65536, 65536, 8, 132), 1);  // 8192 tiles a part
  EXPECT_EQ(cuda_column_sums_parts(8192, 8192, 4, 132), 9);    // 512
  EXPECT_EQ(cuda_column_sums_parts(2048, 2048, 2, 132), 32);   // no part is shorter than a tile
  EXPECT_EQ(cuda_column_sums_parts(32, 2048, 2, 132), 1);      // one tile of rows
  EXPECT_EQ(cuda_column_sums_parts(1 << 30, 1, 1, 1 << 20), kMaxCudaGridSide);
  EXPECT_EQ(cuda_column_sums_parts(0, 0, 1, 132), 1);
  EXPECT_EQ(cuda_logit_parts(2048, 2048, 2, 132), 9);  // of 64 tiles: four thread blocks on a multiprocessor are wanted
  const CudaColumnsCase problem({ElementType::kFp32, 8, 2, 3, 300, 130, 1});
  CudaColumnsCase::Result result(problem.shape);
  const cuda::ColumnSumsLaunch launch = cuda::plan_launch(problem.args(result, nullptr, 4));
  EXPECT_EQ(launch.part_rows, 128);
  EXPECT_EQ(launch.parts, 3) << "none without rows";
  EXPECT_EQ(launch.tiles, 3);
  EXPECT_EQ(cuda::part_results(launch), 8U);
  EXPECT_EQ(cuda_column_sums_workspace(problem.args(result, nullptr, 4)), 4 * (8 * 6 * 5 + 4 * 8 * 130));
}

TEST(CudaDeviceCode, NearestRowsPartsFillTheDeviceAndAreWholeTiles) {
  EXPECT_EQ(cuda_nearest_rows_parts(64 * 5000, 20000, 132), 1);
  EXPECT_EQ(cuda_nearest_rows_parts(64 * 400, 20000, 132), 11);
  EXPECT_EQ(cuda_nearest_rows_parts(6400, 20000, 132), 43);
  EXPECT_EQ(cuda_nearest_rows_parts(640, 130, 132), 3);
  EXPECT_EQ(cuda_nearest_rows_parts(0, 1, 132), 1);
  EXPECT_EQ(cuda_nearest_rows_parts(1, 1 << 30, 1 << 20), kMaxNearestParts);
  const NearestCase problem({8, 3, 300});
  NearestCase::Result result = problem.result();
  const cuda::NearestLaunch launch = cuda::plan_launch(problem.args(result, nullptr, 4));
  EXPECT_EQ(launch.part_rows, 128);
  EXPECT_EQ(launch.parts, 3) << "none without rows";
}

TEST(CudaDeviceCode, TilesHoldTheHeadsOfAFewRowsTogether) {
  const CudaSparsityCase problem({ElementType::kFp32, 8, 2, 7, 20, 1000, 981});
  CudaSparsityCase::Result result = problem.begun();
  const CudaRowMaximaArgs args = problem.maxima_args(problem.here(result, false), 4);
  const cuda::RowMaximaLaunch launch = cuda::plan_launch(args);
  EXPECT_EQ(launch.tiles, 3) << "140 rows of heads";
  EXPECT_EQ(launch.part_columns, 256);
  EXPECT_EQ(launch.parts, 4);
  EXPECT_EQ(launch.seen_by_first, 981);
  CudaRowMaximaArgs wide = args;
  wide.seen_by_first = std::int64_t{1} << 40;
  EXPECT_EQ(cuda::plan_launch(wide).seen_by_first, 1000);
  wide.parts = kMaxCudaGridSide;
  EXPECT_EQ(cuda::plan_launch(wide).parts, 16) << "none without columns";
}

TEST(CudaDeviceCode, GatedActivationsMoveVectorsWhereRowsAreAligned) {
  alignas(16) std::byte memory[64] = {};
  GatedActivationArgs args{Activation::kSilu, ElementType::kBf16, memory, memory + 16, 16, 1, 8, memory + 32};
  EXPECT_TRUE(cuda::moves_vectors<cuda::Bf16>(args));
  args.output = memory + 34;
  EXPECT_FALSE(cuda::moves_vectors<cuda::Bf16>(args));
  args.output = memory + 32;
  args.stride = 12;
  EXPECT_FALSE(cuda::moves_vectors<cuda::Bf16>(args));
}

TEST(CudaDeviceCode, ColumnSumsReadVectorsWhereRowsAreAligned) {
  const CudaColumnsCase problem({ElementType::kBf16, 16, 2, 1, 4, 4, 1});
  CudaColumnsCase::Result result(problem.shape);
  const CudaColumnSumsArgs good = problem.args(result, nullptr, 1);
  const auto vectors = [&](const auto& change) {
    CudaColumnSumsArgs args = good;
    change(args);
    return cuda::reads_vectors<cuda::Bf16>(args);
  };
  EXPECT_TRUE(vectors([](CudaColumnSumsArgs&) {}));
  EXPECT_FALSE(vectors([](CudaColumnSumsArgs& args) { args.head_dim = 12; }));
  EXPECT_FALSE(vectors([](CudaColumnSumsArgs& args) { args.query_row_stride += 4; }));
  EXPECT_FALSE(vectors([](CudaColumnSumsArgs& args) { args.key_head_stride += 4; }));
  EXPECT_FALSE(vectors([](CudaColumnSumsArgs& args) { args.key = static_cast<const std::byte*>(args.key) + 8; }));
}

TEST(CudaDeviceCode, ColumnSumsTakeTheTensorCoresForAlignedRowsOf16Bits) {
  const CudaColumnsCase problem({ElementType::kBf16, 256, 1, 1, 4, 4, 1});
  CudaColumnsCase::Result result(problem.shape);
  CudaColumnSumsArgs args = problem.args(result, nullptr, 1);
  EXPECT_TRUE(cuda::fits_tensor_cores<cuda::Bf16>(args));
  EXPECT_TRUE(cuda::fits_tensor_cores<cuda::Fp16>(args));
  EXPECT_FALSE(cuda::fits_tensor_cores<float>(args));
  args.head_dim = 264;
  EXPECT_FALSE(cuda::fits_tensor_cores<cuda::Bf16>(args)) << "more registers than there are";
  args.head_dim = 72;
  EXPECT_TRUE(cuda::fits_tensor_cores<cuda::Bf16>(args));
  args.key_row_stride += 4;
  EXPECT_FALSE(cuda::fits_tensor_cores<cuda::Bf16>(args));
}

TEST(CudaDeviceCode, ThreadBlocksHoldFewRows) {
  alignas(16) std::byte memory[64] = {};
  RmsNormArgs args;
  args.type = ElementType::kBf16;
  args.rows = 1;
  args.features = 896;
  args.input = memory;
  args.weight = memory;
  args.output = memory;
  args.input_strides = args.output_strides = {896, 896};
  EXPECT_TRUE(cuda::holds_rows<cuda::Bf16>(args));
  EXPECT_EQ(cuda::holding_warps<cuda::Bf16>(args), 4) << "112 vectors";
  args.features = 8192;
  EXPECT_TRUE(cuda::holds_rows<cuda::Bf16>(args));
  EXPECT_EQ(cuda::holding_warps<cuda::Bf16>(args), 32);
  EXPECT_FALSE(cuda::holds_rows<float>(args)) << "more than a thread block has vectors";
  args.features = 8200;
  EXPECT_FALSE(cuda::holds_rows<cuda::Bf16>(args));
  args.features = 892;
  EXPECT_FALSE(cuda::holds_rows<cuda::Bf16>(args)) << "no whole vectors";
  args.features = 896;
  args.rows = 129;
  EXPECT_FALSE(cuda::holds_rows<cuda::Bf16>(args)) << "many rows";
  args.rows = 1;
  args.groups = 14;
  EXPECT_FALSE(cuda::holds_rows<cuda::Bf16>(args)) << "heads";
}

TEST(CudaDeviceCode, WarpsShareRowsThatAreLongOrFew) {
  const auto sharing = [](ElementType type, std::int64_t rows, std::int64_t columns) {
    CudaGemvArgs args;
    args.type = type;
    args.rows = rows;
    args.columns = columns;
    return cuda::sharing_warps(cuda::plan_launch(args));
  };
  EXPECT_EQ(sharing(ElementType::kBf16, 151'936, 896), 1);
  EXPECT_EQ(sharing(ElementType::kBf16, 9728, 896), 1);
  EXPECT_EQ(sharing(ElementType::kBf16, 152'064, 3584), 4) << "448 pieces are four at once for the threads of four warps";
  EXPECT_EQ(sharing(ElementType::kBf16, 3584, 18'944), 8);
  EXPECT_EQ(sharing(ElementType::kBf16, 896, 4864), 8);
  EXPECT_EQ(sharing(ElementType::kBf16, 896, 896), 2) << "112 pieces are none for some threads of four warps";
  EXPECT_EQ(sharing(ElementType::kFp32, 896, 896), 4);
  EXPECT_EQ(sharing(ElementType::kFp32, 1, 4), 1);
}

TEST(CudaDeviceCode, DeviceTypesHaveTheSizesOfTheFormat) {
  for (const BlockType type : testing::kEveryBlockType) {
    cuda::with_block_type(type, [&](auto device) {
      using Type = decltype(device);
      EXPECT_EQ(Type::kElements % cuda::kPiece, 0);
      EXPECT_EQ(Type::kElements % block_elements(type), 0);
      EXPECT_EQ(Type::kElements / block_elements(type) * block_bytes(type), Type::kBytes) << static_cast<int>(type);
    });
  }
}

// That the tests above would notice what a GPU would not do.
TEST(CudaDeviceCode, ALoadFromWhereItsTypeIsNotAlignedEndsTheProgram) {
  alignas(16) static constexpr std::uint8_t kBytes[32] = {};
  EXPECT_EQ(cuda::eight_bytes<8>(kBytes + 8).words[0], 0U);
  EXPECT_DEATH(std::ignore = cuda::eight_bytes<8>(kBytes + 4).words[0], "misaligned");
  EXPECT_DEATH(std::ignore = cuda::eight_bytes<4>(kBytes + 2).words[0], "misaligned");
  EXPECT_DEATH(std::ignore = cuda::eight_bytes<2>(kBytes + 1).words[0], "misaligned");
}

// Of either sign in any order, as thread blocks come; -0 beside negative numbers.
TEST(CudaDeviceCode, MemoryIsRaisedToTheGreatest) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const std::vector<float> ascending = {-infinity, -3.5F, -1e-38F, 0.0F, 1e-38F, 2.0F, infinity};
  for (std::size_t a = 0; a < ascending.size(); ++a) {
    for (std::size_t b = 0; b < ascending.size(); ++b) {
      float memory = ascending[a];
      cuda::raise(&memory, ascending[b]);
      EXPECT_EQ(memory, ascending[std::max(a, b)]) << ascending[a] << " " << ascending[b];
    }
    float damaged = ascending[a];
    cuda::raise(&damaged, -nan);
    cuda::raise(&damaged, ascending[a]);
    EXPECT_TRUE(std::isnan(damaged)) << ascending[a];
  }
  float negative = -2.0F;
  cuda::raise(&negative, -0.0F);
  EXPECT_EQ(negative, 0.0F);
}

TEST(CudaDeviceCode, GatheredRowsMoveVectorsWhereTheyAreWholeOnes) {
  for (const std::int64_t row_bytes : {2, 6, 128, 160, 1024}) {
    testing::gathered(testing::GatherCase(row_bytes, {1}),
                      [&](const GatherSlotsArgs& args) { EXPECT_EQ(cuda::gathers_vectors(args), row_bytes % 16 == 0) << row_bytes; });
  }
}

// With as many warps for two rows as a shape would be given, whatever the shape.
void expect_shared_gemv(const GemvCase::Shape& shape) {
  SCOPED_TRACE(shape.name());
  const GemvCase problem(shape);
  for (const int sharing : {1, 2, 4, 8}) {
    SCOPED_TRACE(sharing);
    std::vector<std::byte> output = problem.untouched;
    const CudaGemvArgs args = problem.args(problem.matrix.data(), problem.input.data(), problem.bias.data(), output.data());
    ASSERT_EQ(check_arguments(args), LaunchStatus::kOk);
    const cuda::GemvLaunch launch = cuda::plan_launch(args);
    cuda::for_type(shape.type, [&](auto number) {
      cuda::with_sharing(sharing, [&](auto warps) {
        cuda::launch_kernel(cuda::multiply_row<decltype(number), warps.value>, cuda::gemv_blocks(launch, warps.value),
                            32 * cuda::kGemvWarps, nullptr, launch);
      });
    });
    problem.expect_near(output);
  }
}

TEST(CudaDeviceCode, GemvsEqualTheReferenceHoweverManyWarpsShare) {
  for (GemvCase::Shape shape : testing::gemv_types()) {
    for (const std::int64_t columns : {8, 264, 2056}) {  // a piece, a round that ends early, more than a round of some
      for (const std::int64_t rows : {1, 17}) {          // rows without a neighbour, more than a thread block serves
        shape.columns = columns;
        shape.rows = rows;
        shape.bias = rows > 1;
        expect_shared_gemv(shape);
      }
    }
  }
}

TEST(CudaDeviceCode, GatedGemvsEqualTheReferenceHoweverManyWarpsShare) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const Activation activation : testing::kEveryActivation) {
      for (const std::int64_t rows : {1, 17}) expect_shared_gemv({type, type, rows, 264, rows > 1, activation});
    }
    expect_shared_gemv({type, type, 5, 2056, true, Activation::kSilu});
  }
}

// A thread of the last launch then has two chunks. What the launches before it leave is written out here.
TEST(CudaDeviceCode, ATokenIsDrawnFromALongVocabulary) {
  ChooseCase problem(300'000, 8);
  SampleTokenArgs args = problem.args(1.1, 1000, 0.9, 0.0);
  std::vector<std::uint64_t> workspace(static_cast<std::size_t>(choice_workspace(args.vocabulary)));
  std::int64_t choice = -7;
  args.logits = problem.logits.data();
  args.workspace = workspace.data();
  args.choice = &choice;
  const cuda::ChooseLaunch launch = cuda::plan_launch(args);
  for (std::int64_t id = 0; id < args.vocabulary; ++id) launch.keys[id] = choice_key(args, id);
  for (int chunk = 0; chunk < launch.chunks; ++chunk) {
    std::uint64_t* const keys = launch.keys + chunk * kChoiceChunk;
    std::sort(keys, keys + kChoiceChunk, std::greater<>());
    launch.bests[chunk] = keys[0];
  }
  const std::uint64_t best = *std::max_element(launch.bests, launch.bests + launch.chunks);
  for (int chunk = 0; chunk < launch.chunks; ++chunk) {
    std::uint64_t sum = 0;
    for (int i = 0; i < cuda::chunk_size(launch, chunk); ++i) {
      sum += choice_weight(choice_value(launch.keys[chunk * kChoiceChunk + i], best, args.temperature));
      launch.weights[chunk * kChoiceChunk + i] = sum;
    }
  }
  for (const double uniform : {0.02, 0.84}) {
    cuda::ChooseLaunch drawn = launch;
    drawn.args.uniform = args.uniform = uniform;
    cuda::launch_kernel(cuda::draw_token, 1, cuda::kChoiceThreads, nullptr, drawn);
    EXPECT_EQ(choice, expected_choice(problem, args)) << testing::name_of(args);
  }
}

// Two rows and two columns that are 2^31 elements apart: offsets have 64 bits.
void expect_far_columns(ElementType type) {
  constexpr std::int64_t kFar = std::int64_t{1} << 31;
  constexpr std::size_t kPage = 4096;
  const std::size_t element = type == ElementType::kFp32 ? 4 : 2;
  const std::size_t bytes = element * static_cast<std::size_t>(kFar) + kPage;
  void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) GTEST_SKIP() << "no room for an address range of 8 GiB";
  auto* const near = static_cast<std::byte*>(memory);
  std::byte* const far = near + bytes - kPage;
  ASSERT_EQ(mprotect(near, kPage, PROT_READ | PROT_WRITE) | mprotect(far, kPage, PROT_READ | PROT_WRITE), 0);
  const CudaColumnsCase problem({type, 8, 1, 1, 2, 2, 1});
  const std::size_t row = static_cast<std::size_t>(problem.stride()) * element;
  for (const auto& [to, index] : {std::pair(near, 0U), std::pair(far, 1U)}) {
    std::copy_n(problem.query.data() + index * row, row, to);
    std::copy_n(problem.key.data() + index * row, row, to + row);
  }
  CudaColumnsCase::Result result(problem.shape);
  std::vector<double> workspace(16);
  CudaColumnSumsArgs args = problem.args(result, workspace.data(), 1);
  args.query = near;
  args.query_row_stride = kFar;
  args.key = near + row;
  args.key_row_stride = kFar;
  ASSERT_EQ(cuda_column_sums(args, nullptr), LaunchStatus::kOk);
  problem.expect_near(result);
  munmap(memory, bytes);
}

TEST(CudaDeviceCode, RowsMayLieFarApart) {
  expect_far_columns(ElementType::kBf16);
  expect_far_columns(ElementType::kFp32);
}

}  // namespace
}  // namespace winnow::kernels::testing
