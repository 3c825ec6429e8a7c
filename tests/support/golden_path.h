// Where a golden folder lies: "llava/next_mistral" below tests/golden, "gqa_tied" below tests/golden/llava_onevision.
#pragma once

#include <string>

#include "tests/support/source_folder.h"

namespace winnow::test_support {

inline std::string golden_folder(const std::string& name) {
  const bool family = name.find('/') != std::string::npos;
  return source_folder() + "/tests/golden/" + (family ? "" : "llava_onevision/") + name;
}

}  // namespace winnow::test_support
