#include "app/media/files/live/live_request.h"

#include <sys/stat.h>

#include <array>
#include <cctype>
#include <cerrno>
#include <optional>
#include <string_view>

#include "app/media/files/live/network_bytes.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr std::size_t kLongestAddress = 2048;
constexpr std::string_view kCameraPrefix = "/dev/video";
constexpr std::string_view kScreenPrefix = "screen:";
constexpr std::array<std::string_view, 4> kSchemes = {"tcp", "udp", "http", "https"};

[[noreturn]] void refuseAddress(ErrorCode code, const std::string& address, const std::string& reason) {
  throw Exception(code, address, reason);
}

bool isShortNumber(std::string_view text) {
  return !text.empty() && text.size() <= 4 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// ":0" or ":0.1": a display of this machine.
bool isDisplay(std::string_view text) {
  if (!text.starts_with(':')) return false;
  text.remove_prefix(1);
  const auto dot = text.find('.');
  return isShortNumber(text.substr(0, dot)) && (dot == std::string_view::npos || isShortNumber(text.substr(dot + 1)));
}

bool isCamera(std::string_view address) {
  return address.starts_with(kCameraPrefix) && isShortNumber(address.substr(kCameraPrefix.size()));
}

// "rtmp" of "rtmp://host/x"; nullopt where no scheme stands before the first colon.
std::optional<std::string> schemeOf(std::string_view address) {
  const auto colon = address.find(':');
  if (colon == std::string_view::npos || colon < 2) return std::nullopt;
  std::string scheme(address.substr(0, colon));
  for (char& c : scheme) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0 && c != '+' && c != '-' && c != '.') return std::nullopt;
    c = static_cast<char>(std::tolower(byte));
  }
  if (std::isalpha(static_cast<unsigned char>(scheme.front())) == 0) return std::nullopt;
  return scheme;
}

void requireNetwork(const std::string& address) {
  const std::string scheme = schemeOf(address).value_or("");
  if (std::find(kSchemes.begin(), kSchemes.end(), scheme) == kSchemes.end() || address.compare(scheme.size(), 3, "://") != 0 ||
      address.compare(0, scheme.size(), scheme) != 0) {
    refuseAddress(ErrorCode::kUnsupportedFormat, address, "only addresses that begin with tcp://, udp://, http:// or https:// are read");
  }
  if (address.size() > kLongestAddress) refuseAddress(ErrorCode::kInvalidArgument, address, "the address is too long");
  // Line breaks in an address would become lines of the request to the server.
  if (std::any_of(address.begin(), address.end(), [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7F'; })) {
    refuseAddress(ErrorCode::kInvalidArgument, address, "the address holds a space or a control character");
  }
  const std::string_view place = std::string_view(address).substr(scheme.size() + 3);
  if (place.empty() || place.starts_with('/')) refuseAddress(ErrorCode::kInvalidArgument, address, "the address names no machine");
  if (!NetworkBytes::canRead(scheme)) {
    refuseAddress(ErrorCode::kUnsupportedFormat, address, "this build of FFmpeg cannot read " + scheme + ":// addresses");
  }
}

LiveKind kindOfPath(const std::string& path) {
  struct stat status {};
  if (path.find('\0') != std::string::npos || ::stat(path.c_str(), &status) != 0) {
    const int code = errno;
    if (schemeOf(path)) {
      refuseAddress(ErrorCode::kUnsupportedFormat, path,
                    "this is neither a file nor an address that begins with tcp://, udp://, http://, https:// or screen:");
    }
    if (code == EACCES) refuseAddress(ErrorCode::kFileUnreadable, path, "there is no permission to read the file");
    refuseAddress(ErrorCode::kFileNotFound, path, "the file does not exist");
  }
  if (S_ISREG(status.st_mode)) return LiveKind::kGrowingFile;
  if (S_ISFIFO(status.st_mode)) return LiveKind::kPipe;
  if (S_ISDIR(status.st_mode)) refuseAddress(ErrorCode::kFileUnreadable, path, "this is a folder, not a file");
  if (S_ISSOCK(status.st_mode)) refuseAddress(ErrorCode::kFileUnreadable, path, "this is a socket, not a file");
  refuseAddress(ErrorCode::kFileUnreadable, path, "this is a device that is not read; cameras are /dev/video0, /dev/video1 and so on");
}

void requireSeconds(const std::string& address, double seconds, double least, const char* what) {
  if (std::isfinite(seconds) && seconds >= least && seconds <= kLongestS) return;
  refuseAddress(ErrorCode::kInvalidArgument, address, std::string(what) + " is not a possible number of seconds");
}

}  // namespace

LiveKind parseLiveAddress(const std::string& address) {
  if (address.empty()) refuseAddress(ErrorCode::kInvalidArgument, "", "no address is given");
  if (address == "-") return LiveKind::kPipe;
  if (address.starts_with(kScreenPrefix)) {
    const std::string_view display = std::string_view(address).substr(kScreenPrefix.size());
    if (!display.empty() && !isDisplay(display)) {
      refuseAddress(ErrorCode::kInvalidArgument, address, "a screen is named screen: or, for the display :0, screen::0");
    }
    return LiveKind::kScreen;
  }
  if (isCamera(address)) return LiveKind::kCamera;
  if (address.find("://") != std::string::npos && schemeOf(address)) {
    requireNetwork(address);
    return LiveKind::kNetwork;
  }
  return kindOfPath(address);
}

void requireLegal(const LiveRequest& request) {
  requireSeconds(request.address, request.everyS, kLeastEveryS, "the time between two frames");
  requireSeconds(request.address, request.stallS, kLeastEveryS, "the time after which a source counts as ended");
  if (parseLiveAddress(request.address) != request.kind) {
    refuseAddress(ErrorCode::kInvalidArgument, request.address, "the address is not of the kind of source that was asked for");
  }
}

}  // namespace winnow::app
