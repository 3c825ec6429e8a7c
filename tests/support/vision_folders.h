// The golden folders of vision-language models: whoever tests all of them begins here. A folder takes part by being there: below
// tests/golden, with model/config.json in it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/source_folder.h"

namespace winnow::test_support {

// As golden_folder() takes them, sorted; they live as long as the program.
inline const std::vector<const char*>& vision_folders() {
  static const std::vector<std::string> kNames = [] {
    namespace fs = std::filesystem;
    const fs::path golden = source_folder() + "/tests/golden";
    std::vector<std::string> names;
    for (const fs::directory_entry& family : fs::directory_iterator(golden)) {
      for (const fs::directory_entry& folder : fs::directory_iterator(family)) {
        if (!fs::exists(folder.path() / "model" / "config.json")) continue;
        const std::string name = folder.path().lexically_relative(golden).generic_string();
        constexpr std::string_view kFirst = "llava_onevision/";
        names.push_back(name.starts_with(kFirst) ? name.substr(kFirst.size()) : name);
      }
    }
    std::ranges::sort(names);
    return names;
  }();
  static const std::vector<const char*> kPointers = [] {
    std::vector<const char*> pointers;
    for (const std::string& name : kNames) pointers.push_back(name.c_str());
    return pointers;
  }();
  return kPointers;
}

// Of the llava_onevision folders: refuses a single image.
inline constexpr const char* kRefusesAnImage = "select_default";

}  // namespace winnow::test_support
