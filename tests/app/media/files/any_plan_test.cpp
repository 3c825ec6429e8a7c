// Whatever is asked of whatever file: the picture that is shown is the one that FFmpeg shows at that time when it decodes the file from its
// beginning. The oracle is the ffmpeg program; pictures are told apart by their numbers, plans are drawn by chance with a fixed seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

using samples::numberIn;

constexpr int kFps = 25;
constexpr int kPictures = 230;

enum class Spoiled : int { kNot = 1, kNoTableOfKeyframes, kAllMarkedAsKeyframes };

struct Film {
  const char* name;
  const char* made;    // the file that is encoded
  const char* how;     // its options
  const char* copied;  // options of another container that it is copied to, with its ending; empty: it is read itself
  Spoiled spoiled = Spoiled::kNot;
};
void PrintTo(const Film& film, std::ostream* out) { *out << film.name; }

constexpr const char* kEightB = "-c:v libx264 -preset veryfast -x264-params bframes=8:b-adapt=0:keyint=100:min-keyint=100:scenecut=0";
constexpr const char* kOneGroup = "-c:v libx264 -preset veryfast -bf 3 -g 99999 -sc_threshold 0";
constexpr const char* kOpen = "-c:v libx264 -preset veryfast -bf 3 -x264-params open-gop=1:keyint=40:b-adapt=0";
constexpr const char* kRefresh = "-c:v libx264 -preset veryfast -x264-params intra-refresh=1:keyint=20:bframes=0";
constexpr const char* kHevc = "-c:v libx265 -preset ultrafast -x265-params log-level=error:keyint=60:bframes=4:b-adapt=0:open-gop=1";
constexpr const char* kMpeg4 = "-c:v mpeg4 -bf 2 -q:v 3 -g 60";
constexpr const char* kMpeg2 = "-c:v mpeg2video -bf 2 -g 15 -q:v 2";
constexpr const char* kVp9 = "-c:v libvpx-vp9 -b:v 300k -auto-alt-ref 1 -lag-in-frames 20 -g 60 -cpu-used 5";
constexpr const char* kAv1 = "-c:v libaom-av1 -cpu-used 8 -crf 30 -b:v 0 -g 60 -lag-in-frames 19";

constexpr Film kFilms[] = {
    {"EightBInMp4", "a.mp4", kEightB, ""},
    {"EightBInMatroska", "a.mp4", kEightB, ".mkv"},
    {"EightBWithoutIndex", "a.mp4", kEightB, "-f matroska -live 1 .mkv"},
    {"EightBInTransportStream", "a.mp4", kEightB, ".ts"},
    {"EightBInFlv", "a.mp4", kEightB, ".flv"},
    {"EightBInAviWithEmptyChunks", "a.mp4", kEightB, ".avi"},
    {"EightBInWindowsMedia", "a.mp4", kEightB, ".asf"},
    {"EightBInFragments", "a.mp4", kEightB, "-movflags empty_moov+default_base_moof -frag_duration 700000 .mp4"},
    {"EightBWithNegativeOffsets", "a.mp4", kEightB, "-movflags negative_cts_offsets -use_editlist 0 .mp4"},
    {"EightBWithoutTable", "a.mp4", kEightB, "", Spoiled::kNoTableOfKeyframes},
    {"OneGroupInMatroska", "b.mkv", kOneGroup, ""},
    {"OneGroupWithoutIndex", "b.mkv", kOneGroup, "-f matroska -live 1 .mkv"},
    {"OneGroupInTransportStream", "b.mkv", kOneGroup, ".ts"},
    {"OneGroupWithoutTable", "b.mp4", kOneGroup, "", Spoiled::kNoTableOfKeyframes},
    {"OpenGroupsInMatroska", "c.mkv", kOpen, ""},
    {"OpenGroupsInTransportStream", "c.mkv", kOpen, ".ts"},
    {"OpenGroupsWithoutTable", "c.mp4", kOpen, "", Spoiled::kNoTableOfKeyframes},
    {"RefreshInTransportStream", "d.ts", kRefresh, ""},
    {"RefreshInMp4", "d.ts", kRefresh, ".mp4"},
    {"RefreshInMatroska", "d.ts", kRefresh, ".mkv"},
    {"HevcInMatroska", "e.mkv", kHevc, ""},
    {"HevcWithoutIndex", "e.mkv", kHevc, "-f matroska -live 1 .mkv"},
    {"HevcInTransportStream", "e.mkv", kHevc, ".ts"},
    {"HevcWithoutTable", "e.mp4", kHevc, "", Spoiled::kNoTableOfKeyframes},
    {"Mpeg4InMatroska", "f.mp4", kMpeg4, ".mkv"},
    {"Mpeg4WithoutIndex", "f.mp4", kMpeg4, "-f matroska -live 1 .mkv"},
    {"Mpeg4WithoutTable", "f.mp4", kMpeg4, "", Spoiled::kNoTableOfKeyframes},
    {"Mpeg4InAvi", "f.avi", kMpeg4, ""},
    {"MsMpeg4InAviAllMarked", "g.avi", "-c:v msmpeg4 -q:v 2 -g 50", "", Spoiled::kAllMarkedAsKeyframes},
    {"Mpeg2InMatroska", "h.ts", kMpeg2, ".mkv"},
    {"Mpeg2WithoutTable", "h.mp4", kMpeg2, "", Spoiled::kNoTableOfKeyframes},
    {"Vp8WithoutIndex", "i.webm", "-c:v libvpx -b:v 500k -auto-alt-ref 1 -lag-in-frames 16 -g 60 -cpu-used 5", "-f webm -live 1 .webm"},
    {"Vp9InWebm", "j.webm", kVp9, ""},
    {"Vp9WithoutIndex", "j.webm", kVp9, "-f webm -live 1 .webm"},
    {"Av1InWebm", "k.webm", kAv1, ""},
    {"Av1InMp4", "k.mp4", kAv1, ""},
};

