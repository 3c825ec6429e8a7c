// When pictures are shown: for how long each of them, since when, and on whose clock. The oracle is the picture's own number.
#include <gtest/gtest.h>

#include "tests/app/media/files/live_senders.h"
#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

using samples::ffmpeg;
using samples::numbered;
using samples::numberIn;

constexpr const char* kH264 = " -c:v libx264 -preset ultrafast -g 20 ";

std::vector<int> numbersOf(const MediaRequest& request) {
  const auto source = samples::openVideo(request);
  std::vector<int> numbers;
  for (const SampledFrame& frame : source->read(0, source->frame_count(), {})) numbers.push_back(numberIn(frame.image));
  return numbers;
}

std::string joined(const std::string& name, const std::string& first, const std::string& second) {
  samples::Bytes bytes = samples::readBytes(first);
  const samples::Bytes more = samples::readBytes(second);
  bytes.insert(bytes.end(), more.begin(), more.end());
  const std::string file = samples::path(name);
  samples::writeBytes(file, bytes);
  return file;
}

bool says(const VideoFrameSource& source, NoticeCode code) {
  return std::ranges::any_of(source.notices(), [&](const MediaNotice& notice) { return notice.code == code; });
}

// Slides that are shown for 2, 3 and 10 seconds: the last one's length stands in the file and nowhere in its pictures.
std::string slides(const std::string& ending) {
  const std::string three = samples::make("three.mkv", numbered(3, 1) + " -c:v libx264 -bf 0");
  const std::string times = "setts=ts='if(eq(N,0),0,if(eq(N,1),2000,5000))':duration='if(eq(N,0),2000,if(eq(N,1),3000,10000))'";
  return samples::make("slides" + ending, "-i " + three + " -c copy -video_track_timescale 1000 -bsf:v \"" + times + "\"");
}

TEST(VideoClock, TheLastPictureLastsAsLongAsTheFileSays) {
  for (const char* ending : {".mp4", ".mkv"}) {
    const std::string file = slides(ending);
    const auto source = samples::openVideo(samples::videoEvery(file, 3.0));
    EXPECT_NEAR(source->info().durationS, 15.0, 1e-3) << ending;
    EXPECT_TRUE(source->info().notices.empty()) << ending;
    EXPECT_EQ(source->notices(), (std::vector<MediaNotice>{{NoticeCode::kRepeatsLeftOut, 2, 5}})) << ending;
    EXPECT_EQ(source->askedTimes(), (std::vector<double>{0.0, 3.0, 6.0})) << ending;
    EXPECT_EQ(source->standing_until_s(), (std::vector<double>{0.0, 3.0, 12.0})) << ending;
    EXPECT_EQ(source->shown_times_s(), (std::vector<double>{0.0, 2.0, 5.0})) << ending;
    EXPECT_EQ(numbersOf(samples::videoEvery(file, 3.0)), (std::vector<int>{0, 1, 2})) << ending;
    MediaRequest late = samples::video(file, 2);
    late.plan.from_s = 9.0;
    EXPECT_EQ(numbersOf(late), std::vector<int>{2}) << ending;
  }
}

// Ten seconds of a phone's video with a pause of thirty in it: an even count of pictures would ask beside what was asked.
TEST(VideoClock, AllTimesOfAPlanAreAskedWhateverTheRateIs) {
  for (const char* ending : {".mp4", ".mkv"}) {
    const std::string file =
        samples::make(std::string("pause") + ending,
                      numbered(100, 10) +
                          " -vf \"geq=lum='16+219*mod(floor(N/pow(2,floor(X/8))),2)':cb=128:cr=128,setpts=(N/10+30*gte(N\\,50))/TB\""
                          " -vsync vfr -c:v libx264 -preset veryfast -bf 2 -g 30");
    const auto source = samples::openVideo(samples::video(file, 16));  // at 1.25, 3.75, ... of 40 s
    std::vector<int> numbers;
    for (const SampledFrame& frame : source->read(0, source->frame_count(), {})) {
      numbers.push_back(numberIn(frame.image));
      const double expected = frame.asked_s < 5 ? frame.asked_s * 10 : frame.asked_s < 35 ? 49 : (frame.asked_s - 30) * 10;
      EXPECT_EQ(numbers.back(), static_cast<int>(expected)) << ending << " at " << frame.asked_s;
    }
    EXPECT_EQ(numbers, (std::vector<int>{12, 37, 49, 62, 87})) << ending;
    EXPECT_TRUE(says(*source, NoticeCode::kRepeatsLeftOut));
  }
}

