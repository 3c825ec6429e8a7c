#include "tests/engine/emulated_gpu/device_fault.h"

#include <c10/util/Exception.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace winnow::emulated_gpu {
namespace {

constexpr int kIllegalAddress = 700;  // cudaErrorIllegalAddress
constexpr const char* kFault = "CUDA error: an illegal memory access was encountered";

bool& broken() {
  static bool is = false;
  return is;
}

}  // namespace

void require_sound() {
  static const char* const file = std::getenv("EMULATED_GPU_FAULT");
  if (!broken() && (file == nullptr || !std::filesystem::exists(file))) return;
  std::string words;
  if (!broken()) {
    std::ifstream given(file);
    words.assign(std::istreambuf_iterator<char>(given), {});
    std::filesystem::remove(file);
    broken() = true;
  }
  TORCH_CHECK(words.empty(), words);
  throw c10::AcceleratorError({__func__, __FILE__, __LINE__}, kIllegalAddress, kFault);
}

const char* fault() { return broken() ? kFault : nullptr; }

}  // namespace winnow::emulated_gpu
