// What may be watched: the kind of every address, and one clear sentence for each that is refused.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <limits>

#include "tests/app/media/files/live_senders.h"

namespace winnow::app {
namespace {

Error refusal(const std::string& address) {
  try {
    parseLiveAddress(address);
  } catch (const Exception& exception) {
    return exception.error();
  }
  ADD_FAILURE() << address << " was taken";
  return {};
}

TEST(LiveAddress, EachKindIsAnExplicitChoice) {
  EXPECT_EQ(parseLiveAddress("-"), LiveKind::kPipe);
  EXPECT_EQ(parseLiveAddress("tcp://127.0.0.1:5000"), LiveKind::kNetwork);
  EXPECT_EQ(parseLiveAddress("udp://:5000"), LiveKind::kNetwork);
  EXPECT_EQ(parseLiveAddress("http://host/a?b=c"), LiveKind::kNetwork);
  EXPECT_EQ(parseLiveAddress("/dev/video0"), LiveKind::kCamera);
  EXPECT_EQ(parseLiveAddress("/dev/video12"), LiveKind::kCamera);
  EXPECT_EQ(parseLiveAddress("screen:"), LiveKind::kScreen);
  EXPECT_EQ(parseLiveAddress("screen::0"), LiveKind::kScreen);
  EXPECT_EQ(parseLiveAddress("screen::1.0"), LiveKind::kScreen);
  const std::string file = samples::path("rec 12:30.ts");
  samples::writeBytes(file, {});
  EXPECT_EQ(parseLiveAddress(file), LiveKind::kGrowingFile);
  const std::string pipe = samples::path("pipe");
  samples::makePipe(pipe);
  EXPECT_EQ(parseLiveAddress(pipe), LiveKind::kPipe);
}

TEST(LiveAddress, OtherProtocolsAreRefused) {
  for (const char* address : {"rtmp://host/x", "rtsp://host/x", "ftp://host/x", "file:///etc/passwd", "concat://a", "HTTP://host/x",
                              "subfile,,start,0,end,9,,://x", "hls+http://host/x.m3u8", "unix:///tmp/x", "pipe://0", "data://x"}) {
    EXPECT_EQ(refusal(address).code == ErrorCode::kUnsupportedFormat || refusal(address).code == ErrorCode::kFileNotFound, true) << address;
  }
  EXPECT_EQ(refusal("rtmp://host/x").reason, "only addresses that begin with tcp://, udp://, http:// or https:// are read");
  for (const char* address : {"file:/etc/passwd", "concat:a|b", "pipe:0", "crypto:x", "data:video", "v4l2:/dev/video0"}) {
    EXPECT_EQ(refusal(address).code, ErrorCode::kUnsupportedFormat) << address;
    EXPECT_EQ(refusal(address).reason,
              "this is neither a file nor an address that begins with tcp://, udp://, http://, https:// or screen:");
  }
}

TEST(LiveAddress, IncompleteOrCraftedAddresses) {
  EXPECT_EQ(refusal("").reason, "no address is given");
  EXPECT_EQ(refusal("tcp://").reason, "the address names no machine");
  EXPECT_EQ(refusal("http:///path").reason, "the address names no machine");
  EXPECT_EQ(refusal("http://host/a\r\nX: y").reason, "the address holds a space or a control character");
  EXPECT_EQ(refusal("tcp://h:1" + std::string(3000, 'x')).reason, "the address is too long");
  for (const char* address : {"screen:0", "screen:host:0", "screen::", "screen::0.", "screen::0+1,2", "screen::x"}) {
    EXPECT_EQ(refusal(address).code, ErrorCode::kInvalidArgument) << address;
  }
}

TEST(LiveAddress, PathsThatAreNoVideos) {
  EXPECT_EQ(refusal(samples::path("missing.ts")).code, ErrorCode::kFileNotFound);
  EXPECT_EQ(refusal("/").reason, "this is a folder, not a file");
  EXPECT_EQ(refusal("/dev/null").code, ErrorCode::kFileUnreadable);
  EXPECT_EQ(refusal("/dev/null").reason, "this is a device that is not read; cameras are /dev/video0, /dev/video1 and so on");
}

TEST(LiveAddress, TimesHaveToBePossible) {
  const std::string file = samples::path("a.ts");
  samples::writeBytes(file, {});
  for (const double seconds : {0.0, -1.0, 0.001, 1e9, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_THROW(requireLegal({LiveKind::kGrowingFile, file, seconds, 5.0}), Exception) << seconds;
    EXPECT_THROW(requireLegal({LiveKind::kGrowingFile, file, 1.0, seconds}), Exception) << seconds;
  }
  EXPECT_NO_THROW(requireLegal({LiveKind::kGrowingFile, file, 1.0, 5.0}));
  EXPECT_THROW(requireLegal({LiveKind::kPipe, file, 1.0, 5.0}), Exception);
  EXPECT_THROW(requireLegal({LiveKind::kNetwork, "/etc/passwd", 1.0, 5.0}), Exception);
}

TEST(LiveDevices, MissingOnesAreNamed) {
  const Error camera = samples::liveError({LiveKind::kCamera, "/dev/video9876", 1.0, 1.0});
  EXPECT_EQ(camera.code, ErrorCode::kDeviceUnavailable);
  EXPECT_EQ(camera.reason, "there is no camera of this name");
  const Error screen = samples::liveError({LiveKind::kScreen, "screen::9876", 1.0, 1.0});
  EXPECT_EQ(screen.code, ErrorCode::kDeviceUnavailable);
  EXPECT_EQ(screen.reason, "the X11 screen :9876 cannot be read");
  ::unsetenv("DISPLAY");
  EXPECT_EQ(samples::liveError({LiveKind::kScreen, "screen:", 1.0, 1.0}).reason, "there is no X11 screen to read (DISPLAY is not set)");
}

}  // namespace
}  // namespace winnow::app
