// What was heard is kept by what the sound holds, and that nothing is said in it is kept, too.
#include "app/engine/cache_store/kept_transcripts.h"

#include <gtest/gtest.h>

#include <QTemporaryDir>

#include "engine/base/file_bytes.h"

namespace winnow::app {
namespace {

std::string joined(const std::vector<TimedLine>& lines) {
  std::string text;
  for (const TimedLine& line : lines) text += line.text + "\n";
  return text.empty() ? "no lines" : text;
}

TEST(KeptTranscripts, AFileSaysTheLinesOrThatNothingIsSaid) {
  const QTemporaryDir data;
  Transcribe heard = hearingRequest("/clips/a.mp4", QStringLiteral("/models/ears"));
  heard.content = "00ff";
  const std::string file = transcriptFile(data.path(), heard, kSubtitles);
  EXPECT_FALSE(isKeptTranscript(file));
  EXPECT_FALSE(hasKeptLines(file));
  keepTranscript(file, {}, joined);
  EXPECT_TRUE(isKeptTranscript(file));
  EXPECT_FALSE(hasKeptLines(file)) << "nothing is said";
  keepTranscript(file, {{0.5, 1.5, "Good morning."}}, joined);
  EXPECT_TRUE(hasKeptLines(file));
  EXPECT_EQ(read_file_bytes(file, 100), "Good morning.\n");
}

TEST(KeptTranscripts, AreForgottenByTheSoundInEveryForm) {
  const QTemporaryDir data;
  const auto file = [&](const char* content, const char* ending) {
    Transcribe heard = hearingRequest("/clips/a.mp4", QStringLiteral("/models/ears"));
    heard.content = content;
    return transcriptFile(data.path(), heard, ending);
  };
  for (const char* content : {"00ff", "00"}) {
    for (const char* ending : {kSubtitles, kTimedText}) keepTranscript(file(content, ending), {{0, 1, "Hello."}}, joined);
  }
  forgetTranscripts(data.path(), {});
  forgetTranscripts(data.path(), "00");
  EXPECT_FALSE(isKeptTranscript(file("00", kSubtitles)));
  EXPECT_FALSE(isKeptTranscript(file("00", kTimedText)));
  EXPECT_TRUE(isKeptTranscript(file("00ff", kSubtitles))) << "another sound";
  EXPECT_TRUE(isKeptTranscript(file("00ff", kTimedText)));
}

TEST(KeptTranscripts, ASoundIsKnownByItsBytesAndByHowItIsHeard) {
  const Transcribe heard = hearingRequest("/clips/a.mp4", QStringLiteral("/models/ears"));
  EXPECT_TRUE(heard.voice.ends_with("silero_vad_16k.safetensors")) << heard.voice;
  EXPECT_EQ(heard.model, "/models/ears");
  const auto file = [](Transcribe of, const auto& change) {
    of.content = "00ff";
    change(of);
    return transcriptFile(QStringLiteral("/data"), of, kSubtitles);
  };
  const std::string first = file(heard, [](Transcribe&) {});
  EXPECT_EQ(file(heard, [](Transcribe& of) { of.path = "/clips/copy.mp4"; }), first);
  EXPECT_NE(file(heard, [](Transcribe& of) { of.content = "01ff"; }), first);
  EXPECT_NE(file(heard, [](Transcribe& of) { of.model = "/models/other"; }), first);
  EXPECT_NE(file(heard, [](Transcribe& of) { of.language = "de"; }), first);
  EXPECT_NE(file(heard, [](Transcribe& of) { of.voice.clear(); }), first) << "silence and music, too";
}

}  // namespace
}  // namespace winnow::app
