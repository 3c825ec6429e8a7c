#include "engine/base/line_reader.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>
#include <vector>

#include "engine/base/file_mapping.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::test {
namespace {

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  LineReader reader(path);
  for (std::string line; reader.next(line);) lines.push_back(line);
  return lines;
}

TEST(LineReader, GivesEveryLineWhateverEndsTheFile) {
  const ScratchFolder scratch;
  using Lines = std::vector<std::string>;
  EXPECT_EQ(lines_of(scratch.write("a", "")), Lines());
  EXPECT_EQ(lines_of(scratch.write("a", "\n")), Lines({""}));
  EXPECT_EQ(lines_of(scratch.write("a", "one\n\ntwo")), Lines({"one", "", "two"}));
  EXPECT_EQ(lines_of(scratch.write("a", "one\r\ntwo\n")), Lines({"one\r", "two"}));
}

// Some editors, and PowerShell, begin every file with it.
TEST(LineReader, LeavesOutAByteOrderMarkAtTheBeginningAlone) {
  const ScratchFolder scratch;
  EXPECT_EQ(lines_of(scratch.write("a", "\xEF\xBB\xBFone\n\xEF\xBB\xBFtwo\n")), std::vector<std::string>({"one", "\xEF\xBB\xBFtwo"}));
}

TEST(LineReader, LinesMayLieAcrossItsBuffer) {
  const ScratchFolder scratch;
  std::string text;
  std::vector<std::string> lines;
  for (int i = 0; i < 40; ++i) {
    lines.push_back(std::string(static_cast<std::size_t>(i) * 1000, static_cast<char>('a' + i % 26)));
    text += lines.back() + "\n";
  }
  EXPECT_EQ(lines_of(scratch.write("a", text)), lines);
  EXPECT_EQ(lines_of(scratch.write("a", std::string(1 << 16, 'x') + "\n" + std::string(1 << 16, 'y'))),
            std::vector<std::string>({std::string(1 << 16, 'x'), std::string(1 << 16, 'y')}));
}

TEST(LineReader, NamesTheLineAndRefusesOneThatIsTooLong) {
  const ScratchFolder scratch;
  const std::string path = scratch.write(
      "a", "one\n" + std::string(LineReader::kLongestLine, 'x') + "\n" + std::string(LineReader::kLongestLine + 1, 'x') + "\n");
  LineReader reader(path);
  std::string line;
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(reader.where(), path + ":1");
  ASSERT_TRUE(reader.next(line));
  EXPECT_EQ(line.size(), LineReader::kLongestLine);
  expect_error(ErrorCode::kLimitExceeded, path + ":3: the line is longer than 4 MiB", [&] { reader.next(line); });
}

TEST(LineReader, OpensRegularFilesOnly) {
  const ScratchFolder scratch;
  expect_error(ErrorCode::kFileUnreadable, "it is a folder", [&] { LineReader reader(scratch.path()); });
  expect_error(ErrorCode::kFileUnreadable, "not a regular file", [] { LineReader reader("/dev/zero"); });
  ASSERT_EQ(::mkfifo(scratch.file("pipe").c_str(), 0600), 0);
  expect_error(ErrorCode::kFileUnreadable, "not a regular file", [&] { LineReader reader(scratch.file("pipe")); });
  expect_error(ErrorCode::kFileNotFound, "does not exist", [&] { LineReader reader(scratch.file("nothing")); });
}

// A mapped file whose pages cannot be read any more: SIGBUS ended the program where another one shortened a loaded model.
std::size_t page() { return static_cast<std::size_t>(::getpagesize()); }
std::string pages(std::size_t count, char filled) { return std::string(count * page(), filled); }

bool all(std::span<const std::byte> bytes, int value) {
  return std::ranges::all_of(bytes, [&](std::byte b) { return std::to_integer<int>(b) == value; });
}

TEST(FileMapping, HasZerosWhereTheFileWasCutAndKnowsIt) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("weights", pages(4, 'w'));
  const RegularFile file(path), other(folder.write("other", pages(2, 'o')));
  const FileMapping mapping(file), unharmed(other);
  const auto bytes = mapping.bytes(file, 0, 4 * page());
  std::filesystem::resize_file(path, page());
  EXPECT_FALSE(mapping.lost()) << "nobody has touched what is gone";
  EXPECT_TRUE(all(bytes.first(page()), 'w'));
  EXPECT_FALSE(mapping.lost());
  EXPECT_TRUE(all(bytes.subspan(2 * page()), 0)) << "from the first page that was touched on";
  EXPECT_TRUE(mapping.lost());
  EXPECT_TRUE(all(bytes.first(page()), 'w'));
  EXPECT_TRUE(all(unharmed.bytes(other, 0, 2 * page()), 'o'));
  EXPECT_FALSE(unharmed.lost());
}

TEST(FileMapping, StaysGuardedWhenItIsMovedAndAfterOthersHaveGone) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("weights", pages(2, 'w'));
  const RegularFile file(path);
  FileMapping first(file);
  FileMapping mapping(std::move(first));
  for (int i = 0; i < 5000; ++i) FileMapping{file};  // more than are guarded at once
  FileMapping other(RegularFile(folder.write("small", "x")));
  std::swap(mapping, other);
  const auto bytes = other.bytes(file, 0, 2 * page());
  std::filesystem::resize_file(path, 0);
  test::expect_error(ErrorCode::kDamagedFile, "became shorter", [&] { other.bytes(file, 0, page()); });
  EXPECT_TRUE(all(bytes, 0));
  EXPECT_TRUE(other.lost());
  EXPECT_FALSE(mapping.lost());
}

