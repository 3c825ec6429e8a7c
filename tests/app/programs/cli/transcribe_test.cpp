// `transcribe` and `ask --listen` with a tiny random speech model: forms of output, what is kept, what is refused. What such a model hears
// in a tone is no speech, but the same every time; how exactly it hears is tests/engine/speech.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/programs/cli/command_run.h"
#include "tests/support/saw_tooth.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

class CliTranscribe : public ::testing::Test {
 protected:
  std::string sound() { return scratch_.write("tone.wav", test::sawTooth(5)); }
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

// What it hears with is tests/engine/speech; here it is found, and refused as what it is.
TEST_F(CliTranscribe, AFileOfWhisperCppInTheFolderOfModelsIsTheSpeechModel) {
  const std::uint32_t head[] = {0x67676d6c, 51'864, 100, 32, 2, 2, 40, 32, 2, 2, 80, 1};
  const std::string bytes(reinterpret_cast<const char*>(head), sizeof head);
  fs::create_directories(scratch_.file("home/data/models"));
  const std::string file = scratch_.write("home/data/models/ggml-tiny.en.bin", bytes);
  for (const std::string& model : {std::string(), " --model " + shell_quoted(file)}) {
    const ProgramRun run = run_command(scratch_, "transcribe" + model + " " + shell_quoted(sound()));
    EXPECT_EQ(run.exit_code, 1);
    EXPECT_NE(run.err.find("ggml-tiny.en.bin"), std::string::npos) << run.err;
    EXPECT_NE(run.err.find("the file ends too early"), std::string::npos) << run.err;
  }
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

TEST_F(CliTranscribe, EveryCommandThatAsksListens) {
  const std::string speech = " --speech-model " + model();
  const std::string video = shell_quoted(demo("samples/ten-seconds.mp4"));
  for (const std::string& command : {"plan --listen --frames 2 --video " + video + " 'What is it?'",
                                     "compare --listen --frames 2 --max-tokens 2 --method full --video " + video + " 'What is it?'"}) {
    const ProgramRun run = run_command(scratch_, command + speech);
    EXPECT_EQ(run.exit_code, 0) << command << run.err;
    EXPECT_NE(run.err.find("it has no sound"), std::string::npos) << command << run.err;
  }
  const std::string line =
      json{{"video", demo("samples/ten-seconds.mp4").string()}, {"frames", 2}, {"questions", {"What is it?"}}}.dump() + "\n";
  const std::string lines = shell_quoted(scratch_.write("lines.jsonl", line + line));
  for (const char* at_once : {"1", "2"}) {
    const ProgramRun batch =
        run_command(scratch_, "batch --listen --max-tokens 2 --at-once " + std::string(at_once) + speech + " " + lines);
    EXPECT_EQ(batch.exit_code, 0) << batch.err;
    EXPECT_NE(batch.err.find("it has no sound"), std::string::npos) << batch.err;
    EXPECT_EQ(std::count(batch.out.begin(), batch.out.end(), '\n'), 2) << batch.out;
  }
  const std::string typed =
      scratch_.write("typed.txt", "/document " + sound() + "\n/video " + demo("samples/ten-seconds.mp4").string() + " 2\n/quit\n");
  const ProgramRun chat = run_command(scratch_, "chat --listen" + speech, typed);
  EXPECT_EQ(chat.exit_code, 0) << chat.err;
  EXPECT_NE(chat.err.find("nothing is said in this sound"), std::string::npos) << chat.err;
  EXPECT_NE(chat.err.find("it has no sound"), std::string::npos) << chat.err;
}

}  // namespace
}  // namespace winnow::testing
