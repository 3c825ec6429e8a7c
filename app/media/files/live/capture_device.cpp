#include "app/media/files/live/capture_device.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <string>

#include "app/media/files/allowed_video.h"

namespace winnow::app {
namespace {

constexpr std::size_t kScreenPrefixChars = 7;  // "screen:"
// The grabber sleeps between two pictures and cannot be woken.
constexpr double kFewestGrabs = 20.0;
constexpr double kMostGrabs = 60.0;

// FFmpeg's devices are a library of their own that needs some eighty others, so that it is loaded by whoever wants a camera or the screen.
// Without it none is found. Its version has always been libavformat's.
void registerDevices() {
  const std::string name = "libavdevice.so." + std::to_string(LIBAVFORMAT_VERSION_MAJOR);
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return;
  if (void* const symbol = dlsym(library, "avdevice_register_all")) reinterpret_cast<void (*)()>(symbol)();
}

[[noreturn]] void throwNoScreen(const std::string& address, const std::string& display) {
  throw Exception(
      ErrorCode::kDeviceUnavailable, address,
      display.empty() ? "there is no X11 screen to read (DISPLAY is not set)" : "the X11 screen " + display + " cannot be read");
}

[[noreturn]] void throwNoCamera(const std::string& address, int code) {
  if (code == AVERROR(ENOENT) || code == AVERROR(ENODEV) || code == AVERROR(ENXIO)) {
    throw Exception(ErrorCode::kDeviceUnavailable, address, "there is no camera of this name");
  }
  if (code == AVERROR(EACCES) || code == AVERROR(EPERM)) {
    throw Exception(ErrorCode::kFileUnreadable, address, "there is no permission to read the camera");
  }
  if (code == AVERROR(EBUSY)) throw Exception(ErrorCode::kDeviceUnavailable, address, "another program is using the camera");
  throw Exception(ErrorCode::kDeviceUnavailable, address, "the camera cannot be read (" + ffmpegErrorText(code) + ")");
}

}  // namespace

void openCapture(AVFormatContext*& format, const LiveRequest& request) {
  static std::once_flag registered;
  std::call_once(registered, registerDevices);
  const bool screen = request.kind == LiveKind::kScreen;
  const AVInputFormat* device = av_find_input_format(screen ? "x11grab" : "v4l2");
  if (device == nullptr) {
    throw Exception(ErrorCode::kDeviceUnavailable, request.address,
                    std::string("FFmpeg's devices (libavdevice) are missing here or cannot read ") + (screen ? "screens" : "cameras"));
  }
  AvOptions options;
  std::string name = request.address;
  if (screen) {
    name = request.address.substr(kScreenPrefixChars);
    const char* display = std::getenv("DISPLAY");
    if (name.empty() && display != nullptr) name = display;
    if (name.empty()) throwNoScreen(request.address, name);
    options.set("framerate", std::to_string(std::clamp(1.0 / request.everyS, kFewestGrabs, kMostGrabs)));
  }
  const int opened = avformat_open_input(&format, name.c_str(), device, options.get());
  if (opened >= 0) return;
  if (screen) throwNoScreen(request.address, name);
  throwNoCamera(request.address, opened);
}

}  // namespace winnow::app