std::string made(const Film& film) {
  std::string file = samples::make(film.made, samples::numbered(kPictures, kFps) + " " + film.how);
  if (film.copied[0] != '\0') {
    const std::string options = film.copied;
    const std::size_t ending = options.rfind('.');
    file = samples::make("copied" + options.substr(ending), "-i " + file + " -c copy " + options.substr(0, ending));
  }
  if (film.spoiled == Spoiled::kNot) return file;
  samples::Bytes bytes = samples::readBytes(file);
  const std::string_view name = film.spoiled == Spoiled::kNoTableOfKeyframes ? "stss" : "idx1";
  const auto at = std::ranges::search(bytes, name).begin();
  if (at == bytes.end()) throw std::runtime_error("nothing to spoil in " + file);
  if (film.spoiled == Spoiled::kNoTableOfKeyframes) {
    std::ranges::copy(std::string_view("free"), at);
  } else {
    for (auto flags = at + 12; flags < bytes.end(); flags += 16) *flags |= 0x10;
  }
  samples::writeBytes(file, bytes);
  return file;
}

struct Shown {
  double sinceS = 0.0;
  int number = 0;
};

// All pictures, as the ffmpeg program decodes them one after the other.
std::vector<Shown> decodedFromTheBeginning(const std::string& file) {
  const std::string pixels = samples::path("all.rgb");
  const std::string times = samples::path("all.txt");
  const std::string same = " -map 0:v -vsync passthrough -enc_time_base -1 -pix_fmt rgb24 ";
  samples::ffmpeg("-i " + file + same + "-f rawvideo " + pixels + same + "-f framecrc " + times);
  const samples::Bytes all = samples::readBytes(pixels);
  constexpr std::size_t kFrameBytes = std::size_t{64} * 48 * 3;
  std::vector<Shown> shown;
  std::ifstream lines(times);
  double tickS = 1.0;
  for (std::string line; std::getline(lines, line);) {
    int num = 0;
    int den = 0;
    long long ticks = 0;
    if (std::sscanf(line.c_str(), "#tb 0: %d/%d", &num, &den) == 2) tickS = static_cast<double>(num) / den;
    if (std::sscanf(line.c_str(), "0, %*d, %lld,", &ticks) != 1) continue;
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(shown.size() * kFrameBytes);
    const int number = numberIn({64, 48, {from, from + kFrameBytes}});
    // These do not say when a picture is shown, only in which order.
    const bool ordered = file.ends_with(".avi") || file.ends_with(".asf");
    shown.push_back({ordered ? static_cast<double>(shown.size()) / kFps : static_cast<double>(ticks) * tickS, number});
  }
  return shown;
}

class AnyPlan : public ::testing::TestWithParam<Film> {};

TEST_P(AnyPlan, ShowsWhatDecodingFromTheBeginningShows) {
  constexpr int kPlans = 12;
  const std::string file = made(GetParam());
  const std::vector<Shown> oracle = decodedFromTheBeginning(file);
  ASSERT_EQ(oracle.size(), static_cast<std::size_t>(kPictures));
  std::mt19937 random(1);
  const auto drawn = [&](double most) { return most * static_cast<double>(random() % 1'000) / 1'000.0; };
  for (int n = 0; n < kPlans; ++n) {
    MediaRequest request = samples::video(file, 1 + static_cast<int>(random() % 40));
    if (n % 3 == 0) request = samples::videoEvery(file, 0.0571 + drawn(1.5));
    if (n % 3 != 1) request.plan.from_s = drawn(8.5);
    if (n % 3 == 2) request.plan.to_s = request.plan.from_s + 0.1 + drawn(9.0);
    MediaLimits limits{.decoders = 1 + n % 4};
    const auto source = samples::openVideo(request, limits);
    const int together = 1 + static_cast<int>(random() % 8);
    for (int first = 0; first < source->frame_count(); first += together) {
      for (const SampledFrame& frame : source->read(first, std::min(together, source->frame_count() - first), {})) {
        const auto after = std::ranges::upper_bound(oracle, frame.asked_s + 2e-6, {}, &Shown::sinceS);
        ASSERT_NE(after, oracle.begin());
        ASSERT_EQ(numberIn(frame.image), std::prev(after)->number) << "plan " << n << ", at " << frame.asked_s << " s";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Films, AnyPlan, ::testing::ValuesIn(kFilms),
                         [](const ::testing::TestParamInfo<Film>& info) { return info.param.name; });

}  // namespace
}  // namespace winnow::app
