#include "engine/device/cuda_plugin.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "engine/device/cuda_libraries.h"
#include "tests/support/expect_error.h"
#include "tests/support/scratch_folder.h"

namespace winnow::test {
namespace {

std::string fake(const std::string& name) {
  const char* const folder = std::getenv("FAKE_PLUGINS");
  return std::string(folder != nullptr ? folder : ".") + "/libfake_plugin_" + name + ".so";
}

TEST(CudaPlugin, AFileThatIsMissingIsNamed) {
  expect_error(ErrorCode::kDeviceUnavailable, "/nowhere/libwinnow_cuda.so", [] { load_cuda_plugin("/nowhere/libwinnow_cuda.so"); });
}

TEST(CudaPlugin, AFileThatIsNoLibraryIsRefused) {
  const test::ScratchFolder folder;
  const std::string path = folder.path() + "/libwinnow_cuda.so";
  std::ofstream(path) << "not a library";
  expect_error(ErrorCode::kDeviceUnavailable, "could not be opened", [&] { load_cuda_plugin(path); });
}

TEST(CudaPlugin, ALibraryWithoutTheSymbolIsNoPlugin) {
  expect_error(ErrorCode::kDeviceUnavailable, "is no CUDA plug-in of Winnow", [] { load_cuda_plugin(fake("no_symbol")); });
}

TEST(CudaPlugin, APluginOfAnotherVersionIsRefused) {
  const std::string ours = "speaks version 99 where this program speaks " + std::to_string(kCudaPluginAbi);
  expect_error(ErrorCode::kDeviceUnavailable, ours, [] { load_cuda_plugin(fake("wrong_abi")); });
}

TEST(CudaPlugin, APluginForAnotherLibtorchIsRefused) {
  expect_error(ErrorCode::kDeviceUnavailable, "built for libtorch 1.0.0", [] { load_cuda_plugin(fake("wrong_torch")); });
}

TEST(CudaPlugin, APluginThatFitsIsTaken) {
  const CudaPluginTable& table = load_cuda_plugin(fake("good"));
  EXPECT_EQ(table.abi, kCudaPluginAbi);
  CudaDeviceRecord record = {};
  char reason[64] = {};
  EXPECT_EQ(table.start(&record, reason, sizeof reason), 1);
  EXPECT_STREQ(reason, "nothing to start");
}

TEST(CudaPlugin, IsLookedForBesideTheProgramAndInLib) {
  const test::ScratchFolder folder;
  const std::string programs = folder.path() + "/bin";
  std::filesystem::create_directories(programs);
  std::filesystem::create_directories(folder.path() + "/lib");
  expect_error(ErrorCode::kDeviceUnavailable, "has no CUDA plug-in", [&] { find_cuda_plugin(nullptr, programs); });
  std::ofstream(folder.path() + "/lib/libwinnow_cuda.so") << "x";
  EXPECT_EQ(find_cuda_plugin("", programs), folder.path() + "/lib/libwinnow_cuda.so");
  std::ofstream(programs + "/libwinnow_cuda.so") << "x";
  EXPECT_EQ(find_cuda_plugin(nullptr, programs), programs + "/libwinnow_cuda.so");
}

TEST(CudaPlugin, TheVariableGoesFirstAndMustNameAFile) {
  EXPECT_EQ(find_cuda_plugin(fake("good").c_str(), "/nowhere"), fake("good"));
  expect_error(ErrorCode::kDeviceUnavailable, "WINNOW_CUDA_PLUGIN names /nowhere/x.so",
               [] { find_cuda_plugin("/nowhere/x.so", "/nowhere"); });
}

TEST(CudaPlugin, LibrariesOfAFolderAreOpenedWhereItHasThem) {
  EXPECT_NO_THROW(open_cuda_libraries(nullptr));
  EXPECT_NO_THROW(open_cuda_libraries(""));
  const test::ScratchFolder folder;
  EXPECT_NO_THROW(open_cuda_libraries(folder.path().c_str()));
  const std::string libraries = folder.path() + "/torch/lib";
  std::filesystem::create_directories(libraries);
  std::ofstream(libraries + "/libtorch_cuda.so") << "cut off";
  expect_error(ErrorCode::kDeviceUnavailable, "CUDA's libraries could not be opened", [&] { open_cuda_libraries(folder.path().c_str()); });
  std::filesystem::copy_file(fake("good"), libraries + "/libtorch_cuda.so", std::filesystem::copy_options::overwrite_existing);
  EXPECT_NO_THROW(open_cuda_libraries(folder.path().c_str()));
  EXPECT_NE(dlopen((libraries + "/libtorch_cuda.so").c_str(), RTLD_NOW | RTLD_NOLOAD), nullptr);
}

TEST(CudaPlugin, OpeningNeverHalfSucceeds) {
  try {
    const CudaDevice& device = open_cuda();
    EXPECT_FALSE(device.name.empty());
    EXPECT_GT(device.total_bytes, 0U);
    EXPECT_EQ(&open_cuda(), &device);
    EXPECT_EQ(cuda_plugin().abi, kCudaPluginAbi);
    EXPECT_NO_THROW(synchronize_device());
  } catch (const Exception& refused) {
    EXPECT_EQ(refused.error().code, ErrorCode::kDeviceUnavailable);
    EXPECT_EQ(refused.error().subject, "cuda");
    EXPECT_NE(refused.error().reason.find("--device cpu"), std::string::npos) << refused.error().reason;
    EXPECT_THROW(cuda_plugin(), Exception);
    EXPECT_NO_THROW(synchronize_device());
  }
}

}  // namespace
}  // namespace winnow::test
