// Streams of tcp, udp and http on this machine: what comes, how they end, where a server may not send one.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <chrono>

#include "app/media/files/live/network_bytes.h"
#include "tests/app/media/files/live_senders.h"

namespace winnow::app {
namespace {

using samples::Afterwards;
using samples::Bytes;
using samples::collect;
using samples::kSoonS;
using samples::live;
using samples::numbersIn;
using samples::Server;

class LiveNetwork : public ::testing::Test {
 protected:
  // A proxy of the machine's is not asked for its own addresses.
  void SetUp() override { ::setenv("no_proxy", "*", 1); }
};

const Bytes& stream(int frames) { return samples::recorded(".ts", frames); }

std::string address(const char* scheme, int port, const std::string& path = "") {
  return std::string(scheme) + "://127.0.0.1:" + std::to_string(port) + path;
}

Bytes httpAnswer(const std::string& head, const Bytes& body = {}) {
  return samples::joined(samples::textBytes("HTTP/1.1 " + head + "\r\nConnection: close\r\n\r\n"), body);
}

TEST_F(LiveNetwork, TcpUntilTheSenderCloses) {
  const Server server({false, stream(40)});
  LiveSource source(live(address("tcp", server.port()), 0.5));
  const LiveClip clip = collect(source);
  EXPECT_EQ(numbersIn(clip), (std::vector<int>{0, 5, 10, 15, 20, 25, 30, 35}));
  EXPECT_EQ(clip.end, LiveEnd::kEndOfStream);
}

TEST_F(LiveNetwork, TcpThatFallsSilentIsAStall) {
  const Server server({false, stream(20), Afterwards::kStayOpen});
  LiveSource source(live(address("tcp", server.port()), 0.5, kSoonS));
  const LiveClip clip = collect(source);
  EXPECT_EQ(clip.end, LiveEnd::kStalled);
  EXPECT_EQ(clip.frames.size(), 4u);
}

TEST_F(LiveNetwork, HttpUntilTheServerCloses) {
  const Server server({true, httpAnswer("200 OK\r\nContent-Type: video/mp2t", stream(40))});
  LiveSource source(live(address("http", server.port(), "/live?x=1"), 0.5));
  const LiveClip clip = collect(source);
  EXPECT_EQ(numbersIn(clip), (std::vector<int>{0, 5, 10, 15, 20, 25, 30, 35}));
  EXPECT_EQ(clip.end, LiveEnd::kEndOfStream);
}

TEST_F(LiveNetwork, ABrokenConnectionIsAnEndWithANotice) {
  const Bytes body = stream(40);
  const Server server({true, httpAnswer("200 OK\r\nContent-Length: " + std::to_string(body.size() * 2), body)});
  LiveSource source(live(address("http", server.port()), 0.5));
  const LiveClip clip = collect(source);
  EXPECT_EQ(clip.frames.size(), 8u);
  EXPECT_EQ(clip.end, LiveEnd::kEndOfStream);
  EXPECT_EQ(clip.notices, std::vector<MediaNotice>{{NoticeCode::kConnectionBroke}});
}

TEST_F(LiveNetwork, AServerMaySendOnToAnotherHttpAddress) {
  const Server target({true, httpAnswer("200 OK", stream(20))});
  const Server server({true, httpAnswer("302 Found\r\nLocation: " + address("http", target.port(), "/there"))});
  LiveSource source(live(address("http", server.port()), 0.5));
  EXPECT_EQ(numbersIn(collect(source)), (std::vector<int>{0, 5, 10, 15}));
}

TEST_F(LiveNetwork, AServerMaySendOnToNothingElse) {
  const std::string file = samples::path("secret.ts");
  samples::writeBytes(file, stream(20));
  const Server tcp({false, stream(20)});
  for (const std::string& target :
       {"file://" + file, "file:" + file, "concat:" + file, std::string("data:video/mp2t;base64,R0AA"), "subfile,,start,0,end,9,,:" + file,
        address("tcp", tcp.port()), address("rtmp", tcp.port()), address("ftp", tcp.port(), "/x")}) {
    const Server server({true, httpAnswer("302 Found\r\nLocation: " + target)});
    const Error error = samples::liveError(live(address("http", server.port()), 0.5));
    EXPECT_EQ(error.code, ErrorCode::kFileUnreadable) << target;
    EXPECT_EQ(error.reason, "it leads to an address that is not read; only http and https are") << target;
  }
  EXPECT_EQ(tcp.callers(), 0);
}

TEST_F(LiveNetwork, NoSuchPageAndNobodyThere) {
  const Server server({true, httpAnswer("404 Not Found")});
  const Error missing = samples::liveError(live(address("http", server.port()), 0.5));
  EXPECT_EQ(missing.code, ErrorCode::kFileUnreadable);
  EXPECT_EQ(missing.reason, "the address cannot be reached (Server returned 404 Not Found)");
  const Error nobody = samples::liveError(live(address("tcp", samples::freeUdpPort()), 0.5));
  EXPECT_EQ(nobody.code, ErrorCode::kFileUnreadable);
}

TEST_F(LiveNetwork, APlaylistFromAServerIsRefused) {
  const Server other({true, httpAnswer("200 OK", stream(10))});
  const std::string list = "#EXTM3U\n#EXTINF:1,\n" + address("http", other.port()) + "\n";
  const Server server({true, httpAnswer("200 OK\r\nContent-Type: application/vnd.apple.mpegurl", samples::textBytes(list))});
  const Error error = samples::liveError(live(address("http", server.port(), "/x.m3u8"), 0.5));
  EXPECT_EQ(error.reason, "this is a playlist (HLS), not a video");
  EXPECT_EQ(other.callers(), 0);
}

TEST_F(LiveNetwork, UdpUntilItFallsSilent) {
  const int port = samples::freeUdpPort();
  std::atomic<bool> stop{false};
  const samples::Sender sender(samples::sendDatagrams(port, stream(40), stop));
  LiveSource source(live(address("udp", port), 0.5, 2.0));
  const LiveClip first = source.next(6, {});
  stop = true;
  const LiveClip rest = collect(source);
  EXPECT_EQ(first.frames.size(), 6u);
  for (const int number : numbersIn(first)) EXPECT_LT(number, 40);
  EXPECT_EQ(rest.end, LiveEnd::kStalled);
}

TEST_F(LiveNetwork, ASlowCallerNeverHoldsTheSenderUp) {
  // 400 grid times come, 64 may wait. The server closes after its last byte, so the end is only seen when all was read.
  const Server server({false, stream(200)});
  LiveSource source(live(address("tcp", server.port()), 0.05));
  while (source.mostWaiting() < FrameQueue::kMostFrames) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const LiveClip clip = collect(source, 1000);
  EXPECT_GE(clip.frames.size(), FrameQueue::kMostFrames);
  EXPECT_LE(source.mostWaiting(), FrameQueue::kMostFrames);
  ASSERT_FALSE(clip.notices.empty());
  EXPECT_EQ(clip.notices.back(), (MediaNotice{NoticeCode::kFramesMissed, 400 - std::ssize(clip.frames)}));
}

TEST_F(LiveNetwork, InterruptAndDestructionWhileNobodySends) {
  const auto began = std::chrono::steady_clock::now();
  const Server silent({false, {}, Afterwards::kStayOpen});
  for (const std::string& where : {address("tcp", silent.port()), address("udp", samples::freeUdpPort()), address("http", silent.port())}) {
    LiveSource source(live(where, 0.5));
    InterruptSource interrupt;
    interrupt.request_cancel();
    EXPECT_EQ(source.next(1, interrupt.token()).end, LiveEnd::kInterrupted) << where;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::duration<double>(samples::kPatienceS / 2));
}

}  // namespace
}  // namespace winnow::app
