// The golden folders of a model family are small: whoever clones the repository gets every version that they ever had.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/source_folder.h"

namespace {

constexpr std::uintmax_t kMostBytes = 1'500'000;

TEST(GoldenSize, AFamilyTakesAtMostOneAndAHalfMegabytes) {
  namespace fs = std::filesystem;
  for (const fs::directory_entry& family : fs::directory_iterator(source_folder() + "/tests/golden")) {
    std::uintmax_t bytes = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(family))
      bytes += entry.is_regular_file() ? entry.file_size() : 0;
    EXPECT_LE(bytes, kMostBytes) << family.path();
  }
}

}  // namespace
