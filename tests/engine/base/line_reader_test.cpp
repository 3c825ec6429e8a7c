#include "engine/base/line_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <vector>

#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow {
namespace {

using test::expect_error;
using test::ScratchFolder;

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

}  // namespace
}  // namespace winnow
