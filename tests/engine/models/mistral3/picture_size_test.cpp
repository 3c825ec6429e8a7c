// How large a picture gets before a Mistral 3 sees it.
#include <gtest/gtest.h>

#include "engine/models/families/mistral3_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::mistral3_test {
namespace {

TEST(Mistral3Pictures, SizesEqualTheReference) {
  const Json golden = load_json(source_folder() + "/tests/golden/mistral3/sizes.json");
  ASSERT_GE(golden["sizes"].size(), 150U);
  for (const Json& row : golden["sizes"]) {
    const PixelSize size = pixtral_size({row[2], row[3]}, row[0], row[1]);
    EXPECT_EQ(size.height_px, row[4].get<std::int64_t>()) << row.dump();
    EXPECT_EQ(size.width_px, row[5].get<std::int64_t>()) << row.dump();
  }
}

// transformers makes no tokens of it.
TEST(Mistral3Pictures, ASideIsNeverLessThanAPixel) {
  const PixelSize size = pixtral_size({1, 200}, 36, 6);
  EXPECT_EQ(size.height_px, 6);
  EXPECT_EQ(size.width_px, 36);
}

}  // namespace
}  // namespace winnow::mistral3_test
