// The version stands in CMakeLists.txt; what cannot read it there says the same.
#include <gtest/gtest.h>

#include <string>

#include "tests/structure/command_output.h"
#include "tests/support/source_folder.h"

namespace winnow::test {
namespace {

// The newest version that a file names: its first match.
std::string first(const std::string& pattern, const std::string& file) {
  return output_of("grep -om1 '" + pattern + "' " + source_folder() + "/" + file).text;
}

TEST(Versions, AreOne) {
  EXPECT_EQ(first("^## [0-9.]*", "CHANGELOG.md"), "## " WINNOW_VERSION "\n");
  EXPECT_EQ(first("<release version=.[0-9.]*", "packaging/desktop/io.github.winnow.winnow.metainfo.xml"),
            "<release version=\"" WINNOW_VERSION "\n");
}

}  // namespace
}  // namespace winnow::test
