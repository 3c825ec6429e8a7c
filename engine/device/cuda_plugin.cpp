#include "engine/device/cuda_plugin.h"

#include <dlfcn.h>
#include <torch/headeronly/version.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>

#include "engine/base/error.h"
#include "engine/device/cuda_libraries.h"

namespace winnow {
namespace {

constexpr const char* kDriverLibrary = "libcuda.so.1";
constexpr std::size_t kReasonBytes = 512;

[[noreturn]] void unavailable(const std::string& reason, const std::string& remedy) {
  throw Exception(ErrorCode::kDeviceUnavailable, "cuda", reason + "; " + remedy + ", or use the CPU (--device cpu)");
}

// The driver's own answer, without libtorch: most machines have no GPU and must not pay for finding out.
void require_driver_and_device() {
  void* const driver = dlopen(kDriverLibrary, RTLD_LAZY | RTLD_LOCAL);
  if (driver == nullptr) {
    unavailable(std::string("there is no NVIDIA driver (") + kDriverLibrary + ") on this machine", "install one");
  }
  const auto initialise = reinterpret_cast<int (*)(unsigned)>(dlsym(driver, "cuInit"));
  const auto count_devices = reinterpret_cast<int (*)(int*)>(dlsym(driver, "cuDeviceGetCount"));
  int devices = 0;
  const bool works = initialise != nullptr && count_devices != nullptr && initialise(0) == 0 && count_devices(&devices) == 0;
  if (!works || devices < 1) {
    unavailable("the NVIDIA driver finds no device", "look at nvidia-smi");
  }
}

std::string program_folder() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string(".") : program.parent_path().string();
}

struct Opened {
  const CudaPluginTable* table = nullptr;
  CudaDevice device;
};

std::optional<Opened>& opened() {
  static std::optional<Opened> state;
  return state;
}

}  // namespace

std::string find_cuda_plugin(const char* variable, const std::string& program_folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (variable != nullptr && *variable != '\0') {
    if (fs::is_regular_file(variable, error)) return variable;
    unavailable(std::string(kCudaPluginVariable) + " names " + variable + ", and no such file is there", "correct or unset it");
  }
  for (const char* folder : {".", "../lib"}) {
    const fs::path candidate = fs::path(program_folder) / folder / kCudaPluginFile;
    if (fs::is_regular_file(candidate, error)) return candidate.lexically_normal().string();
  }
  unavailable(std::string("this build has no CUDA plug-in (") + kCudaPluginFile + " beside the program or in ../lib)",
              "build it with a CUDA toolkit and the full torch wheels");
}

const CudaPluginTable& load_cuda_plugin(const std::string& path) {
  dlerror();
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    const char* const why = dlerror();
    unavailable("the CUDA plug-in could not be opened (" + std::string(why != nullptr ? why : path) + ")",
                "install all libraries that the torch wheel asks for (pip install torch)");
  }
  const auto entry = reinterpret_cast<CudaPluginEntry>(dlsym(library, kCudaPluginSymbol));
  if (entry == nullptr) unavailable(path + " is no CUDA plug-in of Winnow (it lacks " + kCudaPluginSymbol + ")", "build it again");
  const CudaPluginTable* const table = entry();
  if (table == nullptr || table->abi != kCudaPluginAbi) {
    unavailable("the CUDA plug-in " + path + " speaks version " + (table == nullptr ? "0" : std::to_string(table->abi)) +
                    " where this program speaks " + std::to_string(kCudaPluginAbi),
                "build both from the same sources");
  }
  if (std::string_view(table->torch_version) != TORCH_VERSION) {
    unavailable("the CUDA plug-in " + path + " was built for libtorch " + table->torch_version + ", this program for " + TORCH_VERSION,
                "build both with the same torch");
  }
  return *table;
}

const CudaDevice& open_cuda() {
  std::optional<Opened>& state = opened();
  if (state) return state->device;
  require_driver_and_device();
  const std::string plugin = find_cuda_plugin(std::getenv(kCudaPluginVariable), program_folder());
  open_cuda_libraries(std::getenv(kCudaLibrariesVariable));
  const CudaPluginTable& table = load_cuda_plugin(plugin);
  CudaDeviceRecord record = {};
  char reason[kReasonBytes] = {};
  if (table.start(&record, reason, sizeof reason) != 0) unavailable(reason, "look at nvidia-smi");
  state = Opened{&table, {record.name, record.total_bytes, record.free_bytes, record.multiprocessors}};
  return state->device;
}

const CudaPluginTable& cuda_plugin() {
  require(opened().has_value(), "the CUDA plug-in is used before it was opened");
  return *opened()->table;
}

void require_launched(int status, const char* what) {
  if (status == static_cast<int>(kernels::LaunchStatus::kOk)) return;
  if (status == static_cast<int>(kernels::LaunchStatus::kDeviceError)) {
    throw Exception(ErrorCode::kDeviceFailed, "cuda", std::string(what) + " could not be launched");
  }
  throw Exception(ErrorCode::kInternal, "", std::string("the kernel refused its arguments: ") + what);
}

void synchronize_device() {
  if (!opened()) return;
  char reason[kReasonBytes] = {};
  if (opened()->table->synchronize(reason, sizeof reason) != 0) throw Exception(ErrorCode::kDeviceFailed, "cuda", reason);
}

}  // namespace winnow
