// What only the program itself shows: exit codes, what goes to which stream, conversations that come through stdin.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/app/programs/cli/program_run.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

std::string sample_video() { return shell_quoted(demo("samples/ten-seconds.mp4")); }

TEST(Cli, WrongUsageIsTwo) {
  const ScratchFolder scratch;
  EXPECT_EQ(run_cli(scratch, "").exit_code, 2);
  EXPECT_EQ(run_cli(scratch, "ask").exit_code, 2);
  EXPECT_EQ(run_cli(scratch, "ask --retention 0 hello").exit_code, 2);
  EXPECT_EQ(run_cli(scratch, "ask --retention 1.5 hello").exit_code, 2);
  EXPECT_EQ(run_cli(scratch, "ask --method no-such hello").exit_code, 2);
  EXPECT_EQ(run_cli(scratch, "ask --frames 3 --every 2 --video x hello").exit_code, 2);
  EXPECT_EQ(run_cli(scratch, "--help").exit_code, 0);
}

TEST(Cli, TooManyPicturesAreSaidBeforeTheyAreRead) {
  const ScratchFolder scratch;
  std::string images;
  for (int i = 0; i <= 1'000; ++i) images += " --image " + std::to_string(i) + ".png";  // none of them is there
  const ProgramRun run = run_cli(scratch, "plan" + images + " hello");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("1001 images, videos and documents are attached, and a question takes at most 1000"), std::string::npos)
      << run.err;
}

TEST(Cli, AsksForTheSandboxWhereverTheOptionStands) {
  const ScratchFolder scratch;
  const std::string image = " --image " + shell_quoted(demo("samples/picture.png")) + " hello";
  EXPECT_EQ(run_cli(scratch, "--require-sandbox plan" + image).exit_code, 0);
  EXPECT_EQ(run_cli(scratch, "plan --require-sandbox" + image).exit_code, 0);
}

TEST(Cli, StreamsTheAnswerToStdoutAndFiguresToStderr) {
  const ScratchFolder scratch;
  const std::string arguments = "ask --frames 8 --max-tokens 12 --video " + sample_video() + " 'What is the first shape?'";
  const ProgramRun text = run_cli(scratch, arguments);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  const ProgramRun as_json = run_cli(scratch, arguments + " --json");
  EXPECT_EQ(text.out, json::parse(as_json.out)["answer"].get<std::string>() + "\n");
  EXPECT_NE(text.err.find("KV"), std::string::npos);
}

TEST(Cli, BatchSaysNothingButAnswers) {
  const ScratchFolder scratch;
  const json line = {{"video", demo("samples/ten-seconds.mp4").string()},
                     {"frames", 4},
                     {"questions", {"What is the first shape?", "Is there a red star?"}}};
  write_file(scratch.file("questions.jsonl"), line.dump() + "\n\n" + line.dump() + "\n");
  const ProgramRun run = run_cli(scratch, "batch --max-tokens 4 " + shell_quoted(scratch.file("questions.jsonl")));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  std::istringstream lines(run.out);
  std::string text;
  int count = 0;
  for (; std::getline(lines, text); ++count) EXPECT_EQ(json::parse(text)["answers"].size(), 2U);
  EXPECT_EQ(count, 2);
}

// Several lines at once have the answers of one after the other, in the order of the lines, up to a bad one.
TEST(Cli, BatchAtOnceAnswersAsOneAfterTheOther) {
  const ScratchFolder scratch;
  std::string lines;
  for (const char* video : {"ten-seconds.mp4", "half-minute.webm", "two-minutes.mp4"}) {
    for (const double retention : {0.2, 1.0}) {
      const json line = {{"video", demo(std::string("samples/") + video).string()},
                         {"frames", 4},
                         {"method", "snapkv"},
                         {"retention", retention},
                         {"questions", {"What is the first shape?", "Is there a red star?"}}};
      lines += line.dump() + '\n';
    }
  }
  lines += R"({"questions": ["What?"], "video": "/nowhere.mp4"})" + std::string("\n");
  write_file(scratch.file("questions.jsonl"), lines);
  const auto answers = [&](const std::string& at_once) {
    const ProgramRun run =
        run_cli(scratch, "batch --max-tokens 8 --at-once " + at_once + " " + shell_quoted(scratch.file("questions.jsonl")));
    std::vector<std::string> all;
    std::istringstream written(run.out);
    for (std::string text; std::getline(written, text);) {
      const json answer = json::parse(text);
      all.push_back(answer.value("video", "") + ": " + answer.value("answers", json()).dump());
    }
    return all;
  };
  const std::vector<std::string> one = answers("1");
  EXPECT_EQ(one.size(), 6U) << "the last line ends it";
  EXPECT_EQ(answers("4"), one);
}

