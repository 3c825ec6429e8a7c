// A golden folder as the name of a test: "llava/next_mistral" as "llava_next_mistral".
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace winnow::testing {

inline std::string folder_test_name(std::string folder) {
  std::ranges::replace(folder, '/', '_');
  return folder;
}

inline std::string folder_info_name(const ::testing::TestParamInfo<const char*>& info) { return folder_test_name(std::string(info.param)); }

}  // namespace winnow::testing
