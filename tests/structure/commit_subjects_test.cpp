// The subjects of the last commits are as CONTRIBUTING.md says: `area: lower-case summary`, at most 72 characters. A commit that is there
// cannot be mended without rewriting what others have, so only the last ones are read.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <sstream>
#include <string>

#include "tests/structure/command_output.h"
#include "tests/support/source_folder.h"

namespace {

constexpr std::ptrdiff_t kMostCharacters = 72;

// Empty: nothing is wrong. A summary may begin with a name that has capitals of its own (B17, SnapKV), so its first letter is not judged.
std::string problem_of(const std::string& subject) {
  static const std::regex form("[a-z][a-z0-9_-]*(, [a-z][a-z0-9_-]*)*: [^ ].*");
  if (!std::regex_match(subject, form)) return "does not begin with `area: `";
  // Bytes that go on with a character of UTF-8 do not count.
  const auto characters =
      std::count_if(subject.begin(), subject.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
  return characters > kMostCharacters ? "has " + std::to_string(characters) + " characters" : "";
}

TEST(CommitSubjects, AreJudgedByAreaAndLength) {
  EXPECT_EQ(problem_of("ui: the state of a watch is a variant"), "");
  EXPECT_EQ(problem_of("app, ui: one word for what was composed in six places"), "");
  EXPECT_EQ(problem_of("media: one table of content types; demo: measuring apart from making"), "");
  EXPECT_EQ(problem_of("ui: " + std::string(68, 'a')), "");
  EXPECT_EQ(problem_of("ui: " + std::string(69, 'a')), "has 73 characters");
  EXPECT_EQ(problem_of("ui: \xC3\xA4" + std::string(67, 'a')), "") << "a letter of two bytes is one character";
  for (const char* wrong : {"Fix the viewer", "UI: the viewer", "ui:the viewer", "ui: ", "ui:  two blanks", ": nothing", ""}) {
    EXPECT_NE(problem_of(wrong), "") << wrong;
  }
}

TEST(CommitSubjects, OfTheLastCommitsAreAsTheStyleSays) {
  const std::string root = source_folder();
  if (!std::filesystem::exists(root + "/.git")) GTEST_SKIP() << "no git checkout but a source archive: " << root;
  const CommandOutput log = output_of("git -C '" + root + "' log -40 --no-merges --format=%s");
  if (log.status != 0) GTEST_SKIP() << "git does not read this checkout: " << log.text;
  std::istringstream lines(log.text);
  int seen = 0;
  for (std::string subject; std::getline(lines, subject); ++seen) EXPECT_EQ(problem_of(subject), "") << subject;
  EXPECT_GT(seen, 0) << "a checkout without a commit";
}

}  // namespace
