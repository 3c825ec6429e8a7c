// --think: what a model thinks is no part of stdout's answer; it is told on stderr and apart in --json, and ends at its limit.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/programs/cli/command_run.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

constexpr const char* kOpensAThought =
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' + m['content'] + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n<think>\\n' }}{% endif %}";

// A tiny model of random weights whose template begins a thought. Options for its folder.
std::string thinking_model(const ScratchFolder& scratch) {
  const std::string folder = scratch.file("thinking");
  std::filesystem::copy(std::filesystem::path(source_folder()) / "tests/golden/llava_onevision/gqa_tied/model", folder,
                        std::filesystem::copy_options::recursive);
  write_file(folder + "/chat_template.jinja", kOpensAThought);
  return " --model " + shell_quoted(folder) + " --dtype fp32 --device cpu --method full --temperature 1 --seed 4 ";
}

TEST(CliThoughts, AreApartFromTheAnswer) {
  const ScratchFolder scratch;
  const std::string common = thinking_model(scratch) + "--max-tokens 40 --think 12 'Hello there'";
  const ProgramRun told = run_command(scratch, "ask --json" + common);
  ASSERT_EQ(told.exit_code, 0) << told.err;
  const json answer = json::parse(told.out);
  const std::string thought = answer.at("thought");
  const std::string text = answer.at("answer");
  ASSERT_FALSE(thought.empty());
  ASSERT_FALSE(text.empty());
  EXPECT_GE(answer.at("tokens").at("thought").get<int>(), 12);
  EXPECT_LT(answer.at("tokens").at("thought").get<int>(), answer.at("tokens").at("generated").get<int>());
  EXPECT_GT(answer.at("timings_ms").at("thought").get<double>(), 0.0);
  const ProgramRun spoken = run_command(scratch, "ask" + common);
  EXPECT_EQ(spoken.out, text + "\n") << "the answer alone";
  EXPECT_NE(spoken.err.find("thought: "), std::string::npos) << spoken.err;
}

TEST(CliThoughts, CanBeSwitchedOff) {
  const ScratchFolder scratch;
  const ProgramRun off = run_command(scratch, "ask --json" + thinking_model(scratch) + "--max-tokens 12 --think off 'Hello there'");
  ASSERT_EQ(off.exit_code, 0) << off.err;
  const json answer = json::parse(off.out);
  EXPECT_EQ(answer.at("thought"), "");
  EXPECT_EQ(answer.at("tokens").at("thought"), 0);
  EXPECT_NE(answer.at("answer"), "");
}

TEST(CliThoughts, AreNotAskedOfAModelThatHasNone) {
  const ScratchFolder scratch;
  const ProgramRun run = run_command(scratch, "ask --think on --sample");
  EXPECT_NE(run.exit_code, 0);
  EXPECT_NE(run.err.find("does not think"), std::string::npos) << run.err;
  EXPECT_NE(run_command(scratch, "ask --think sometimes --sample").exit_code, 0);
  EXPECT_NE(run_command(scratch, "ask --think 0 --sample").exit_code, 0) << "0 is off, said otherwise";
}

}  // namespace
}  // namespace winnow::testing
