// The sound of files of all kinds: length, pitch and place in time, in pieces, in this process and in that for media.
#include "app/media/files/sound_file.h"

#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <utility>

#include "app/media/files/media_opener.h"
#include "app/media/process/process_media_reader.h"
#include "tests/app/media/files/sample_files.h"
#include "tests/support/expect_error.h"

namespace winnow::app {
namespace {

using samples::numbered;

constexpr const char* kTone = "-f lavfi -i sine=frequency=400:sample_rate=44100:duration=3";

std::vector<float> allOf(SoundSource& sound, std::int64_t piece = 7'777) {
  std::vector<float> samples;
  for (std::vector<float> more = sound.read(piece, {}); !more.empty(); more = sound.read(piece, {}))
    samples.insert(samples.end(), more.begin(), more.end());
  return samples;
}

std::vector<float> soundOf(const std::string& path) { return allOf(*FfmpegMediaOpener().openSound({path, {}}, {})); }

// Of a stretch, in seconds.
double loudness(const std::vector<float>& samples, double fromS, double toS) {
  double sum = 0.0;
  const auto from = static_cast<std::size_t>(fromS * kSoundRate), to = static_cast<std::size_t>(toS * kSoundRate);
  for (std::size_t at = from; at < to && at < samples.size(); ++at) sum += std::abs(samples[at]);
  return sum / static_cast<double>(to - from);
}

// Between half a second and two and a half: codecs add a little noise before and behind a tone.
int crossings(const std::vector<float>& samples) {
  int count = 0;
  for (std::size_t at = kSoundRate / 2; at < 5 * kSoundRate / 2 && at < samples.size(); ++at)
    count += samples[at - 1] < 0.0F && samples[at] >= 0.0F;
  return count;
}

TEST(SoundFile, EveryKindIsReadAsTheSameTone) {
  for (const auto& [name, codec] :
       std::initializer_list<std::pair<const char*, const char*>>{{"tone.wav", ""},
                                                                  {"stereo.wav", "-ac 2 -c:a pcm_s24le"},
                                                                  {"tone.flac", ""},
                                                                  {"tone.mp3", ""},
                                                                  {"plain.mp3", "-id3v2_version 0 -write_xing 0"},
                                                                  {"tone.m4a", ""},
                                                                  {"tone.aac", ""},
                                                                  {"tone.ogg", "-c:a libvorbis"},
                                                                  {"tone.opus", "-ar 48000 -c:a libopus"},
                                                                  {"tone.mka", "-c:a ac3"},
                                                                  {"tone.wma", "-c:a wmav2"}}) {
    SCOPED_TRACE(name);
    const std::vector<float> samples = soundOf(samples::make(name, std::string(kTone) + " " + codec));
    EXPECT_NEAR(static_cast<double>(samples.size()) / kSoundRate, 3.0, 0.12);
    EXPECT_NEAR(crossings(samples), 800, 4);
    EXPECT_NEAR(loudness(samples, 0.5, 2.5), 0.08, 0.02) << "ffmpeg's tone has an eighth of the range";
  }
}

TEST(SoundFile, SoundStandsWhereItsVideoHasIt) {
  const std::string late = samples::make("late.mkv", std::string("-itsoffset 1.5 ") + kTone + " " + numbered(50, 10) +
                                                         " -map 1:v -map 0:a -c:v libx264 -preset ultrafast -c:a flac");
  const std::vector<float> samples = soundOf(late);
  EXPECT_NEAR(static_cast<double>(samples.size()) / kSoundRate, 4.5, 0.1);
  EXPECT_EQ(loudness(samples, 0.0, 1.4), 0.0);
  EXPECT_GT(loudness(samples, 1.6, 4.4), 0.06);
}

TEST(SoundFile, PiecesAndASecondReadingAreTheWholeSound) {
  const std::string file = samples::make("pieces.mp3", kTone);
  const auto sound = FfmpegMediaOpener().openSound({file, {}}, {});
  const std::vector<float> whole = allOf(*sound, 1'000'000);
  sound->read(1, {});
  sound->rewind();
  EXPECT_EQ(allOf(*sound, 999), whole);
  EXPECT_NEAR(sound->duration_s(), 3.0, 0.1);
}

TEST(SoundFile, TheProcessForMediaHearsTheSame) {
  const std::string file =
      samples::make("clip.mp4", std::string(kTone) + " " + numbered(30, 10) + " -map 1:v -map 0:a -c:v libx264 -preset ultrafast -c:a aac");
  const ProcessMediaReader reader;
  const auto apart = reader.openSound({file, {}}, {});
  const std::vector<float> whole = soundOf(file);
  EXPECT_EQ(allOf(*apart), whole);
  apart->rewind();
  const std::vector<float> begin = apart->read(1'600, {});
  EXPECT_TRUE(std::equal(begin.begin(), begin.end(), whole.begin()));
  EXPECT_EQ(apart->content_hash(), FfmpegMediaOpener().openSound({file, {}}, {})->content_hash());
}

TEST(SoundFile, AProbeKnowsIfAVideoHasSound) {
  const ProcessMediaReader reader;
  const std::string both = std::string(kTone) + " " + numbered(30, 10) + " -map 1:v -map 0:a -c:v libx264 -preset ultrafast ";
  EXPECT_TRUE(reader.probe(samples::make("sound.mp4", both + "-c:a aac")).hasSound);
  EXPECT_TRUE(reader.probe(samples::make("sound.ts", both + "-c:a mp2")).hasSound);
  EXPECT_FALSE(reader.probe(samples::make("unread.mkv", both + "-c:a truehd -strict -2")).hasSound) << "a codec that is not read";
  EXPECT_FALSE(reader.probe(samples::make("silent.mkv", numbered(10, 10) + " -c:v libx264 -preset ultrafast")).hasSound);
}

TEST(SoundFile, WhatHasNoSoundIsRefused) {
  const auto open = [](const std::string& path) { return [path] { FfmpegMediaOpener().openSound({path, {}}, {}); }; };
  const std::string silent = samples::make("silent.mp4", numbered(10, 10) + " -c:v libx264 -preset ultrafast");
  test::expect_error(ErrorCode::kUnsupportedFormat, "it has no sound", open(silent));
  test::expect_error(ErrorCode::kUnsupportedFormat, "this is a picture", open(samples::make("still.png", numbered(1, 1))));
  InterruptSource stop;
  stop.request_cancel();
  EXPECT_THROW(FfmpegMediaOpener().openSound({silent, {}}, stop.token()), Interrupted);
}

}  // namespace
}  // namespace winnow::app
