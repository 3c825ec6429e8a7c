#include <gtest/gtest.h>

#include <algorithm>

#include "app/ground/notices/notice_text.h"
#include "app/media/files/content_type.h"
#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

using samples::ffmpeg;
using samples::numbered;

TEST(VideoProbe, DescribesAnOrdinaryFile) {
  const std::string file = samples::make("a.mp4", numbered(50, 25) + " -c:v libx264 -preset ultrafast -color_range tv -colorspace bt709");
  const MediaInfo info = FfmpegMediaOpener().probe(file);
  EXPECT_EQ(info.kind, MediaKind::kVideo);
  EXPECT_EQ(info.container, "mp4");
  EXPECT_EQ(info.codec, "h264");
  EXPECT_EQ(info.widthPx, 64);
  EXPECT_EQ(info.heightPx, 48);
  EXPECT_NEAR(info.durationS, 2.0, 1e-6);
  EXPECT_NEAR(info.averageFps, 25.0, 1e-6);
  EXPECT_EQ(info.frameCount, 50);
  EXPECT_EQ(info.rotationDegrees, 0);
  EXPECT_EQ(info.colourRange, "limited");
  EXPECT_EQ(info.colourMatrix, "bt709");
  EXPECT_EQ(info.fileBytes, static_cast<std::int64_t>(std::filesystem::file_size(file)));
  EXPECT_TRUE(info.notices.empty());
}

TEST(VideoProbe, NamesTheContainerByItsContent) {
  for (const auto& [suffix, name] : {std::pair{"webm", "webm"}, {"mkv", "matroska"}}) {
    const std::string file = samples::make(std::string("a.") + suffix, numbered(10, 10) + " -c:v libvpx -deadline realtime");
    EXPECT_EQ(FfmpegMediaOpener().probe(file).container, name);
  }
  const std::string disguised = samples::make("really.mp4", numbered(10, 10) + " -c:v libvpx -deadline realtime -f webm");
  EXPECT_EQ(FfmpegMediaOpener().probe(disguised).container, "webm");
}

TEST(VideoProbe, FindsTheLengthThatTheHeaderLacks) {
  const std::string file = samples::path("live.mkv");
  ffmpeg(numbered(73, 10) + " -c:v libx264 -preset ultrafast -g 20 -f matroska pipe: > " + file);
  const MediaInfo info = FfmpegMediaOpener().probe(file);
  EXPECT_NEAR(info.durationS, 7.3, 0.01);
  EXPECT_EQ(info.frameCount, 73);
}

TEST(VideoProbe, DoesNotBelieveALengthThatIsALie) {
  const std::string file = samples::make("lie.mp4", numbered(40, 10) + " -c:v libx264 -preset ultrafast");
  samples::Bytes bytes = samples::readBytes(file);
  const std::string mvhd = "mvhd", mdhd = "mdhd", tkhd = "tkhd";
  const auto patch = [&](const std::string& box, std::size_t offset) {
    const auto at = std::search(bytes.begin(), bytes.end(), box.begin(), box.end());
    ASSERT_NE(at, bytes.end());
    for (std::size_t i = 0; i < 4; ++i) *(at + static_cast<std::ptrdiff_t>(offset + i)) = 0x7F;
  };
  patch(mvhd, 20);
  patch(mdhd, 20);
  patch(tkhd, 24);
  samples::writeBytes(file, bytes);
  EXPECT_NEAR(FfmpegMediaOpener().probe(file).durationS, 4.0, 0.11);
}

