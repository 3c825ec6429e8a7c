#include "app/evaluation/score_table.h"

#include <gtest/gtest.h>

#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

using test::ScratchFolder;

void add(ItemLog& log, const std::string& item, const std::string& recipe, std::uint64_t seed, double score, double achieved) {
  AnswerRecord record;
  record.item = item;
  record.recipe = recipe;
  record.seed = seed;
  record.score = score;
  record.achievedRetention = achieved;
  log.add(record);
}

// Cells are those of resources/evaluation/report_tables.py (its test has the same numbers).
TEST(ScoreTable, ScoresAreMeansOverItemsOfMeansOverSeeds) {
  const ScratchFolder scratch;
  ItemLog log(scratch.file("log.jsonl"), "s");
  std::vector<EvaluationItem> items(2);
  items[0].id = "a";
  items[1].id = "b";
  items[1].metric = AnswerMetric::kAnls;
  add(log, "a", "full", 0, 1.0, 1.0);
  add(log, "b", "full", 0, 1.0, 1.0);
  add(log, "a", "random@0.5", 0, 1.0, 0.51);
  add(log, "a", "random@0.5", 1, 0.0, 0.51);
  add(log, "b", "random@0.5", 0, 0.0, 0.55);
  const EvaluationPlan plan{recipeGrid({"full", "random", "snapkv"}, {0.5}), {0, 1}};
  EXPECT_EQ(scoreTable({"set", "model, cpu, fp32"}, items, plan, log),
            "## set\n\nmodel, cpu, fp32; metric anls, exact; 5 of 10 answers. Per cent.\n\n"
            "| method | asked | kept | questions | score |\n|---|---:|---:|---:|---:|\n"
            "| full | 100.0 | 100.0 | 2 | 100.0 |\n"
            "| random | 50.0 | 52.3 | 2 | 25.0 |\n")
      << "a recipe without an answer has no row";
}

}  // namespace
}  // namespace winnow::app
