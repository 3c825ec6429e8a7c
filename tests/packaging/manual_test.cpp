// The window's manual page is written by hand; its options are those that --help names. winnow-cli writes its own.
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "tests/structure/command_output.h"
#include "tests/support/source_folder.h"

namespace winnow::test {
namespace {

TEST(WindowManual, HasTheOptionsOfHelp) {
  const std::string page = output_of("cat " + source_folder() + "/packaging/man/winnow.1.in").text;
  std::istringstream help(output_of("QT_QPA_PLATFORM=offscreen " WINNOW_PROGRAM " --help 2>/dev/null").text);
  int options = 0;
  for (std::string line; std::getline(help, line);) {
    const std::size_t name = line.find("--");
    if (!line.starts_with("  -") || name == std::string::npos) continue;
    std::string set;
    for (const char c : line.substr(name, line.find(' ', name) - name)) set += c == '-' ? std::string("\\-") : std::string(1, c);
    EXPECT_NE(page.find(set), std::string::npos) << line;
    ++options;
  }
  EXPECT_GT(options, 5);
}

}  // namespace
}  // namespace winnow::test
