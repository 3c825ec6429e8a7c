// GGUF files: what gguf.GGUFWriter wrote (tests/golden/gguf), and hand-made ones that are wrong in one thing each.
#include "engine/weights/gguf_file.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "engine/weights/gguf_header.h"
#include "engine/weights/safetensors.h"
#include "tests/support/expect_error.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::test {
namespace {

constexpr std::uint32_t kF32 = 0;
constexpr std::uint32_t kQ4_0 = 2;

GgufHeader parse(const std::string& bytes) {
  const auto read = [&](std::uint64_t offset, std::span<std::byte> target) {
    if (offset > bytes.size() || target.size() > bytes.size() - offset) throw std::out_of_range("a read beyond the file");
    std::memcpy(target.data(), bytes.data() + offset, target.size());
  };
  return read_gguf_header({bytes.size(), read}, "f");
}

void refuses(ErrorCode code, const std::string& words, const std::string& bytes) {
  expect_error(code, words, [&] { parse(bytes); });
}

const std::string kTwoFloats(8, '\x01');

TEST(GgufFile, ReadsEveryTypeThatThePythonPackageWrites) {
  const std::string folder = source_folder() + "/tests/golden/gguf/";
  const GgufFile file(folder + "every_type.gguf");
  const SafetensorsFile golden(folder + "blocks.safetensors");
  const std::array<const char*, 15> names = {"F32",  "F16",  "BF16", "Q8_0", "Q4_0", "Q4_1",   "Q5_0",  "Q5_1",
                                             "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "IQ4_XS"};
  ASSERT_EQ(file.tensors().size(), names.size() + 1);
  for (const std::string name : names) {
    std::string lower = name;
    for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const StoredTensor& tensor = file.tensor("blk.0." + lower + ".weight");
    EXPECT_EQ(stored_type_name(tensor.type), name);
    const StoredBlock block = stored_block(tensor.type);
    EXPECT_EQ(tensor.shape, (std::vector<std::int64_t>{2, 2 * static_cast<std::int64_t>(block.elements)})) << name;
    EXPECT_EQ(tensor.elements(), 4 * block.elements);
    std::vector<std::byte> expected(4 * block.bytes);
    golden.read(golden.tensor(name + ".blocks"), 0, expected);
    std::vector<std::byte> bytes(expected.size());
    file.read(tensor, 0, bytes);
    EXPECT_EQ(bytes, expected) << name;
    const std::span<const std::byte> view = file.view(tensor);
    EXPECT_TRUE(std::ranges::equal(view, expected)) << name;
  }
  EXPECT_EQ(file.tensor("scalar").type, StoredType::kI32);
  EXPECT_EQ(file.metadata().string("general.name"), "every type");
}

TEST(GgufFile, TypesHaveTheSizesOfTheirKernels) {
  for (int number = static_cast<int>(StoredType::kF32); number <= static_cast<int>(StoredType::kIQ4_XS); ++number) {
    const auto type = static_cast<StoredType>(number);
    EXPECT_EQ(stored_type_named(stored_type_name(type)), type);
    if (const auto block = block_type(type)) {
      EXPECT_EQ(stored_block(type).elements, static_cast<std::uint64_t>(kernels::block_elements(*block)));
      EXPECT_EQ(stored_block(type).bytes, static_cast<std::uint64_t>(kernels::block_bytes(*block)));
    }
  }
  EXPECT_FALSE(block_type(StoredType::kI32));
  EXPECT_FALSE(stored_type_named("TQ1_0"));
}

TEST(GgufFile, ShapesAreOutermostFirstAndDataLieOnTheAlignment) {
  GgufWriter writer;
  writer.alignment = 64;
  writer.uint32("general.alignment", 64).tensor("a", {3, 2}, kF32, std::string(24, 'a')).tensor("b", {}, kF32, "bbbb");
  const GgufHeader header = parse(writer.bytes());
  EXPECT_EQ(header.tensors.at("a").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(header.tensors.at("a").begin % 64, 0U);
  EXPECT_EQ(header.tensors.at("b").begin, header.tensors.at("a").begin + 64);
  EXPECT_TRUE(header.tensors.at("b").shape.empty());
  EXPECT_EQ(header.tensors.at("b").bytes(), 4U);
}

TEST(GgufFile, AFileOfVersion2OrWithoutTensorsIsRead) {
  GgufWriter writer;
  writer.version = 2;
  EXPECT_TRUE(parse(writer.bytes()).tensors.empty());
  EXPECT_EQ(parse(writer.tensor("a", {2}, kF32, kTwoFloats).bytes()).tensors.size(), 1U);
}

TEST(GgufFile, RefusesOtherFormatsByName) {
  refuses(ErrorCode::kDamagedFile, "does not begin with GGUF", "GGML" + std::string(60, '\0'));
  refuses(ErrorCode::kDamagedFile, "ends within its header", "GGU");
  refuses(ErrorCode::kDamagedFile, "ends within its header", "");
  for (const auto& [version, words] : {std::pair{1U, "version 1 is not read"}, std::pair{4U, "version 4 is not known"},
                                       std::pair{0U, "version 0 is not known"}, std::pair{0x03000000U, "big-endian"}}) {
    GgufWriter writer;
    writer.version = version;
    refuses(ErrorCode::kUnsupportedFormat, words, writer.bytes());
  }
}

TEST(GgufFile, RefusesCountsBeforeMemoryIsTaken) {
  for (const std::uint64_t count : {std::uint64_t{20'001}, std::uint64_t{1} << 63, ~std::uint64_t{0}}) {
    GgufWriter writer;
    writer.tensor_count = count;
    refuses(ErrorCode::kLimitExceeded, "more than 20000 tensors", writer.bytes());
  }
  for (const std::uint64_t count : {kMaxGgufKeys + 1, ~std::uint64_t{0}}) {
    GgufWriter writer;
    writer.key_count = count;
    refuses(ErrorCode::kLimitExceeded, "more than 65536 keys", writer.bytes());
  }
  GgufWriter fewer;
  fewer.key_count = 5;
  refuses(ErrorCode::kDamagedFile, "ends within its header", fewer.bytes());
  for (const std::uint64_t count : {kMaxGgufListElements + 1, std::uint64_t{1} << 61, ~std::uint64_t{0}}) {
    for (const GgufType type : {GgufType::kString, GgufType::kUint8, GgufType::kFloat64}) {
      refuses(ErrorCode::kLimitExceeded, "f: k: lists of more than", GgufWriter().list("k", type, count, "").bytes());
    }
  }
  for (const GgufType type : {GgufType::kString, GgufType::kFloat64}) {
    refuses(ErrorCode::kDamagedFile, "ends within its header", GgufWriter().list("k", type, kMaxGgufListElements, "12345678").bytes());
  }
  // Two lists that fit alone.
  const std::string half(kMaxGgufListElements / 2 + 1, 'x');
  refuses(ErrorCode::kLimitExceeded, "f: second: lists of more than",
          GgufWriter().list("first", GgufType::kUint8, half.size(), half).list("second", GgufType::kUint8, half.size(), half).bytes());
}

TEST(GgufFile, RefusesLengthsThatTheFileDoesNotHave) {
  for (const std::uint64_t length : {std::uint64_t{1} << 63, ~std::uint64_t{0}, kMaxGgufTextBytes + 1}) {
    const std::string text = GgufWriter::number(length) + "abc";
    refuses(ErrorCode::kLimitExceeded, "f: k: a text longer than", GgufWriter().value("k", GgufType::kString, text).bytes());
    refuses(ErrorCode::kLimitExceeded, "f: k: a text longer than", GgufWriter().list("k", GgufType::kString, 1, text).bytes());
  }
  refuses(ErrorCode::kDamagedFile, "ends within its header",
          GgufWriter().value("k", GgufType::kString, GgufWriter::number(kMaxGgufTextBytes) + "abc").bytes());
  refuses(ErrorCode::kLimitExceeded, "a key longer than 65535", GgufWriter().uint32(std::string(65'536, 'k'), 1).bytes());
  EXPECT_TRUE(parse(GgufWriter().uint32(std::string(65'535, 'k'), 1).bytes()).metadata.has(std::string(65'535, 'k')));
}

TEST(GgufFile, RefusesKeysAndValuesThatAreNone) {
  refuses(ErrorCode::kDamagedFile, "f: k: the key occurs twice", GgufWriter().uint32("k", 1).text("k", "2").bytes());
  for (const std::string& key : {std::string(), std::string("a\nb"), std::string("\0", 1), std::string("\xff")}) {
    refuses(ErrorCode::kDamagedFile, "an unusable key", GgufWriter().uint32(key, 1).bytes());
  }
  refuses(ErrorCode::kDamagedFile, "f: k: a value of type 13", GgufWriter().value("k", static_cast<GgufType>(13), "1234").bytes());
  refuses(ErrorCode::kDamagedFile, "f: k: a value of type 4294967295", GgufWriter().list("k", static_cast<GgufType>(~0U), 1, "1").bytes());
  refuses(ErrorCode::kUnsupportedFormat, "f: k: lists of lists", GgufWriter().list("k", GgufType::kArray, 1, "1234567890ab").bytes());
  refuses(ErrorCode::kDamagedFile, "f: k: a truth value", GgufWriter().value("k", GgufType::kBool, "\x02").bytes());
  refuses(ErrorCode::kDamagedFile, "f: k: a truth value", GgufWriter().list("k", GgufType::kBool, 2, "\x01\x07").bytes());
}

TEST(GgufFile, RefusesAlignmentsThatAreNone) {
  for (const std::uint32_t alignment : {0U, 1U, 4U}) {
    refuses(ErrorCode::kDamagedFile, "f: general.alignment: it is", GgufWriter().uint32("general.alignment", alignment).bytes());
  }
  refuses(ErrorCode::kDamagedFile, "no power of two", GgufWriter().uint32("general.alignment", 48).bytes());
  refuses(ErrorCode::kLimitExceeded, "f: general.alignment", GgufWriter().uint32("general.alignment", 1U << 31).bytes());
  refuses(ErrorCode::kDamagedFile, "f: general.alignment: it must be an integer", GgufWriter().text("general.alignment", "32").bytes());
}

TEST(GgufFile, RefusesTensorsThatDoNotFitTheFile) {
  const auto at = [](std::uint64_t offset) { return GgufWriter().tensor("t", {2}, kF32, kTwoFloats, offset).bytes(); };
  refuses(ErrorCode::kDamagedFile, "f: t: the file ends before this tensor", at(64));
  refuses(ErrorCode::kDamagedFile, "f: t: the file ends before this tensor", at(std::uint64_t{1} << 63));
  refuses(ErrorCode::kDamagedFile, "f: t: the file ends before this tensor", at(~std::uint64_t{0} - 31));  // wraps with the data's place
  refuses(ErrorCode::kDamagedFile, "f: t: the tensor does not lie on a multiple of 32", at(8));
  refuses(ErrorCode::kDamagedFile, "f: t: the file ends before this tensor", GgufWriter().tensor("t", {9}, kF32, kTwoFloats).bytes());
  refuses(ErrorCode::kDamagedFile, "f: t: the file ends before this tensor", GgufWriter().tensor("t", {2}, kF32, "").bytes());
  const auto two = GgufWriter().tensor("a", {9}, kF32, std::string(36, 'a')).tensor("b", {2}, kF32, kTwoFloats, 32).bytes();
  refuses(ErrorCode::kDamagedFile, "f: b: the tensor overlaps", two);
  refuses(ErrorCode::kDamagedFile, "f: a: the tensor occurs twice",
          GgufWriter().tensor("a", {2}, kF32, kTwoFloats).tensor("a", {2}, kF32, kTwoFloats).bytes());
  EXPECT_NO_THROW(parse(GgufWriter().tensor("t", {8}, kF32, std::string(32, 't')).bytes() + "and more"));
}

TEST(GgufFile, RefusesShapesThatDoNotFit) {
  const auto shaped = [](std::initializer_list<std::uint64_t> dims, std::uint32_t type = kF32) {
    return GgufWriter().tensor("t", dims, type, kTwoFloats).bytes();
  };
  const std::uint64_t big = std::uint64_t{1} << 32;
  refuses(ErrorCode::kDamagedFile, "f: t: the shape has more elements", shaped({big, big}));
  refuses(ErrorCode::kDamagedFile, "f: t: the shape has more elements", shaped({std::uint64_t{1} << 62}));  // x 4 wraps to 0
  refuses(ErrorCode::kDamagedFile, "f: t: the shape has more elements", shaped({~std::uint64_t{0}}));
  refuses(ErrorCode::kDamagedFile, "f: t: the shape has more elements", shaped({big * 32, big}, kQ4_0));
  refuses(ErrorCode::kDamagedFile, "f: t: a dimension is 0", shaped({2, 0}));
  refuses(ErrorCode::kDamagedFile, "f: t: a dimension is 0", shaped({0, big, big, big}));
  refuses(ErrorCode::kLimitExceeded, "f: t: more than 4 dimensions", shaped({1, 1, 1, 1, 2}));
  refuses(ErrorCode::kDamagedFile, "f: t: rows of 33 elements are not whole blocks of Q4_0", shaped({33}, kQ4_0));
  refuses(ErrorCode::kDamagedFile, "f: t: rows of 16 elements", shaped({16, 2}, kQ4_0));
  refuses(ErrorCode::kDamagedFile, "f: t: rows of 1 elements", shaped({}, kQ4_0));
}

TEST(GgufFile, RefusesTypesAndNamesThatItDoesNotRead) {
  for (const auto& [type, words] : {std::pair{34U, "tensors of type TQ1_0 are not read"}, std::pair{9U, "type Q8_1"},
                                    std::pair{16U, "type IQ2_XXS"}, std::pair{39U, "type MXFP4"}, std::pair{4U, "type Q4_2"},
                                    std::pair{42U, "a tensor of type 42"}, std::pair{~0U, "a tensor of type 4294967295"}}) {
    refuses(ErrorCode::kUnsupportedFormat, "f: t: ", GgufWriter().tensor("t", {2}, type, kTwoFloats).bytes());
    refuses(ErrorCode::kUnsupportedFormat, words, GgufWriter().tensor("t", {2}, type, kTwoFloats).bytes());
  }
  EXPECT_NO_THROW(parse(GgufWriter().tensor(std::string(64, 'n'), {2}, kF32, kTwoFloats).bytes()));
  refuses(ErrorCode::kLimitExceeded, "a tensor name longer than 64",
          GgufWriter().tensor(std::string(65, 'n'), {2}, kF32, kTwoFloats).bytes());
  for (const char* name : {"", "a\nb", "\x7f", "\xc3\xa4"}) {
    refuses(ErrorCode::kDamagedFile, "an unusable tensor name", GgufWriter().tensor(name, {2}, kF32, kTwoFloats).bytes());
  }
}

TEST(GgufFile, ReportsAFileThatBecameShorter) {
  const test::ScratchFolder folder;
  const GgufFile file(folder.write("f.gguf", GgufWriter().tensor("t", {2}, kF32, kTwoFloats).bytes()));
  const StoredTensor& tensor = file.tensor("t");
  EXPECT_EQ(file.view(tensor).size(), 8U);
  std::filesystem::resize_file(folder.file("f.gguf"), tensor.begin + 4);
  std::array<std::byte, 8> bytes{};
  expect_error(ErrorCode::kDamagedFile, "became shorter", [&] { file.read(tensor, 0, bytes); });
  expect_error(ErrorCode::kDamagedFile, "became shorter", [&] { file.view(tensor); });
  expect_error(ErrorCode::kInternal, "beyond the end of a tensor", [&] { file.read(tensor, 1, bytes); });
}

TEST(GgufFile, KeepsItsViewsWhenTheFileIsReplaced) {
  const test::ScratchFolder folder;
  const GgufFile file(folder.write("f.gguf", GgufWriter().tensor("t", {2}, kF32, kTwoFloats).bytes()));
  folder.write("other", "x");
  std::filesystem::rename(folder.file("other"), folder.file("f.gguf"));
  EXPECT_EQ(std::to_integer<int>(file.view(file.tensor("t"))[7]), 1);
}

// Part `number` of `count` with one tensor.
std::string part(std::uint16_t number, std::uint16_t count, std::int32_t tensors, const std::string& tensor) {
  GgufWriter writer;
  writer.uint16("split.no", number).uint16("split.count", count).int32("split.tensors.count", tensors);
  if (number == 0) writer.text("general.name", "whole");
  return writer.tensor(tensor, {2}, kF32, kTwoFloats).bytes();
}

TEST(GgufFiles, OpensAllPartsOfASplitModelFromAnyOfThem) {
  const test::ScratchFolder folder;
  const std::string first = folder.write("m-00001-of-00002.gguf", part(0, 2, 2, "a"));
  const std::string second = folder.write("m-00002-of-00002.gguf", part(1, 2, 2, "b"));
  for (const std::string& path : {first, second}) {
    const GgufFiles model = open_gguf_files(path);
    EXPECT_EQ(model.first->metadata().string("general.name"), "whole");
    EXPECT_EQ(model.first->path(), first);
    ASSERT_EQ(model.tensors.files.size(), 2U);
    EXPECT_EQ(model.tensors.files[1]->path(), second);
    EXPECT_EQ(model.tensors.total_bytes(), 16U);
    EXPECT_EQ(model.tensors.path, path);
  }
}

TEST(GgufFiles, OpensAFileThatIsNotSplit) {
  const test::ScratchFolder folder;
  const GgufFiles model = open_gguf_files(folder.write("m.gguf", GgufWriter().tensor("t", {2}, kF32, kTwoFloats).bytes()));
  ASSERT_EQ(model.tensors.files.size(), 1U);
  EXPECT_EQ(model.tensors.files[0], model.first);
}

TEST(GgufFiles, NamesWhatIsWrongWithParts) {
  const test::ScratchFolder folder;
  const std::string first = folder.write("m-00001-of-00002.gguf", part(0, 2, 2, "a"));
  expect_error(ErrorCode::kModelFileMissing, "m-00002-of-00002.gguf: part 2 of 2 is missing", [&] { open_gguf_files(first); });
  folder.write("m-00002-of-00002.gguf", part(0, 2, 2, "b"));
  expect_error(ErrorCode::kDamagedFile, "its name says part 2 of 2, its metadata part 1 of 2", [&] { open_gguf_files(first); });
  folder.write("m-00002-of-00002.gguf", part(1, 3, 2, "b"));
  expect_error(ErrorCode::kDamagedFile, "its metadata part 2 of 3", [&] { open_gguf_files(first); });
  folder.write("m-00002-of-00002.gguf", part(1, 2, 2, "a"));
  expect_error(ErrorCode::kDamagedFile, "a: another part has this tensor too", [&] { open_gguf_files(first); });
  folder.write("m-00001-of-00002.gguf", part(0, 2, 3, "a"));
  folder.write("m-00002-of-00002.gguf", part(1, 2, 3, "b"));
  expect_error(ErrorCode::kDamagedFile, "the parts have 2 tensors where the first says 3", [&] { open_gguf_files(first); });
  folder.write("m-00002-of-00002.gguf", GgufWriter().bytes());
  expect_error(ErrorCode::kDamagedFile, "split.no: it is missing", [&] { open_gguf_files(first); });
  expect_error(ErrorCode::kDamagedFile, "does not say which part", [&] { open_gguf_files(folder.write("m.gguf", part(0, 2, 2, "a"))); });
  expect_error(ErrorCode::kDamagedFile, "its name says part 0 of 2",
               [&] { open_gguf_files(folder.write("m-00000-of-00002.gguf", part(0, 2, 2, "a"))); });
}

}  // namespace
}  // namespace winnow::test
