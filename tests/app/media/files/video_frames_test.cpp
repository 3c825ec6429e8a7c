// Which frame comes out for which time. The oracle is the picture: every frame carries its own number.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "app/ground/notices/notice_text.h"
#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

using samples::ffmpeg;
using samples::numbered;
using samples::numberIn;

// Every sampled frame of a constant-rate file is the last one that starts at or before its time, with its true time.
void expectExactFrames(const MediaRequest& request, int fps, int frames) {
  const auto source = samples::openVideo(request);
  const auto sampled = source->read(0, source->frame_count(), {});
  ASSERT_EQ(static_cast<int>(sampled.size()), source->frame_count());
  for (const SampledFrame& frame : sampled) {
    const int expected = std::min(frames - 1, static_cast<int>(std::floor(frame.asked_s * fps + 1e-4)));
    EXPECT_EQ(numberIn(frame.image), expected % 256) << request.path << " at " << frame.asked_s << " s";
    EXPECT_NEAR(frame.actual_s, static_cast<double>(expected) / fps, 0.0011) << "Matroska rounds to milliseconds";
  }
  EXPECT_TRUE(source->notices().empty()) << noticeText(source->notices().front());
}

struct Encoding {
  const char* name;
  const char* file;
  const char* arguments;
};
void PrintTo(const Encoding& encoding, std::ostream* out) { *out << encoding.name; }

class EncodedVideo : public ::testing::TestWithParam<Encoding> {};

TEST_P(EncodedVideo, DeliversTheFrameOnScreenAtEachTime) {
  constexpr int kFrames = 230;
  const std::string file = samples::make(GetParam().file, numbered(kFrames, 25) + " " + GetParam().arguments);
  expectExactFrames(samples::video(file, 7), 25, kFrames);          // far apart: jumps
  expectExactFrames(samples::videoEvery(file, 0.3), 25, kFrames);   // several in a group: decodes on
  expectExactFrames(samples::videoEvery(file, 0.04), 25, kFrames);  // every frame
}

