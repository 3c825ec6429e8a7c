// How many positions a scaled model reads; its frequencies are held by golden folders.
#include "engine/models/rotary_config.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/base/error.h"

namespace winnow {
namespace {

std::int64_t positions(const std::string& text) {
  const Json document = Json::parse(text);
  return read_rotary(JsonObject(document, "config.json"), 128, 2048).max_positions;
}

// lmsys/longchat-7b-16k and vicuna-7b-v1.5-16k have these keys.
TEST(RotaryConfig, LinearlyScaledPositionsGoAsFarAsTheFileSays) {
  EXPECT_EQ(positions(R"({"rope_scaling": {"type": "linear", "factor": 8.0}, "max_sequence_length": 16384})"), 16'384);
  EXPECT_EQ(positions(R"({"rope_scaling": {"type": "linear", "factor": 8.0}})"), 2048);
  EXPECT_EQ(positions(R"({"rope_scaling": {"type": "linear", "factor": 8.0}, "max_sequence_length": 1024})"), 2048);
  EXPECT_EQ(positions(R"({"max_sequence_length": 16384})"), 2048) << "nothing is scaled";
  EXPECT_THROW(positions(R"({"rope_scaling": {"type": "linear", "factor": 8.0}, "max_sequence_length": "far"})"), Exception);
}

}  // namespace
}  // namespace winnow
