#include "kernels/api/pack_codes.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace winnow::kernels {
namespace {

// Codes 0 to 31, of which four bits keep 0 to 15 twice; two blocks with scales of a half and of two, zeros 3 and 9.
class PackCodes : public testing::Test {
 protected:
  PackCodes() : codes_(64), scales_{0.5F, 2.0F}, zeros_{3, 9} {
    std::iota(codes_.begin(), codes_.begin() + 32, std::uint8_t{0});
    std::iota(codes_.begin() + 32, codes_.end(), std::uint8_t{0});
    codes_[63] = 255;
  }

  std::vector<std::uint8_t> packed(BlockType type) const {
    std::vector<std::uint8_t> blocks(2 * static_cast<std::size_t>(block_bytes(type)), 0x77);
    EXPECT_EQ(pack_codes({type, codes_.data(), 64, scales_.data(), zeros_.data(), blocks.data()}), LaunchStatus::kOk);
    return blocks;
  }

  std::vector<float> values(BlockType type) const {
    std::vector<float> values(64);
    dequantise(type, packed(type).data(), 64, values.data());
    return values;
  }

  std::vector<std::uint8_t> codes_;
  std::vector<float> scales_;
  std::vector<std::uint8_t> zeros_;
};

TEST_F(PackCodes, ABlockByHand) {
  const std::vector<std::uint8_t> blocks = packed(BlockType::kU4Z);
  ASSERT_EQ(blocks.size(), 40U);
  EXPECT_EQ(blocks[0], 0x00) << "a half is 0x3800";
  EXPECT_EQ(blocks[1], 0x38);
  EXPECT_EQ(blocks[2], 3);
  EXPECT_EQ(blocks[3], 0);
  EXPECT_EQ(blocks[4], 0x00) << "elements 0 and 16";
  EXPECT_EQ(blocks[5], 0x11) << "elements 1 and 17";
  EXPECT_EQ(blocks[21], 0x40) << "two is 0x4000";
  EXPECT_EQ(blocks[22], 9);
  const std::vector<float> values = this->values(BlockType::kU4Z);
  EXPECT_EQ(values[0], -1.5F);
  EXPECT_EQ(values[15], 6.0F);
  EXPECT_EQ(values[16], -1.5F);
  EXPECT_EQ(values[32], -18.0F);
  EXPECT_EQ(values[63], 12.0F);
}

TEST_F(PackCodes, EightBitsByHand) {
  const std::vector<float> values = this->values(BlockType::kU8Z);
  EXPECT_EQ(values[0], -1.5F);
  EXPECT_EQ(values[31], 14.0F);
  EXPECT_EQ(values[63], 492.0F) << "(255 - 9) * 2: further from zero than a signed byte";
}

TEST_F(PackCodes, WhereTheMiddleIsZeroNothingElseIsStored) {
  const std::vector<float> four = values(BlockType::kQ4_0);
  EXPECT_EQ(four[0], -4.0F);
  EXPECT_EQ(four[8], 0.0F);
  EXPECT_EQ(four[15], 3.5F);
  const std::vector<float> eight = values(BlockType::kQ8_0);
  EXPECT_EQ(eight[0], -64.0F);
  EXPECT_EQ(eight[31], -48.5F);
  EXPECT_EQ(eight[63], 254.0F);
}

TEST_F(PackCodes, RefusesWhatItCannotPack) {
  std::uint8_t block[40] = {};
  const PackCodesArgs good{BlockType::kU4Z, codes_.data(), 64, scales_.data(), zeros_.data(), block};
  EXPECT_EQ(pack_codes(good), LaunchStatus::kOk);
  for (const auto break_it : {+[](PackCodesArgs& args) { args.codes = nullptr; }, +[](PackCodesArgs& args) { args.scales = nullptr; },
                              +[](PackCodesArgs& args) { args.zeros = nullptr; }, +[](PackCodesArgs& args) { args.blocks = nullptr; },
                              +[](PackCodesArgs& args) { args.elements = 33; }, +[](PackCodesArgs& args) { args.elements = -32; }}) {
    PackCodesArgs args = good;
    break_it(args);
    EXPECT_EQ(pack_codes(args), LaunchStatus::kBadArgument);
  }
  PackCodesArgs other = good;
  other.type = BlockType::kQ4_1;
  EXPECT_EQ(pack_codes(other), LaunchStatus::kUnsupported);
}

}  // namespace
}  // namespace winnow::kernels
