// The golden folders of a model family are small: whoever clones the repository gets every version that they ever had.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>

#include "tests/support/source_folder.h"

namespace {

constexpr std::uintmax_t kMostBytes = 1'500'000;

TEST(GoldenSize, AFamilyTakesAtMostOneAndAHalfMegabytes) {
  namespace fs = std::filesystem;
  for (const char* family : {"gemma3",   "gemma4",      "gemma4_large",   "gemma4_experts", "gemma4_unified",  "glm4v",    "glm4v_moe",
                             "granite",  "internvl",    "lfm2_vl",        "llava",          "llava_onevision", "minicpmv", "minicpmv4_7",
                             "mistral3", "ollama",      "qwen2_5_vl",     "qwen2_vl",       "qwen3_vl",        "qwen3_5",  "qwen3_5_moe",
                             "smolvlm",  "text_models", "recurrent_text", "glm_text",       "whisper"}) {
    std::uintmax_t bytes = 0;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_folder() + "/tests/golden/" + family))
      bytes += entry.is_regular_file() ? entry.file_size() : 0;
    EXPECT_GT(bytes, 0U) << family;
    EXPECT_LE(bytes, kMostBytes) << family;
  }
}

}  // namespace
