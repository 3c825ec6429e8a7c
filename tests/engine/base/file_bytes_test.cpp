#include "engine/base/file_bytes.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

using test::expect_error;

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
}  // namespace winnow