TEST(VideoClock, TimeBeginsWithTheFileAndNotWithThePictures) {
  const std::string clip = samples::make("clip.mp4", numbered(40, 10) + kH264 + "-bf 2");
  for (const char* ending : {".mp4", ".mkv", ".ts"}) {
    const std::string file = samples::make(
        std::string("late") + ending, "-f lavfi -i sine=d=6 -itsoffset 2 -i " + clip + " -map 0:a -map 1:v -c:v copy -c:a aac -b:a 24k");
    MediaRequest request = samples::video(file, 4);
    request.plan.from_s = 2.2;
    request.plan.to_s = 4.2;
    const auto source = samples::openVideo(request);
    EXPECT_NEAR(source->info().durationS, 6.0, 0.15) << ending;
    for (const SampledFrame& frame : source->read(0, source->frame_count(), {})) {
      EXPECT_NEAR(numberIn(frame.image), (frame.asked_s - 2.0) * 10, 1.3) << ending << " at " << frame.asked_s;
      EXPECT_NEAR(frame.actual_s, frame.asked_s, 0.11) << ending;
    }
    request.plan.from_s = 0.0;
    request.plan.to_s = 1.0;
    EXPECT_EQ(numbersOf(request), std::vector<int>{0}) << ending << ": before the first picture it stands there, once";
  }
}

TEST(VideoClock, AClockThatBeginsAtAnHourIsNoFault) {
  const std::string clip = samples::make("clip.mp4", numbered(40, 10) + kH264 + "-bf 2");
  for (const char* ending : {".ts", ".mkv"}) {
    const std::string file = samples::make(std::string("hour") + ending, "-i " + clip + " -c copy -output_ts_offset 3600");
    const auto source = samples::openVideo(samples::videoEvery(file, 0.5));
    EXPECT_NEAR(source->info().durationS, 4.0, 1e-3) << ending;
    EXPECT_TRUE(source->notices().empty()) << ending;
    EXPECT_EQ(numbersOf(samples::videoEvery(file, 0.5)), (std::vector<int>{0, 5, 10, 15, 20, 25, 30, 35})) << ending;
    MediaRequest last = samples::video(file, 1);
    last.plan.from_s = 3.91;
    EXPECT_EQ(numbersOf(last), std::vector<int>{39}) << ending;
  }
}

// What "cat a b" makes: the clock starts anew in the middle. A file has the times that it has while it is watched.
TEST(VideoClock, JoinedRecordingsHaveOneClockInFilesAsInStreams) {
  for (const char* type : {".ts", ".mpg"}) {
    const std::string codec = type == std::string(".ts") ? std::string(kH264) + "-bf 2 " : " -c:v mpeg2video -q:v 2 -g 20 ";
    const std::string one = samples::make(std::string("one") + type, numbered(100, 25) + codec);
    const std::string two = samples::make(std::string("two") + type, numbered(50, 25) + codec);
    const std::string both = joined(std::string("both") + type, one, two);
    const auto source = samples::openVideo(samples::videoEvery(both, 0.8));
    EXPECT_NEAR(source->info().durationS, 6.0, 0.05) << type;
    EXPECT_TRUE(says(*source, NoticeCode::kTimeJumps)) << type;
    EXPECT_FALSE(says(*source, NoticeCode::kNearestShown)) << type;
    const std::vector<int> inFile = numbersOf(samples::videoEvery(both, 0.8));
    EXPECT_EQ(inFile, (std::vector<int>{0, 20, 40, 60, 80, 0, 20, 40})) << type;
    LiveSource live(samples::live(both, 0.8));
    live.finish();
    EXPECT_EQ(samples::numbersIn(samples::collect(live)), inFile) << type;
  }
}

