// prepare, --save-cache, --load-cache and batch --together on the demo model: what is asked later is answered as if it had been asked at
// once.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/app/programs/cli/command_run.h"

namespace winnow::testing {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kRecipe = " --method self-study --retention 0.1 --frames 16 ";

std::string sample(const ScratchFolder& scratch) {
  fs::copy_file(demo("samples/ten-seconds.mp4"), scratch.file("film.mp4"), fs::copy_options::overwrite_existing);
  return " --video " + shell_quoted(scratch.file("film.mp4"));
}

json asked(const ScratchFolder& scratch, const std::string& rest) {
  const ProgramRun run = run_command(scratch, "ask --json " + rest);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  return run.exit_code == 0 ? json::parse(run.out) : json();
}

TEST(CliPrepare, AQuestionToTheKeptCacheIsAnsweredAsToTheVideo) {
  const ScratchFolder scratch;
  const std::string film = sample(scratch);
  const std::string cache = shell_quoted(scratch.file("film.cache"));
  const ProgramRun prepared = run_command(scratch, "prepare --json --save-cache " + cache + kRecipe + film);
  ASSERT_EQ(prepared.exit_code, 0) << prepared.err;
  const json said = json::parse(prepared.out);
  EXPECT_TRUE(said.at("compressed"));
  EXPECT_LT(said.at("kv_bytes").at("after_event"), said.at("kv_bytes").at("full"));
  EXPECT_FALSE(said.at("description").get<std::string>().empty());
  for (const std::string question : {"'What is the first shape?'", "'Describe the video.'", "'How many stars are there?'"}) {
    SCOPED_TRACE(question);
    const json later = asked(scratch, "--load-cache " + cache + " " + question);
    const json at_once = asked(scratch, kRecipe + film + " " + question);
    EXPECT_EQ(later.at("answer"), at_once.at("answer"));
    EXPECT_EQ(later.at("kv_bytes").at("after_event"), at_once.at("kv_bytes").at("after_event"));
    EXPECT_EQ(later.at("tokens").at("visual"), 0) << "nothing was read again";
  }
}

TEST(CliPrepare, AnAnswerKeptIsGoneOnFrom) {
  const ScratchFolder scratch;
  const std::string cache = shell_quoted(scratch.file("film.cache"));
  asked(scratch, "--method snapkv --retention 0.3 --frames 16 --save-cache " + cache + sample(scratch) + " 'What is the first shape?'");
  const json second = asked(scratch, "--load-cache " + cache + " --method snapkv --retention 0.3 'What is the last shape?'");
  EXPECT_EQ(second.at("tokens").at("visual"), 0);
  EXPECT_GT(second.at("tokens").at("thread_visual"), 0) << "of the whole thread";
}

// It read the image again and compressed it otherwise, without a word.
TEST(CliPrepare, AKeptAnswerIsGoneOnFromAsItWasMadeAndOtherOptionsAreRefused) {
  const ScratchFolder scratch;
  const std::string cache = shell_quoted(scratch.file("film.cache"));
  const std::string made = "--method snapkv --retention 0.3 --kv int8 --min-event-tokens 0 ";
  const json first = asked(scratch, made + "--frames 8 --save-cache " + cache + sample(scratch) + " 'What is the first shape?'");
  const json second = asked(scratch, "--load-cache " + cache + " 'What is the last shape?'");
  EXPECT_EQ(second.at("tokens").at("visual"), 0) << "nothing is read again";
  EXPECT_EQ(second.at("method"), "snapkv");
  EXPECT_EQ(second.at("retention"), 0.3);
  EXPECT_EQ(asked(scratch, "--load-cache " + cache + " " + made + "'What is the last shape?'").at("answer"), second.at("answer"))
      << "what is said again is no contradiction";
  for (const char* other : {"--method h2o", "--retention 0.5", "--budget 100", "--kv 16-bit", "--method-option window=8",
                            "--turn-policy whole", "--scope visual", "--min-event-tokens 9"}) {
    const ProgramRun run = run_command(scratch, "ask --load-cache " + cache + " " + other + " 'What is the last shape?'");
    EXPECT_EQ(run.exit_code, 1) << other;
    const std::string option = std::string(other).substr(0, std::string_view(other).find(' '));
    EXPECT_NE(run.err.find("film.cache: was made with another " + option), std::string::npos) << run.err;
  }
}

TEST(CliPrepare, AKeptCacheAnswersFromAnyFolderAndWithoutItsVideo) {
  const ScratchFolder scratch;
  sample(scratch);
  const std::string cache = shell_quoted(scratch.file("film.cache"));
  const fs::path before = fs::current_path();
  fs::current_path(scratch.path());
  const ProgramRun prepared = run_command(scratch, "prepare --video film.mp4 --save-cache " + cache + kRecipe);
  fs::current_path(before);
  ASSERT_EQ(prepared.exit_code, 0) << prepared.err;
  const std::string question = "ask --json --load-cache " + cache + " 'What is the first shape?'";
  const ProgramRun elsewhere = run_command(scratch, question);
  ASSERT_EQ(elsewhere.exit_code, 0) << elsewhere.err;
  EXPECT_EQ(elsewhere.err.find("not there"), std::string::npos) << elsewhere.err;
  fs::remove(scratch.file("film.mp4"));
  const ProgramRun without = run_command(scratch, question);
  ASSERT_EQ(without.exit_code, 0) << without.err;
  EXPECT_EQ(json::parse(without.out).at("answer"), json::parse(elsewhere.out).at("answer"));
  EXPECT_NE(without.err.find("film.mp4: the file is gone; the saved cache answers without it"), std::string::npos) << without.err;
}

TEST(CliPrepare, WhatDoesNotFitIsRefusedInOneSentence) {
  const ScratchFolder scratch;
  const std::string film = sample(scratch);
  const std::string cache = shell_quoted(scratch.file("film.cache"));
  ASSERT_EQ(run_command(scratch, "prepare --save-cache " + cache + kRecipe + film).exit_code, 0);
  fs::copy_file(demo("samples/half-hour.mp4"), scratch.file("film.mp4"), fs::copy_options::overwrite_existing);
  ProgramRun run = run_command(scratch, "ask --load-cache " + cache + " 'What is the first shape?'");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("film.mp4: the file has changed since it was read"), std::string::npos) << run.err;
  fs::resize_file(scratch.file("film.cache"), fs::file_size(scratch.file("film.cache")) - 1);
  run = run_command(scratch, "ask --load-cache " + cache + " 'What is the first shape?'");
  EXPECT_EQ(run.exit_code, 1) << run.err;
  run = run_command(scratch, "ask --load-cache " + cache + film + " 'What is the first shape?'");
  EXPECT_EQ(run.exit_code, 1) << "two videos for one question";
  const std::string another = shell_quoted(scratch.file("another.cache"));
  run = run_command(scratch, "prepare --method snapkv --save-cache " + another + film);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("compresses after the question"), std::string::npos) << run.err;
  run = run_command(scratch, "ask --method h2o --frames 8 --save-cache " + another + film + " 'What is the first shape?'");
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("cannot be saved"), std::string::npos) << run.err;
}

