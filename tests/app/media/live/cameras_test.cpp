// Cameras by name, from a list like the kernel's.
#include "app/media/live/cameras.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

TEST(Cameras, TheFirstNodeOfEachIsListedByItsName) {
  const fs::path list = fs::temp_directory_path() / ("winnow-cameras-" + std::to_string(::getpid()));
  const auto node = [&](const char* device, const char* index, const char* name) {
    fs::create_directories(list / device);
    if (*index != '\0') std::ofstream(list / device / "index") << index << '\n';
    if (*name != '\0') std::ofstream(list / device / "name") << name << '\n';
  };
  node("video10", "0", "Desk: Desk");
  node("video2", "0", "Integrated Camera");
  node("video3", "1", "Integrated Camera");  // what comes beside its pictures
  node("video4", "0", "");
  node("video5", "", "no index");
  node("vbi0", "0", "Teletext");
  node("video", "0", "no number");
  EXPECT_EQ(cameras(list.string()),
            (std::vector<Camera>{{"/dev/video2", "Integrated Camera"}, {"/dev/video4", "/dev/video4"}, {"/dev/video10", "Desk: Desk"}}));
  fs::remove_all(list);
  EXPECT_TRUE(cameras(list.string()).empty()) << "there is no list";
}

}  // namespace
}  // namespace winnow::app
