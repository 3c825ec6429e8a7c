// Stored blocks to numbers, against what the Python package gguf makes of the same bytes (tests/golden/gguf).
#include "kernels/api/block_types.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/weights/safetensors.h"
#include "kernels/reference/half.h"
#include "tests/support/source_folder.h"

namespace winnow::kernels {
namespace {

struct NamedType {
  const char* name;
  BlockType type;
};

constexpr std::array<NamedType, 15> kTypes = {{{"F32", BlockType::kF32},
                                               {"F16", BlockType::kF16},
                                               {"BF16", BlockType::kBF16},
                                               {"Q8_0", BlockType::kQ8_0},
                                               {"Q4_0", BlockType::kQ4_0},
                                               {"Q4_1", BlockType::kQ4_1},
                                               {"Q5_0", BlockType::kQ5_0},
                                               {"Q5_1", BlockType::kQ5_1},
                                               {"Q2_K", BlockType::kQ2_K},
                                               {"Q3_K", BlockType::kQ3_K},
                                               {"Q4_K", BlockType::kQ4_K},
                                               {"Q5_K", BlockType::kQ5_K},
                                               {"Q6_K", BlockType::kQ6_K},
                                               {"IQ4_NL", BlockType::kIQ4_NL},
                                               {"IQ4_XS", BlockType::kIQ4_XS}}};

class BlockTypes : public testing::TestWithParam<NamedType> {
 protected:
  template <typename Element>
  std::vector<Element> golden(const std::string& part) const {
    const SafetensorsFile file(source_folder() + "/tests/golden/gguf/blocks.safetensors");
    const StoredTensor& stored = file.tensor(std::string(GetParam().name) + part);
    std::vector<Element> values(static_cast<std::size_t>(stored.bytes()) / sizeof(Element));
    file.read(stored, 0, std::as_writable_bytes(std::span(values)));
    return values;
  }
};

// NaN stands for any NaN; -0 is not 0.
bool same(float a, float b) { return std::isnan(a) ? std::isnan(b) : std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); }

TEST_P(BlockTypes, ValuesAreThoseOfTheReferenceBitForBit) {
  const auto blocks = golden<std::uint8_t>(".blocks");
  const auto expected = golden<float>(".values");
  ASSERT_EQ(blocks.size() * static_cast<std::size_t>(block_elements(GetParam().type)),
            expected.size() * static_cast<std::size_t>(block_bytes(GetParam().type)));
  std::vector<float> values(expected.size(), -77.0F);
  dequantise(GetParam().type, blocks.data(), std::ssize(values), values.data());
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_TRUE(same(values[i], expected[i])) << "element " << i << ": " << values[i] << " instead of " << expected[i]
                                              << "; after a change of the format: tests/golden/make/make_gguf_goldens.py";
  }
}

TEST_P(BlockTypes, BlocksNeedNoAlignmentAndNothingBehindThemIsWritten) {
  const auto blocks = golden<std::uint8_t>(".blocks");
  const auto expected = golden<float>(".values");
  const auto elements = static_cast<std::size_t>(block_elements(GetParam().type));
  std::vector<std::uint8_t> shifted(1 + blocks.size());
  std::copy(blocks.begin(), blocks.end(), shifted.begin() + 1);
  std::vector<float> values(3 * elements, -77.0F);
  dequantise(GetParam().type, shifted.data() + 1, static_cast<std::int64_t>(2 * elements), values.data());
  for (std::size_t i = 0; i < 2 * elements; ++i) ASSERT_TRUE(same(values[i], expected[i])) << i;
  for (std::size_t i = 2 * elements; i < values.size(); ++i) ASSERT_EQ(values[i], -77.0F) << i;
}

INSTANTIATE_TEST_SUITE_P(EveryType, BlockTypes, testing::ValuesIn(kTypes),
                         [](const testing::TestParamInfo<NamedType>& info) { return std::string(info.param.name); });

TEST(BlockType, AnUnknownTypeHasNoSizeAndWritesNothing) {
  const auto unknown = static_cast<BlockType>(99);
  EXPECT_EQ(block_elements(unknown), 0);
  EXPECT_EQ(block_bytes(unknown), 0);
  float value = 5.0F;
  dequantise(unknown, nullptr, 1, &value);
  EXPECT_EQ(value, 5.0F);
}

TEST(Half, EveryOneDequantisesToItsValue) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = fp16_to_float(static_cast<std::uint16_t>(bits));
    const int exponent = static_cast<int>((bits >> 10) & 31);
    const auto fraction = static_cast<float>(bits & 1023);
    ASSERT_EQ(std::signbit(value), bits >= 0x8000) << bits;
    if (exponent == 31) {
      ASSERT_TRUE(fraction == 0 ? std::isinf(value) : std::isnan(value)) << bits;
    } else {
      const float magnitude = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25);
      ASSERT_EQ(std::fabs(value), magnitude) << bits;
    }
  }
}

}  // namespace
}  // namespace winnow::kernels
