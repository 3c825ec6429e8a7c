// `compare` and `ask --check` on the demo model: one prefill, figures that are those of `ask`, agreement that is the check's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/programs/cli/command_run.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

const std::vector<std::string> kMethods = {"full", "vl-cache", "snapkv", "aircache", "meda", "d2o", "ems"};

std::string compare_line(const std::string& media, const std::string& question, int tokens) {
  std::string line = "compare --json --max-tokens " + std::to_string(tokens) + " " + media;
  for (const std::string& method : kMethods) line += " --method " + method + (method == "full" ? "" : "@0.1");
  return line + " '" + question + "'";
}

std::int64_t integer(const json& value) { return value.get<std::int64_t>(); }

void expect_one_prefill_whose_bytes_add_up(const json& compared) {
  EXPECT_EQ(compared["prefills"], 1);
  EXPECT_EQ(compared["stopped"], false);
  const std::int64_t prefix = integer(compared["shared_prefix_bytes"]);
  ASSERT_EQ(compared["columns"].size(), kMethods.size());
  std::int64_t apart = 0;
  for (std::size_t i = 0; i < kMethods.size(); ++i) {
    const json& column = compared["columns"][i];
    const json& bytes = column["kv_bytes"];
    SCOPED_TRACE(kMethods[i]);
    EXPECT_EQ(column["method"], kMethods[i]);
    EXPECT_EQ(column["prefill"], "shared");
    EXPECT_EQ(integer(bytes["full"]), prefix);
    std::int64_t sum = 0;
    for (const json& layer : column["layers"]) sum += integer(layer["bytes"]);
    EXPECT_EQ(sum, integer(bytes["after_event"]));
    apart += integer(bytes["allocated"]);
    if (i == 0) {
      EXPECT_EQ(integer(bytes["after_event"]), prefix);
      EXPECT_EQ(column["agreement"]["top1"], 1.0);
    } else {
      EXPECT_LT(integer(bytes["after_event"]), prefix);
    }
    const json& agreement = column["agreement"];
    EXPECT_EQ(agreement["tokens"], column["tokens"]["generated"]);
    EXPECT_EQ(agreement["first_diverging_word"].is_null(), agreement["top1"] == 1.0);
    EXPECT_EQ(agreement["differences"].empty(), agreement["top1"] == 1.0);
  }
  EXPECT_LT(integer(compared["allocated_bytes"]), prefix + apart) << "the full column shares the prefix";
}

TEST(CliCompare, EveryColumnSaysWhatAskSays) {
  const ScratchFolder scratch;
  const std::string media = "--frames 32 --video " + shell_quoted(demo("samples/ten-seconds.mp4"));
  const std::string question = "What things appear, in order?";
  const ProgramRun run = run_command(scratch, compare_line(media, question, 40));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json compared = json::parse(run.out);
  expect_one_prefill_whose_bytes_add_up(compared);
  int differing = 0;
  for (const json& column : compared["columns"]) {
    const std::string method = column["method"];
    SCOPED_TRACE(method);
    const ProgramRun asked =
        run_command(scratch, "ask --json --check --retention 0.1 --max-tokens 40 --method " + method + " " + media + " '" + question + "'");
    ASSERT_EQ(asked.exit_code, 0) << asked.err;
    json alone = json::parse(asked.out);
    if (method == "full") {  // not read again in a comparison
      for (const char* loss : {"loss", "full_loss"}) alone["agreement"][loss] = nullptr;
    }
    EXPECT_EQ(column["agreement"], alone["agreement"]);
    for (const auto& [key, value] : alone.items()) {
      if (key == "timings_ms" || key == "tokens_per_s") continue;  // measured anew
      json mine = column.at(key);
      if (key == "kv_bytes") mine["peak"] = value["peak"];      // the shared prefill is in the peak of a column
      if (key == "tokens") mine["drafted"] = value["drafted"];  // columns take a step for every token
      EXPECT_EQ(mine, value) << key;
    }
    const std::string answer = column["answer"];
    const std::int64_t words = 1 + std::count(answer.begin(), answer.end(), ' ');
    for (const json& difference : column["agreement"]["differences"]) {
      ++differing;
      EXPECT_LE(integer(difference["word"]), words);
      EXPECT_NE(difference["text"], difference["full_text"]);
      EXPECT_GE(difference["full_choice_probability"].get<double>(), difference["full_probability"].get<double>());
    }
  }
  EXPECT_GT(differing, 0) << "a tenth of the cache must cost a word somewhere, or this test shows nothing";
}

TEST(CliCompare, OnePrefillOnEverySample) {
  const ScratchFolder scratch;
  const json samples = json::parse(file_text(demo("samples/samples.json")))["samples"];
  ASSERT_GE(samples.size(), 6U);
  for (const json& sample : samples) {
    const std::string file = sample["file"];
    SCOPED_TRACE(file);
    const std::string media = (sample.value("kind", "video") == "image" ? "--image " : "--video ") + shell_quoted(demo("samples/" + file));
    const ProgramRun run = run_command(scratch, compare_line(media, sample["questions"][0]["question"], 12));
    ASSERT_EQ(run.exit_code, 0) << run.err;
    expect_one_prefill_whose_bytes_add_up(json::parse(run.out));
  }
}

