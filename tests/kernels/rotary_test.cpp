// Rotary positions: the vectorised forms against the definition, the definition against numbers worked out by hand.
#include "kernels/api/rotary.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/kernels/changed_arguments.h"
#include "tests/kernels/every_target.h"
#include "tests/kernels/rotary_case.h"

namespace winnow::kernels::testing {
namespace {

using RotaryKernel = LaunchStatus (*)(const RotaryArgs&);

// A quarter turn of (1, 2), a half turn of (3, 4): pairs lie half a head apart.
TEST(Rotary, ByHand) {
  const float input[] = {1.0F, 3.0F, 2.0F, 4.0F};
  const float cosine[] = {0.0F, -1.0F};
  const float sine[] = {1.0F, 0.0F};
  for (const RotaryKernel kernel : {&rotary_reference, &rotary_cpu}) {
    std::vector<float> output(4);
    ASSERT_EQ(kernel({ElementType::kFp32, 1, 1, 2, input, {4, 4}, cosine, sine, output.data(), {4, 4}}), LaunchStatus::kOk);
    EXPECT_EQ(output, (std::vector<float>{-2.0F, -3.0F, 1.0F, -4.0F}));
  }
}

TEST(Rotary, EqualsTheDefinitionForEveryTypeAndHead) {
  for (const ElementType type : testing::kEveryElementType) {
    for (const std::int64_t half : {1, 5, 32, 40, 64}) {
      const RotaryCase::Shape shape{type, 3, 4, half};
      SCOPED_TRACE(shape.name());
      const RotaryCase problem(shape);
      testing::with_every_target([&] {
        std::vector<std::byte> output(problem.expected.size(), std::byte{0xFF});
        ASSERT_EQ(rotary_cpu(problem.args({problem.input.data(), problem.cosine.data(), problem.sine.data(), output.data()})),
                  LaunchStatus::kOk);
        problem.expect_near(output);
      });
    }
  }
}

TEST(Rotary, RefusesWhatDoesNotFit) {
  float value = 0.0F;
  float output[2] = {};
  const RotaryArgs good{ElementType::kBf16, 1, 1, 1, output, {2, 2}, &value, &value, output, {2, 2}};
  const ChangedArguments expect(good, {&rotary_reference, &rotary_cpu});
  expect(kOk, [](auto& a) { a.rows = 0; });
  expect.needs(&RotaryArgs::input, &RotaryArgs::cosine, &RotaryArgs::sine, &RotaryArgs::output);
  expect(kBad, [](auto& a) { a.heads = -1; });
  expect(kBad, [](auto& a) { a.output_strides.group = -1; });
  expect(kBad, [](auto& a) { a.type = static_cast<ElementType>(9); });
  expect(kTooLarge, [](auto& a) { a.rows = kMaxRotaryRows + 1; });
  expect(kTooLarge, [](auto& a) { a.heads = a.half = kMaxRotaryPairs / 2; });
}

}  // namespace
}  // namespace winnow::kernels::testing
