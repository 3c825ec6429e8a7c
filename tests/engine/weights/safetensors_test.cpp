#include "engine/weights/safetensors.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/engine/weights/safetensors_bytes.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::test {
namespace {

constexpr const char* kGood = R"({"__metadata__":{"format":"pt"},"b":{"dtype":"F16","shape":[2],"data_offsets":[8,12]},)"
                              R"("a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}})";

auto parse(std::string_view header, std::uint64_t data_bytes) {
  return parse_safetensors_header(header, 8 + header.size() + data_bytes, "f");
}

// One F32 tensor "a" with the given members.
std::string one(const std::string& shape, const std::string& offsets, const std::string& dtype = "\"F32\"") {
  return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

TEST(Safetensors, ReadsTensorsOfAFile) {
  const test::ScratchFolder folder;
  const SafetensorsFile file(folder.write("f", safetensors(kGood, "01234567abcd")));
  ASSERT_EQ(file.tensors().size(), 2U);
  EXPECT_EQ(file.tensor("a").shape, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(file.tensor("b").type, StoredType::kF16);
  EXPECT_EQ(file.data_bytes(), 12U);
  std::string bytes(3, ' ');
  file.read(file.tensor("b"), 1, std::as_writable_bytes(std::span(bytes)));
  EXPECT_EQ(bytes, "bcd");
  expect_error(ErrorCode::kDamagedFile, "no such tensor", [&] { file.tensor("c"); });
  expect_error(ErrorCode::kInternal, "beyond the end of a tensor",
               [&] { file.read(file.tensor("b"), 2, std::as_writable_bytes(std::span(bytes))); });
}

TEST(Safetensors, AcceptsPaddingScalarsAndEmptyTensors) {
  EXPECT_EQ(parse(one("[]", "[0,4]") + "   ", 4).size(), 1U);
  EXPECT_EQ(parse(one("[0,5]", "[0,0]"), 0).at("a").bytes(), 0U);
  EXPECT_TRUE(parse("{}", 0).empty());
}

TEST(Safetensors, RefusesHeaderLengthsByCapBeforeReading) {
  const test::ScratchFolder folder;
  const auto open = [&](std::uint64_t length) {
    SafetensorsFile(folder.write("f", safetensors_with_length(length, kGood, "01234567abcd")));
  };
  for (const std::uint64_t length : {std::uint64_t{1} << 63, ~std::uint64_t{0}, std::uint64_t{100'000'001}, kMaxHeaderBytes + 1}) {
    expect_error(ErrorCode::kLimitExceeded, "more than the limit of 16777216", [&] { open(length); });
  }
  for (const std::uint64_t length : {0, 1, 5000}) {
    expect_error(ErrorCode::kDamagedFile, "a length that the file does not have", [&] { open(length); });
  }
  for (const char* bytes : {"\x01", "\x01\x02\x03\x04\x05\x06\x07\x08"}) {
    expect_error(ErrorCode::kDamagedFile, "too short", [&] { SafetensorsFile(folder.write("s", bytes)); });
  }
}

TEST(Safetensors, RefusesHeadersThatAreNoPlainObject) {
  const test::ScratchFolder folder;
  const auto open = [&](std::string_view header) { SafetensorsFile(folder.write("f", safetensors(header, ""))); };
  for (const char* header : {"[]", " {}", "\xEF\xBB\xBF{}"})
    expect_error(ErrorCode::kDamagedFile, "does not begin with {", [&] { open(header); });
  for (const char* header : {"{}x", "{}{}", "{\"a\"", "{,}"})
    expect_error(ErrorCode::kDamagedFile, "not valid JSON", [&] { open(header); });
  expect_error(ErrorCode::kDamagedFile, "NUL", [&] { open(std::string_view("{}\0\0", 4)); });
  expect_error(ErrorCode::kDamagedFile, "UTF-8", [&] { open("{\"\xff\":{}}"); });
  expect_error(ErrorCode::kDamagedFile, "wrong type", [&] { open("{\"a\":" + std::string(100'000, '[')); });
}

TEST(Safetensors, RefusesDuplicates) {
  const std::string tensor = R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  expect_error(ErrorCode::kDamagedFile, "f: a: the tensor occurs twice", [&] { parse("{" + tensor + "," + tensor + "}", 4); });
  for (const char* member : {R"("dtype":"F32")", R"("shape":[1])", R"("data_offsets":[0,4])"}) {
    const std::string header = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],)" + std::string(member) + "}}";
    expect_error(ErrorCode::kDamagedFile, "occurs twice", [&] { parse(header, 4); });
  }
  expect_error(ErrorCode::kDamagedFile, "metadata key occurs twice", [] { parse(R"({"__metadata__":{"k":"1","k":"2"}})", 0); });
  expect_error(ErrorCode::kDamagedFile, "__metadata__ occurs twice", [] { parse(R"({"__metadata__":{},"__metadata__":{}})", 0); });
}

TEST(Safetensors, RefusesNumbersThatAreNoOffsets) {
  expect_error(ErrorCode::kDamagedFile, "negative", [] { parse(one("[1]", "[-1,4]"), 4); });
  expect_error(ErrorCode::kDamagedFile, "whole number", [] { parse(one("[1]", "[0,4.0]"), 4); });
  expect_error(ErrorCode::kDamagedFile, "whole number", [] { parse(one("[1.9]", "[0,4]"), 4); });
  expect_error(ErrorCode::kDamagedFile, "whole number", [] { parse(one("[1]", "[0,18446744073709551616]"), 4); });
  for (const char* offsets : {"[\"0\",4]", "[null,4]", "[true,4]", "[[0],4]", "[{},4]", "\"0\"", "7", "{}"}) {
    expect_error(ErrorCode::kDamagedFile, "wrong type", [&] { parse(one("[1]", offsets), 4); });
  }
  expect_error(ErrorCode::kDamagedFile, "two numbers", [] { parse(one("[1]", "[0]"), 4); });
  expect_error(ErrorCode::kDamagedFile, "more than two", [] { parse(one("[1]", "[0,4,8]"), 4); });
}

TEST(Safetensors, RefusesTensorsThatDoNotTileTheData) {
  const auto two = [](const char* first, const char* second) {
    return R"({"a":{"dtype":"F32","shape":[1],"data_offsets":)" + std::string(first) +
           R"(},"b":{"dtype":"F32","shape":[1],"data_offsets":)" + second + "}}";
  };
  EXPECT_NO_THROW(parse(two("[4,8]", "[0,4]"), 8));
  expect_error(ErrorCode::kDamagedFile, "f: b: the tensor overlaps", [&] { parse(two("[0,4]", "[2,6]"), 8); });
  expect_error(ErrorCode::kDamagedFile, "overlaps", [&] { parse(two("[0,4]", "[0,4]"), 8); });
  expect_error(ErrorCode::kDamagedFile, "f: b: bytes before the tensor", [&] { parse(two("[0,4]", "[5,9]"), 9); });
  expect_error(ErrorCode::kDamagedFile, "bytes before the tensor", [&] { parse(two("[1,5]", "[5,9]"), 9); });
  expect_error(ErrorCode::kDamagedFile, "f: b: the file ends before this tensor", [&] { parse(two("[0,4]", "[4,8]"), 7); });
  expect_error(ErrorCode::kDamagedFile, "describes 8 bytes of data, the file has 9", [&] { parse(two("[0,4]", "[4,8]"), 9); });
  expect_error(ErrorCode::kDamagedFile, "end before they begin", [] { parse(one("[1]", "[4,0]"), 4); });
  expect_error(ErrorCode::kDamagedFile, "the file ends before this tensor",
               [] { parse(one("[1]", "[18446744073709551608,18446744073709551612]"), 4); });
}

TEST(Safetensors, RefusesShapesThatDoNotFit) {
  expect_error(ErrorCode::kDamagedFile, "f: a: shape and dtype take 8 bytes, data_offsets span 4", [] { parse(one("[2]", "[0,4]"), 4); });
  expect_error(ErrorCode::kDamagedFile, "more elements than fit", [] { parse(one("[4294967296,4294967296]", "[0,0]"), 0); });
  expect_error(ErrorCode::kDamagedFile, "more elements than fit",
               [] { parse(one("[4611686018427387904]", "[0,0]"), 0); });  // x 4 wraps to 0
  expect_error(ErrorCode::kLimitExceeded, "larger than 2^63", [] { parse(one("[9223372036854775808]", "[0,4]"), 4); });
  expect_error(ErrorCode::kLimitExceeded, "more than 6 dimensions", [] { parse(one("[1,1,1,1,1,1,1]", "[0,4]"), 4); });
  expect_error(ErrorCode::kUnsupportedFormat, "f: a: an element type", [] { parse(one("[1]", "[0,4]", "\"Q4_K\""), 4); });
  expect_error(ErrorCode::kDamagedFile, "wrong type", [] { parse(one("[1]", "[0,4]", "32"), 4); });
}

TEST(Safetensors, RefusesIncompleteAndForeignMembers) {
  for (const char* tensor : {"{}", R"({"dtype":"F32"})", R"({"dtype":"F32","shape":[1]})", R"({"shape":[1],"data_offsets":[0,4]})"}) {
    expect_error(ErrorCode::kDamagedFile, "is missing", [&] { parse(std::string("{\"a\":") + tensor + "}", 4); });
  }
  expect_error(ErrorCode::kDamagedFile, "does not have",
               [] { parse(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4); });
  for (const char* header : {R"({"a":1})", R"({"a":null})", R"({"a":[]})", R"({"__metadata__":{"k":1}})", R"({"__metadata__":{"k":{}}})",
                             R"({"__metadata__":"x"})", R"({"__metadata__":[]})"}) {
    expect_error(ErrorCode::kDamagedFile, "wrong type", [&] { parse(header, 4); });
  }
}

TEST(Safetensors, RefusesUnusableNames) {
  const auto named = [](const std::string& name) { return "{\"" + name + R"(":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})"; };
  EXPECT_NO_THROW(parse(named(std::string(512, 'n')), 4));
  expect_error(ErrorCode::kLimitExceeded, "longer than 512", [&] { parse(named(std::string(513, 'n')), 4); });
  expect_error(ErrorCode::kLimitExceeded, "longer than 512", [&] { parse(named(std::string(1 << 20, 'n')), 4); });
  for (const char* name : {"", "../x", "a/../b", "\\u0000", "a\\nb", "\\u007f"}) {
    expect_error(ErrorCode::kDamagedFile, "unusable tensor name", [&] { parse(named(name), 4); });
  }
}

TEST(Safetensors, StopsAtTheTensorCap) {
  std::string header = "{";
  for (int i = 0; i < 30'000; ++i) header += "\"" + std::to_string(i) + R"(":{"dtype":"F32","shape":[0],"data_offsets":[0,0]},)";
  header.back() = '}';
  expect_error(ErrorCode::kLimitExceeded, "more than 20000 tensors", [&] { parse(header, 0); });
}

TEST(Safetensors, EveryCutOfAGoodFileIsRefused) {
  const test::ScratchFolder folder;
  const std::string bytes = safetensors(kGood, "01234567abcd");
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(SafetensorsFile(folder.write("f", bytes.substr(0, length))), Exception) << length;
  }
  EXPECT_THROW(SafetensorsFile(folder.write("f", bytes + "x")), Exception);
}

TEST(Safetensors, AnyFlippedHeaderByteIsRefusedOrHarmless) {
  const std::string good = kGood;
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string header = good;
      header[at] = static_cast<char>(header[at] ^ (1 << bit));
      try {
        for (const auto& [name, tensor] : parse(header, 12)) EXPECT_LE(tensor.end, 8 + header.size() + 12);
      } catch (const Exception&) {
      }
    }
  }
}

TEST(Safetensors, ReportsAFileTruncatedAfterOpening) {
  const test::ScratchFolder folder;
  const SafetensorsFile file(folder.write("f", safetensors(kGood, "01234567abcd")));
  std::filesystem::resize_file(folder.file("f"), 20);
  std::string bytes(4, ' ');
  expect_error(ErrorCode::kDamagedFile, "became shorter",
               [&] { file.read(file.tensor("b"), 0, std::as_writable_bytes(std::span(bytes))); });
}

}  // namespace
}  // namespace winnow::test
