// A real language model for tests that ask one something: SmolLM2-135M-Instruct as GGUF, which is not in the tree.
//
// It is the file that WINNOW_SMOLLM2 names, or the one that `winnow-cli get smollm2` has put into Winnow's data folder. A test without it
// is skipped and says how to get it; a file that the variable names must be there.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace winnow::test_support {

inline constexpr const char* kNoRealModel =
    "there is no real model here: ./winnow get smollm2 fetches it, or WINNOW_SMOLLM2 names SmolLM2-135M-Instruct.Q4_1.gguf";

// Empty: there is none.
inline std::string real_model() {
  const auto variable = [](const char* name) { return std::string(std::getenv(name) != nullptr ? std::getenv(name) : ""); };
  if (const std::string named = variable("WINNOW_SMOLLM2"); !named.empty()) return named;
  // As AppFolders::standard() of app/chats/settings.
  std::filesystem::path data = variable("WINNOW_HOME");
  if (!data.empty()) {
    data /= "data";
  } else {
    data = variable("XDG_DATA_HOME");
    data = (data.is_absolute() ? data : std::filesystem::path(variable("HOME")) / ".local/share") / "winnow";
  }
  const std::filesystem::path file = data / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf";
  std::error_code error;
  return std::filesystem::is_regular_file(file, error) ? file.string() : std::string();
}

}  // namespace winnow::test_support
