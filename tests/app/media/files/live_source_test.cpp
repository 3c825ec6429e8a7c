// Growing files and pipes: which frames come, when they end, and what is put up with.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>

#include "app/ground/notices/notice_text.h"
#include "app/media/files/live/live_container.h"
#include "tests/app/media/files/live_senders.h"

namespace winnow::app {
namespace {

using samples::Afterwards;
using samples::Bytes;
using samples::collect;
using samples::kPatienceS;
using samples::kSoonS;
using samples::live;
using samples::numbered;
using samples::numbersIn;
using samples::recorded;
using samples::Sender;

std::string recordedFile(int frames) {
  const std::string file = samples::path("whole.ts");
  samples::writeBytes(file, recorded(".ts", frames));
  return file;
}

struct Piped {
  explicit Piped(const Bytes& bytes, Afterwards afterwards = Afterwards::kClose)
      : file(samples::path("pipe" + std::to_string(++count))),
        sender((samples::makePipe(file), samples::writePipe(file, bytes, afterwards))) {}
  static inline int count = 0;
  const std::string file;
  Sender sender;
};

LiveClip readPiped(const Bytes& bytes, double everyS) {
  const Piped piped(bytes);
  LiveSource source(live(piped.file, everyS));
  return collect(source);
}

TEST(LiveSource, GridTimesAreExactForAConstantRate) {
  for (const char* ending : {".ts", ".mkv", ".avi"}) {
    const LiveClip clip = readPiped(recorded(ending, 42), 0.5);
    EXPECT_EQ(numbersIn(clip), (std::vector<int>{0, 5, 10, 15, 20, 25, 30, 35, 40})) << ending;
    for (std::size_t i = 0; i < clip.frames.size(); ++i) {
      EXPECT_DOUBLE_EQ(clip.frames[i].asked_s, 0.5 * static_cast<double>(i)) << ending;
      EXPECT_NEAR(clip.frames[i].actual_s, 0.5 * static_cast<double>(i), 1e-3) << ending;
    }
    EXPECT_EQ(clip.end, LiveEnd::kEndOfStream) << ending;
    EXPECT_TRUE(clip.notices.empty()) << ending << ": " << noticeText(clip.notices.front());
  }
}

TEST(LiveSource, BetweenTwoFramesTheEarlierOneIsOnScreen) {
  const LiveClip clip = readPiped(recorded(".ts", 10), 0.25);
  EXPECT_EQ(numbersIn(clip), (std::vector<int>{0, 2, 5, 7}));
  const LiveClip dense = readPiped(recorded(".ts", 3), 0.05);
  EXPECT_EQ(numbersIn(dense), (std::vector<int>{0, 0, 1, 1, 2, 2}));
}

TEST(LiveSource, FragmentedMp4AndReorderedFrames) {
  const Bytes& fragmented = recorded(".mp4", 30, "-preset medium -movflags frag_keyframe+empty_moov");
  EXPECT_EQ(numbersIn(readPiped(fragmented, 0.5)), (std::vector<int>{0, 5, 10, 15, 20, 25}));
  EXPECT_EQ(numbersIn(readPiped(recorded(".mp4", 20, "-movflags +faststart"), 0.5)), (std::vector<int>{0, 5, 10, 15}));
}

TEST(LiveSource, OtherCodecsOfTheList) {
  for (const char* codec : {"mpeg4 -q:v 2", "mjpeg -pix_fmt yuvj420p", "libvpx-vp9 -deadline realtime -cpu-used 8"}) {
    const std::string file = samples::make("a.mkv", numbered(12, 10) + " -c:v " + codec);
    EXPECT_EQ(numbersIn(readPiped(samples::readBytes(file), 0.5)), (std::vector<int>{0, 5, 10})) << codec;
  }
}

TEST(LiveSource, AClipIsFullOrTheLast) {
  const Piped piped(recorded(".ts", 25));
  LiveSource source(live(piped.file, 0.1));
  std::vector<std::size_t> sizes;
  for (bool ended = false; !ended;) {
    const LiveClip clip = source.next(10, {});
    sizes.push_back(clip.frames.size());
    ended = clip.ended();
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{10, 10, 5}));
  const LiveClip after = source.next(10, {});
  EXPECT_TRUE(after.frames.empty());
  EXPECT_EQ(after.end, LiveEnd::kEndOfStream);
}

TEST(LiveSource, StandardInputIsAPipe) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const int before = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  ::close(ends[0]);
  {
    const Bytes bytes = recorded(".ts", 20);
    const Sender sender([&](const std::atomic<bool>&) {
      for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t put = ::write(ends[1], bytes.data() + at, bytes.size() - at);
        if (put <= 0) break;
        at += static_cast<std::size_t>(put);
      }
      ::close(ends[1]);
    });
    LiveSource source(live("-", 0.5));
    EXPECT_EQ(numbersIn(collect(source)), (std::vector<int>{0, 5, 10, 15}));
  }
  ::dup2(before, STDIN_FILENO);
  ::close(before);
}

