// Numbers in the window are written in one place: "2000 tokens" stood beside "2,000 slots".
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/structure/code_text.h"
#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

// A count in a sentence without the separators of its language: tr() groups %Ln alone.
bool counts_plainly(const std::string& text) {
  static const std::regex plain(R"("[^"\n]*%n[^"\n]*")");
  return std::regex_search(text, plain);
}

TEST(NumberWords, TheScanSeesPlainCounts) {
  EXPECT_TRUE(counts_plainly(R"x(tr("at most %n token(s)", nullptr, 3))x"));
  EXPECT_FALSE(counts_plainly(R"x(tr("at most %Ln token(s)", nullptr, 3))x"));
}

TEST(NumberWords, AreMadeByFormatTextAlone) {
  // A date; and numbers for programs.
  const std::set<std::string> others = {"app/words/format_text.cpp", "ui/shell/window/notices.cpp", "ui/compare/comparison_view.cpp"};
  const fs::path root = source_folder();
  int files = 0;
  for (const char* folder : {"ui", "app/words"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".cpp") continue;
      ++files;
      const std::string name = fs::relative(entry.path(), root).generic_string();
      std::ifstream stream(entry.path());
      std::stringstream text;
      text << stream.rdbuf();
      EXPECT_FALSE(counts_plainly(text.str())) << name << ": %n instead of %Ln";
      if (!others.contains(name)) {
        EXPECT_EQ(code_of_file(entry.path()).find("QLocale"), std::string::npos)
            << name << ": formats numbers by itself (app/words/format_text.h)";
      }
    }
  EXPECT_GT(files, 100);
}

}  // namespace
