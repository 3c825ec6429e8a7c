// `transcribe` and `ask --listen` with a tiny random speech model: forms of output, what is kept, what is refused. What such a model hears
// in a tone is no speech, but the same every time; how exactly it hears is tests/engine/speech.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/programs/cli/command_run.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class CliTranscribe : public ::testing::Test {
 protected:
  // 16-bit mono at 16 kHz: a saw tooth whose pitch changes every half second.
  std::string sound() {
    std::string wav("RIFF\0\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x80\x3E\0\0\0\x7D\0\0\2\0\x10\0data", 40);
    const std::uint32_t bytes = 2 * 16'000 * 5;
    for (int shift = 0; shift < 32; shift += 8) wav += static_cast<char>(bytes >> shift);
    for (std::uint32_t at = 0; at < bytes / 2; ++at) {
      const auto value = static_cast<std::int16_t>(static_cast<int>(at * (200 + at / 8'000 * 137) % 16'000) - 8'000);
      wav += static_cast<char>(value & 0xFF);
      wav += static_cast<char>(value >> 8);
    }
    return scratch_.write("tone.wav", wav);
  }
  std::string model() const { return shell_quoted(source_folder() + "/tests/golden/whisper/english"); }
  ProgramRun transcribe(const std::string& rest) {
    return run_command(scratch_, "transcribe --model " + model() + " " + shell_quoted(sound()) + " " + rest);
  }

  ScratchFolder scratch_;
};

TEST_F(CliTranscribe, WritesTheSameLinesInEveryForm) {
  const ProgramRun plain = transcribe("--whole");
  ASSERT_EQ(plain.exit_code, 0) << plain.err;
  const ProgramRun told = transcribe("--whole --json");
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const json object = json::parse(told.out);
  ASSERT_GT(object.at("lines").size(), 0U) << told.out;
  EXPECT_EQ(object.at("language"), "en");
  EXPECT_EQ(object.at("sound_s"), 5.0);
  std::string lines;
  for (const json& line : object.at("lines")) lines += "] " + line.at("text").get<std::string>() + "\n";
  std::string seen;
  for (std::size_t at = 0, end = 0; at < plain.out.size(); at = end + 1) {
    end = plain.out.find('\n', at);
    const std::string line = plain.out.substr(at, end - at);
    seen += line.substr(line.find(']')) + "\n";
  }
  EXPECT_EQ(seen, lines);
  EXPECT_TRUE(transcribe("--whole --vtt").out.starts_with("WEBVTT\n\n00:00:0"));
  EXPECT_TRUE(transcribe("--whole --srt").out.starts_with("1\n00:00:0"));
  EXPECT_EQ(transcribe("--whole --srt --vtt").exit_code, 2);
}

TEST_F(CliTranscribe, AToneIsNoSpeech) {
  const ProgramRun run = transcribe("--json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(json::parse(run.out).at("lines").empty()) << run.out;
  EXPECT_NE(run.err.find("nothing is said in"), std::string::npos) << run.err;
}

TEST_F(CliTranscribe, WithoutASpeechModelItSaysHowToGetOne) {
  const ProgramRun run = run_command(scratch_, "transcribe " + shell_quoted(sound()));
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("get whisper-tiny.en"), std::string::npos) << run.err;
  const ProgramRun chat = run_command(scratch_, "transcribe --model " + shell_quoted(demo("model")) + " " + shell_quoted(sound()));
  EXPECT_EQ(chat.exit_code, 1);
  EXPECT_NE(chat.err.find("hears nothing"), std::string::npos) << chat.err;
  const ProgramRun foreign = transcribe("--language xx");
  EXPECT_EQ(foreign.exit_code, 1);
  EXPECT_NE(foreign.err.find("does not know this language"), std::string::npos) << foreign.err;
}

TEST_F(CliTranscribe, AskListensOnceAndAVideoWithoutSoundIsAsked) {
  const std::string ask = "ask --json --max-tokens 2 --frames 2 --listen --speech-model " + model() + " --video " +
                          shell_quoted(demo("samples/ten-seconds.mp4")) + " 'What is the first shape?'";
  const ProgramRun silent = run_command(scratch_, ask);
  EXPECT_EQ(silent.exit_code, 0) << silent.err;
  EXPECT_NE(silent.err.find("it has no sound"), std::string::npos) << silent.err;
  const std::string document = "ask --json --max-tokens 2 --speech-model " + model() + " --document " + shell_quoted(sound()) + " 'What?'";
  const ProgramRun first = run_command(scratch_, document);
  EXPECT_NE(first.err.find("lines heard in"), std::string::npos) << first.err;
  const ProgramRun second = run_command(scratch_, document);
  EXPECT_NE(second.err.find("heard before"), std::string::npos) << second.err;
}

}  // namespace
}  // namespace winnow::testing
