// What was noticed of media stands on standard error, once, and in the JSON of every command that reads them.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/programs/cli/command_run.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

// Two frames of a pixel each.
std::string animated_gif() {
  using namespace std::string_literals;
  const std::string place = "\x2C\0\0\0\0\1\0\1\0\0"s;
  return "GIF89a\1\0\1\0\x80\0\0\xFF\0\0\0\0\xFF"s + place + "\2\2\x44\1\0"s + place + "\2\2\x4C\1\0\x3B"s;
}

const char* const kNotice = "the picture is animated; only its first frame is used";

class Notices : public ::testing::Test {
 protected:
  Notices() { write_file(scratch_.file("moving.gif"), animated_gif()); }

  // Its JSON; what stood on standard error is in said_.
  json answer(const std::string& arguments) {
    const ProgramRun run = run_command(scratch_, arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    said_ = run.err;
    return json::parse(run.out, nullptr, false);
  }
  int times_said() const {
    const std::string line = "note: " + scratch_.file("moving.gif") + ": " + kNotice + "\n";
    int times = 0;
    for (std::size_t at = said_.find(line); at != std::string::npos; at = said_.find(line, at + 1)) ++times;
    return times;
  }
  std::string image() const { return " --image " + shell_quoted(scratch_.file("moving.gif")); }

  const ScratchFolder scratch_;
  std::string said_;
};

TEST_F(Notices, AreInWhatAskPlanAndPrepareSay) {
  for (const char* command : {"ask --json --max-tokens 2 'What is it?'", "plan --json 'What is it?'", "prepare --json"}) {
    const json object = answer(command + image());
    EXPECT_EQ(object.at("media").at(0).at("notices"), json{kNotice}) << command;
    EXPECT_EQ(times_said(), 1) << command << ": " << said_;
  }
}

TEST_F(Notices, AreInEveryColumnOfAComparison) {
  const json object = answer("compare --json --max-tokens 2 --method full --method snapkv 'What is it?'" + image());
  for (const json& column : object.at("columns")) EXPECT_EQ(column.at("media").at(0).at("notices"), json{kNotice});
  EXPECT_EQ(times_said(), 1) << said_;
}

TEST_F(Notices, AreInEveryLineOfABatchAndSaidOnce) {
  json line = {{"image", scratch_.file("moving.gif")}, {"questions", {"What is it?", "And what else?"}}};
  write_file(scratch_.file("questions.jsonl"), line.dump() + "\n" + line.dump() + "\n");
  const ProgramRun run = run_command(scratch_, "batch --max-tokens 2 " + shell_quoted(scratch_.file("questions.jsonl")));
  said_ = run.err;
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::size_t second = run.out.find('\n') + 1;
  for (const std::string& answered : {run.out.substr(0, second), run.out.substr(second)})
    EXPECT_EQ(json::parse(answered).at("notices"), json{scratch_.file("moving.gif") + ": " + kNotice}) << answered;
  EXPECT_EQ(times_said(), 1) << said_;
}

}  // namespace
}  // namespace winnow::testing