// Containers with an index know how many frames they hold, others by their rate: either way none is taken twice.
TEST(VideoFrames, AShortClipGivesEachOfItsFramesOnce) {
  for (const char* file : {"short.mp4", "short.mkv", "short.ts"}) {
    const std::string clip = samples::make(file, numbered(15, 5) + " -c:v libx264 -preset ultrafast");
    const auto source = samples::openVideo(samples::video(clip, 64));
    ASSERT_EQ(source->frame_count(), 15) << file;
    int next = 0;
    for (const SampledFrame& frame : source->read(0, 15, {})) EXPECT_EQ(numberIn(frame.image), next++) << file;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Formats, EncodedVideo,
    ::testing::Values(
        Encoding{"H264InMp4", "a.mp4", "-c:v libx264 -preset ultrafast -g 50"},
        Encoding{"H264WithBPyramid", "b.mp4", "-c:v libx264 -preset veryfast -g 60 -bf 6 -x264-params b-pyramid=normal:b-adapt=0"},
        Encoding{"H264OpenGroupsInMkv", "c.mkv", "-c:v libx264 -preset veryfast -bf 3 -x264-params open-gop=1:keyint=40:b-adapt=0"},
        Encoding{"H264OneKeyframe", "d.mp4", "-c:v libx264 -preset ultrafast -g 99999 -sc_threshold 0"},
        Encoding{"H264Fragmented", "e.mp4", "-c:v libx264 -preset ultrafast -g 50 -movflags frag_keyframe+empty_moov"},
        Encoding{"H264InTransportStream", "f.ts", "-c:v libx264 -preset veryfast -bf 2 -g 50"},
        Encoding{"Mpeg4InAvi", "g.avi", "-c:v mpeg4 -q:v 4 -g 40"}, Encoding{"H264InAvi", "h.avi", "-c:v libx264 -preset ultrafast -g 40"},
        Encoding{"HevcInMov", "i.mov", "-c:v libx265 -preset ultrafast -x265-params log-level=error:keyint=50:open-gop=1"},
        Encoding{"Vp8InWebm", "j.webm", "-c:v libvpx -deadline realtime -cpu-used 8 -g 50 -b:v 500k"},
        Encoding{"Vp9InWebm", "k.webm", "-c:v libvpx-vp9 -deadline realtime -cpu-used 8 -g 50 -b:v 500k"},
        Encoding{"MotionJpegInMov", "l.mov", "-c:v mjpeg -q:v 4 -pix_fmt yuvj420p"},
        Encoding{"ProResInMov", "m.mov", "-c:v prores_ks -profile:v 0"},
        Encoding{"Mpeg2InProgramStream", "o.mpg", "-vf scale=192:144:flags=neighbor,noise=alls=20:allf=t -c:v mpeg2video -q:v 2 -g 15"},
        Encoding{"Mpeg1InProgramStream", "p.mpg",
                 "-vf scale=192:144:flags=neighbor,noise=alls=20:allf=t -c:v mpeg1video -q:v 2 -bf 2 -g 15"},
        Encoding{"Mpeg2InTransportStream", "q.ts", "-c:v mpeg2video -bf 2 -q:v 2 -g 15"},
        Encoding{"FlashVideo", "r.flv", "-c:v flv -q:v 2 -g 25"},
        Encoding{"H264InFlv", "s.flv", "-c:v libx264 -preset veryfast -bf 2 -g 50"},
        Encoding{"TheoraInOgg", "t.ogv", "-c:v libtheora -q:v 9 -g 32"}, Encoding{"WindowsMedia", "u.wmv", "-c:v wmv2 -q:v 2 -g 25"},
        Encoding{"H263OfAPhone", "v.3gp", "-s 128x96 -sws_flags neighbor -c:v h263 -q:v 2 -g 25"},
        Encoding{"DvOfACamera", "x.avi", "-s 720x576 -sws_flags neighbor -c:v dvvideo"},
        Encoding{"MatroskaThroughAPipe", "n.mkv", "-c:v libx264 -preset ultrafast -g 50 -f matroska pipe: >"}),
    [](const ::testing::TestParamInfo<Encoding>& info) { return info.param.name; });

TEST(VideoFrameSource, DecodesAv1) {
  const std::string file = samples::path("a.mp4");
  ffmpeg(numbered(30, 10) + " -c:v libsvtav1 -preset 12 -svtav1-params keyint=10 -s 64x64 " + file + " 2>/dev/null");
  expectExactFrames(samples::video(file, 5), 10, 30);
}

TEST(VideoFrameSource, VariableRateTakesTheLastFrameThatHasStarted) {
  const std::string file = samples::path("vfr.mp4");
  // Frame n starts at n*n/100 s: 0, 0.01, 0.04, ... 8.41.
  ffmpeg(
      "-f lavfi -i "
      "\"nullsrc=s=64x48:r=100,geq=lum='16+219*mod(floor(N/pow(2,floor(X/8))),2)':cb=128:cr=128,format=yuv420p,setpts=N*N/100/TB\" "
      "-frames:v 30 -vsync vfr -c:v libx264 -preset veryfast -bf 2 -g 8 " +
      file);
  const auto source = samples::openVideo(samples::videoEvery(file, 0.37));
  for (const SampledFrame& frame : source->read(0, source->frame_count(), {})) {
    const int expected = std::min(29, static_cast<int>(std::floor(std::sqrt(frame.asked_s * 100 + 1e-6))));
    EXPECT_EQ(numberIn(frame.image), expected) << frame.asked_s;
    EXPECT_NEAR(frame.actual_s, expected * expected / 100.0, 1e-3);
  }
}

TEST(VideoFrameSource, EditListsAndShiftedStartsCountFromTheFirstFrameShown) {
  const std::string whole = samples::make("whole.mp4", numbered(100, 10) + " -c:v libx264 -preset veryfast -bf 2 -g 30");
  const std::string cut = samples::path("cut.mp4");
  ffmpeg("-ss 4.5 -i " + whole + " -c copy " + cut);  // starts inside a group: an edit list hides what comes before
  const auto edited = samples::openVideo(samples::video(cut, 5));
  EXPECT_NEAR(edited->info().durationS, 5.5, 0.11);
  for (const SampledFrame& frame : edited->read(0, 5, {})) {
    EXPECT_NEAR(numberIn(frame.image), 45 + frame.asked_s * 10, 1.0);
    EXPECT_NEAR(frame.actual_s, frame.asked_s, 0.1 + 1e-6);
  }
  // The last one passes the 33-bit limit of a transport stream's clock (95,443.7 s) on its way.
  for (const char* offset : {"-3", "7", "95438"}) {
    const std::string shifted = samples::make(std::string("shifted") + offset + ".ts", std::string("-itsoffset ") + offset + " -i " +
                                                                                           whole + " -c copy -avoid_negative_ts disabled");
    const auto source = samples::openVideo(samples::video(shifted, 5));
    EXPECT_NEAR(source->info().durationS, 10.0, 0.11) << offset;
    for (const SampledFrame& frame : source->read(0, 5, {}))
      EXPECT_EQ(numberIn(frame.image), static_cast<int>(frame.asked_s * 10)) << offset;
  }
}

TEST(VideoFrameSource, RangeLimitsTheSampling) {
  const std::string file = samples::make("a.mp4", numbered(100, 10) + " -c:v libx264 -preset ultrafast -g 20");
  MediaRequest request = samples::video(file, 4);
  request.plan.from_s = 4.0;
  request.plan.to_s = 6.0;
  const auto source = samples::openVideo(request);
  EXPECT_DOUBLE_EQ(source->duration_s(), 2.0);
  std::vector<int> numbers;
  for (const SampledFrame& frame : source->read(0, 4, {})) numbers.push_back(numberIn(frame.image));
  EXPECT_EQ(numbers, (std::vector<int>{42, 47, 52, 57}));
  request.plan.from_s = 11.0;
  request.plan.to_s = -1.0;
  try {
    samples::openVideo(request);
    FAIL() << "a range after the end was accepted";
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().reason, "the range starts at 11.00 s, but the video is only 10.00 s long");
  }
}