// Whoever raises it elsewhere is not forgiven.
TEST(FileMappingDeathTest, LeavesASigbusOfAnotherMappingAsItWas) {
  const auto touch = [] {
    const test::ScratchFolder folder;
    const std::string path = folder.write("weights", pages(2, 'w'));
    const RegularFile file(path);
    const FileMapping guarded(file);
    void* const bare = ::mmap(nullptr, 2 * page(), PROT_READ, MAP_PRIVATE, file.descriptor(), 0);
    std::filesystem::resize_file(path, 0);
    volatile char read = static_cast<const volatile char*>(bare)[page()];
    static_cast<void>(read);
  };
  EXPECT_EXIT(touch(), ::testing::KilledBySignal(SIGBUS), "");
}

TEST(FileBytes, ReadsWholeFilesWithTheirZeroBytes) {
  const test::ScratchFolder folder;
  const std::string bytes("a\0b\n\xff", 5);
  EXPECT_EQ(read_file_bytes(folder.write("f", bytes), 5), bytes);
  EXPECT_EQ(read_file_bytes(folder.write("empty", ""), 0), "");
}

TEST(FileBytes, RefusesAFileOverTheCap) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("f", "123456");
  expect_error(ErrorCode::kLimitExceeded, "6 bytes, more than the limit of 5", [&] { read_file_bytes(path, 5); });
}

TEST(FileBytes, RefusesASparseTerabyteWithoutAllocating) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("f", "x");
  std::error_code error;
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40, error);
  if (error) GTEST_SKIP() << "the file system has no sparse files: " << error.message();
  expect_error(ErrorCode::kLimitExceeded, "more than the limit", [&] { read_file_bytes(path, 1 << 20); });
}

TEST(FileBytes, NamesWhatIsNotARegularFile) {
  const test::ScratchFolder folder;
  expect_error(ErrorCode::kFileNotFound, "does not exist", [&] { read_file_bytes(folder.file("none"), 10); });
  expect_error(ErrorCode::kFileNotFound, "does not exist", [&] { read_file_bytes(folder.write("f", "x") + "/below", 10); });
  expect_error(ErrorCode::kFileUnreadable, "folder", [&] { read_file_bytes(folder.path(), 10); });
  expect_error(ErrorCode::kFileUnreadable, "not a regular file", [&] { read_file_bytes("/dev/zero", 10); });
  expect_error(ErrorCode::kFileNotFound, "not a file name", [&] { read_file_bytes("", 10); });
}

TEST(FileBytes, KnowThatAnotherProgramWroteToTheFile) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("f", "123456");
  const RegularFile file(path);
  EXPECT_FALSE(file.changed());
  std::filesystem::rename(folder.write("other", "654321"), path);
  EXPECT_FALSE(file.changed()) << "replaced by another of its name: what was opened is as it was";

  const RegularFile shortened(path), overwritten(folder.write("g", "123456"));
  std::filesystem::resize_file(path, 5);
  EXPECT_TRUE(shortened.changed());
  folder.write("g", "123457");
  EXPECT_TRUE(overwritten.changed()) << "same size, other bytes";
}

TEST(FileBytes, RefusesNamesWithNul) {
  // The bytes behind the NUL must not be cut off silently.
  try {
    read_file_bytes(std::string("/dev/null\0x", 11), 10);
    FAIL() << "nothing was thrown";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kFileNotFound);
    EXPECT_EQ(exception.error().reason, "not a file name");
  }
}

TEST(FileBytes, DoesNotWaitForTheWriterOfAFifo) {
  const test::ScratchFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);
  expect_error(ErrorCode::kFileUnreadable, "not a regular file", [&] { read_file_bytes(folder.file("fifo"), 10); });
}

TEST(RegularFile, RefusesRangesBeyondTheEnd) {
  const test::ScratchFolder folder;
  const RegularFile file(folder.write("f", "0123456789"));
  std::array<std::byte, 4> target{};
  file.read_at(6, target);
  EXPECT_EQ(std::to_integer<char>(target[3]), '9');
  expect_error(ErrorCode::kDamagedFile, "beyond its end", [&] { file.read_at(7, target); });
  expect_error(ErrorCode::kDamagedFile, "beyond its end", [&] { file.read_at(~std::uint64_t{0}, target); });
}

TEST(RegularFile, ReportsAFileTruncatedAfterOpening) {
  const test::ScratchFolder folder;
  const RegularFile file(folder.write("f", "0123456789"));
  std::filesystem::resize_file(folder.file("f"), 5);
  std::array<std::byte, 4> target{};
  expect_error(ErrorCode::kDamagedFile, "became shorter", [&] { file.read_at(4, target); });
}

TEST(RegularFile, KeepsReadingWhatItOpenedAfterReplacement) {
  const test::ScratchFolder folder;
  const RegularFile file(folder.write("f", "old!"));
  std::filesystem::rename(folder.write("g", "new!"), folder.file("f"));
  std::array<std::byte, 4> target{};
  file.read_at(0, target);
  EXPECT_EQ(std::to_integer<char>(target[0]), 'o');
}

}  // namespace
}  // namespace winnow::test
