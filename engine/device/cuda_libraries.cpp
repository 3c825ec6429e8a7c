#include "engine/device/cuda_libraries.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>

#include "engine/base/error.h"

namespace winnow {

void open_cuda_libraries(const char* folder) {
  namespace fs = std::filesystem;
  if (folder == nullptr || *folder == '\0') return;
  // Its own search path leads to the others.
  const fs::path library = fs::path(folder) / "torch/lib/libtorch_cuda.so";
  std::error_code error;
  if (!fs::is_regular_file(library, error)) return;
  dlerror();
  if (dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL) != nullptr) return;
  const char* const why = dlerror();
  throw Exception(ErrorCode::kDeviceUnavailable, "cuda",
                  "CUDA's libraries could not be opened (" + std::string(why != nullptr ? why : library.c_str()) + "); remove " + folder +
                      " and fetch them again, or use the CPU (--device cpu)");
}

}  // namespace winnow