TEST(CliCompare, TextHasAnswersAndATable) {
  const ScratchFolder scratch;
  const std::string line =
      "compare --frames 16 --max-tokens 12 --method full --method snapkv@0.2 --method snapkv --budget 30 --method-option window=8 "
      "--video " +
      shell_quoted(demo("samples/ten-seconds.mp4")) + " 'What is the first shape?'";
  const ProgramRun run = run_command(scratch, line);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json compared = json::parse(run_command(scratch, line + " --json").out);
  for (const json& column : compared["columns"]) EXPECT_NE(run.out.find(column["answer"].get<std::string>() + "\n"), std::string::npos);
  EXPECT_NE(run.out.find("\nsnapkv@30 slots"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("1 prefill"), std::string::npos) << run.out;
  const auto kept = [&](int column) { return compared["columns"][column]["achieved_retention"].get<double>(); };
  EXPECT_NEAR(kept(1), 0.2, 0.01) << "its own retention goes before the budget";
  EXPECT_LT(kept(2), kept(1)) << "30 slots are less than a fifth of this prompt";
}

TEST(CliCompare, InterleavedSaysTheSame) {
  const ScratchFolder scratch;
  const std::string line =
      "compare --frames 16 --max-tokens 24 --method full --method h2o@0.1 --method ems@0.1 --method fastv@0.3 --video " +
      shell_quoted(demo("samples/ten-seconds.mp4")) + " 'What things appear, in order?'";
  json apart = json::parse(run_command(scratch, line + " --json").out);
  json together = json::parse(run_command(scratch, line + " --json --interleaved").out);
  EXPECT_EQ(apart["order"], "one-after-another");
  EXPECT_EQ(together["order"], "interleaved");
  apart.erase("order");
  together.erase("order");
  for (json* result : {&apart, &together}) {
    for (json& column : (*result)["columns"]) {
      EXPECT_GT(column["timings_ms"]["ttft"].get<double>(), 0.0);
      EXPECT_GT(column["tokens_per_s"].get<double>(), 0.0);
      column.erase("timings_ms");
      column.erase("tokens_per_s");
    }
  }
  EXPECT_EQ(apart, together);
  const ProgramRun text = run_command(scratch, line + " --interleaved");
  ASSERT_EQ(text.exit_code, 0) << text.err;
  for (const json& column : apart["columns"])
    EXPECT_NE(text.out.find("\n" + column["answer"].get<std::string>() + "\n"), std::string::npos) << text.out;
}

TEST(CliCompare, WrongUsageIsTwo) {
  const ScratchFolder scratch;
  EXPECT_EQ(run_command(scratch, "compare hello").exit_code, 2) << "nothing to compare";
  EXPECT_EQ(run_command(scratch, "compare --method full").exit_code, 2) << "no question";
  EXPECT_EQ(run_command(scratch, "compare --method snapkv@0 hello").exit_code, 2);
  EXPECT_EQ(run_command(scratch, "compare --method snapkv@ hello").exit_code, 2);
  EXPECT_EQ(run_command(scratch, "compare --method snapkv@0.1x hello").exit_code, 2);
  EXPECT_EQ(run_command(scratch, "compare --method full@0.5 hello").exit_code, 2);
  EXPECT_EQ(run_command(scratch, "compare --method no-such@0.5 hello").exit_code, 2);
  std::string nine = "compare hello";
  for (int i = 0; i < 9; ++i) nine += " --method full";
  EXPECT_EQ(run_command(scratch, nine).exit_code, 2);
  const ProgramRun option = run_command(scratch, "compare --method full --method snapkv --method-option nothing=1 hello");
  EXPECT_EQ(option.exit_code, 2);
  EXPECT_NE(option.err.find("nothing=1"), std::string::npos) << option.err;
}

TEST(CliCheck, TellsWordsOnStderrAndLeavesTheAnswerAlone) {
  const ScratchFolder scratch;
  const std::string asked = " --frames 32 --max-tokens 40 --retention 0.05 --video " + shell_quoted(demo("samples/ten-seconds.mp4")) +
                            " 'What things appear, in order?'";
  const std::string line = "ask --method random" + asked;
  const ProgramRun plain = run_command(scratch, line);
  const ProgramRun checked = run_command(scratch, line + " --check");
  ASSERT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_EQ(checked.out, plain.out);
  EXPECT_NE(checked.err.find("agrees with the full cache at"), std::string::npos) << checked.err;
  EXPECT_NE(checked.err.find("  word "), std::string::npos) << checked.err;
  const json full = json::parse(run_command(scratch, "ask --method full --check --json" + asked).out);
  EXPECT_EQ(full["agreement"]["top1"], 1.0);
  EXPECT_EQ(full["agreement"]["mean_kl"], 0.0);
}

}  // namespace
}  // namespace winnow::testing