TEST(CliPrepare, SaveCacheWritesOverNothingButASavedCache) {
  const ScratchFolder scratch;
  const std::string film = sample(scratch);
  fs::copy(demo("model"), scratch.file("model"), fs::copy_options::recursive);
  write_file(scratch.file("notes.txt"), "somebody's notes");
  write_file(scratch.file("recipe.json"), R"({"format": "winnow-recipe", "version": 1, "name": "mine", "method": "snapkv"})");
  fs::create_symlink("notes.txt", scratch.file("link"));
  fs::create_hard_link(scratch.file("film.mp4"), scratch.file("hard"));
  const std::string model = " --model " + shell_quoted(scratch.file("model"));
  for (const std::string command : {"prepare", "ask"}) {
    for (const char* out : {"film.mp4", "hard", "notes.txt", "link", "recipe.json", "model/model.safetensors", "model/config.json"}) {
      SCOPED_TRACE(command + " " + out);
      const std::string before = file_text(scratch.file(out));
      const std::string recipe = command == "ask" ? " --recipe " + shell_quoted(scratch.file("recipe.json")) : "";
      const ProgramRun run = run_command(scratch, command + model + recipe + " --frames 2 --save-cache " + shell_quoted(scratch.file(out)) +
                                                      film + (command == "ask" ? " hello" : ""));
      EXPECT_EQ(run.exit_code, 1);
      EXPECT_NE(run.err.find("choose another name"), std::string::npos) << run.err;
      EXPECT_EQ(run.err.find("loading"), std::string::npos) << "refused before the model is loaded: " << run.err;
      EXPECT_EQ(file_text(scratch.file(out)), before);
    }
  }
  // Its own file, and one that holds nothing, are written over.
  write_file(scratch.file("cache"), "");
  for (int run = 0; run < 2; ++run) {
    const ProgramRun done = run_command(
        scratch, "prepare --frames 2 --retention 0.5 --method every-k --save-cache " + shell_quoted(scratch.file("cache")) + film);
    EXPECT_EQ(done.exit_code, 0) << done.err;
  }
  EXPECT_GT(fs::file_size(scratch.file("cache")), 0U);
}

TEST(CliPrepare, TogetherAndAloneEveryQuestionReadsTheSameCache) {
  const ScratchFolder scratch;
  sample(scratch);
  const json line = {{"video", scratch.file("film.mp4")},
                     {"frames", 16},
                     {"method", "self-study"},
                     {"retention", 0.1},
                     {"questions", {"What is the first shape?", "How many stars are there?", "What is the first shape?"}}};
  write_file(scratch.file("lines.jsonl"), line.dump() + "\n");
  const std::string lines = shell_quoted(scratch.file("lines.jsonl"));
  const ProgramRun apart = run_command(scratch, "batch " + lines);
  const ProgramRun alone = run_command(scratch, "batch --together --guard alone " + lines);
  const ProgramRun thread = run_command(scratch, "batch --together " + lines);
  ASSERT_EQ(apart.exit_code + alone.exit_code + thread.exit_code, 0) << apart.err << alone.err << thread.err;
  EXPECT_EQ(json::parse(alone.out).at("answers"), json::parse(apart.out).at("answers"));
  EXPECT_EQ(json::parse(alone.out).at("answers")[0], json::parse(alone.out).at("answers")[2]) << "a question's place does not matter";
  EXPECT_EQ(json::parse(thread.out).at("answers")[0], json::parse(apart.out).at("answers")[0]);
  EXPECT_EQ(json::parse(alone.out).at("ttft_ms").size(), 3U);
}

}  // namespace
}  // namespace winnow::testing