// As in a player, the last picture stands until the sound ends.
TEST(VideoFrameSource, SoundMayGoOnBehindTheLastPicture) {
  const std::string clip = samples::make("clip.mp4", numbered(40, 10) + " -c:v libx264 -preset ultrafast -g 20");
  for (const char* type : {"mp4", "mkv", "ts"}) {
    const std::string file =
        samples::make(std::string("longer.") + type, "-i " + clip + " -f lavfi -i sine=d=10 -map 0:v -map 1:a -c:v copy -c:a aac -b:a 24k");
    EXPECT_NEAR(samples::openVideo(samples::video(file, 4))->info().durationS, 4.0, 0.05) << type;
    MediaRequest late = samples::video(file, 4);
    late.plan.from_s = 6.0;
    late.plan.to_s = 7.0;
    const auto source = samples::openVideo(late);
    ASSERT_EQ(source->frame_count(), 1) << type;
    EXPECT_EQ(numberIn(source->read(0, 1, {}).front().image), 39) << type;
    EXPECT_NEAR(source->standing_until_s().front(), 6.875, 1e-6) << type;
  }
}

TEST(VideoFrameSource, ReadsInAnyOrder) {
  const std::string file = samples::make("a.webm", numbered(100, 10) + " -c:v libvpx -deadline realtime -cpu-used 8 -g 20 -b:v 500k");
  const auto source = samples::openVideo(samples::video(file, 10));
  for (const int i : {9, 0, 5, 5, 4, 8, 1}) {
    const auto frame = source->read(i, 1, {});
    EXPECT_EQ(numberIn(frame.front().image), 10 * i + 5) << i;
  }
  EXPECT_TRUE(source->read(10, 0, {}).empty());
  EXPECT_THROW(source->read(8, 3, {}), Exception);
  EXPECT_THROW(source->read(-1, 1, {}), Exception);
}