TEST(VideoProbe, CutFileIsAsLongAsWhatIsLeft) {
  for (const char* type : {"mp4", "mkv", "avi", "flv", "wmv"}) {
    const std::string file = samples::path(std::string("whole.") + type);
    const char* const codec = type == std::string("wmv") ? "wmv2 -q:v 2" : "libx264 -preset ultrafast";
    ffmpeg(numbered(200, 10) + " -c:v " + codec + " -g 10 " + std::string(type == std::string("mp4") ? "-movflags +faststart " : "") +
           file);
    samples::Bytes bytes = samples::readBytes(file);
    const std::size_t missing = bytes.size() / 2;
    bytes.resize(bytes.size() - missing);
    const std::string cut = samples::path(std::string("cut.") + type);
    samples::writeBytes(cut, bytes);
    const auto source = samples::openVideo(samples::video(cut, 6));
    const MediaInfo& info = source->info();
    EXPECT_GT(info.durationS, 4.0) << type;
    EXPECT_LT(info.durationS, 16.0) << type;
    ASSERT_FALSE(info.notices.empty()) << type;
    EXPECT_EQ(info.notices[0].code, NoticeCode::kCutOff) << noticeText(info.notices[0]);
    EXPECT_GT(info.notices[0].amount, 0);
    for (const SampledFrame& frame : source->read(0, 6, {})) {
      EXPECT_NEAR(samples::numberIn(frame.image), frame.asked_s * 10, 1.1) << type;
    }
  }
}

// What a browser or a recorder writes that died: nothing says how long it was to be.
TEST(VideoProbe, AMatroskaOfUnknownSizeThatEndsWithinABlockIsCutOff) {
  const std::string codec = " -c:v libx264 -preset ultrafast -g 10 -f matroska ";
  const std::string live = samples::make("live.mkv", numbered(200, 10) + codec + "-live 1");
  const std::string small = samples::make("small.mkv", numbered(200, 10) + codec + "-live 1 -cluster_time_limit 500");
  for (const std::string& whole : {live, small}) {
    const samples::Bytes bytes = samples::readBytes(whole);
    EXPECT_TRUE(FfmpegMediaOpener().probe(whole).notices.empty());
    for (const std::size_t left : {bytes.size() * 6 / 10, bytes.size() - 1, bytes.size() - 20}) {
      const std::string cut = samples::path("cut.mkv");
      samples::writeBytes(cut, samples::Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(left)));
      EXPECT_EQ(FfmpegMediaOpener().probe(cut).notices, (std::vector<MediaNotice>{{NoticeCode::kCutOff, 0}})) << whole << " " << left;
    }
  }
}

// A recorder writes the sizes of an AVI when it ends.
TEST(VideoProbe, AnAviWhoseSizesWereNeverWrittenIsCutOff) {
  samples::Bytes bytes = samples::readBytes(samples::make("whole.avi", numbered(80, 10) + " -c:v mpeg4 -bf 0 -q:v 3 -g 20"));
  bytes.resize(bytes.size() * 6 / 10);
  const std::string_view movi = "movi";
  const auto list = std::search(bytes.begin(), bytes.end(), movi.begin(), movi.end());
  ASSERT_NE(list, bytes.end());
  std::fill(bytes.begin() + 4, bytes.begin() + 8, std::uint8_t{0});
  std::fill(list - 4, list, std::uint8_t{0});
  const std::string file = samples::path("died.avi");
  samples::writeBytes(file, bytes);
  const auto source = samples::openVideo(samples::video(file, 6));
  EXPECT_EQ(source->info().notices, (std::vector<MediaNotice>{{NoticeCode::kCutOff, 0}}));
  EXPECT_GT(source->info().durationS, 1.0);
  for (const SampledFrame& frame : source->read(0, 5, {})) EXPECT_EQ(samples::numberIn(frame.image), static_cast<int>(frame.asked_s * 10));
}