TEST(LiveSource, AFileThatGrowsIsReadOn) {
  for (const char* ending : {".ts", ".mkv"}) {
    const Bytes bytes = recorded(ending, 60);
    const std::string file = samples::path(std::string("growing") + ending);
    samples::writeBytes(file, {});
    LiveSource source(live(file, 0.5));
    const Sender sender(samples::appendTo(file, bytes, 20));
    const LiveClip first = source.next(10, {});
    EXPECT_EQ(numbersIn(first), (std::vector<int>{0, 5, 10, 15, 20, 25, 30, 35, 40, 45})) << ending;
    EXPECT_FALSE(first.ended());
  }
}

TEST(LiveSource, AFileEndsWhenNothingIsAdded) {
  LiveSource source(live(recordedFile(20), 0.5, kSoonS));
  const LiveClip clip = collect(source);
  EXPECT_EQ(numbersIn(clip), (std::vector<int>{0, 5, 10, 15}));
  EXPECT_EQ(clip.end, LiveEnd::kStalled);
}

TEST(LiveSource, AFileEndsWhenTheCallerSaysSo) {
  LiveSource source(live(recordedFile(20), 0.5));
  EXPECT_EQ(numbersIn(source.next(2, {})), (std::vector<int>{0, 5}));
  source.finish();
  const LiveClip rest = collect(source);
  EXPECT_EQ(numbersIn(rest), (std::vector<int>{10, 15}));
  EXPECT_EQ(rest.end, LiveEnd::kEndOfStream);
}

TEST(LiveSource, ASilentSenderIsAStall) {
  const Piped piped(recorded(".ts", 20), Afterwards::kStayOpen);
  LiveSource source(live(piped.file, 0.5, kSoonS));
  const LiveClip clip = collect(source);
  EXPECT_EQ(clip.frames.size(), 4u);
  EXPECT_EQ(clip.end, LiveEnd::kStalled);
}

TEST(LiveSource, NothingAtAllIsAStallToo) {
  const std::string pipe = samples::path("nobody");
  samples::makePipe(pipe);
  LiveSource source(live(pipe, 0.5, kSoonS));
  const LiveClip clip = collect(source);
  EXPECT_TRUE(clip.frames.empty());
  EXPECT_EQ(clip.end, LiveEnd::kStalled);
}

TEST(LiveSource, HalfAHeaderIsAStall) {
  Bytes bytes = recorded(".mkv", 20);
  bytes.resize(300);
  const Piped piped(bytes, Afterwards::kStayOpen);
  LiveSource source(live(piped.file, 0.5, kSoonS));
  EXPECT_EQ(collect(source).end, LiveEnd::kStalled);
}

TEST(LiveSource, ASenderThatIsKilledIsTheEnd) {
  Bytes bytes = recorded(".ts", 40);
  bytes.resize(bytes.size() * 3 / 4 + 77);
  const LiveClip clip = [&] {
    const Piped piped(bytes);
    LiveSource source(live(piped.file, 0.5));
    return collect(source);
  }();
  EXPECT_EQ(clip.end, LiveEnd::kEndOfStream);
  ASSERT_GE(clip.frames.size(), 4u);
  EXPECT_EQ(samples::numberIn(clip.frames[3].image), 15);
}

TEST(LiveSource, ProgramThatRecordsIntoAPipe) {
  const std::string pipe = samples::path("pipe");
  samples::makePipe(pipe);
  const Sender sender(
      [&](const std::atomic<bool>&) { samples::ffmpeg(numbered(20, 10) + " -c:v libx264 -preset ultrafast -f mpegts " + pipe); });
  LiveSource source(live(pipe, 0.5));
  EXPECT_EQ(numbersIn(collect(source)), (std::vector<int>{0, 5, 10, 15}));
}

