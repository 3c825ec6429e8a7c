// The demo world's rule is score.py's: tests/golden/scene_facts holds what that said.
#include "app/evaluation/scene_facts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/support/source_folder.h"

namespace winnow::app {
namespace {

TEST(SceneFacts, JudgesAsTheScriptThatMadeTheWorld) {
  const std::string folder = source_folder() + "/tests/golden/scene_facts/";
  std::ifstream manifestFile(folder + "manifest.json");
  const auto manifest = nlohmann::json::parse(manifestFile);
  std::ifstream cases(folder + "cases.jsonl");
  int seen = 0;
  for (std::string text; std::getline(cases, text); ++seen) {
    const auto line = nlohmann::json::parse(text);
    const std::string kind = line.at("kind");
    const std::string truth = line.at("truth");
    const std::string answer = line.at("answer");
    const bool right =
        kind == "when" ? timeIsRight(truth, answer, manifest.at("interval_s")) : factsAreRight(kind, line.at("question"), truth, answer);
    EXPECT_EQ(right, line.at("right").get<bool>()) << text << "\nrebuild with tests/golden/make/make_scene_facts_golden.py";
  }
  EXPECT_EQ(seen, manifest.at("cases").get<int>());
  EXPECT_GT(seen, 1000);
}

TEST(SceneFacts, TimesMayBeOffByTheToleranceOrASecond) {
  EXPECT_TRUE(timeIsRight("At 12 seconds.", "At 13 seconds.", 0.1));
  EXPECT_FALSE(timeIsRight("At 12 seconds.", "At 14 seconds.", 0.1));
  EXPECT_TRUE(timeIsRight("At 12 seconds.", "At 14 seconds.", 2.0));
  EXPECT_FALSE(timeIsRight("At 12 seconds.", "At 12 or 13 seconds.", 2.0));
  EXPECT_FALSE(timeIsRight("At 12 seconds.", "", 2.0));
}

}  // namespace
}  // namespace winnow::app
