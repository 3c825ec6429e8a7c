// The cameras of this computer, by the names that their makers gave them.
//
// Read from the kernel's list (V4L2, /sys/class/video4linux); opens no device. Used by the window's dialog. Errors: none; what cannot be
// read is no camera. Any thread.
#pragma once

#include <string>
#include <vector>

namespace winnow::app {

struct Camera {
  std::string device;  // "/dev/video0"
  std::string name;    // "Integrated Camera"; the device where it has none
  friend bool operator==(const Camera&, const Camera&) = default;
};

// In the order of their numbers. A camera has further nodes, for what comes beside its pictures: only the first of each is listed.
std::vector<Camera> cameras(const std::string& list = "/sys/class/video4linux");

}  // namespace winnow::app