TEST(VideoFrameSource, ContinuesOverSeveralReadsWithoutDecodingTwice) {
  const std::string file = samples::make("a.mkv", numbered(250, 25) + " -c:v libx264 -preset ultrafast -g 250");
  const auto source = samples::openVideo(samples::video(file, 40));
  for (int i = 0; i < 40; i += 4) source->read(i, 4, {});
  EXPECT_LE(source->counters().packetsDecoded, 250);
  const auto whole = samples::openVideo(samples::video(file, 40));
  whole->read(0, 40, {});
  EXPECT_EQ(whole->counters().packetsDecoded, source->counters().packetsDecoded);
}

// The claim that makes long videos affordable: the work depends on the number of frames, not on the length.
TEST(VideoFrameSource, TwoHoursCostNoMoreThanTenMinutes) {
  const std::string ten =
      samples::make("ten_minutes.mp4", "-f lavfi -i testsrc=s=64x48:r=25 -t 600 -c:v libx264 -preset ultrafast -g 250 -pix_fmt yuv420p");
  const std::string list = samples::path("list.txt");
  std::string lines;
  for (int i = 0; i < 12; ++i) lines += "file '" + ten + "'\n";
  samples::writeText(list, lines);
  for (const char* type : {"mp4", "mkv"}) {
    const std::string shorter = samples::path(std::string("short.") + type);
    const std::string longer = samples::path(std::string("long.") + type);
    ffmpeg("-i " + ten + " -c copy " + shorter);
    ffmpeg("-f concat -safe 0 -i " + list + " -c copy " + longer);
    for (const int frames : {16, 64}) {
      const auto tenMinutes = samples::openVideo(samples::video(shorter, frames));
      const auto twoHours = samples::openVideo(samples::video(longer, frames));
      EXPECT_NEAR(tenMinutes->info().durationS, 600.0, 0.1);
      EXPECT_NEAR(twoHours->info().durationS, 7200.0, 1.0);
      tenMinutes->read(0, frames, {});
      twoHours->read(0, frames, {});
      const auto ratio =
          static_cast<double>(twoHours->counters().packetsDecoded) / static_cast<double>(tenMinutes->counters().packetsDecoded);
      EXPECT_LE(ratio, 1.2) << type << ", " << frames << " frames: " << twoHours->counters().packetsDecoded << " against "
                            << tenMinutes->counters().packetsDecoded;
      EXPECT_LE(twoHours->counters().packetsRead, 64 * 250 * 2) << "and the file between the places is not read";
    }
  }
}

TEST(VideoFrameSource, FramesOfAChangedSizeAreBroughtToTheFirst) {
  const std::string small = samples::path("small.ts");
  const std::string large = samples::path("large.ts");
  ffmpeg(numbered(20, 10) + " -c:v libx264 -preset ultrafast -g 10 " + small);
  ffmpeg("-f lavfi -i color=red:s=128x96:r=10 -frames:v 20 -c:v libx264 -preset ultrafast -pix_fmt yuv444p -g 10 -output_ts_offset 2 " +
         large);
  samples::Bytes joined = samples::readBytes(small);
  const samples::Bytes second = samples::readBytes(large);
  joined.insert(joined.end(), second.begin(), second.end());
  const std::string both = samples::path("both.ts");
  samples::writeBytes(both, joined);
  const auto source = samples::openVideo(samples::video(both, 8));
  EXPECT_NEAR(source->info().durationS, 4.0, 0.3);
  const auto frames = source->read(0, 8, {});
  for (const SampledFrame& frame : frames) {
    EXPECT_EQ(frame.image.width_px, 64);
    EXPECT_EQ(frame.image.height_px, 48);
  }
  EXPECT_GT(frames.back().image.rgb[0], 200) << "the last one is red";
  EXPECT_LT(frames.back().image.rgb[1], 60);
}