TEST(LiveSource, InterruptReturnsWhatCameAndTheSourceGoesOn) {
  const Piped piped(recorded(".ts", 21), Afterwards::kStayOpen);
  LiveSource source(live(piped.file, 0.5));
  EXPECT_EQ(source.next(3, {}).frames.size(), 3u);
  InterruptSource interrupt;
  const Sender stopper([&](const std::atomic<bool>&) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    interrupt.request_stop();
  });
  const auto began = std::chrono::steady_clock::now();
  const LiveClip clip = source.next(100, interrupt.token());
  EXPECT_EQ(clip.end, LiveEnd::kInterrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::duration<double>(kPatienceS / 2));
  source.finish();
  EXPECT_EQ(collect(source).end, LiveEnd::kEndOfStream);
}

TEST(LiveSource, DestructionDoesNotWaitForTheSender) {
  const auto began = std::chrono::steady_clock::now();
  {
    const std::string pipe = samples::path("nobody");
    samples::makePipe(pipe);
    const LiveSource waiting(live(pipe, 0.5));
    const Piped fast(recorded(".ts", 200));
    LiveSource full(live(fast.file, 0.02));
    full.next(1, {});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::duration<double>(kPatienceS / 2));
}

TEST(LiveSource, FilesAndPipesWaitAndNothingIsMissed) {
  const Piped piped(recorded(".ts", 200));
  LiveSource source(live(piped.file, 0.05));
  LiveClip first = source.next(1, {});
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const LiveClip rest = collect(source);
  EXPECT_EQ(first.frames.size() + rest.frames.size(), 400u);
  EXPECT_TRUE(rest.notices.empty());
  EXPECT_LE(source.mostWaiting(), FrameQueue::kMostFrames);
}

TEST(LiveSource, StampsThatJumpBackAreACut) {
  const Bytes one = recorded(".ts", 20);
  const LiveClip clip = readPiped(samples::joined(one, one), 0.5);
  EXPECT_EQ(numbersIn(clip), (std::vector<int>{0, 5, 10, 15, 0, 5, 10, 15}));
  for (std::size_t i = 0; i < clip.frames.size(); ++i) EXPECT_NEAR(clip.frames[i].actual_s, 0.5 * static_cast<double>(i), 1e-3);
  EXPECT_EQ(clip.notices, std::vector<MediaNotice>{{NoticeCode::kTimeJumps}});
}

TEST(LiveSource, StampsThatJumpAheadAreACut) {
  const Bytes one = recorded(".ts", 20);
  const Bytes later = recorded(".ts", 20, "-output_ts_offset 40000");
  const LiveClip clip = readPiped(samples::joined(one, later), 0.5);
  EXPECT_EQ(numbersIn(clip), (std::vector<int>{0, 5, 10, 15, 0, 5, 10, 15}));
  EXPECT_EQ(clip.notices.size(), 1u);
}

TEST(LiveSource, TheSizeMayChangeOnTheWay) {
  const Bytes small = recorded(".ts", 20);
  const Bytes large = recorded(".ts", 20, "-vf scale=128:96:flags=neighbor ");
  const LiveClip clip = readPiped(samples::joined(small, large), 0.5);
  ASSERT_EQ(clip.frames.size(), 8u);
  EXPECT_EQ(clip.frames[3].image.width_px, 64);
  EXPECT_EQ(clip.frames[4].image.width_px, 128);
  EXPECT_EQ(clip.frames[4].image.height_px, 96);
  EXPECT_EQ(numbersIn(clip), (std::vector<int>{0, 5, 10, 15, 0, 5, 10, 15}));
  EXPECT_NE(std::ranges::find(clip.notices, MediaNotice{NoticeCode::kSizeChanged, 128, 96}), clip.notices.end());
}

TEST(LiveSource, ThePixelFormatMayChangeOnTheWay) {
  const Bytes both = samples::joined(recorded(".ts", 20), recorded(".ts", 20, "-pix_fmt yuv444p "));
  EXPECT_EQ(numbersIn(readPiped(both, 0.5)), (std::vector<int>{0, 5, 10, 15, 0, 5, 10, 15}));
}

TEST(LiveSource, AVideoStreamThatAppearsLaterTakesOver) {
  // The last pictures of the stream before stay inside the demuxer, which never learns that they are whole.
  const std::string elsewhere = "-mpegts_start_pid 0x300 -mpegts_pmt_start_pid 0x1100 ";
  for (const std::string& more : {elsewhere, elsewhere + "-c:v mpeg4 -q:v 2 "}) {
    const LiveClip clip = readPiped(samples::joined(recorded(".ts", 20), recorded(".ts", 20, more)), 0.1);
    const std::vector<int> numbers = numbersIn(clip);
    const auto second = std::find(numbers.begin() + 1, numbers.end(), 0);
    EXPECT_GE(second - numbers.begin(), 15) << more;
    ASSERT_EQ(numbers.end() - second, 20) << more;
    for (int i = 0; i < 20; ++i) EXPECT_EQ(second[i], i) << more;
  }
}

