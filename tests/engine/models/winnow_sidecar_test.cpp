// What llava_onevision_configs.json does not hold of winnow.json: texts and lists that are too long, and what methods are given.
#include "engine/models/config/winnow_sidecar.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/expect_error.h"

namespace winnow::winnow_sidecar_test {
namespace {

WinnowSidecar sidecar(const Json& document) { return parse_winnow_sidecar(document, "winnow.json"); }

TEST(WinnowSidecar, HasLimits) {
  test::expect_error(ErrorCode::kLimitExceeded, "time_instruction", [] { sidecar({{"time_instruction", std::string(4097, 'x')}}); });
  const Json row = {{"retention", 0.5}, {"shares", {0.5, 0.5}}};
  test::expect_error(ErrorCode::kLimitExceeded, "more than 256 rows", [&] {
    sidecar({{"prefixkv_profile", std::vector<Json>(257, row)}});
  });
}

TEST(WinnowSidecar, HowMuchHeadsLookAtVideosIsAnOptionOfMethods) {
  const WinnowSidecar read = sidecar(Json::parse(R"({"kvzip_head_scores": [{"heads": [0.25, 0.5]}, {"heads": [0.75, 1.0]}]})"));
  EXPECT_EQ(read.measured_options().at("head_scores"), head_table_text({{0.25, 0.5}, {0.75, 1.0}}));
}

}  // namespace
}  // namespace winnow::winnow_sidecar_test
