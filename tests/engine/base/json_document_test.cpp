#include "engine/base/json_document.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::test {
namespace {

Json parse(std::string_view text) { return parse_json(text, "f.json"); }

TEST(JsonDocument, BuildsTheSameDocumentAsTheOrdinaryReader) {
  const std::string text = R"({"a":[1,-2,3.5,true,null,{"b":"\u00e9\n","c":[]}],"d":{},"e":18446744073709551615})";
  EXPECT_EQ(parse(text), Json::parse(text));
}

TEST(JsonDocument, KeepsTheTypeOfNumbers) {
  const Json document = parse(R"([-1, 1.0, 1, 18446744073709551616])");
  EXPECT_TRUE(document[0].is_number_integer());
  EXPECT_FALSE(document[0].is_number_unsigned());
  EXPECT_TRUE(document[1].is_number_float());
  EXPECT_TRUE(document[2].is_number_unsigned());
  EXPECT_TRUE(document[3].is_number_float());
}

TEST(JsonDocument, RefusesDuplicateKeysAtAnyDepth) {
  expect_error(ErrorCode::kDamagedFile, "\"a\" occurs twice", [] { parse(R"({"a":1,"a":1})"); });
  expect_error(ErrorCode::kDamagedFile, "\"x\" occurs twice", [] { parse(R"({"a":[{"x":1,"y":2,"x":3}]})"); });
  EXPECT_NO_THROW(parse(R"({"a":{"a":1},"b":{"a":1}})"));
}

TEST(JsonDocument, RefusesTextThatIsNotJson) {
  for (const char* text :
       {"", " ", "{", "[1,]", "{\"a\"}", "nul", "{}x", "[1] [2]", "{'a':1}", "NaN", "[Infinity]", "// c\n{}", "\"\x01\""}) {
    expect_error(ErrorCode::kDamagedFile, "not valid JSON", [&] { parse(text); });
  }
  expect_error(ErrorCode::kDamagedFile, "too large", [] { parse("[1e999]"); });
}

TEST(JsonDocument, RefusesBytesThatOtherReadersSkip) {
  expect_error(ErrorCode::kDamagedFile, "NUL", [] { parse(std::string_view("{}\0{}", 5)); });
  expect_error(ErrorCode::kDamagedFile, "byte order mark", [] { parse("\xEF\xBB\xBF{}"); });
  expect_error(ErrorCode::kDamagedFile, "UTF-8", [] { parse("{\"a\":\"\xff\"}"); });
  expect_error(ErrorCode::kDamagedFile, "UTF-8", [] { parse("[\"\xed\xa0\x80\"]"); });  // an encoded surrogate
}

TEST(JsonDocument, StopsAtEveryLimit) {
  const JsonLimits limits{.max_bytes = 100, .max_depth = 3, .max_elements = 5};
  EXPECT_NO_THROW(parse_json("[[[1]]]", "f", limits));
  expect_error(ErrorCode::kLimitExceeded, "deeper than 3", [&] { parse_json("[[[[1]]]]", "f", limits); });
  expect_error(ErrorCode::kLimitExceeded, "more than 5 values", [&] { parse_json("[1,2,3,4,5]", "f", limits); });
  expect_error(ErrorCode::kLimitExceeded, "limit of 100", [&] { parse_json(std::string(101, ' '), "f", limits); });
}

TEST(JsonDocument, SurvivesAHundredThousandLevels) {
  expect_error(ErrorCode::kLimitExceeded, "deeper than 64", [] { parse(std::string(100'000, '[')); });
  std::string objects;
  for (int i = 0; i < 50'000; ++i) objects += "{\"a\":";
  expect_error(ErrorCode::kLimitExceeded, "deeper than 64", [&] { parse(objects); });
}

TEST(JsonDocument, KeepsTheOrderOfMembersForWhatIsWrittenAgain) {
  const std::string text = R"({"z":1,"a":{"y":[true,null],"b":"x"},"m":2.5})";
  EXPECT_EQ(parse_ordered_json(text, "f.json").dump(), text);
  expect_error(ErrorCode::kDamagedFile, "\"a\" occurs twice", [] { parse_ordered_json(R"({"a":1,"b":2,"a":1})", "f.json"); });
  expect_error(ErrorCode::kLimitExceeded, "deeper than 64", [] { parse_ordered_json(std::string(100'000, '['), "f.json"); });
}

TEST(JsonDocument, LoadsFilesWithinTheCap) {
  const test::ScratchFolder folder;
  EXPECT_EQ(load_json(folder.write("a.json", "{\"k\": 7}"))["k"], 7);
  expect_error(ErrorCode::kLimitExceeded, "limit of 1048576", [&] { load_json(folder.write("b.json", std::string((1 << 20) + 1, ' '))); });
}

class JsonObjectTest : public ::testing::Test {
 protected:
  const Json document_ = parse(R"({"i":28,"neg":-1,"f":28.5,"one":1.0,"s":"28","n":null,"b":true,"big":18446744073709551615,
    "huge":1e300,"list":[1,2,3],"mixed":[1,"2"],"o":{"inner":{"x":0}}})");
  const JsonObject object_{document_, "config.json"};
};

TEST_F(JsonObjectTest, ReadsFieldsOfTheirType) {
  EXPECT_EQ(object_.integer("i", 0, 28), 28);
  EXPECT_EQ(object_.integer("absent", 0, 9, 5), 5);
  EXPECT_EQ(object_.integer("n", 0, 9, 6), 6);  // null is "not set"
  EXPECT_EQ(object_.real("f", 0, 100), 28.5);
  EXPECT_EQ(object_.real("i", 0, 100), 28.0);
  EXPECT_TRUE(object_.boolean("b"));
  EXPECT_EQ(object_.string("s", 2), "28");
  EXPECT_EQ(object_.integers("list", 1, 3, 3), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(object_.object("o").object("inner").integer("x", 0, 0), 0);
  EXPECT_EQ(object_.first_present({"absent", "n", "s", "i"}), "s");
}

TEST_F(JsonObjectTest, NamesFileAndKeyPathInEveryRefusal) {
  expect_error(ErrorCode::kDamagedFile, "config.json: o.inner.x: it is 0, less than 1",
               [&] { object_.object("o").object("inner").integer("x", 1, 2); });
}

TEST_F(JsonObjectTest, RefusesIntegersThatAreNone) {
  for (const char* key : {"f", "one", "s", "b", "list", "o", "huge"}) {
    expect_error(ErrorCode::kDamagedFile, "must be an integer", [&] { object_.integer(key, 0, 1000); });
  }
  for (const char* key : {"n", "absent"}) expect_error(ErrorCode::kDamagedFile, "missing", [&] { object_.integer(key, 0, 1000); });
}

TEST_F(JsonObjectTest, NeverWrapsIntegers) {
  expect_error(ErrorCode::kDamagedFile, "it is -1, less than 0", [&] { object_.integer("neg", 0, 1000); });
  expect_error(ErrorCode::kLimitExceeded, "18446744073709551615, more than the limit of 1000", [&] { object_.integer("big", -5, 1000); });
  expect_error(ErrorCode::kLimitExceeded, "more than the limit", [&] { object_.integer("big", -5, INT64_MAX); });
}

TEST_F(JsonObjectTest, ChecksEveryOtherType) {
  expect_error(ErrorCode::kDamagedFile, "must be a number", [&] { object_.real("s", 0, 1); });
  expect_error(ErrorCode::kLimitExceeded, "more than the limit of 1", [&] { object_.real("huge", 0, 1); });
  expect_error(ErrorCode::kDamagedFile, "true or false", [&] { object_.boolean("i"); });
  expect_error(ErrorCode::kDamagedFile, "must be a string", [&] { object_.string("i", 9); });
  expect_error(ErrorCode::kLimitExceeded, "longer than 1 bytes", [&] { object_.string("s", 1); });
  expect_error(ErrorCode::kDamagedFile, "must be a JSON object", [&] { object_.object("list"); });
  expect_error(ErrorCode::kDamagedFile, "must be a list", [&] { object_.integers("o", 0, 9, 9); });
  expect_error(ErrorCode::kLimitExceeded, "more than 2 entries", [&] { object_.integers("list", 0, 9, 2); });
  expect_error(ErrorCode::kDamagedFile, "must be an integer", [&] { object_.integers("mixed", 0, 9, 9); });
  expect_error(ErrorCode::kDamagedFile, "must be a JSON object", [&] { JsonObject(document_["list"], "config.json"); });
}

}  // namespace
}  // namespace winnow::test
