// The CUDA kernels of a decode step's row, its products with numbers and what stands between them: their own source on CPU threads
// (cuda_on_cpu.h), against kernels/reference.
#include <gtest/gtest.h>

#include "tests/kernels/cuda_on_cpu.h"

#include "kernels/cuda/gated_activation.cuh"
#include "kernels/cuda/gemv.cuh"
#include "kernels/cuda/rms_norm.cuh"
#include "kernels/cuda/rotary.cuh"
#include "kernels/cuda/rotate_append.cuh"
#include "kernels/reference/check_cuda_gemv.h"
#include "kernels/reference/check_gated_activation.h"
#include "kernels/reference/check_rms_norm.h"
#include "kernels/reference/check_rotary.h"
#include "kernels/reference/check_rotate_append.h"
#include "tests/kernels/gated_case.h"
#include "tests/kernels/gemv_case.h"
#include "tests/kernels/norm_case.h"
#include "tests/kernels/rotary_case.h"
#include "tests/kernels/rotate_append_case.h"

namespace winnow::kernels {
namespace {

using testing::GatedCase;
using testing::GemvCase;
using testing::kEveryElementType;
using testing::NormCase;
using testing::RotaryCase;

// Calls work with a number of the type, as device memory has it.
template <class Work>
void with_device_type(ElementType type, const Work& work) {
  switch (type) {
    case ElementType::kFp32:
      return work(float{});
    case ElementType::kBf16:
      return work(cuda::Bf16{});
    case ElementType::kFp16:
      return work(cuda::Fp16{});
  }
}

// As cuda_gated_activation() launches.
template <class T, int kVector>
void gate(const GatedActivationArgs& args) {
  const cuda::GateLaunch launch = cuda::plan_launch(args);
  cuda::launch_on_cpu({static_cast<unsigned>(args.rows), cuda::gate_pieces(args, kVector), 1}, cuda::kGateThreads,
                      [&] { cuda::gate_rows<T, kVector>(launch); });
}

template <class T>
void gate_as_it_lies(const GatedActivationArgs& args) {
  cuda::moves_vectors<T>(args) ? gate<T, cuda::kWidest<T>>(args) : gate<T, 1>(args);
}

TEST(CudaRowsSource, GatedActivationsEqualTheReference) {
  for (const Activation activation : testing::kEveryActivation) {
    for (const ElementType type : kEveryElementType) {
      for (const std::int64_t columns : {1, 36, 1032}) {  // vectors fit into 36 of fp32 alone, and into the last
        SCOPED_TRACE(::testing::Message() << static_cast<int>(activation) << " type " << static_cast<int>(type) << " columns " << columns);
        const GatedCase problem(activation, type, 2, columns);
        std::vector<std::byte> output(problem.expected.size(), std::byte{0xFF});
        const GatedActivationArgs args = problem.args(problem.both.data(), output.data());
        ASSERT_EQ(check_arguments(args), LaunchStatus::kOk);
        with_device_type(type, [&](auto number) { gate_as_it_lies<decltype(number)>(args); });
        problem.expect_near(output);
      }
    }
  }
}

TEST(CudaRowsSource, GatedActivationsMoveVectorsWhereRowsAreAligned) {
  alignas(16) std::byte memory[64] = {};
  GatedActivationArgs args{Activation::kSilu, ElementType::kBf16, memory, memory + 16, 16, 1, 8, memory + 32};
  EXPECT_TRUE(cuda::moves_vectors<cuda::Bf16>(args));
  args.output = memory + 34;
  EXPECT_FALSE(cuda::moves_vectors<cuda::Bf16>(args));
  args.output = memory + 32;
  args.stride = 12;
  EXPECT_FALSE(cuda::moves_vectors<cuda::Bf16>(args));
}

// As cuda_rms_norm() launches.
template <class T, int kVector>
void normalise(const RmsNormArgs& args) {
  const cuda::NormLaunch launch = cuda::plan_launch(args);
  if (args.features <= cuda::kWarpFeatures) {
    cuda::launch_on_cpu({cuda::norm_blocks(args, 32), 1, 1}, cuda::kNormThreads, [&] { cuda::normalise_rows<T, kVector, 32>(launch); });
  } else {
    cuda::launch_on_cpu({cuda::norm_blocks(args, cuda::kNormThreads), 1, 1}, cuda::kNormThreads,
                        [&] { cuda::normalise_rows<T, kVector, cuda::kNormThreads>(launch); });
  }
}

template <class T, class Weight>
void normalise_holding(const RmsNormArgs& args) {
  const cuda::NormLaunch launch = cuda::plan_launch(args);
  const int warps = cuda::holding_warps<T>(args);
  cuda::launch_on_cpu({static_cast<unsigned>(args.rows), 1, 1}, static_cast<unsigned>(32 * warps),
                      [&] { cuda::normalise_held_row<T, Weight>(launch, warps); });
}

template <class T>
void normalise_as_it_lies(const RmsNormArgs& args, bool holding) {
  if (holding) return args.weight_type == args.type ? normalise_holding<T, T>(args) : normalise_holding<T, float>(args);
  cuda::moves_vectors<T>(args) ? normalise<T, cuda::kWidest<T>>(args) : normalise<T, 1>(args);
}

// As many rows are, and as few are where thread blocks can hold them.
void expect_norm(const NormCase::Shape& shape) {
  SCOPED_TRACE(shape.name());
  const NormCase problem(shape);
  with_device_type(shape.type, [&](auto number) {
    using T = decltype(number);
    for (const bool holding : {false, true}) {
      std::vector<std::byte> rows = problem.input;
      std::vector<std::byte> output(problem.expected.size(), std::byte{0xFF});
      const RmsNormArgs args = problem.args({rows.data(), problem.weight.data(), problem.added.data(), output.data()});
      ASSERT_EQ(check_arguments(args), LaunchStatus::kOk);
      if (holding && !cuda::holds_rows<T>(args)) continue;
      normalise_as_it_lies<T>(args, holding);
      problem.expect_near(output, rows);
    }
  });
}

TEST(CudaRowsSource, NormsEqualTheReference) {
  for (NormCase::Shape shape : testing::norm_types()) {
    for (const std::int64_t features : {1, 36, 896, 1024, 1025, 1032}) {  // the last two have a thread block each
      for (const bool added : {false, true}) {
        shape.rows = features > 800 ? 2 : 9;  // more than a thread block serves
        shape.features = features;
        shape.added = added;
        expect_norm(shape);
      }
    }
    expect_norm({shape.type, shape.weight_type, 3, 5, 64});
    expect_norm({shape.type, shape.weight_type, 2, 3, 42});
  }
}

TEST(CudaRowsSource, ThreadBlocksHoldFewRows) {
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

// As cuda_rotary() launches.
template <class T, int kVector>
void turn(const RotaryArgs& args) {
  cuda::launch_on_cpu({static_cast<unsigned>(args.rows), cuda::rotary_pieces(args, kVector), 1}, cuda::kRotaryThreads,
                      [&] { cuda::turn_heads<T, kVector>(args); });
}

TEST(CudaRowsSource, RotaryPositionsEqualTheReference) {
  for (const ElementType type : kEveryElementType) {
    for (const std::int64_t half : {1, 5, 32, 64}) {
      const RotaryCase::Shape shape{type, 2, 9, half};
      SCOPED_TRACE(shape.name());
      const RotaryCase problem(shape);
      std::vector<std::byte> output(problem.expected.size(), std::byte{0xFF});
      const RotaryArgs args = problem.args({problem.input.data(), problem.cosine.data(), problem.sine.data(), output.data()});
      ASSERT_EQ(check_arguments(args), LaunchStatus::kOk);
      with_device_type(type, [&](auto number) {
        using T = decltype(number);
        cuda::moves_vectors<T>(args) ? turn<T, cuda::kWidest<T>>(args) : turn<T, 1>(args);
      });
      problem.expect_near(output);
    }
  }
}

// As cuda_rotate_append() launches.
template <class T, int kVector>
void turn_and_append(const CudaRotateAppendArgs& args) {
  const cuda::RotateAppendLaunch launch = cuda::plan_launch(args);
  cuda::launch_on_cpu({cuda::rotate_append_blocks(launch, kVector), 1, 1}, cuda::kRotateAppendThreads,
                      [&] { cuda::rotate_append<T, kVector>(launch); });
}

TEST(CudaRowsSource, ATokenIsRotatedAndAppendedAsByTheReference) {
  for (const ElementType type : kEveryElementType) {
    for (const std::int64_t half : {1, 5, 32, 64}) {
      for (const std::int64_t heads : {1, 14}) {
        SCOPED_TRACE(::testing::Message() << "type " << static_cast<int>(type) << " half " << half << " heads " << heads);
        testing::RotateAppendCase expected(type, heads, {0, 63, 130}, half);
        ASSERT_EQ(cuda_rotate_append_reference(expected.args()), LaunchStatus::kOk);
        testing::RotateAppendCase actual(type, heads, {0, 63, 130}, half);
        const CudaRotateAppendArgs args = actual.args();
        with_device_type(type, [&](auto number) {
          using T = decltype(number);
          cuda::moves_vectors<T>(args) ? turn_and_append<T, cuda::kWidest<T>>(args) : turn_and_append<T, 1>(args);
        });
        actual.expect_near(expected);
      }
    }
  }
}

TEST(CudaRowsSource, TurningAndAppendingRefusesBadArguments) {
  testing::RotateAppendCase problem(ElementType::kBf16, 2, {3, 64}, 8);
  const auto expect = [&](LaunchStatus status, const auto& change) {
    CudaRotateAppendArgs args = problem.args();
    change(args);
    EXPECT_EQ(check_arguments(args), status);
  };
  constexpr LaunchStatus kBad = LaunchStatus::kBadArgument;
  expect(LaunchStatus::kOk, [](auto&) {});
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

// As cuda_gemv() launches, with so many warps for two rows.
template <class T>
void multiply(const CudaGemvArgs& args, int sharing) {
  const cuda::GemvLaunch launch = cuda::plan_launch(args);
  cuda::with_sharing(sharing, [&](auto warps) {
    cuda::launch_on_cpu({cuda::gemv_blocks(launch, warps.value), 1, 1}, 32 * cuda::kGemvWarps,
                        [&] { cuda::multiply_row<T, warps.value>(launch); });
  });
}

void expect_gemv(const GemvCase::Shape& shape) {
  SCOPED_TRACE(shape.name());
  const GemvCase problem(shape);
  for (const int sharing : {1, 2, 4, 8}) {
    SCOPED_TRACE(sharing);
    std::vector<std::byte> output = problem.untouched;
    const CudaGemvArgs args = problem.args(problem.matrix.data(), problem.input.data(), problem.bias.data(), output.data());
    ASSERT_EQ(check_arguments(args), LaunchStatus::kOk);
    with_device_type(shape.type, [&](auto number) { multiply<decltype(number)>(args, sharing); });
    problem.expect_near(output);
  }
}

TEST(CudaRowsSource, GemvsEqualTheReferenceHoweverManyWarpsShare) {
  for (GemvCase::Shape shape : testing::gemv_types()) {
    for (const std::int64_t columns : {8, 264, 2056}) {  // a piece, a round that ends early, more than a round of some
      for (const std::int64_t rows : {1, 17}) {          // rows without a neighbour, more than a thread block serves
        shape.columns = columns;
        shape.rows = rows;
        shape.bias = rows > 1;
        expect_gemv(shape);
      }
    }
  }
}

TEST(CudaRowsSource, GatedGemvsEqualTheReferenceHoweverManyWarpsShare) {
  for (const ElementType type : kEveryElementType) {
    for (const Activation activation : testing::kEveryActivation) {
      for (const std::int64_t rows : {1, 17}) expect_gemv({type, type, rows, 264, rows > 1, activation});
    }
    expect_gemv({type, type, 5, 2056, true, Activation::kSilu});
  }
}

TEST(CudaRowsSource, WarpsShareRowsThatAreLongOrFew) {
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

TEST(CudaRowsSource, GemvsRefuseWhatTheyCannotRead) {
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

}  // namespace
}  // namespace winnow::kernels