// Chunks that hold no picture: the one before stands on, at the end as well.
TEST(VideoProbe, AnAviIsAsLongAsItsChunks) {
  samples::Bytes bytes = samples::readBytes(samples::make("whole.avi", numbered(20, 10) + " -c:v mjpeg -q:v 2"));
  const auto take = [&](auto at, std::string_view name) { return std::equal(name.begin(), name.end(), at); };
  const std::string_view movi = "movi";
  const std::string_view index = "idx1";
  const auto list = std::search(bytes.begin(), bytes.end(), movi.begin(), movi.end()) + 4;
  const auto entries = std::search(list, bytes.end(), index.begin(), index.end()) + 8;
  auto chunk = list;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(take(chunk, "00dc")) << i;
    const std::uint32_t size = chunk[4] | chunk[5] << 8 | chunk[6] << 16;
    const auto next = chunk + 8 + size + size % 2;
    if (i == 6 || i >= 17) {  // an empty chunk, and what fills its place
      const std::uint32_t filler = size + size % 2 - 8;
      const std::uint8_t head[] = {
          0, 0, 0, 0, 'J', 'U', 'N', 'K', std::uint8_t(filler), std::uint8_t(filler >> 8), std::uint8_t(filler >> 16), 0};
      std::copy(std::begin(head), std::end(head), chunk + 4);
      std::fill(entries + 16 * i + 12, entries + 16 * i + 16, std::uint8_t{0});
    }
    chunk = next;
  }
  const std::string file = samples::path("empty.avi");
  samples::writeBytes(file, bytes);
  const auto source = samples::openVideo(samples::videoEvery(file, 0.25));
  EXPECT_NEAR(source->info().durationS, 2.0, 1e-6);
  std::vector<int> numbers;
  for (const SampledFrame& frame : source->read(0, source->frame_count(), {})) numbers.push_back(samples::numberIn(frame.image));
  EXPECT_EQ(numbers, (std::vector<int>{0, 2, 5, 7, 10, 12, 15, 16})) << "at 0, 0.25, ... 1.75 s";
}

// Decoded every 0.1 s, shown at 0, 0.6, 1.1 and 1.5 s.
TEST(VideoProbe, EvenTimesOfDecodingAreNoEvenTimesOfShowing) {
  const std::string four = samples::make("four.mkv", numbered(4, 10) + " -c:v libx264 -bf 0");
  const std::string times = "setts=dts='N*100':pts='if(eq(N,0),0,if(eq(N,1),600,if(eq(N,2),1100,1500)))':duration=100";
  const std::string file = samples::make("uneven.mp4", "-i " + four + " -c copy -video_track_timescale 1000 -bsf:v \"" + times + "\"");
  const auto source = samples::openVideo(samples::videoEvery(file, 0.25));
  EXPECT_EQ(source->info().evenFrames, -1);
  EXPECT_FALSE(source->info().durationS < 1.6);
  EXPECT_EQ(source->shown_times_s(), (std::vector<double>{0.0, 0.6, 1.1, 1.5}));
  std::vector<int> numbers;
  for (const SampledFrame& frame : source->read(0, source->frame_count(), {})) numbers.push_back(samples::numberIn(frame.image));
  EXPECT_EQ(numbers, (std::vector<int>{0, 1, 2, 3}));
  const std::string film = samples::make("film.mp4", numbered(50, 25) + " -c:v libx264 -preset veryfast -bf 3");
  EXPECT_EQ(FfmpegMediaOpener().probe(film).evenFrames, 50) << "pictures that are decoded in another order are shown evenly all the same";
}

TEST(VideoProbe, OtherVideosOfTheFileAreTold) {
  const std::string codec = " -c:v libx264 -preset ultrafast -g 10";
  const std::string one = samples::make("one.ts", numbered(20, 10) + codec);
  const std::string two = samples::make("two.ts", numbered(40, 10) + codec);
  const std::string both = "-i " + one + " -i " + two + " -map 0:v -map 1:v -c copy ";
  const std::string programmes = samples::make("programmes.ts", both + "-program title=One:st=0 -program title=Two:st=1");
  for (const std::string& file : {programmes, samples::make("tracks.mkv", both)})
    EXPECT_EQ(FfmpegMediaOpener().probe(file).notices, (std::vector<MediaNotice>{{NoticeCode::kOtherVideos, 1}})) << file;
  EXPECT_TRUE(FfmpegMediaOpener().probe(samples::make("tracks.mp4", both)).notices.empty()) << "its second track is switched off";
  const MediaInfo info = FfmpegMediaOpener().probe(programmes);
  EXPECT_NEAR(info.playsS, info.durationS, 1e-6) << "the other one's length is not its own";
}

