#include "app/evaluation/report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/scratch_folder.h"

namespace winnow::app {
namespace {

using test::ScratchFolder;

// Two items, full and random@0.5 with two seeds; scores are given.
class ReportTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"a", "b"}) {
      EvaluationItem item;
      item.id = id;
      item.question = "?";
      item.golds = {"x"};
      item.group = std::string("group, ") + id;
      m_items.push_back(item);
    }
    add("a", "full", 0, "same", 1.0, 1.0);
    add("b", "full", 0, "same", 1.0, 1.0);
    add("a", "random@0.5", 0, "same", 1.0, 0.51);
    add("a", "random@0.5", 1, "other", 0.0, 0.51);
    add("b", "random@0.5", 0, "other", 0.0, 0.55);
  }

  void add(const std::string& item, const std::string& recipe, std::uint64_t seed, const std::string& answer, double score,
           double achieved) {
    AnswerRecord record;
    record.item = item;
    record.recipe = recipe;
    record.seed = seed;
    record.answer = answer;
    record.score = score;
    record.achievedRetention = achieved;
    record.budgetDivergence = 0.25;
    m_log.add(record);
  }

  Report report() const { return buildReport({"set", "model, cpu, fp32"}, m_items, m_plan, m_log); }

  const ScratchFolder m_scratch;
  ItemLog m_log{m_scratch.file("log.jsonl"), "s"};
  std::vector<EvaluationItem> m_items;
  const EvaluationPlan m_plan{recipeGrid({"full", "random", "snapkv"}, {0.5}), {0, 1}};
};

TEST_F(ReportTest, ScoresAreMeansOverItemsOfMeansOverSeeds) {
  const Report made = report();
  ASSERT_EQ(made.rows.size(), 2U) << "a recipe without an answer has no row";
  EXPECT_EQ(made.planned, 2 * 5);
  EXPECT_EQ(made.answered, 5);
  const ReportRow& random = made.rows[1];
  EXPECT_EQ(random.items, 2);
  EXPECT_EQ(random.answers, 3);
  EXPECT_DOUBLE_EQ(random.score, 0.25);
  EXPECT_DOUBLE_EQ(random.groups.at("group, a"), 0.5);
  EXPECT_DOUBLE_EQ(random.groups.at("group, b"), 0.0);
  EXPECT_DOUBLE_EQ(*random.sameAsFull, 1.0 / 3.0);
  EXPECT_NEAR(random.achieved, (0.51 + 0.51 + 0.55) / 3, 1e-12);
  EXPECT_EQ(random.requested, 0.5);
  EXPECT_DOUBLE_EQ(random.budgetDivergence, 0.25);
  EXPECT_EQ(made.rows[0].score, 1.0);
  EXPECT_EQ(made.rows[0].interval.low, wilsonInterval(2, 2).low);
}

TEST_F(ReportTest, MarkdownShowsAskedAndKeptSideBySide) {
  const std::string text = reportMarkdown(report());
  EXPECT_NE(text.find("| method | asked | kept | questions | score | as full | JSD | group, a | group, b |"), std::string::npos) << text;
  EXPECT_NE(text.find("| random | 50.0 | 52.3 | 2 | 25.0 (0.0-50.0) | 33.3 | 0.250 | 50.0 | 0.0 |"), std::string::npos) << text;
  EXPECT_NE(text.find("5 of 10 answers"), std::string::npos);
  EXPECT_EQ(text.find("top-1"), std::string::npos) << "not measured, not shown";
}

TEST_F(ReportTest, OfClustersItCountsWhatTheFullCacheAnswers) {
  for (EvaluationItem& item : m_items) item.cluster = "document";
  EvaluationItem hard = m_items.front();
  hard.id = "c";
  m_items.push_back(hard);
  add("c", "full", 0, "no | idea", 0.0, 1.0);
  add("c", "random@0.5", 0, "x by luck", 1.0, 0.5);
  const Report made = report();
  const ReportRow& random = made.rows[1];
  EXPECT_DOUBLE_EQ(random.score, 0.5);
  ASSERT_TRUE(random.ofFull.has_value());
  EXPECT_EQ(random.ofFull->items, 2) << "luck counts for nothing";
  EXPECT_DOUBLE_EQ(random.ofFull->score, 0.25);
  EXPECT_EQ(random.ofFull->interval.low, random.ofFull->interval.high) << "one document has no spread";
  ASSERT_EQ(made.mistakes.size(), 1U);
  EXPECT_EQ(made.mistakes[0].item, "c");
  const std::string text = reportMarkdown(made);
  EXPECT_NE(text.find("| random | 50.0 | 51.8 | 3 | 50.0 (50.0-50.0) | 25.0 (25.0-25.0) |"), std::string::npos) << text;
  EXPECT_NE(text.find("| c | x | no   idea |"), std::string::npos) << text;
  EXPECT_EQ(nlohmann::json::parse(reportJson(made)).at("rows").at(1).at("of_full").at("items"), 2);
  EXPECT_NE(reportCsv(made).find("random@0.5,random,0.5,0.5175,3,4,0.5,0.5,0.5,0.25,0.25,0.25,0.25,"), std::string::npos)
      << reportCsv(made);
}

TEST_F(ReportTest, JsonAndCsvHoldTheSameNumbers) {
  const auto read = nlohmann::json::parse(reportJson(report()));
  EXPECT_EQ(read.at("rows").at(1).at("recipe"), "random@0.5");
  EXPECT_DOUBLE_EQ(read.at("rows").at(1).at("score").get<double>(), 0.25);
  EXPECT_EQ(read.at("answered"), 5);
  const std::string csv = reportCsv(report());
  EXPECT_NE(csv.find(",\"group, a\",\"group, b\"\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\nset,random@0.5,random,0.5,0.523333,2,3,0.25,0,0.5,,,,0.333333,,,,,,,,,,0.25,0,0,0,0.5,0\n"), std::string::npos)
      << csv;
}

TEST_F(ReportTest, WhatAttentionSaysIsATableOfItsOwn) {
  EXPECT_EQ(reportMarkdown(report()).find("hits"), std::string::npos) << "not measured, not shown";
  AnswerRecord record;
  record.item = "a";
  record.recipe = "snapkv@0.5";
  record.selection = SelectionFigures{0.25, {0.125}, 0.75, 0.5, 0.875, 0.625};
  m_log.add(record);
  record.item = "b";
  record.selection->hit_rate.reset();  // the prompt had other tokens
  record.selection->output_error = {0.375};
  m_log.add(record);
  const std::string text = reportMarkdown(report());
  EXPECT_NE(text.find("\n| snapkv | 50.0 | 25.0 | 0.250 | 75.0 | 50.0 | 87.5 | 62.5 |\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("| random | 50.0 |  |"), std::string::npos) << text;
  const auto row = nlohmann::json::parse(reportJson(report())).at("rows").at(2);
  EXPECT_DOUBLE_EQ(row.at("output_error").get<double>(), 0.25);
  EXPECT_DOUBLE_EQ(row.at("hit_rate").get<double>(), 0.25) << "of those that have one";
  visit_fields(*record.selection, [&](const std::string& name, const auto&) {
    EXPECT_TRUE(row.contains(name)) << name;
    EXPECT_NE(reportCsv(report()).find("," + name + ","), std::string::npos) << name;
  });
  EXPECT_NE(reportCsv(report()).find(",0.25,0.25,0.75,0.5,0.875,0.625,"), std::string::npos) << reportCsv(report());
}

}  // namespace
}  // namespace winnow::app
