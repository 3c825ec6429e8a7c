// Every preset on every bundled sample, at a half or at a tenth, in turn: it answers, its budgets are exact, and what its phase promises
// holds.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/programs/cli/command_run.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

constexpr std::size_t kColumns = 8;  // of one comparison
// Long answers show what decoding evicts. Where it evicts nothing, every token is one more slot and a few show it.
constexpr int kTokensWhereDecodingEvicts = 40;
constexpr int kTokensElsewhere = 12;

bool evicts_while_decoding(const std::string& phase) { return phase == "decode" || phase == "ratio-decode"; }

struct Preset {
  std::string name;
  std::string phase;
};

std::vector<Preset> presets(const ScratchFolder& scratch) {
  const ProgramRun run = run_command(scratch, "methods --json");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::vector<Preset> presets;
  for (const json& method : json::parse(run.out)) {
    if (method.contains("phase")) presets.push_back({method["name"], method["phase"]});
  }
  std::stable_partition(presets.begin(), presets.end(), [](const Preset& preset) { return evicts_while_decoding(preset.phase); });
  return presets;
}

// What lists and descriptions take: long answers show what decoding evicts.
json longest_question(const json& sample) {
  json longest = sample["questions"][0];
  for (const json& question : sample["questions"]) {
    if (question["answer"].get<std::string>().size() > longest["answer"].get<std::string>().size()) longest = question;
  }
  return longest;
}

void expect_its_phase(const json& column, const Preset& preset, double retention) {
  SCOPED_TRACE(preset.name);
  EXPECT_EQ(column["method"], preset.name);
  EXPECT_FALSE(column["answer"].get<std::string>().empty());
  const json& bytes = column["kv_bytes"];
  const auto generated = column["tokens"]["generated"].get<double>();
  const auto prompt = column["tokens"]["prompt"].get<double>();
  std::int64_t sum = 0;
  std::int64_t budgets = 0;
  for (const json& layer : column["layers"]) {
    sum += layer["bytes"].get<std::int64_t>();
    budgets += layer["budget"].get<std::int64_t>();
    const json& now = layer["end"];
    const double kept = layer["kept"].get<double>();
    const double end = now["visual"].get<double>() + now["text"].get<double>() + now["generated"].get<double>();
    if (preset.phase == "decode") {
      EXPECT_LE(end, kept) << "the cap holds while writing";
    } else if (preset.phase == "ratio-decode") {
      EXPECT_LT(end - kept / prompt * (prompt + generated), 1.0);
    } else {
      EXPECT_EQ(end, kept + generated - 1.0) << "the last token is not read";
    }
  }
  EXPECT_EQ(sum, bytes["after_event"].get<std::int64_t>());
  if (preset.name == "full") {
    EXPECT_EQ(bytes["after_event"], bytes["full"]);
    return;
  }
  EXPECT_LT(bytes["after_event"].get<std::int64_t>(), bytes["full"].get<std::int64_t>());
  if (preset.phase == "prefill" || !column["notes"].empty()) return;  // no event; or a floor, which is said
  const auto layers = static_cast<double>(column["layers"].size());
  const bool of_media = preset.name == "aircache" || (preset.phase == "context" || preset.phase == "stream" || preset.phase == "retrieve");
  const double scope = of_media ? column["tokens"]["visual"].get<double>() : prompt;
  if ((preset.phase == "context" || preset.phase == "stream" ||
       preset.phase == "retrieve")) {  // heads and layers differ: figures are means, rounded
    const auto heads = static_cast<double>(column["layers"][0]["kept_per_head"].size());
    const double half_a_head = preset.name == "kvzip-head" ? scope / heads / 2.0 : 0.0;  // it keeps whole heads
    EXPECT_NEAR(static_cast<double>(budgets), retention * layers * scope, layers + half_a_head);
    return;
  }
  EXPECT_EQ(budgets, static_cast<std::int64_t>(std::floor(retention * layers * scope + 0.5)));
}

TEST(CliEveryMethod, AnswersOnEverySample) {
  const ScratchFolder scratch;
  const std::vector<Preset> all = presets(scratch);
  ASSERT_GE(all.size(), 20U);
  const json samples = json::parse(file_text(demo("samples/samples.json")))["samples"];
  double retention = 0.1;
  for (const json& sample : samples) {
    const std::string file = sample["file"];
    const std::string media = (sample.value("kind", "video") == "image" ? "--image " : "--video ") + shell_quoted(demo("samples/" + file));
    retention = retention == 0.5 ? 0.1 : 0.5;
    for (std::size_t first = 0, count = 0; first < all.size(); first += count) {
      const bool evicts = evicts_while_decoding(all[first].phase);
      for (count = 1; count < std::min(kColumns, all.size() - first); ++count) {
        if (evicts_while_decoding(all[first + count].phase) != evicts) break;
      }
      const int tokens = evicts ? kTokensWhereDecodingEvicts : kTokensElsewhere;
      std::string line = "compare --json --frames 24 --max-tokens " + std::to_string(tokens) + " " + media;
      for (std::size_t i = first; i < first + count; ++i) {
        line += " --method " + all[i].name + (all[i].name == "full" ? "" : "@" + std::to_string(retention));
      }
      SCOPED_TRACE(::testing::Message() << file << " at " << retention);
      const ProgramRun run = run_command(scratch, line + " '" + longest_question(sample)["question"].get<std::string>() + "'");
      ASSERT_EQ(run.exit_code, 0) << run.err;
      const json columns = json::parse(run.out)["columns"];
      ASSERT_EQ(columns.size(), count);
      for (std::size_t i = 0; i < count; ++i) expect_its_phase(columns[i], all[first + i], retention);
    }
  }
}

}  // namespace
}  // namespace winnow::testing
