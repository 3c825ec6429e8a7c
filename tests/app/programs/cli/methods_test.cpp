// `winnow-cli methods`, and the pages that are made from it.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/app/programs/cli/command_run.h"
#include "tests/structure/command_output.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

TEST(CliMethods, SayWhatEachIsForAndWhatItsOptionsMean) {
  const ScratchFolder scratch;
  const ProgramRun run = run_command(scratch, "methods --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json methods = json::parse(run.out);
  ASSERT_GE(methods.size(), 38U);
  for (const json& method : methods) {
    const std::string idea = method["idea"];
    EXPECT_FALSE(idea.empty()) << method["name"];
    EXPECT_LT(std::ranges::count(idea, ' '), 8) << method["name"] << ": its idea is for a table's cell";
    EXPECT_NE(method["purpose"], "") << method["name"];
    EXPECT_NE(method["caution"], "") << method["name"];
    EXPECT_GE(method["option_help"].size(), std::min<std::size_t>(method["options"].size(), 1)) << method["name"];
    for (const auto& [option, help] : method["option_help"].items()) EXPECT_NE(help, "") << method["name"] << ": " << option;
  }
  const std::string list = run_command(scratch, "methods").out;
  EXPECT_NE(list.find("limits: "), std::string::npos);
}

TEST(CliMethods, StandInThePagesAsTheyAre) {
  const ScratchFolder scratch;
  const ProgramRun run = run_command(scratch, "methods --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::string script = source_folder() + "/engine/recipes/make_method_pages.py";
  const CommandOutput check = output_of("python3 " + shell_quoted(script) + " --check --methods " + shell_quoted(scratch.file("out")));
  EXPECT_EQ(check.status, 0) << check.text;
}

}  // namespace
}  // namespace winnow::testing
