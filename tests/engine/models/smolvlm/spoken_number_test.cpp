#include "engine/models/families/smolvlm_folder.h"

#include <gtest/gtest.h>

#include "engine/base/json_document.h"
#include "tests/support/source_folder.h"

namespace winnow::smolvlm_test {
namespace {

TEST(SpokenNumber, EqualsNum2words) {
  const Json golden = load_json(source_folder() + "/tests/golden/smolvlm/sizes.json");
  ASSERT_GE(golden["words"].size(), 20U);
  for (const auto& [number, words] : golden["words"].items()) EXPECT_EQ(spoken_number(std::stoll(number)), words) << number;
}

}  // namespace
}  // namespace winnow::smolvlm_test
