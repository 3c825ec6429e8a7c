// The version that a program without libtorch reports is that of the libtorch that the engine loads.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <string>

#include "engine/api/engine.h"

namespace winnow {
namespace {

TEST(LibtorchVersion, IsWhatTheLoadedLibrarySays) {
  const std::string said = at::show_config();
  EXPECT_NE(said.find("TORCH_VERSION=" + libtorch_version() + ","), std::string::npos) << said;
}

}  // namespace
}  // namespace winnow