TEST(LiveSource, ACodecOutsideTheListIsNoReplacement) {
  const Bytes old = recorded(".ts", 20, "-mpegts_start_pid 0x300 -mpegts_pmt_start_pid 0x1100 -c:v vc2 -pix_fmt yuv420p -strict -1 ");
  const Piped piped(samples::joined(recorded(".ts", 20), old));
  EXPECT_EQ(samples::liveError(live(piped.file, 0.5)).reason, std::string("its video codec (dirac) is not supported; ") + kConvertVideo);
}

TEST(LiveSource, DamageIsBridgedAndSaid) {
  Bytes bytes = recorded(".ts", 100);
  for (std::size_t at = bytes.size() / 3; at < bytes.size() / 2; ++at) {
    if (at % 188 > 150) bytes[at] = static_cast<std::uint8_t>(at * 37);
  }
  const LiveClip clip = readPiped(bytes, 0.5);
  EXPECT_EQ(clip.end, LiveEnd::kEndOfStream);
  EXPECT_NE(std::ranges::find(clip.notices, MediaNotice{NoticeCode::kDamaged}), clip.notices.end());
  EXPECT_EQ(samples::numberIn(clip.frames[1].image), 5);
  EXPECT_EQ(samples::numberIn(clip.frames.back().image), 95);
}

TEST(LiveSource, PicturesAreUpright) {
  const std::string flat = samples::path("flat.mp4");
  samples::writeBytes(flat, recorded(".mp4", 10));
  const std::string turned =
      samples::make("turned.mp4", "-i " + flat + " -c copy -metadata:s:v rotate=90 -movflags frag_keyframe+empty_moov");
  const LiveClip clip = readPiped(samples::readBytes(turned), 0.5);
  ASSERT_FALSE(clip.frames.empty());
  EXPECT_EQ(clip.frames[0].image.width_px, 48);
  EXPECT_EQ(clip.frames[0].image.height_px, 64);
}

TEST(LiveSource, PixelsAreSquare) {
  const LiveClip clip = readPiped(recorded(".ts", 10, "-vf setsar=2 "), 0.5);
  ASSERT_FALSE(clip.frames.empty());
  EXPECT_EQ(clip.frames[0].image.width_px, 128);
}

// As a file of the same bytes does.
TEST(LiveSource, SaysWhatItsPicturesAreShownWithout) {
  const std::string hdr = "-c:v libx265 -x265-params log-level=none -pix_fmt yuv420p10le -color_trc arib-std-b67 -colorspace bt2020nc ";
  const std::string alpha = "-vf format=yuva420p -c:v libvpx-vp9 -pix_fmt yuva420p -auto-alt-ref 0 -deadline realtime ";
  const std::tuple<const char*, std::string, NoticeCode> kinds[] = {{".mkv", hdr, NoticeCode::kNoToneMapping},
                                                                    {".ts", hdr, NoticeCode::kNoToneMapping},
                                                                    {".webm", alpha, NoticeCode::kTransparencyIgnored}};
  for (const auto& [ending, options, code] : kinds) {
    const LiveClip clip = readPiped(recorded(ending, 10, options), 0.5);
    ASSERT_FALSE(clip.frames.empty()) << ending;
    EXPECT_EQ(clip.notices, (std::vector<MediaNotice>{{code}})) << ending;
  }
}

TEST(LiveSource, WhatTheDemuxerRemembersIsBounded) {
  MediaLimits limits{.liveIndexEntries = 25};
  const std::string fragmented = "-movflags frag_keyframe+empty_moov ";
  const Bytes videos[] = {recorded(".mp4", 200, fragmented), recorded(".mp4", 200, "-movflags frag_keyframe+empty_moov+default_base_moof "),
                          recorded(".avi", 200), recorded(".avi", 200, "-c:v mjpeg -pix_fmt yuvj420p ")};
  for (const Bytes& bytes : videos) {
    const Piped piped(bytes);
    LiveSource source(live(piped.file, 0.5), limits);
    const LiveClip clip = collect(source);
    const std::vector<int> numbers = numbersIn(clip);
    ASSERT_EQ(numbers.size(), 40u);
    for (int i = 0; i < 40; ++i) EXPECT_EQ(numbers[static_cast<std::size_t>(i)], 5 * i);
    EXPECT_TRUE(clip.notices.empty()) << noticeText(clip.notices.front());
  }
}