TEST(Cli, ChatGoesOnAfterAnError) {
  const ScratchFolder scratch;
  write_file(scratch.file("script"), "/video " + demo("samples/ten-seconds.mp4").string() +
                                         " 8\nWhat is the first shape?\n/nonsense\nIs there a red star?\n/quit\n");
  const ProgramRun run = run_cli(scratch, "chat --max-tokens 8", scratch.file("script"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 2) << "two answers: " << run.out;
}

// A failed /image stayed attached, and every later question failed with it.
TEST(CliChat, WhatCannotBeAttachedIsNotAndWhatIsAttachedCanBeTakenBack) {
  const ScratchFolder scratch;
  std::filesystem::copy_file(demo("samples/ten-seconds.mp4"), scratch.file("clip 2.mp4"));
  write_file(scratch.file("a text.txt"), "The fifth word is blue.\n");
  write_file(scratch.file("no picture.png"), "words");
  const std::string folder = scratch.path();
  write_file(scratch.file("lines"), "/image " + folder + "/missing.png\n/image " + folder +
                                        "/no\\ picture.png\n/image\nHello?\n/video file://" + folder + "/clip%202.mp4 4\n/document '" +
                                        folder + "/a text.txt' \n/detach 3\n/detach 1\n" + "/detach\n/detach\n/video " + folder +
                                        "/clip 2.mp4\n/detach\nAnd now?\n/quit\n");
  const ProgramRun run = run_cli(scratch, "chat --frames 6 --max-tokens 2", scratch.file("lines"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 2) << "both questions are answered: " << run.out << run.err;
  std::size_t at = 0;
  for (const char* said :
       {"missing.png: ", "no picture.png: ", "/image: needs a file name", "(attached to the next question: 1 clip 2.mp4 (4 frames))",
        "1 clip 2.mp4 (4 frames), 2 a text.txt)", "takes a number from 1 to 2", "(attached to the next question: 1 a text.txt)",
        "(nothing is attached to the next question)", "/detach: nothing is attached", "1 clip 2.mp4 (6 frames))",
        "(nothing is attached to the next question)"}) {
    at = run.err.find(said, at);
    ASSERT_NE(at, std::string::npos) << said << "\n" << run.err;
  }
}

// A question that the model has no room for ended in a sentence without a way on.
TEST(CliChat, AConversationThatIsTooLongNamesTheWaysOutAndTakesThem) {
  const ScratchFolder scratch;
  std::filesystem::copy(source_folder() + "/tests/golden/qwen2_vl/published/model", scratch.file("model"));
  json config = json::parse(file_text(scratch.file("model/config.json")));
  config["max_position_embeddings"] = 120;  // the second question takes 92 tokens and its answer 20; behind the first at least 125
  write_file(scratch.file("model/config.json"), config.dump());
  const std::string longer = "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789\n";
  write_file(scratch.file("lines"), "one\n" + longer + "/drop\n/new\n" + longer + "/new\n/drop 5\n/quit\n");
  const ProgramRun run = run_cli(scratch, "chat --max-tokens 20 --model " + scratch.file("model"), scratch.file("lines"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::size_t at = 0;
  for (const char* said :
       {"the model reads 120 tokens", "(/drop leaves out the oldest question and its answer, /new asks in a new conversation",
        "(left out with what was attached to them: 1)", "/new: no question was too long", "the model reads 120 tokens",
        "/drop: 1 questions can be left out"}) {
    at = run.err.find(said, at);
    ASSERT_NE(at, std::string::npos) << said << "\n" << run.err;
  }
}

TEST(CliChat, SaysWhatAMethodKeptForAQuestionOnlyWhereItDroppedSomething) {
  const ScratchFolder scratch;
  write_file(scratch.file("lines"), "Hello?\n/video " + demo("samples/ten-seconds.mp4").string() + " 8\nWhat is the first shape?\n/quit\n");
  const ProgramRun run = run_cli(scratch, "chat --method snapkv --retention 0.2 --max-tokens 2", scratch.file("lines"));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string note = "kept what this question needed";
  const std::size_t said = run.err.find(note);
  ASSERT_NE(said, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find(note, said + 1), std::string::npos);
  EXPECT_GT(said, run.err.find("attached to the next question: 1 ten-seconds.mp4")) << "after a text of five words, nothing was compressed";
}

// It was refused in the engine's words, which name neither the option nor a way on.
TEST(CliChat, AGuardThatTheMethodCannotHaveSaysWhyAndWhatToDo) {
  const ScratchFolder scratch;
  write_file(scratch.file("lines"), "Hello?\n/method snapkv\nHello?\n/quit\n");
  const ProgramRun run = run_cli(scratch, "chat --guard ram --max-tokens 2", scratch.file("lines"));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.err.find("--guard ram: self-study compresses before the question and keeps the same for every question; leave --guard out"),
            std::string::npos)
      << run.err;
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 1) << "snapkv compresses after the question: " << run.out;
}

TEST(Cli, ChatContinuesAnAnswerWhereItWasCut) {
  const ScratchFolder scratch;
  const std::string asked = "/video " + demo("samples/ten-seconds.mp4").string() + " 8\nDescribe the video.\n";
  write_file(scratch.file("whole"), asked + "/continue\n/quit\n");
  write_file(scratch.file("pieces"), asked + "/continue\n/continue\n/figures\nIs there a red star?\n/quit\n");
  const ProgramRun whole = run_cli(scratch, "chat --max-tokens 9", scratch.file("whole"));
  const ProgramRun pieces = run_cli(scratch, "chat --max-tokens 3", scratch.file("pieces"));
  ASSERT_NE(pieces.err.find("(cut at 3 tokens; continue with /continue)"), std::string::npos) << pieces.err;
  EXPECT_NE(pieces.err.find("(cut at 6 tokens; continue with /continue)"), std::string::npos) << pieces.err;
  const std::string answer = whole.out.substr(0, whole.out.find('\n'));
  std::string joined;
  for (const char byte : pieces.out) {
    if (byte != '\n') joined += byte;
  }
  ASSERT_FALSE(answer.empty());
  EXPECT_TRUE(joined.starts_with(answer)) << joined << "\n" << answer;
  EXPECT_EQ(std::count(pieces.out.begin(), pieces.out.end(), '\n'), 4) << pieces.out;
}

TEST(CliPins, AChatReadsEarlierMediaAgainWhenTheirPinsChange) {
  const ScratchFolder scratch;
  const std::string sample = demo("samples/ten-seconds.mp4").string();
  write_file(scratch.file("lines"),
             "/video " + sample + " 8\nWhat is the first shape?\nAnd then?\n/figures\n/pin 0-3\nAnd now?\n/figures\n/pin oops\n/quit\n");
  const ProgramRun run = run_cli(scratch, "chat --max-tokens 4 --method h2o --retention 0.2", scratch.file("lines"));
  EXPECT_EQ(run.exit_code, 0);
  const std::string& said = run.err;
  const std::size_t first = said.find("(0 attached)");
  ASSERT_NE(first, std::string::npos) << said;
  EXPECT_NE(said.find("pinned: ", first), std::string::npos) << said;
  EXPECT_EQ(said.find("(0 attached)", first + 1), std::string::npos) << "the video went through the model again: " << said;
  EXPECT_NE(said.find("must be a range of seconds"), std::string::npos) << said;
}

}  // namespace
}  // namespace winnow::testing
