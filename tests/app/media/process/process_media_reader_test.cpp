// What comes out of the media process is what the same reader says in this one: frames bit for bit, texts, times, notices and errors.
#include "app/media/process/process_media_reader.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "app/media/files/media_opener.h"
#include "app/media/files/text_encoding.h"
#include "engine/messages/wire_value.h"
#include "tests/app/media/files/sample_files.h"

namespace winnow::app {
namespace {

using samples::numbered;

// One process for all tests, as a program has one.
const ProcessMediaReader& readerApart() {
  static const ProcessMediaReader reader;
  return reader;
}

void expectEqual(const MediaInfo& here, const MediaInfo& there) { EXPECT_EQ(wire::encoded_fields(here), wire::encoded_fields(there)); }

void expectSame(const MediaRequest& request) {
  SCOPED_TRACE(request.path);
  const FfmpegMediaOpener opener;
  const auto here = opener.openSource(request, {});
  const auto there = readerApart().openSource(request, {});
  EXPECT_EQ(there->kind(), here->kind());
  EXPECT_EQ(there->duration_s(), here->duration_s());
  EXPECT_EQ(there->asked_times_s(), here->asked_times_s());
  EXPECT_EQ(there->shown_times_s(), here->shown_times_s());
  EXPECT_EQ(there->standing_until_s(), here->standing_until_s());
  EXPECT_EQ(there->content_hash(), here->content_hash());
  EXPECT_EQ(there->text(), here->text());
  EXPECT_EQ(there->lines(), here->lines());
  EXPECT_EQ(there->notices(), here->notices());
  expectEqual(there->info(), here->info());
  ASSERT_EQ(there->frame_count(), here->frame_count());
  const auto expected = here->read(0, here->frame_count(), {});
  const auto frames = there->read(0, there->frame_count(), {});
  ASSERT_EQ(frames.size(), expected.size());
  for (std::size_t i = 0; i < frames.size(); ++i) {
    EXPECT_EQ(frames[i].asked_s, expected[i].asked_s);
    EXPECT_EQ(frames[i].actual_s, expected[i].actual_s);
    EXPECT_EQ(frames[i].image.width_px, expected[i].image.width_px);
    EXPECT_TRUE(frames[i].image.rgb == expected[i].image.rgb) << "frame " << i;
  }
  EXPECT_EQ(there->notices(), here->notices()) << "after the frames were read";
  expectEqual(there->info(), here->info());
}

TEST(ProcessMediaReader, VideosOfAllKinds) {
  for (const auto& [name, arguments] :
       std::initializer_list<std::pair<const char*, const char*>>{{"a.mp4", "-c:v libx264 -preset ultrafast -g 5"},
                                                                  {"b.mp4", "-c:v libx265 -preset ultrafast -x265-params log-level=none"},
                                                                  {"a.webm", "-c:v libvpx -deadline realtime"},
                                                                  {"b.webm", "-c:v libvpx-vp9 -deadline realtime"},
                                                                  {"c.mkv", "-c:v libaom-av1 -cpu-used 8 -usage realtime"},
                                                                  {"a.ts", "-c:v libx264 -preset ultrafast"},
                                                                  {"a.avi", "-c:v mpeg4"},
                                                                  {"a.mov", "-c:v prores_ks"},
                                                                  {"a.mpg", "-r 25 -c:v mpeg2video"},
                                                                  {"a.ogv", "-c:v libtheora"},
                                                                  {"a.wmv", "-c:v wmv2"},
                                                                  {"a.flv", "-c:v flv"}}) {
    expectSame(samples::video(samples::make(name, numbered(20, 10) + " " + arguments), 6));
  }
}

TEST(ProcessMediaReader, AVideoByStepsAndInParts) {
  const std::string file = samples::make("a.mp4", numbered(40, 10) + " -c:v libx264 -preset ultrafast -g 8");
  expectSame(samples::videoEvery(file, 0.5));
  const auto source = readerApart().openSource(samples::video(file, 8), {});
  const auto all = source->read(0, 8, {});
  for (const int i : {5, 0, 7}) EXPECT_TRUE(source->read(i, 1, {}).front().image.rgb == all[static_cast<std::size_t>(i)].image.rgb) << i;
  EXPECT_TRUE(source->read(8, 0, {}).empty());
  EXPECT_THROW(source->read(7, 2, {}), Exception);
  EXPECT_EQ(source->read(7, 1, {}).size(), 1U) << "an error of a question leaves the source as it was";
}

// The process reads the next frames before they are asked for.
TEST(ProcessMediaReader, WhatIsReadAheadIsTheSameInAnyOrder) {
  const std::string file = samples::make("a.mp4", numbered(150, 10) + " -c:v libx264 -preset ultrafast -g 10");
  const MediaRequest request = samples::video(file, 40);
  const auto expected = FfmpegMediaOpener().openSource(request, {})->read(0, 40, {});
  const auto one = readerApart().openSource(request, {});
  const auto other = readerApart().openSource(request, {});
  const auto expectPart = [&](MediaSource& source, int first, int count) {
    SCOPED_TRACE(first);
    const auto part = source.read(first, count, {});
    ASSERT_EQ(part.size(), static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < part.size(); ++i) {
      EXPECT_TRUE(part[i].image.rgb == expected[static_cast<std::size_t>(first) + i].image.rgb) << i;
      EXPECT_EQ(part[i].actual_s, expected[static_cast<std::size_t>(first) + i].actual_s);
    }
  };
  for (int at = 0; at < 40; at += 8) expectPart(*one, at, 8);
  for (int at = 0; at < 40; at += 8) {  // in turns
    expectPart(*one, at, 8);
    expectPart(*other, at, 8);
  }
  for (const auto& [first, count] : {std::pair(0, 8), {8, 4}, {12, 8}, {4, 8}, {12, 1}, {13, 1}, {14, 26}, {0, 8}})
    expectPart(*one, first, count);
  EXPECT_EQ(readerApart().detectKind(file), MediaKind::kVideo) << "in between";
  expectPart(*one, 8, 8);
  InterruptSource interrupt;
  interrupt.request_cancel();
  EXPECT_THROW(one->read(16, 8, interrupt.token()), Interrupted);
  expectPart(*one, 16, 8);
}

TEST(ProcessMediaReader, ADamagedVideoWithItsNotices) {
  const std::string file = samples::make("a.mp4", numbered(150, 10) + " -c:v libx264 -preset ultrafast -g 10 -movflags +faststart");
  samples::Bytes bytes = samples::readBytes(file);
  const std::string tag = "mdat";
  const auto data = std::search(bytes.begin(), bytes.end(), tag.begin(), tag.end()) + 4;
  std::fill(data + (bytes.end() - data) * 2 / 5, data + (bytes.end() - data) * 3 / 5, std::uint8_t{0});
  samples::writeBytes(file, bytes);
  expectSame(samples::video(file, 10));
}

TEST(ProcessMediaReader, PicturesOfAllKinds) {
  const std::string picture = "-f lavfi -i testsrc=s=321x200 -frames:v 1 ";
  for (const auto& [name, arguments] : std::initializer_list<std::pair<const char*, const char*>>{
           {"a.png", ""}, {"b.png", "-pix_fmt rgba"}, {"a.jpg", "-q:v 3"}, {"a.gif", ""}, {"a.webp", "-c:v libwebp"}, {"a.bmp", ""}}) {
    const std::string file = samples::make(name, picture + arguments);
    expectSame(samples::image(file));
    EXPECT_EQ(readerApart().detectKind(file), MediaKind::kImage);
  }
  // Scaled down, by OpenCV and its threads.
  expectSame(samples::image(samples::make("wide.png", "-f lavfi -i color=red:s=20000x120 -frames:v 1")));
}

// Every converter of the list is there, although the process cannot load one any more.
TEST(ProcessMediaReader, DocumentsInAllEncodings) {
  const std::string file = samples::path("a.txt");
  samples::writeText(file, "Zwei Zeilen\nund ein \xE4\xF6 \x81\x40 am Ende.\n");
  MediaRequest request{.path = file, .kind = MediaKind::kDocument};
  expectSame(request);
  for (const std::string& encoding : encodingNames()) {
    request.encoding = encoding;
    SCOPED_TRACE(encoding);
    std::string here, there;
    const auto read = [&](const MediaReader& reader) {
      try {
        return reader.openSource(request, {})->text();
      } catch (const Exception& problem) {
        return std::string(problem.what());
      }
    };
    EXPECT_EQ(read(readerApart()), read(FfmpegMediaOpener()));
  }
}

TEST(ProcessMediaReader, SubtitlesBesideAndInside) {
  const std::string lines = samples::path("film.srt");
  samples::writeText(lines, "1\n00:00:00,500 --> 00:00:01,500\nGr\xFC\xDF Gott\n\n2\n00:00:02,000 --> 00:00:03,000\n<i>Servus</i>\n");
  const std::string file = samples::make("film.mp4", numbered(40, 10) + " -c:v libx264 -preset ultrafast");
  MediaRequest request = samples::video(file, 4);
  request.subtitles = lines;
  expectSame(request);
  request.encoding = "KOI8-R";
  expectSame(request);
  samples::writeText(lines, "1\n00:00:00,500 --> 00:00:01,500\nHello\n");
  const std::string inside =
      samples::make("inside.mkv", "-i " + lines + " " + numbered(40, 10) + " -map 1 -map 0 -c:v libx264 -preset ultrafast -c:s srt");
  request = samples::video(inside, 4);
  request.subtitles = inside;
  expectSame(request);
  EXPECT_EQ(readerApart().readSubtitles(inside, {}, {}).lines, FfmpegMediaOpener().readSubtitles(inside, {}, {}).lines);
}

TEST(ProcessMediaReader, ProbesAsTheOtherDoes) {
  const std::string video = samples::make("a.mp4", numbered(20, 10) + " -c:v libx264 -preset ultrafast");
  const std::string text = samples::path("a.txt");
  samples::writeText(text, "three small words");
  for (const std::string& file : {video, text}) expectEqual(readerApart().probe(file), FfmpegMediaOpener().probe(file));
}

TEST(ProcessMediaReader, SaysTheSameErrors) {
  const std::string text = samples::path("notes.mp4");
  samples::writeText(text, "Dear diary, this is not a film.\n");
  const std::string empty = samples::path("empty.png");
  samples::writeText(empty, "");
  const std::string pipe = samples::path("pipe.png");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const std::string dangling = samples::path("link.png");
  std::filesystem::create_symlink("nowhere", dangling);
  const std::string video = samples::make("a.mp4", numbered(4, 4) + " -c:v libx264 -preset ultrafast");
  const std::string cut = samples::path("cut.mp4");
  samples::Bytes bytes = samples::readBytes(video);
  bytes.resize(bytes.size() / 2);
  samples::writeBytes(cut, bytes);
  std::vector<MediaRequest> requests;
  for (const std::string& file : {text, empty, pipe, dangling, cut, samples::path("missing"), samples::path(""), std::string()}) {
    for (const MediaKind kind : {MediaKind::kVideo, MediaKind::kImage, MediaKind::kDocument}) {
      requests.push_back(samples::video(file, 4));
      requests.back().kind = kind;
    }
  }
  requests.push_back(samples::image(video));
  requests.push_back(samples::video(video, 4));
  requests.back().subtitles = samples::path("missing.srt");
  requests.push_back(samples::video(cut, 4));
  requests.back().subtitles = samples::path("missing.srt");
  requests.push_back(samples::video(video, 0));
  for (const MediaRequest& request : requests) {
    const auto problem = [&](const MediaReader& reader) {
      try {
        reader.openSource(request, {});
        return std::string("none");
      } catch (const Exception& error) {
        return std::to_string(static_cast<int>(error.error().code)) + " " + error.error().subject + ": " + error.error().reason;
      }
    };
    EXPECT_EQ(problem(readerApart()), problem(FfmpegMediaOpener()));
  }
}

TEST(ProcessMediaReader, ReadsWhatWasOpenedAlthoughTheNameIsGone) {
  const std::string file = samples::make("a.png", "-f lavfi -i testsrc=s=64x48 -frames:v 1");
  const auto picture = samples::readImage(file);
  const auto source = readerApart().openSource(samples::image(file), {});
  std::filesystem::remove(file);
  EXPECT_TRUE(source->read(0, 1, {}).front().image.rgb == picture.rgb);
  EXPECT_EQ(source->content_hash().size(), 64U);
}

// A sound counts as a document where a text of what is said in it is named.
TEST(ProcessMediaReader, ASoundHasTheTextThatWasHeardInIt) {
  MediaRequest sound;
  sound.path = samples::make("tone.wav", "-f lavfi -i sine=duration=1");
  sound.kind = MediaKind::kDocument;
  sound.subtitles = samples::path("tone.txt");
  samples::writeText(sound.subtitles, "[0:00] Good morning.\n");
  expectSame(sound);
  const auto source = readerApart().openSource(sound, {});
  EXPECT_EQ(source->text(), "[0:00] Good morning.\n");
  EXPECT_EQ(source->content_hash(), readerApart().openSound({sound.path, {}}, {})->content_hash());
  MediaRequest other = sound;
  other.subtitles = samples::path("other.txt");
  samples::writeText(other.subtitles, "[0:00] Good night.\n");
  EXPECT_EQ(readerApart().openSource(other, {})->text(), "[0:00] Good night.\n");
  other.subtitles = samples::path("gone.txt");
  EXPECT_THROW(readerApart().openSource(other, {}), Exception);
}

// A document that did not change is read once.
TEST(ProcessMediaReader, RemembersDocuments) {
  const std::string file = samples::path("a.txt");
  samples::writeText(file, "once");
  std::filesystem::last_write_time(file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
  const ProcessMediaReader reader;
  MediaRequest request{.path = file, .kind = MediaKind::kDocument};
  EXPECT_EQ(reader.openSource(request, {})->text(), "once");
  ::kill(reader.process().pid(), SIGKILL);
  EXPECT_EQ(reader.openSource(request, {})->text(), "once");
}

TEST(ProcessMediaReader, EndsSoonAfterAnInterrupt) {
  const std::string file = samples::make("a.mp4", numbered(20, 10) + " -c:v libx264 -preset ultrafast");
  InterruptSource before;
  before.request_cancel();
  EXPECT_THROW(readerApart().openSource(samples::video(file, 8), before.token()), Interrupted);
  const auto source = readerApart().openSource(samples::video(file, 8), {});
  EXPECT_THROW(source->read(0, 8, before.token()), Interrupted);
  EXPECT_EQ(source->read(0, 8, {}).size(), 8U) << "after Interrupted it can be read again";
}

}  // namespace
}  // namespace winnow::app