TEST(LiveContainer, IsReplacedWhereItRemembersEveryFrame) {
  MediaLimits limits{.liveIndexEntries = 25};
  const AvPacket packet = makePacket();
  for (const char* ending : {".mp4", ".avi", ".ts", ".mkv"}) {
    const bool replaced = ending == std::string(".mp4") || ending == std::string(".avi");
    const Piped piped(recorded(ending, 200, std::string(ending) == ".mp4" ? "-movflags frag_keyframe+empty_moov " : ""));
    StallGuard watch(kPatienceS);
    LiveContainer container(live(piped.file, 0.5), limits, watch);
    int packets = 0;
    int most = 0;
    std::int64_t lastDts = -1'000'000;
    while (container.readPacket(*packet) == LiveContainer::Read::kPacket) {
      ++packets;
      most = std::max(most, container.indexEntries());
      EXPECT_GT(packet->dts, lastDts) << ending;
      lastDts = packet->dts;
    }
    EXPECT_EQ(packets, 200) << ending;
    EXPECT_EQ(container.reopenings() >= 5, replaced) << ending;
    EXPECT_TRUE(!replaced || most <= 25 + 10) << ending << " remembered " << most << ": more than the limit and a fragment";
  }
}

struct Refused {
  Bytes bytes;
  ErrorCode code;
  std::string reason;
};

TEST(LiveSource, OtherContentIsRefusedByItsFirstBytes) {
  const Bytes sound = samples::readBytes(samples::make("sound.ts", "-f lavfi -i sine=d=1 -c:a mp2"));
  const Bytes picture = samples::readBytes(samples::make("a.png", "-f lavfi -i color=red:s=16x16 -frames:v 1"));
  const Bytes old = samples::readBytes(samples::make("old.mkv", numbered(20, 25) + " -c:v ffv1"));
  const Bytes late = recorded(".mp4", 20);
  const Refused cases[] = {
      {samples::textBytes("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"), ErrorCode::kUnsupportedFormat,
       "this is a playlist (HLS), not a video"},
      {samples::textBytes("just words\n"), ErrorCode::kUnsupportedFormat, "this is a text file, not an image or a video"},
      {picture, ErrorCode::kUnsupportedFormat, "this is an image (png), not a video"},
      {sound, ErrorCode::kUnsupportedFormat, "it contains no video"},
      {old, ErrorCode::kUnsupportedFormat, std::string("its video codec (ffv1) is not supported; ") + kConvertVideo},
      {late, ErrorCode::kUnsupportedFormat,
       "this MP4 gets its index at its end and cannot be read before that; record TS, MKV or fragmented MP4"},
      {{}, ErrorCode::kDamagedFile, "it ended before anything came"},
  };
  for (const Refused& refused : cases) {
    const Piped piped(refused.bytes);
    const Error error = samples::liveError(live(piped.file, 1.0));
    EXPECT_EQ(error.code, refused.code) << refused.reason;
    EXPECT_EQ(error.reason, refused.reason);
    EXPECT_EQ(error.subject, piped.file);
  }
}

// The sender stays: waiting for more would last as long as the patience of a stalled source, an hour here.
TEST(LiveSource, WhatIsNoVideoIsRefusedBeforeItStalls) {
  const char* const page = "Good morning, this is a text of more than thirty-two bytes.\n";
  const char* const list = "#EXTM3U\n#EXTINF:1,\nhttp://127.0.0.1/a.ts\n#EXTINF:1,\n";
  for (const char* text : {page, list, "%PDF-1.7 and what else stands in a document"}) {
    const Piped piped(samples::textBytes(text), Afterwards::kStayOpen);
    const Error error = samples::liveError(live(piped.file, 1.0, 3600.0));
    EXPECT_EQ(error.code, ErrorCode::kUnsupportedFormat) << text;
    const std::string file = samples::path("grows.txt");
    samples::writeBytes(file, samples::textBytes(text));
    EXPECT_EQ(samples::liveError(live(file, 1.0, 3600.0)).code, ErrorCode::kUnsupportedFormat) << text;
  }
}

TEST(LiveSource, LimitsHoldAsForFiles) {
  const Piped piped(recorded(".ts", 10));
  MediaLimits limits{.videoFramePixels = 64 * 48 - 1};
  EXPECT_EQ(samples::liveError(live(piped.file, 1.0), limits).code, ErrorCode::kLimitExceeded);
}

}  // namespace
}  // namespace winnow::app
