// Decoding less changes nothing of what is seen. The oracle of pixels is a plan that wants every frame, for which nothing can be left out.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "app/ground/notices/notice_text.h"
#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

using samples::ffmpeg;
using samples::numbered;

MediaLimits decoders(int count) { return {.decoders = count}; }

std::map<std::int64_t, std::vector<std::uint8_t>> allFrames(const std::string& file, double stepS) {
  const auto source = samples::openVideo(samples::videoEvery(file, stepS), decoders(1));
  std::map<std::int64_t, std::vector<std::uint8_t>> frames;
  for (SampledFrame& frame : source->read(0, source->frame_count(), {}))
    frames.emplace(std::llround(frame.actual_s * 1e4), std::move(frame.image.rgb));
  return frames;
}

struct Clip {
  const char* name;
  const char* file;
  const char* arguments;
  bool spares;  // frames are left out
};
void PrintTo(const Clip& clip, std::ostream* out) { *out << clip.name; }

constexpr const char* kMoving = "-f lavfi -i \"testsrc2=s=160x96:r=25,noise=alls=12:allf=t\" -t 10 -pix_fmt yuv420p ";

class DecodedLess : public ::testing::TestWithParam<Clip> {};

TEST_P(DecodedLess, ShowsTheSamePixels) {
  const std::string file = samples::make(GetParam().file, std::string(kMoving) + GetParam().arguments);
  const auto all = allFrames(file, 0.04);
  std::int64_t decodedOfAll = 0;
  for (const int frames : {5, 16, 40}) {
    for (const int count : {1, 2, 4}) {
      const auto source = samples::openVideo(samples::video(file, frames), decoders(count));
      for (int first = 0; first < frames; first += 8) {
        for (const SampledFrame& frame : source->read(first, std::min(8, frames - first), {})) {
          const auto same = all.find(std::llround(frame.actual_s * 1e4));
          ASSERT_NE(same, all.end()) << frame.actual_s;
          EXPECT_EQ(frame.image.rgb, same->second) << frames << " frames, " << count << " decoders, at " << frame.asked_s << " s";
        }
      }
      EXPECT_TRUE(source->notices().empty()) << noticeText(source->notices().front());
      const DecodeCounters work = source->counters();
      if (GetParam().spares && frames < 40) {
        EXPECT_LT(work.framesDecoded, work.packetsDecoded * 0.85) << frames << " frames, " << count << " decoders";
      }
      // However many work at it, it is the same work.
      if (count == 1) decodedOfAll = work.packetsDecoded;
      EXPECT_LE(work.packetsDecoded, decodedOfAll + 8) << count << " decoders";
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, DecodedLess,
    ::testing::Values(
        Clip{"H264WithBPyramid", "a.mp4", "-c:v libx264 -preset veryfast -g 50 -bf 3 -x264-params b-pyramid=normal:b-adapt=0", true},
        Clip{"H264OpenGroups", "b.mkv", "-c:v libx264 -preset veryfast -bf 3 -x264-params open-gop=1:keyint=40:b-adapt=0", true},
        Clip{"H264Weighted", "c.mp4", "-c:v libx264 -preset medium -g 250 -bf 6 -x264-params weightp=2:ref=6:direct=temporal", true},
        Clip{"H264Interlaced", "d.mp4", "-c:v libx264 -preset veryfast -g 50 -bf 2 -flags +ildct+ilme", true},
        Clip{"Hevc", "e.mp4", "-c:v libx265 -preset ultrafast -x265-params log-level=error:keyint=50:bframes=4:b-adapt=0", true},
        Clip{"Vp9", "f.webm", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 50 -b:v 500k", false},
        Clip{"MotionJpeg", "g.mov", "-c:v mjpeg -q:v 4 -pix_fmt yuvj420p", false}),
    [](const ::testing::TestParamInfo<Clip>& info) { return info.param.name; });

// Two layers in time: the upper one leans on pictures that are marked as unused within the lower one.
TEST(VideoWork, HevcWithLayersInTimeLeavesNothingOut) {
  const std::string file =
      samples::make("layers.mp4", std::string(kMoving) +
                                      "-c:v libx265 -preset ultrafast -x265-params log-level=error:keyint=50:bframes=4:temporal-layers=1");
  const auto all = allFrames(file, 0.04);
  const auto source = samples::openVideo(samples::video(file, 9), decoders(2));
  for (const SampledFrame& frame : source->read(0, 9, {})) EXPECT_EQ(frame.image.rgb, all.at(std::llround(frame.actual_s * 1e4)));
}

// Frame n starts at n*n/100 s: no plan has every frame, so the way there is varied instead.
TEST(VideoWork, AVariableRateShowsTheSamePixelsHoweverItIsRead) {
  const std::string file = samples::path("vfr.mp4");
  ffmpeg(
      "-f lavfi -i \"testsrc2=s=160x96:r=100,noise=alls=12:allf=t,setpts=N*N/100/TB\" -frames:v 30 -vsync vfr -pix_fmt yuv420p "
      "-c:v libx264 -preset veryfast -bf 3 -g 12 -x264-params b-adapt=0 " +
      file);
  const auto backwards = samples::openVideo(samples::videoEvery(file, 0.37), decoders(1));
  for (const int count : {1, 3}) {
    const auto source = samples::openVideo(samples::videoEvery(file, 0.37), decoders(count));
    const auto frames = source->read(0, source->frame_count(), {});
    for (int i = source->frame_count() - 1; i >= 0; --i) {
      const SampledFrame& frame = frames[static_cast<std::size_t>(i)];
      const double number = std::min(29.0, std::floor(std::sqrt(frame.asked_s * 100 + 1e-6)));
      EXPECT_NEAR(frame.actual_s, number * number / 100.0, 1e-3);
      EXPECT_EQ(frame.image.rgb, backwards->read(i, 1, {}).front().image.rgb) << count << " decoders, at " << frame.asked_s << " s";
    }
  }
}

TEST(VideoWork, ACutFileShowsTheSamePixels) {
  for (const char* type : {"mp4", "mkv", "ts"}) {
    const std::string whole = samples::make(std::string("whole.") + type,
                                            std::string(kMoving) + "-c:v libx264 -preset veryfast -g 40 -bf 3 -movflags +faststart");
    samples::Bytes bytes = samples::readBytes(whole);
    bytes.resize(bytes.size() * 6 / 10);
    const std::string cut = samples::path(std::string("cut.") + type);
    samples::writeBytes(cut, bytes);
    const auto all = allFrames(cut, 0.04);
    EXPECT_GT(all.size(), 100u);
    for (const int count : {1, 4}) {
      const auto source = samples::openVideo(samples::video(cut, 20), decoders(count));
      for (const SampledFrame& frame : source->read(0, 20, {})) {
        const auto same = all.find(std::llround(frame.actual_s * 1e4));
        ASSERT_NE(same, all.end()) << type << " " << frame.actual_s;
        EXPECT_EQ(frame.image.rgb, same->second) << type << ", " << count << " decoders, at " << frame.asked_s << " s";
      }
    }
  }
}

// Frame 8 is a P picture whose bytes are noise. What is on screen at its time is frame 7, which was taken to be passed.
TEST(VideoWork, GoesBackForWhatWasLeftOutWhenTheNextOneIsDamaged) {
  const std::string whole =
      samples::make("whole.mp4", numbered(30, 25) + " -c:v libx264 -preset veryfast -g 30 -bf 3 -x264-params b-adapt=0:b-pyramid=normal");
  const std::string damaged = samples::make("damaged.mp4", "-i " + whole + " -c copy -bsf:v noise=amount='eq(n\\,5)'");
  MediaRequest request = samples::video(damaged, 1);
  request.plan.from_s = 0.32;
  request.plan.to_s = 0.36;
  const auto source = samples::openVideo(request, decoders(1));
  const SampledFrame frame = std::move(source->read(0, 1, {}).front());
  EXPECT_NEAR(frame.asked_s, 0.34, 1e-9);
  EXPECT_NEAR(frame.actual_s, 7 / 25.0, 1e-6);
  EXPECT_EQ(source->notices(), std::vector<MediaNotice>{{NoticeCode::kDamaged}});
}

// What is fed: the group up to the frame, and what has to be decoded before that although it is shown later (two pictures here).
TEST(VideoWork, NothingBehindTheLastFrameOfAGroupIsDecoded) {
  const std::string file = samples::make(
      "a.mp4", numbered(250, 25) + " -c:v libx264 -preset veryfast -g 50 -sc_threshold 0 -bf 3 -x264-params b-adapt=0:b-pyramid=normal");
  const auto source = samples::openVideo(samples::video(file, 5), decoders(1));
  source->read(0, 5, {});
  const DecodeCounters work = source->counters();
  EXPECT_LE(work.packetsDecoded, 5 * (25 + 1 + 2)) << "each is the 25th of its group";
  EXPECT_LE(work.framesDecoded, 5 * (13 + 4)) << "of these every second one is a B picture that no other leans on";
  EXPECT_EQ(work.seeks, 5);
}

TEST(VideoWork, FramesOfOneGroupTakeOneJump) {
  const std::string file = samples::make("a.mp4", numbered(250, 25) + " -c:v libx264 -preset ultrafast -g 250 -sc_threshold 0");
  const auto source = samples::openVideo(samples::video(file, 20), decoders(4));
  EXPECT_EQ(source->decoding().decoders, 1);
  for (int i = 0; i < 20; i += 4) source->read(i, 4, {});
  EXPECT_EQ(source->counters().seeks, 1);
  EXPECT_LE(source->counters().packetsDecoded, 250);
}

TEST(VideoWork, AnInterruptEndsAllDecoders) {
  const std::string file = samples::make("a.mp4", numbered(250, 25) + " -c:v libx264 -preset ultrafast -g 25");
  const auto source = samples::openVideo(samples::video(file, 8), decoders(4));
  ASSERT_EQ(source->decoding().decoders, 4);
  InterruptSource stopped;
  stopped.request_stop();
  EXPECT_THROW(source->read(0, 8, stopped.token()), Interrupted);
  EXPECT_EQ(source->counters().packetsDecoded, 0);
  EXPECT_EQ(source->read(0, 8, {}).size(), 8u) << "and can be used again";
}

}  // namespace
}  // namespace winnow::app