// A phone that was turned while it recorded: what is upright stays so, between bars, and it is said.
TEST(VideoFrameSource, APictureOfAnotherShapeKeepsIt) {
  const auto part = [](const char* name, const char* size, const char* offset) {
    const std::string left = std::string("color=red:s=") + size + ":r=10";
    return samples::make(name, "-f lavfi -i \"" + left +
                                   ",drawbox=x=iw/2:w=iw:h=ih:color=blue:t=fill\" -frames:v 20 -pix_fmt yuv420p"
                                   " -c:v libx264 -preset ultrafast -g 10 -output_ts_offset " +
                                   offset);
  };
  samples::Bytes joined = samples::readBytes(part("flat.ts", "128x64", "0"));
  const samples::Bytes second = samples::readBytes(part("upright.ts", "64x128", "2"));
  joined.insert(joined.end(), second.begin(), second.end());
  const std::string file = samples::path("turned.ts");
  samples::writeBytes(file, joined);
  const auto source = samples::openVideo(samples::video(file, 4));
  const RgbImage image = source->read(3, 1, {}).front().image;
  ASSERT_EQ(image.width_px, 128);
  ASSERT_EQ(image.height_px, 64);
  const auto pixel = [&](int x, int y) {
    return std::vector<int>(&image.rgb[std::size_t(y * 128 + x) * 3], &image.rgb[std::size_t(y * 128 + x) * 3] + 3);
  };
  for (const int y : {1, 32, 62}) {
    EXPECT_EQ(pixel(40, y), (std::vector<int>{0, 0, 0})) << y;
    EXPECT_GT(pixel(54, y)[0], 200) << y;
    EXPECT_GT(pixel(74, y)[2], 200) << y;
    EXPECT_EQ(pixel(88, y), (std::vector<int>{0, 0, 0})) << y;
  }
  const std::vector<MediaNotice> notices = source->notices();
  EXPECT_NE(std::ranges::find(notices, MediaNotice{NoticeCode::kShapeDiffers, 64, 128}), notices.end());
  source->read(0, 1, {});
}

TEST(VideoFrameSource, OfTwoFieldsTheEarlierIsShown) {
  const std::string fields =
      samples::make("fields.mp4", numbered(20, 20) + " -vf interlace=lowpass=0 -c:v libx264 -flags +ildct+ilme -x264opts tff=1");
  const auto source = samples::openVideo(samples::videoEvery(fields, 0.1));
  const auto frames = source->read(0, source->frame_count(), {});
  ASSERT_EQ(frames.size(), 20u);
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const RgbImage& image = frames[i].image;
    for (const int row : {20, 21, 22, 23}) {  // lines of both fields
      RgbImage line{image.width_px, 1, {image.rgb.begin() + row * image.width_px * 3, image.rgb.begin() + (row + 1) * image.width_px * 3}};
      EXPECT_EQ(numberIn(line), static_cast<int>(2 * i)) << "line " << row;
    }
  }
  EXPECT_EQ(source->notices(), (std::vector<MediaNotice>{{NoticeCode::kInterlaced}}));

  const std::string grid = "-f lavfi -i \"color=black:s=64x48:r=10,drawgrid=y=3:w=64:h=8:t=1:color=white\" -frames:v 5 -pix_fmt yuv420p";
  const auto bright = [](const std::string& file) {  // lines of the later field
    const RgbImage image = samples::firstFrame(file);
    int count = 0;
    for (int y = 1; y < 48; y += 2) count += image.rgb[static_cast<std::size_t>(y) * 64 * 3 + 96] > 127 ? 1 : 0;
    return count;
  };
  const std::string still = samples::make("still.mp4", grid + " -c:v libx264 -crf 1 -flags +ildct+ilme -x264opts tff=1");
  EXPECT_EQ(bright(still), bright(samples::make("plain.mp4", grid + " -c:v libx264 -crf 1"))) << "what stands still keeps its lines";
  EXPECT_GT(bright(still), 3);
}

TEST(VideoFrameSource, TransparencyBesideThePicturesIsSaid) {
  const std::string file = samples::make("alpha.webm",
                                         "-f lavfi -i color=red@0.5:s=32x32:r=5,format=yuva420p -frames:v 5 -c:v libvpx-vp9"
                                         " -auto-alt-ref 0 -pix_fmt yuva420p");
  EXPECT_EQ(samples::openVideo(samples::video(file, 2))->notices(), (std::vector<MediaNotice>{{NoticeCode::kTransparencyIgnored}}));
}

