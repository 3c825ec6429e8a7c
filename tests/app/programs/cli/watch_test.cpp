// watch on the demo model: frames through a pipe, questions between them.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "tests/app/programs/cli/program_run.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

// A bundled film as a transport stream, which can be read from a pipe.
std::string stream_of(const ScratchFolder& scratch, const std::string& sample) {
  const std::string stream = scratch.file("film.ts");
  const std::string made =
      "ffmpeg -v error -y -i " + shell_quoted(demo("samples/" + sample)) + " -c copy -f mpegts " + shell_quoted(stream);
  EXPECT_EQ(std::system(made.c_str()), 0) << made;
  return stream;
}

std::string questions_of(const ScratchFolder& scratch, const std::string& lines) {
  const std::string file = scratch.file("questions.jsonl");
  std::ofstream(file) << lines;
  return " --questions " + shell_quoted(file) + " ";
}

std::vector<json> lines_of(const std::string& text) {
  std::vector<json> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

TEST(CliWatch, AQuestionIsAboutWhatWasSeenSoFar) {
  const ScratchFolder scratch;
  const std::string film = stream_of(scratch, "two-minutes.mp4");
  const std::string timed = questions_of(scratch,
                                         "{\"at\": 40, \"question\": \"Describe the video.\"}\n\n"
                                         "{\"at\": 20, \"question\": \"Describe the video.\"}\n"
                                         "{\"at\": 500, \"question\": \"Describe the video.\"}\n");
  const ProgramRun run = run_cli(scratch, "watch - --every 2 --cap 100000 --json" + timed, film);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::vector<json> answers;
  json last;
  for (const json& line : lines_of(run.out)) {
    if (line.contains("answer")) {
      answers.push_back(line);
    } else {
      EXPECT_EQ(line.at("kv_bytes"), line.at("kv_bytes_full")) << "there is room for everything";
      EXPECT_EQ(line.at("forgotten_frames"), 0);
      last = line;
    }
  }
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_DOUBLE_EQ(answers[0].at("seen_s"), 20.0) << "in the order of their times";
  EXPECT_DOUBLE_EQ(answers[1].at("seen_s"), 40.0);
  EXPECT_EQ(answers[2].at("seen_s"), last.at("seen_s")) << "what comes too late is about all of it";
  EXPECT_EQ(last.at("frames"), 60);
  EXPECT_LT(answers[0].at("answer").get<std::string>().size(), answers[2].at("answer").get<std::string>().size());
}

TEST(CliWatch, WhatIsHeldStaysWithinTheCap) {
  const ScratchFolder scratch;
  const std::string film = stream_of(scratch, "two-minutes.mp4");
  // The demo model, as if it had been trained to half as many frames.
  std::filesystem::copy(demo("model"), scratch.file("model"), std::filesystem::copy_options::recursive);
  json sidecar = json::parse(file_text(scratch.file("model/winnow.json")));
  sidecar["video_frames"] = 64;
  write_file(scratch.file("model/winnow.json"), sidecar.dump());
  for (const std::string method : {"self-study-stream", "kvzip-stream", "infinipot-v", "keydiff --method-option event=clips"}) {
    SCOPED_TRACE(method);
    const std::string arguments = "watch - --every 1 --cap 40 --json --model " + shell_quoted(scratch.file("model")) + " --method " +
                                  method + questions_of(scratch, "");
    const ProgramRun run = run_cli(scratch, arguments, film);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const std::vector<json> lines = lines_of(run.out);
    ASSERT_GE(lines.size(), 15U);
    for (const json& line : lines) {
      for (const json& slots : line.at("slots")) EXPECT_LE(slots.get<int>(), 4 * 40) << "four heads";
    }
    EXPECT_EQ(lines.back().at("frames"), 120);
    EXPECT_GT(lines.back().at("frames_a_position"), 1) << "more frames than the model was trained on";
    EXPECT_LT(lines.back().at("kv_bytes"), lines.back().at("kv_bytes_full"));
  }
}

TEST(CliWatch, ALineOfStandardInputIsAQuestion) {
  const ScratchFolder scratch;
  const std::string film = stream_of(scratch, "ten-seconds.mp4");
  const std::string typed = scratch.file("typed");
  std::ofstream(typed) << "\nDescribe the video.";
  const ProgramRun run = run_cli(scratch, "watch --every 0.25 --stall 0.5 " + shell_quoted(film), typed);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_TRUE(run.out.starts_with("[0:") || run.err.find("no frame has arrived yet") != std::string::npos) << run.out << run.err;
  EXPECT_NE(run.err.find("the source has ended"), std::string::npos) << run.err;
}

TEST(CliWatch, WhatCannotBeWatchedIsRefusedInOneSentence) {
  const ScratchFolder scratch;
  const std::string film = stream_of(scratch, "ten-seconds.mp4");
  const std::string quoted = shell_quoted(film);
  const auto refused = [&](const std::string& rest) {
    const ProgramRun run = run_cli(scratch, "watch " + rest);
    EXPECT_NE(run.exit_code, 0) << rest;
    EXPECT_EQ(run.out, "") << rest;
    return run.err;
  };
  EXPECT_NE(refused("--method self-study " + quoted).find("self-study reads media as a whole"), std::string::npos);
  EXPECT_NE(refused("--method no-such " + quoted).find("there is no method"), std::string::npos);
  EXPECT_NE(refused("rtmp://127.0.0.1/live").find("rtmp"), std::string::npos);
  EXPECT_NE(refused(shell_quoted(scratch.file("nothing"))).find("nothing"), std::string::npos);
  EXPECT_NE(refused("--questions " + shell_quoted(scratch.file("none.jsonl")) + " " + quoted).find("none.jsonl"), std::string::npos);
  EXPECT_NE(refused(questions_of(scratch, "{\"at\": -1, \"question\": \"?\"}\n") + quoted).find("questions.jsonl:1"), std::string::npos);
  EXPECT_NE(refused("--cap 0 " + quoted).find("--cap"), std::string::npos);
}

TEST(CliWatch, ASourceOfWhichNothingWasSeenIsAnError) {
  const ScratchFolder scratch;
  const std::string pipe = scratch.file("nobody.ts");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  write_file(scratch.file("empty.ts"), "");
  for (const std::string& source : {pipe, scratch.file("empty.ts")}) {
    const ProgramRun run = run_cli(scratch, "watch --json --stall 0.5 " + shell_quoted(source));
    EXPECT_EQ(run.exit_code, 1) << source << run.err;
    EXPECT_NE(run.err.find("no frames arrived for 0.5 seconds"), std::string::npos) << run.err;
    EXPECT_EQ(run.out, "") << source;
  }
}

}  // namespace
}  // namespace winnow::testing
