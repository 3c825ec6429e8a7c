#include "engine/weights/gguf_metadata.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/weights/gguf_file.h"
#include "tests/support/expect_error.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::test {
namespace {

constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

TEST(GgufMetadata, ReadsEveryKindThatThePythonPackageWrites) {
  const GgufFile file(source_folder() + "/tests/golden/gguf/every_type.gguf");
  const GgufMetadata& metadata = file.metadata();
  EXPECT_EQ(metadata.integer("test.u8", 0, 255), 200);
  EXPECT_EQ(metadata.integer("test.i8", -128, 127), -100);
  EXPECT_EQ(metadata.integer("test.u16", kLeast, kMost), 60'000);
  EXPECT_EQ(metadata.integer("test.i16", kLeast, kMost), -30'000);
  EXPECT_EQ(metadata.integer("test.u32", kLeast, kMost), 4'000'000'000);
  EXPECT_EQ(metadata.integer("test.i32", kLeast, kMost), -2'000'000'000);
  EXPECT_EQ(metadata.integer("test.i64", kLeast, kMost), -(std::int64_t{1} << 62));
  expect_error(ErrorCode::kLimitExceeded, "test.u64: it is 9223372036854775809, more than",
               [&] { metadata.integer("test.u64", 0, kMost); });
  EXPECT_EQ(metadata.real("test.f32", 0, 1), 0.5);
  EXPECT_EQ(metadata.real("test.f64", -1, 0), -1e-6);
  EXPECT_EQ(metadata.real("test.u8", 0, 255), 200);
  EXPECT_TRUE(metadata.boolean("test.yes", false));
  EXPECT_FALSE(metadata.boolean("test.no", true));
  EXPECT_EQ(metadata.string("test.text"), "zwei W\xc3\xb6rter");
  EXPECT_EQ(metadata.strings("test.strings"), (std::vector<std::string>{"<s>", "",
                                                                        "\xc4\xa0"
                                                                        "a"}));
  EXPECT_EQ(metadata.length("test.strings"), 3U);
  EXPECT_EQ(metadata.integers("test.integers"), (std::vector<std::int64_t>{3, -4, 5}));
  EXPECT_EQ(metadata.integers("test.bytes"), (std::vector<std::int64_t>{1, 2, 255}));
  EXPECT_EQ(metadata.reals("test.reals"), (std::vector<float>{0.25F, -8.0F}));
}

class Values : public ::testing::Test {
 protected:
  test::ScratchFolder folder_;
  GgufFile file_{folder_.write("f", GgufWriter()
                                        .text("text", "words")
                                        .int32("number", -7)
                                        .float32("real", 0.25F)
                                        .float32("nan", std::numeric_limits<float>::quiet_NaN())
                                        .boolean("yes", true)
                                        .texts("texts", {"a", "b"})
                                        .texts("nothing", {})
                                        .float32s("reals", {1, 2})
                                        .list("truths", GgufType::kBool, 2, std::string_view("\x01\x00", 2))
                                        .list("wide", GgufType::kUint64, 1, "\xff\xff\xff\xff\xff\xff\xff\xff")
                                        .list("doubles", GgufType::kFloat64, 1, GgufWriter::number(0.5))
                                        .bytes())};
  const GgufMetadata& metadata_ = file_.metadata();
};

TEST_F(Values, FallBackOnlyWhereTheKeyIsMissing) {
  EXPECT_EQ(metadata_.string("none", "x"), "x");
  EXPECT_EQ(metadata_.integer("none", 0, 1, 5), 5);
  EXPECT_EQ(metadata_.real("none", 0, 1, 0.5), 0.5);
  EXPECT_TRUE(metadata_.boolean("none", true));
  EXPECT_EQ(metadata_.string("text", "x"), "words");
  EXPECT_EQ(metadata_.integer("number", -10, 1, 5), -7);
  EXPECT_EQ(metadata_.real("real", 0, 1, 0.5), 0.25);
  expect_error(ErrorCode::kDamagedFile, "f: none: it is missing", [&] { metadata_.string("none"); });
  expect_error(ErrorCode::kDamagedFile, "f: none: it is missing", [&] { metadata_.length("none"); });
  expect_error(ErrorCode::kDamagedFile, "f: number: it must be text", [&] { metadata_.string("number", "x"); });
}

TEST_F(Values, AreHeldAgainstTheirRange) {
  expect_error(ErrorCode::kDamagedFile, "f: number: it is -7, less than 0", [&] { metadata_.integer("number", 0, 5); });
  expect_error(ErrorCode::kLimitExceeded, "f: number: it is -7, more than the limit of -8", [&] { metadata_.integer("number", -9, -8); });
  expect_error(ErrorCode::kDamagedFile, "f: real: it is 0.25, less than 0.5", [&] { metadata_.real("real", 0.5, 1); });
  expect_error(ErrorCode::kLimitExceeded, "f: real: it is 0.25, more than the limit of 0.1", [&] { metadata_.real("real", 0, 0.1); });
  expect_error(ErrorCode::kDamagedFile, "f: nan: it must be finite", [&] { metadata_.real("nan", 0, 1); });
  expect_error(ErrorCode::kLimitExceeded, "f: wide: it is 18446744073709551615", [&] { metadata_.integers("wide"); });
}

TEST_F(Values, AreNotTakenForAnotherType) {
  expect_error(ErrorCode::kDamagedFile, "f: text: it must be an integer", [&] { metadata_.integer("text", 0, 1); });
  expect_error(ErrorCode::kDamagedFile, "f: real: it must be an integer", [&] { metadata_.integer("real", 0, 1); });
  expect_error(ErrorCode::kDamagedFile, "f: yes: it must be an integer", [&] { metadata_.integer("yes", 0, 1); });
  expect_error(ErrorCode::kDamagedFile, "f: yes: it must be a number", [&] { metadata_.real("yes", 0, 1); });
  expect_error(ErrorCode::kDamagedFile, "f: number: it must be true or false", [&] { metadata_.boolean("number", true); });
  expect_error(ErrorCode::kDamagedFile, "f: texts: it must not be a list", [&] { metadata_.string("texts"); });
  expect_error(ErrorCode::kDamagedFile, "f: text: it must be a list", [&] { metadata_.strings("text"); });
  expect_error(ErrorCode::kDamagedFile, "f: reals: it must be a list of texts", [&] { metadata_.strings("reals"); });
  expect_error(ErrorCode::kDamagedFile, "f: texts: it must be a list of integers", [&] { metadata_.integers("texts"); });
  expect_error(ErrorCode::kDamagedFile, "f: reals: it must be a list of integers", [&] { metadata_.integers("reals"); });
  expect_error(ErrorCode::kDamagedFile, "f: truths: it must be a list of real numbers", [&] { metadata_.reals("truths"); });
}

TEST_F(Values, OfListsAreReadAsTheyStand) {
  EXPECT_TRUE(metadata_.is_list("texts"));
  EXPECT_FALSE(metadata_.is_list("text"));
  EXPECT_FALSE(metadata_.is_list("none"));
  EXPECT_TRUE(metadata_.strings("nothing").empty());
  EXPECT_EQ(metadata_.length("nothing"), 0U);
  EXPECT_EQ(metadata_.integers("truths"), (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(metadata_.reals("doubles"), std::vector<float>{0.5F});
}

TEST_F(Values, LongKeysAreShortenedInSentences) {
  expect_error(ErrorCode::kDamagedFile, std::string(100, 'k') + "...: it is missing", [&] { metadata_.string(std::string(5000, 'k')); });
}

}  // namespace
}  // namespace winnow::test
