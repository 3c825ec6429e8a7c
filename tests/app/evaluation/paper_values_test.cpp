#include "app/evaluation/paper_values.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace winnow::app {
namespace {

double valueOf(const std::string& paper, const std::string& benchmark, const std::string& model, const std::string& method,
               double retention) {
  for (const PaperValue& value : paperValues(paper)) {
    if (value.benchmark == benchmark && value.model == model && value.method == method && value.retention == retention) return value.score;
  }
  return -1.0;
}

TEST(PaperValues, AreThoseOfTheTables) {
  EXPECT_EQ(valueOf("meda", "T-1", "LLaVA-NeXT-7B", "full", 1.0), 45.8);
  EXPECT_EQ(valueOf("meda", "IR", "LLaVA-v1.5-13B", "meda", 0.1), 1.5);
  EXPECT_EQ(valueOf("meda", "S-5", "LLaVA-NeXT-7B", "look-m", 0.1), 65.3);
  EXPECT_EQ(valueOf("aircache", "DocVQA", "LLaVA-OV-7B", "aircache", 0.01), 73.2);
  EXPECT_EQ(valueOf("aircache", "ChartQA", "Qwen2-VL-7B", "snapkv", 0.01), 69.1);
  EXPECT_EQ(valueOf("aircache", "TextVQA", "InternVL2-8B", "aircache", 0.1), 77.0);
  EXPECT_EQ(valueOf("vl-cache", "DocVQA", "LLaVA-1.6-34B", "streaming-llm", 0.2), 48.0);
  EXPECT_EQ(valueOf("vl-cache", "DocVQA", "LLaVA-Mistral-7B", "full", 1.0), 68.0);
  EXPECT_EQ(paperValues("meda").size(), 7U * 11U);
  EXPECT_EQ(paperValues("aircache").size(), 21U * 4U);
}

TEST(PaperValues, StandBesideOursForTheSameMethodAndShare) {
  Report report;
  report.model = "some-model, cpu, bf16";
  report.rows.resize(2);
  report.rows[0].method = "full";
  report.rows[0].score = 0.9;
  report.rows[1].method = "aircache";
  report.rows[1].requested = 0.1;
  report.rows[1].score = 0.5;
  const std::string table = paperComparison("aircache", "DocVQA", report);
  EXPECT_NE(table.find("Ours: some-model, cpu, bf16"), std::string::npos);
  EXPECT_NE(table.find("| full | 100.0 | LLaVA-OV-7B | 87.0 | 90.0 | 3.0 |\n"), std::string::npos) << table;
  EXPECT_NE(table.find("| aircache | 10.0 | Qwen2-VL-7B | 92.9 | 50.0 | -42.9 |\n"), std::string::npos) << table;
  EXPECT_NE(table.find("| aircache | 1.0 | Qwen2-VL-7B | 78.3 |  | |\n"), std::string::npos) << table;
}

TEST(PaperValues, NoValuesAreAnError) {
  test::expect_error(ErrorCode::kInvalidArgument, "no values for AI2D", [] { paperComparison("aircache", "AI2D", {}); });
  test::expect_error(ErrorCode::kInvalidArgument, "no paper", [] { paperValues("nobody"); });
}

}  // namespace
}  // namespace winnow::app