TEST(VideoFrameSource, RotationAndPixelShapeAreApplied) {
  const std::string flat = samples::path("flat.mp4");
  // Left half red, right half blue, so that a turn shows.
  ffmpeg(
      "-f lavfi -i color=red:s=64x48:r=5 -f lavfi -i color=blue:s=32x48:r=5 -filter_complex overlay=32:0 -t 1 -c:v libx264 -pix_fmt "
      "yuv420p " +
      flat);
  for (const int degrees : {90, 180, 270}) {
    const std::string turned = samples::make("turned.mov", "-i " + flat + " -c copy -metadata:s:v rotate=" + std::to_string(degrees));
    ffmpeg("-i " + turned + " -frames:v 1 -pix_fmt rgb24 -f rawvideo " + turned + ".rgb");  // turns it as well
    const samples::Bytes wanted = samples::readBytes(turned + ".rgb");
    const auto source = samples::openVideo(samples::video(turned, 1));
    EXPECT_EQ(source->info().rotationDegrees, 360 - degrees) << "this program's option counts the other way round";
    const RgbImage image = source->read(0, 1, {}).front().image;
    EXPECT_EQ(image.width_px, degrees == 180 ? 64 : 48);
    EXPECT_EQ(image.height_px, degrees == 180 ? 48 : 64);
    EXPECT_EQ(image.width_px, source->info().widthPx);
    ASSERT_EQ(image.rgb.size(), wanted.size());
    for (const std::size_t at : {std::size_t{0}, std::size_t{45} * 3, wanted.size() - 3}) {
      for (std::size_t i = at; i < at + 3; ++i) EXPECT_NEAR(image.rgb[i], wanted[i], 3) << degrees << " degrees, byte " << i;
    }
  }

  const std::string wide = samples::make("wide.mp4", "-i " + flat + " -vf setsar=2 -c:v libx264 -preset ultrafast");
  EXPECT_EQ(samples::firstFrame(wide).width_px, 128);
}

TEST(VideoFrameSource, StopsWhenAskedTo) {
  const std::string file = samples::make("a.mp4", "-f lavfi -i testsrc=s=640x360:r=25 -t 60 -c:v libx264 -preset ultrafast -g 99999");
  InterruptSource before;
  before.request_cancel();
  EXPECT_THROW(FfmpegMediaOpener().open(samples::video(file, 8), before.token()), Interrupted);

  const auto source = samples::openVideo(samples::video(file, 64));
  EXPECT_THROW(source->read(0, 8, before.token()), Interrupted);
  InterruptSource meanwhile;
  std::chrono::steady_clock::time_point raised;
  std::thread stopper([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    raised = std::chrono::steady_clock::now();
    meanwhile.request_stop();
  });
  bool stopped = false;
  try {
    for (int pass = 0; pass < 200; ++pass) source->read(0, 64, meanwhile.token());
  } catch (const Interrupted& interrupted) {
    stopped = interrupted.kind() == Interrupt::kStop;
  }
  const auto returned = std::chrono::steady_clock::now();
  stopper.join();
  EXPECT_TRUE(stopped);
  EXPECT_LT(std::chrono::duration_cast<std::chrono::milliseconds>(returned - raised).count(), 200);
  EXPECT_EQ(source->read(63, 1, {}).size(), 1u) << "a source can be used again afterwards";
}

TEST(VideoFrameSource, EndsWhenTheBudgetIsSpent) {
  const std::string file = samples::make("a.mp4", numbered(20, 10) + " -c:v libx264 -preset ultrafast");
  MediaLimits limits{.decodeBudgetMs = 0};
  const Error error = samples::errorOf(file, limits);
  EXPECT_EQ(error.code, ErrorCode::kLimitExceeded);
  EXPECT_EQ(error.reason, "reading it took longer than the 0 s that one step may take");
}

}  // namespace
}  // namespace winnow::app
