// Subtitles: what the parser makes of files that people have, and of files that are out to hurt; which ones a video has; streams in
// containers.
#include "app/media/files/subtitles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "app/media/files/media_opener.h"
#include "tests/app/media/files/sample_files.h"
#include "tests/support/expect_error.h"

namespace winnow::app {
namespace {

Subtitles readSubtitles(const std::string& path, const std::string& encoding, const MediaLimits& limits, const InterruptToken& interrupt) {
  return app::readSubtitles(MediaFile(path), encoding, limits, interrupt);
}

using samples::numbered;

// "1-2.5 text|...": times in seconds.
std::string told(const std::vector<TimedLine>& lines) {
  std::string text;
  for (const TimedLine& line : lines) {
    char times[64];
    std::snprintf(times, sizeof times, "%g-%g ", line.start_s, line.end_s);
    text += times + line.text + "|";
  }
  return text;
}
std::string parsed(const std::string& text) { return told(parseSubtitles(QString::fromStdString(text), "a.srt").lines); }

constexpr const char* kSrt =
    "1\n00:00:01,000 --> 00:00:02,500\nHello there.\n\n"
    "2\n00:01:00,250 --> 01:00:00,000\n<i>Two</i> lines,\n{\\an8}<font color=\"#fff\">one</font> cue\n";

TEST(SubtitleText, SubRipCuesAreLinesWithoutMarkup) { EXPECT_EQ(parsed(kSrt), "1-2.5 Hello there.|60.25-3600 Two lines, one cue|"); }

TEST(SubtitleText, WebVttCuesAreLinesWithoutMarkup) {
  EXPECT_EQ(parsed("WEBVTT - a title\nKind: captions\n\nNOTE nobody says this\n\nSTYLE\n::cue { color: red }\n\n"
                   "intro\n00:01.000 --> 00:02.000 align:start position:10%\n<v Mary Ann>R&amp;B &lt;3 <00:00:01.500><c.loud>now</c>\n\n"
                   "100:00:00.000 --> 100:00:01.000\nlate\n"),
            "1-2 R&B <3 now|360000-360001 late|");
}

TEST(SubtitleText, PlayersReadThisAndSoDoWe) {
  EXPECT_EQ(parsed("1\n00:00:01,000 --> 00:00:02,000\nno empty line\n2\n00:00:03,000 --> 00:00:04,000\nhere"),
            "1-2 no empty line|3-4 here|");
  EXPECT_EQ(parsed("00:00:05.5-->00:00:04\nends before it begins"), "5.5-5.5 ends before it begins|");
  EXPECT_EQ(parsed("0:00:09 --> 0:00:10\nlater\n\n0:00:01 --> 0:00:02\nsooner\n\n0:00:03 --> 0:00:04\n \n\n0:00:05 --> 0:00:06\n<b></b>\n"),
            "1-2 sooner|9-10 later|");
  EXPECT_EQ(parsed("0:01 --> 0:02\n1 < 2, a <b and {not a tag}\n"), "1-2 1 < 2, a <b and {not a tag}|");
  EXPECT_EQ(parsed("0:01 --> 0:02\n&amp;lt;\ttabs\n"), "1-2 &lt; tabs|");
}

TEST(SubtitleText, RefusesWhatIsTooMuchOrNone) {
  const auto parse = [](const std::string& text) { return [text] { parseSubtitles(QString::fromStdString(text), "a.srt"); }; };
  for (const char* none : {"", "Just words.\n", "00:00:01,000 --> soon\nno time\n", "--> \n-->\n", "1:2:3:4 --> 0:05\nfour fields\n",
                           "99999:00 --> 99999:01\nfive digits\n", "1 --> 2\nno colon\n"})
    test::expect_error(ErrorCode::kDamagedFile, "a.srt: it holds no subtitles", parse(none));
  test::expect_error(ErrorCode::kLimitExceeded, "longer than 4096 bytes", parse("0:01 --> 0:02\n" + std::string(5000, 'a')));
  std::string many;
  for (int i = 0; i <= 20'000; ++i) many += "0:01 --> 0:02\na" + std::to_string(i) + "\n\n";
  test::expect_error(ErrorCode::kLimitExceeded, "more than 20000 lines", parse(many));
  // Markup that never closes is looked through once.
  for (const char* opening : {"<a", "{\\"}) {
    std::string open = "0:01 --> 0:02\n";
    while (open.size() < 4'000'000) open += opening;
    test::expect_error(ErrorCode::kLimitExceeded, "longer than 4096 bytes", parse(open));
  }
}

TEST(SubtitleFiles, AreFoundByTheVideosName) {
  const std::string video = samples::path("clip.one.mp4");
  const std::string folder = std::filesystem::path(video).parent_path().string() + "/";
  EXPECT_EQ(subtitlesBeside(video), "");
  for (const char* other :
       {"clip.srt", "clip.one.mp4.txt", "clip.one.a sentence.srt", "clip.one.averyverylongtagindeed.srt", "clip.one.two"})
    samples::writeText(folder + other, kSrt);
  EXPECT_EQ(subtitlesBeside(video), "");
  samples::writeText(folder + "clip.one.fr.srt", kSrt);
  samples::writeText(folder + "clip.one.de.VTT", kSrt);
  EXPECT_EQ(subtitlesBeside(video), folder + "clip.one.de.VTT");
  samples::writeText(folder + "clip.one.vtt", kSrt);
  EXPECT_EQ(subtitlesBeside(video), folder + "clip.one.vtt");
  std::filesystem::create_directory(folder + "clip.one.srt");
  EXPECT_EQ(subtitlesBeside(video), folder + "clip.one.vtt") << "a folder is no file";
}

// What is forced says a few lines of a film; who deafly asks what was said needs the whole.
TEST(SubtitleFiles, WholeOnesComeBeforeForcedOnes) {
  const std::string video = samples::path("signs.mp4");
  const std::string folder = std::filesystem::path(video).parent_path().string() + "/";
  MediaInfo inside{.kind = MediaKind::kVideo, .holdsText = true};
  samples::writeText(folder + "signs.en.forced.srt", kSrt);
  EXPECT_EQ(subtitlesBeside(video), folder + "signs.en.forced.srt") << "better than none";
  EXPECT_EQ(subtitlesOf(video, inside), video);
  samples::writeText(folder + "signs.en.srt", kSrt);
  EXPECT_EQ(subtitlesBeside(video), folder + "signs.en.srt") << "behind it by name";
  EXPECT_EQ(subtitlesOf(video, inside), folder + "signs.en.srt") << "the film's own name says nothing";
}

TEST(SubtitleStreams, WholeOnesComeBeforeForcedOnes) {
  const std::string full = samples::path("full.srt"), part = samples::path("part.srt");
  samples::writeText(full, "1\n00:00:00,500 --> 00:00:01,250\nAll of it\n");
  samples::writeText(part, "1\n00:00:00,500 --> 00:00:01,250\nA sign\n");
  const auto told_of = [&](const std::string& name, const std::string& codec, const std::string& marks) {
    return told(
        readSubtitles(samples::make(name, "-i " + part + " -i " + full + " " + numbered(40, 10) +
                                              " -map 2:v -map 0:s -map 1:s -c:v libx264 -preset ultrafast -c:s " + codec + " " + marks),
                      {}, {}, {})
            .lines);
  };
  EXPECT_EQ(told_of("flag.mkv", "srt", "-disposition:s:0 default+forced -disposition:s:1 0"), "0.5-1.25 All of it|");
  EXPECT_EQ(told_of("name.mkv", "srt", "-disposition:s:0 default -disposition:s:1 0 -metadata:s:s:0 title='Signs & Songs'"),
            "0.5-1.25 All of it|");
  EXPECT_EQ(told_of("spoken.mkv", "srt", "-disposition:s:0 default+comment -disposition:s:1 0"), "0.5-1.25 All of it|");
  EXPECT_EQ(told_of("whole.mkv", "srt", "-disposition:s:0 default -disposition:s:1 0 -metadata:s:s:0 title='Full (dialogue and signs)'"),
            "0.5-1.25 A sign|");
  EXPECT_EQ(told_of("plain.mp4", "mov_text", "-disposition:s:0 default -disposition:s:1 0"), "0.5-1.25 A sign|")
      << "no mark but the default one";
}

TEST(SubtitleFiles, OfSubStationAlphaAreFoundAndRead) {
  const std::string video = samples::path("film.mp4");
  const std::string folder = std::filesystem::path(video).parent_path().string() + "/";
  const char* events = "[Script Info]\n[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,{\\i1}Hello{\\i0}\n";
  samples::writeText(folder + "film.ja.forced.ASS", events);
  EXPECT_EQ(subtitlesBeside(video), folder + "film.ja.forced.ASS");
  samples::writeText(folder + "film.ssa", events);
  EXPECT_EQ(subtitlesBeside(video), folder + "film.ssa");
  EXPECT_EQ(told(readSubtitles(folder + "film.ssa", {}, {}, {}).lines), "1-2 Hello|");
}

TEST(SubtitleFiles, ComeInEveryEncodingThatTextsCome) {
  const std::string file = samples::path("latin.srt");
  samples::writeText(file,
                     "\xEF\xBB\xBF"
                     "1\r\n00:00:01,000 --> 00:00:02,000\r\nZo\xC3\xAB\r\n");
  EXPECT_EQ(told(readSubtitles(file, {}, {}, {}).lines), "1-2 Zo\xC3\xAB|");
  samples::writeText(file, "1\r00:00:01,000 --> 00:00:02,000\rZo\xEB\r");
  EXPECT_EQ(told(readSubtitles(file, {}, {}, {}).lines), "1-2 Zo\xC3\xAB|");
  samples::writeText(file, "1\n00:00:01,000 --> 00:00:02,000\n\xCF\xE5\xF0\xE2\xE0\xFF \xF1\xF2\xF0\xEE\xEA\xE0\n");
  const Subtitles guessed = readSubtitles(file, {}, {}, {});
  EXPECT_EQ(told(guessed.lines), "1-2 Первая строка|");
  EXPECT_EQ(guessed.notices, (std::vector<MediaNotice>{{NoticeCode::kEncodingGuessed, 0, 0, "Windows-1251"}}));
  EXPECT_EQ(told(readSubtitles(file, "latin1", {}, {}).lines), "1-2 Ïåðâàÿ ñòðîêà|") << "as it was asked for";
  samples::writeText(file, std::string((16U << 20) + 1, 'a'));
  test::expect_error(ErrorCode::kLimitExceeded, "and subtitles have at most 16", [&] { readSubtitles(file, {}, {}, {}); });
  samples::writeText(file, std::string("\0\1\2 binary", 10));
  test::expect_error(ErrorCode::kUnsupportedFormat, "latin.srt: ", [&] { readSubtitles(file, {}, {}, {}); });
  test::expect_error(ErrorCode::kFileNotFound, "missing.srt", [&] { readSubtitles(samples::path("missing.srt"), {}, {}, {}); });
}

// A player shows what is said while the sound goes on behind the last picture; what begins later is of another video.
TEST(SubtitleFiles, WhatBeginsWhenTheVideoIsOverIsLeftOutAndCounted) {
  const std::string said = samples::path("said.srt");
  samples::writeText(said, "00:01 --> 00:02\none\n\n00:03 --> 00:04\ntwo\n\n00:09 --> 00:10\nthree\n\n01:00 --> 01:01\nfour\n");
  const std::string silent = samples::make("silent.mp4", numbered(20, 10) + " -c:v libx264 -preset ultrafast");
  const auto read = [&](const std::string& file, double toS) {
    MediaRequest request = samples::video(file, 4);
    request.subtitles = said;
    request.plan.to_s = toS;
    const auto source = FfmpegMediaOpener().openSource(request, {});
    std::vector<MediaNotice> notices = source->notices();
    std::erase_if(notices, [](const MediaNotice& notice) { return notice.code == NoticeCode::kTimeJumps; });
    return std::pair(told(source->lines()), std::move(notices));
  };
  for (const char* ending : {".mp4", ".mkv", ".ts"}) {
    const std::string file = samples::make(std::string("sound") + ending,
                                           "-i " + silent + " -f lavfi -i sine=d=5 -map 0:v -map 1:a -c:v copy -c:a aac -b:a 24k");
    const auto [lines, notices] = read(file, -1.0);
    EXPECT_EQ(lines, "1-2 one|3-4 two|") << ending;
    EXPECT_EQ(notices, (std::vector<MediaNotice>{{NoticeCode::kLinesBehind, 2, 9}})) << ending;
  }
  EXPECT_EQ(read(silent, -1.0).first, "1-2 one|");
  EXPECT_EQ(read(silent, -1.0).second, (std::vector<MediaNotice>{{NoticeCode::kLinesBehind, 3, 3}}));
  EXPECT_EQ(read(silent, 5.0).second, (std::vector<MediaNotice>{{NoticeCode::kLinesBehind, 1, 3}})) << "the others were not asked for";
  EXPECT_TRUE(read(silent, 1.5).second.empty());
}

// Programs of before wrote the bytes of a .srt into Matroska as they were.
TEST(SubtitleStreamEncoding, IsJudgedByAllOfTheStream) {
  const std::string srt = samples::path("old.srt");
  samples::writeText(srt,
                     "1\n00:00:00,500 --> 00:00:01,250\n\xCF\xE5\xF0\xE2\xE0\xFF \xF1\xF2\xF0\xEE\xEA\xE0\n\n"
                     "2\n00:00:02,000 --> 00:00:03,000\n\xC4\xE0\n");
  const std::string file =
      samples::make("old.mkv", "-i " + srt + " " + numbered(40, 10) + " -map 1:v -map 0:s -c:v libx264 -preset ultrafast -c:s copy");
  const Subtitles guessed = readSubtitles(file, {}, {}, {});
  EXPECT_EQ(told(guessed.lines), "0.5-1.25 Первая строка|2-3 Да|");
  EXPECT_EQ(guessed.notices, (std::vector<MediaNotice>{{NoticeCode::kEncodingGuessed, 0, 0, "Windows-1251"}}));
  EXPECT_EQ(told(readSubtitles(file, "KOI8-R", {}, {}).lines), "0.5-1.25 оЕПБЮЪ ЯРПНЙЮ|2-3 дЮ|");

  MediaRequest request = samples::video(file, 4);
  request.subtitles = file;
  EXPECT_EQ(FfmpegMediaOpener().openSource(request, {})->notices(), guessed.notices) << "told with the video's own";
  request.encoding = "KOI8-R";
  EXPECT_EQ(told(FfmpegMediaOpener().openSource(request, {})->lines()), "0.5-1.25 оЕПБЮЪ ЯРПНЙЮ|2-3 дЮ|");
}

TEST(SubtitleStreamEncoding, TimedTextOfMp4MayBeUtf16) {
  const std::string srt = samples::path("in.srt");
  samples::writeText(srt, "1\n00:00:00,500 --> 00:00:01,250\nHello there.\n\n2\n00:00:02,000 --> 00:00:03,000\nZo\xC3\xAB\n");
  const std::string file =
      samples::make("wide.mp4", "-i " + srt + " " + numbered(40, 10) + " -map 1:v -map 0:s -c:v libx264 -preset ultrafast -c:s mov_text");
  samples::Bytes bytes = samples::readBytes(file);
  const std::string narrow = "Hello there.", wide("\xFE\xFF\x04\x1F\x04\x3E\x04\x40\x04\x42\0!", 12);
  const auto said = std::search(bytes.begin(), bytes.end(), narrow.begin(), narrow.end());
  ASSERT_NE(said, bytes.end());
  std::copy(wide.begin(), wide.end(), said);
  samples::writeBytes(file, bytes);
  const Subtitles subtitles = readSubtitles(file, {}, {}, {});
  EXPECT_EQ(told(subtitles.lines), "0.5-1.25 Порт!|2-3 Zo\xC3\xAB|");
  EXPECT_TRUE(subtitles.notices.empty());
}

class SubtitleStreams : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(SubtitleStreams, AreReadAsTheFileBesideWouldBe) {
  const auto [suffix, codec] = GetParam();
  const std::string srt = samples::path("in.srt");
  samples::writeText(srt, "1\n00:00:00,500 --> 00:00:01,250\n<i>Hello</i> there.\n\n2\n00:00:02,000 --> 00:00:03,000\nGood\nbye\n");
  const bool webm = std::string(suffix) == "webm";
  const std::string file = samples::make(
      "clip." + std::string(suffix), "-i " + srt + " " + numbered(40, 10) + " -map 1:v -map 0:s " +
                                         (webm ? "-c:v libvpx -deadline realtime" : "-c:v libx264 -preset ultrafast") + " -c:s " + codec);
  std::filesystem::remove(srt);
  const FfmpegMediaOpener opener;
  const MediaInfo info = opener.probe(file);
  EXPECT_TRUE(info.holdsText);
  EXPECT_EQ(subtitlesOf(file, info), file);
  EXPECT_EQ(told(readSubtitles(file, {}, {}, {}).lines), "0.5-1.25 Hello there.|2-3 Good bye|");

  // A video that is asked for with them delivers them; its frames and its name are what they were.
  MediaRequest request = samples::video(file, 4);
  const auto plain = opener.openSource(request, {});
  EXPECT_TRUE(plain->lines().empty());
  request.subtitles = file;
  const auto with = opener.openSource(request, {});
  EXPECT_EQ(told(with->lines()), "0.5-1.25 Hello there.|2-3 Good bye|");
  EXPECT_EQ(with->content_hash(), plain->content_hash());
  EXPECT_EQ(samples::numberIn(with->read(3, 1, {}).front().image), samples::numberIn(plain->read(3, 1, {}).front().image));
}

INSTANTIATE_TEST_SUITE_P(Codecs, SubtitleStreams,
                         ::testing::Values(std::pair{"mkv", "srt"}, std::pair{"mkv", "ass"}, std::pair{"mp4", "mov_text"},
                                           std::pair{"webm", "webvtt"}),
                         [](const auto& info) { return std::string(info.param.first) + "_" + info.param.second; });

TEST(SubtitleStreamChoice, TheDefaultOneIsRead) {
  const std::string one = samples::path("one.srt"), two = samples::path("two.srt");
  samples::writeText(one, "1\n00:00:01,000 --> 00:00:02,000\nOne\n");
  samples::writeText(two, "1\n00:00:01,000 --> 00:00:02,000\nTwo\n");
  const std::string streams = "-i " + one + " -i " + two + " " + numbered(30, 10) +
                              " -map 2:v -map 0:s -map 1:s -c:v libx264 -preset ultrafast -c:s srt -disposition:s:0 0 -disposition:s:1 ";
  EXPECT_EQ(told(readSubtitles(samples::make("a.mkv", streams + "default"), {}, {}, {}).lines), "1-2 Two|");
  EXPECT_EQ(told(readSubtitles(samples::make("b.mkv", streams + "0"), {}, {}, {}).lines), "1-2 One|");
}

TEST(SubtitleStreamChoice, AVideoWithoutTextHasNone) {
  const std::string file = samples::make("plain.mp4", numbered(10, 10) + " -c:v libx264 -preset ultrafast");
  EXPECT_FALSE(FfmpegMediaOpener().probe(file).holdsText);
  EXPECT_EQ(subtitlesOf(file, FfmpegMediaOpener().probe(file)), "");
  test::expect_error(ErrorCode::kUnsupportedFormat, "plain.mp4: it holds no subtitles that are text",
                     [&] { readSubtitles(file, {}, {}, {}); });
  const std::string picture = samples::make("a.png", numbered(1, 1) + " -frames:v 1");
  test::expect_error(ErrorCode::kUnsupportedFormat, "this is a picture", [&] { readSubtitles(picture, {}, {}, {}); });
}

// Every byte of the subtitle packets, and every length of the file: it is read or refused, nothing else.
TEST(SubtitleStreamChoice, DamagedContainersAreReadOrRefused) {
  const std::string srt = samples::path("in.srt");
  samples::writeText(srt, "1\n00:00:00,500 --> 00:00:01,250\nHello there.\n");
  const std::string file =
      samples::make("clip.mp4", "-i " + srt + " " + numbered(10, 10) + " -map 1:v -map 0:s -c:v libx264 -preset ultrafast -c:s mov_text");
  const samples::Bytes whole = samples::readBytes(file);
  const std::string text = "Hello";
  const auto said = std::search(whole.begin(), whole.end(), text.begin(), text.end());
  ASSERT_NE(said, whole.end());
  const std::string damaged = samples::path("damaged.mp4");
  const auto attempt = [&](const samples::Bytes& bytes) {
    samples::writeBytes(damaged, bytes);
    try {
      readSubtitles(damaged, {}, {}, {});
    } catch (const Exception& problem) {
      EXPECT_FALSE(problem.error().reason.empty());
      EXPECT_NE(problem.error().code, ErrorCode::kInternal);
    }
  };
  for (std::ptrdiff_t at = -2; at < 14; ++at) {
    samples::Bytes bytes = whole;
    bytes[static_cast<std::size_t>(said - whole.begin() + at)] ^= 0xFF;
    attempt(bytes);
  }
  for (std::size_t at = 64; at < whole.size(); at += whole.size() / 40)
    attempt({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at)});
}

}  // namespace
}  // namespace winnow::app