// A box that says so within the description of the pictures (dvcC), as a film of that kind has it.
TEST(VideoProbe, ColoursOfDolbyVisionAloneAreTold) {
  samples::Bytes bytes = samples::readBytes(
      samples::make("a.mp4", numbered(6, 6) + " -c:v libx265 -preset ultrafast -x265-params log-level=error -tag:v hvc1"));
  const auto at = [&](std::string_view name) {
    return std::search(bytes.begin(), bytes.end(), name.begin(), name.end()) - bytes.begin() - 4;
  };
  const auto sizeAt = [&](std::ptrdiff_t box) { return bytes[std::size_t(box) + 2] << 8 | bytes[std::size_t(box) + 3]; };
  constexpr int kBoxBytes = 32;
  samples::Bytes box{0, 0, 0, kBoxBytes, 'd', 'v', 'c', 'C', 1, 0, 5 << 1, 1 << 3 | 5, 0};  // of profile 5, level 1, compatible with none
  box.resize(kBoxBytes);
  const std::ptrdiff_t behind = at("hvcC") + sizeAt(at("hvcC"));
  for (const char* name : {"moov", "trak", "mdia", "minf", "stbl", "stsd", "hvc1"}) {
    const std::ptrdiff_t outer = at(name);
    const int size = sizeAt(outer) + kBoxBytes;
    bytes[std::size_t(outer) + 2] = static_cast<std::uint8_t>(size >> 8);
    bytes[std::size_t(outer) + 3] = static_cast<std::uint8_t>(size);
  }
  bytes.insert(bytes.begin() + behind, box.begin(), box.end());
  const std::string file = samples::path("dolby.mp4");
  samples::writeBytes(file, bytes);
  EXPECT_EQ(FfmpegMediaOpener().probe(file).notices, (std::vector<MediaNotice>{{NoticeCode::kDolbyVision, 5}}));
}

TEST(VideoProbe, ASegmentAloneIsNamed) {
  samples::Bytes bytes = samples::readBytes(samples::make(
      "frag.mp4", numbered(40, 10) + " -c:v libx264 -preset ultrafast -g 10 -movflags frag_keyframe+empty_moov+default_base_moof"));
  const std::string_view fragment = "moof";
  bytes.erase(bytes.begin(), std::search(bytes.begin(), bytes.end(), fragment.begin(), fragment.end()) - 4);
  const std::string file = samples::path("segment.m4s");
  samples::writeBytes(file, bytes);
  const Error error = samples::errorOf(file);
  EXPECT_EQ(error.code, ErrorCode::kUnsupportedFormat);
  EXPECT_EQ(error.reason, kSegmentAlone);
}

// What somebody joins who has missed the first segments.
TEST(VideoProbe, LaterFragmentsAloneAreAsLongAsTheirPictures) {
  samples::Bytes bytes = samples::readBytes(samples::make(
      "frag.mp4", numbered(40, 10) + " -c:v libx264 -preset ultrafast -g 10 -movflags frag_keyframe+empty_moov+default_base_moof"));
  const std::string_view fragment = "moof";
  const auto next = [&](auto from) { return std::search(from, bytes.end(), fragment.begin(), fragment.end()); };
  const auto first = next(bytes.begin());
  bytes.erase(first - 4, next(next(first + 4) + 4) - 4);
  const std::string file = samples::path("later.mp4");
  samples::writeBytes(file, bytes);
  const auto source = samples::openVideo(samples::videoEvery(file, 0.5));
  EXPECT_NEAR(source->info().durationS, 2.0, 1e-6);
  std::vector<int> numbers;
  for (const SampledFrame& frame : source->read(0, source->frame_count(), {})) numbers.push_back(samples::numberIn(frame.image));
  EXPECT_EQ(numbers, (std::vector<int>{20, 25, 30, 35}));
}