// A recording that was begun within a group of pictures: nothing can be shown before its first keyframe, which is not its beginning.
TEST(VideoClock, ARecordingThatBeginsWithinAGroupHasItsOwnBeginning) {
  const std::string whole = samples::make("whole.ts", numbered(80, 10) + kH264 + "-bf 0");
  samples::Bytes bytes = samples::readBytes(whole);
  constexpr std::size_t kPacket = 188;
  const std::size_t from = bytes.size() / kPacket / 10 * kPacket;
  bytes.erase(bytes.begin() + 3 * kPacket, bytes.begin() + static_cast<std::ptrdiff_t>(from));
  const std::string file = samples::path("middle.ts");
  samples::writeBytes(file, bytes);
  const std::vector<int> inFile = numbersOf(samples::videoEvery(file, 1.0));
  ASSERT_FALSE(inFile.empty());
  EXPECT_EQ(inFile.front(), 20) << "the first picture that can be decoded";
  for (std::size_t i = 2; i < inFile.size(); ++i) EXPECT_EQ(inFile[i] - inFile[i - 1], 10);
  LiveSource live(samples::live(file, 1.0));
  live.finish();
  const std::vector<int> watched = samples::numbersIn(samples::collect(live));
  ASSERT_GE(watched.size(), 3U);
  EXPECT_EQ(std::vector<int>(watched.end() - 3, watched.end()), std::vector<int>(inFile.end() - 3, inFile.end()));
}

// AVI says when a picture is decoded and never when it is shown.
TEST(VideoClock, PicturesOfAnAviAreShownAtTheirOwnTime) {
  for (const char* codec : {"mpeg4 -bf 2 -q:v 3 -g 24", "libx264 -preset veryfast -bf 2 -g 40"}) {
    const std::string file = samples::make("b.avi", numbered(80, 10) + " -c:v " + codec);
    const auto source = samples::openVideo(samples::videoEvery(file, 0.7));
    for (const SampledFrame& frame : source->read(0, source->frame_count(), {}))
      EXPECT_EQ(numberIn(frame.image), static_cast<int>(frame.asked_s * 10 + 1e-6)) << codec << " at " << frame.asked_s;
    EXPECT_TRUE(source->notices().empty()) << codec;
  }
}

struct Joinable {
  const char* ending;
  const char* options;
  const char* container;
};
constexpr const char* kPlainH264 = " -c:v libx264 -preset ultrafast -g 20 -bf 0 ";
constexpr Joinable kJoinable[] = {
    {".mp4", kPlainH264, "mp4"},
    {".mov", kPlainH264, "mp4"},
    {".frag.mp4", " -c:v libx264 -preset ultrafast -g 20 -bf 0 -movflags frag_keyframe+empty_moov+default_base_moof", "mp4"},
    {".mkv", kPlainH264, "matroska"},
    {".webm", " -c:v libvpx -b:v 1M -deadline realtime", "matroska"},
    {".live.webm", " -c:v libvpx -b:v 1M -deadline realtime -f webm -live 1", "matroska"},
    {".live.mkv", " -c:v libx264 -preset ultrafast -g 20 -bf 0 -f matroska -live 1", "matroska"},
    {".ogv", " -c:v libtheora -q:v 8", "ogg"},
    {".flv", " -c:v flv -q:v 2", "flv"},
    {".open.flv", " -c:v flv -q:v 2 -flvflags no_duration_filesize", "flv"},
    {".wmv", " -c:v wmv2 -q:v 2", "asf"},
};