// Ogg says nowhere how long it is, but its last page says that it is the last.
TEST(VideoProbe, AnOggFileWithoutItsLastPageIsCutOff) {
  const std::string whole = samples::make("whole.ogv", numbered(200, 10) + " -vf scale=192:144:flags=neighbor -c:v libtheora -q:v 9 -g 10");
  const samples::Bytes bytes = samples::readBytes(whole);
  const auto noticesOf = [&](std::size_t left) {
    const std::string file = samples::path("cut.ogv");
    samples::writeBytes(file, samples::Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(left)));
    return FfmpegMediaOpener().probe(file).notices;
  };
  EXPECT_TRUE(noticesOf(bytes.size()).empty());
  constexpr std::string_view kPage = "OggS";
  const auto page = std::search(bytes.begin() + std::ssize(bytes) / 2, bytes.end(), kPage.begin(), kPage.end());
  ASSERT_NE(page, bytes.end());
  const auto at = static_cast<std::size_t>(page - bytes.begin());
  EXPECT_EQ(noticesOf(at), (std::vector<MediaNotice>{{NoticeCode::kCutOff, 0}})) << "between two pages";
  EXPECT_EQ(noticesOf(at + 20), (std::vector<MediaNotice>{{NoticeCode::kCutOff, 0}})) << "within the head of one";
  EXPECT_EQ(noticesOf(bytes.size() - 10), (std::vector<MediaNotice>{{NoticeCode::kCutOff, 10}})) << "within the last";
}

// Its header says how long it was.
TEST(VideoProbe, AFlashVideoThatEndsBetweenTwoTagsIsAsLongAsWhatIsLeft) {
  samples::Bytes bytes = samples::readBytes(samples::make("whole.flv", numbered(200, 10) + " -c:v libx264 -preset ultrafast -g 10"));
  const auto sizeAt = [&](std::size_t tag) {
    return std::size_t{bytes[tag + 1]} << 16 | std::size_t{bytes[tag + 2]} << 8 | bytes[tag + 3];
  };
  std::size_t at = 13;
  while (at < bytes.size() / 2) at += 11 + sizeAt(at) + 4;
  bytes.resize(at);
  const std::string file = samples::path("half.flv");
  samples::writeBytes(file, bytes);
  const MediaInfo info = FfmpegMediaOpener().probe(file);
  EXPECT_GT(info.durationS, 4.0);
  EXPECT_LT(info.durationS, 16.0);
  ASSERT_EQ(info.notices.size(), 1U);
  EXPECT_EQ(info.notices.front().code, NoticeCode::kLengthWrong);
}

TEST(VideoProbe, SingleFrameHasALength) {
  const std::string file = samples::make("one.mp4", numbered(1, 25) + " -c:v libx264");
  const auto source = samples::openVideo(samples::video(file, 3));
  EXPECT_NEAR(source->info().durationS, 0.04, 1e-6);
  EXPECT_EQ(source->frame_count(), 1) << "of three that were asked for";
  EXPECT_EQ(source->read(0, 1, {}).size(), 1u);
}

TEST(VideoProbe, KindIsJudgedByContent) {
  const std::string file = samples::make("video.png", numbered(5, 5) + " -c:v libx264 -f mp4");
  EXPECT_EQ(FfmpegMediaOpener().detectKind(file), MediaKind::kVideo);
  try {
    FfmpegMediaOpener().open(samples::image(file), {});
    FAIL();
  } catch (const Exception& exception) {
    EXPECT_EQ(exception.error().code, ErrorCode::kUnsupportedFormat);
    EXPECT_EQ(exception.error().reason, "this is a video (mp4), not an image");
  }
}

}  // namespace
}  // namespace winnow::app