TEST(VideoClock, ASecondVideoBehindTheFirstIsSaidAndNotMixedIn) {
  for (const Joinable& kind : kJoinable) {
    SCOPED_TRACE(kind.ending);
    const std::string one = samples::make(std::string("one") + kind.ending, numbered(20, 10) + kind.options);
    const std::string two = samples::make(std::string("two") + kind.ending, numbered(90, 10) + kind.options);
    const auto alone = samples::openVideo(samples::videoEvery(one, 0.3));
    EXPECT_FALSE(says(*alone, NoticeCode::kSecondVideo));
    const std::string both = joined(std::string("both") + kind.ending, one, two);
    const auto source = samples::openVideo(samples::videoEvery(both, 0.3));
    const auto behind = static_cast<std::int64_t>(std::filesystem::file_size(two));
    EXPECT_EQ(std::ranges::count(source->notices(), MediaNotice{NoticeCode::kSecondVideo, behind, 0, kind.container}), 1);
    EXPECT_NEAR(source->info().durationS, alone->info().durationS, 1e-6);
    EXPECT_EQ(numbersOf(samples::videoEvery(both, 0.3)), numbersOf(samples::videoEvery(one, 0.3)));
  }
}

TEST(VideoClock, MuchThatStandsBehindAVideoIsSaidWhateverItIs) {
  for (const Joinable& kind : kJoinable) {
    if (std::string_view(kind.ending).find("live") != std::string_view::npos) continue;  // where it ends nothing tells
    SCOPED_TRACE(kind.ending);
    const std::string one = samples::make(std::string("one") + kind.ending, numbered(20, 10) + kind.options);
    const samples::Bytes whole = samples::readBytes(one);
    for (const std::size_t more : {std::size_t{1'000}, whole.size() + 100'000}) {
      samples::Bytes bytes = whole;
      bytes.resize(whole.size() + more, 0xA5);
      const std::string file = samples::path(std::string("more") + kind.ending);
      samples::writeBytes(file, bytes);
      const auto source = samples::openVideo(samples::videoEvery(file, 0.3));
      EXPECT_EQ(says(*source, NoticeCode::kSecondVideo), more > 1'000) << more;
      EXPECT_FALSE(says(*source, NoticeCode::kCutOff)) << more;
      EXPECT_EQ(numbersOf(samples::videoEvery(file, 0.3)), numbersOf(samples::videoEvery(one, 0.3)));
    }
  }
}

// Streams of packets and AVI are read through, whatever recordings they are made of; what is none is said.
TEST(VideoClock, WhatIsMadeToBeJoinedIsReadThrough) {
  for (const auto& [ending, codec] :
       {std::pair{".ts", kPlainH264}, {".mpg", " -c:v mpeg2video -q:v 2 -r 25"}, {".avi", " -c:v mpeg4 -q:v 2"}}) {
    SCOPED_TRACE(ending);
    const int fps = ending == std::string_view(".mpg") ? 25 : 10;
    const std::string one = samples::make(std::string("one") + ending, numbered(2 * fps, fps) + codec);
    const std::string two = samples::make(std::string("two") + ending, numbered(3 * fps, fps) + codec);
    const auto source = samples::openVideo(samples::videoEvery(joined(std::string("both") + ending, one, two), 0.5));
    EXPECT_NEAR(source->info().durationS, 5.0, 0.05);
    EXPECT_FALSE(says(*source, NoticeCode::kSecondVideo));
    std::vector<int> expected;
    for (int i = 0; i < 10; ++i) expected.push_back((i < 4 ? i : i - 4) * fps / 2);
    EXPECT_EQ(numbersOf(samples::videoEvery(samples::path(std::string("both") + ending), 0.5)), expected);
  }
}

}  // namespace
}  // namespace winnow::app
