#include "app/evaluation/paper_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <span>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

struct Row {
  const char* model;
  const char* method;
  double retention;
  std::span<const double> scores;  // by column
};

constexpr std::array<const char*, 11> kMileBench = {"T-1", "T-2", "T-3", "T-4", "S-1", "S-2", "S-3", "S-4", "S-5", "NH", "IR"};
using MileBenchScores = std::array<double, 11>;
// MEDA, table of MileBench, rho = 0.1.
constexpr std::array<MileBenchScores, 7> kMeda = {{{45.8, 51.8, 38.3, 44.8, 61.1, 39.6, 18.7, 29.8, 66.9, 5.5, 7.6},
                                                   {42.0, 48.8, 35.1, 41.5, 57.8, 35.9, 15.0, 25.9, 63.8, 2.4, 3.7},
                                                   {44.1, 50.1, 36.7, 43.0, 59.5, 37.8, 17.2, 28.1, 65.3, 3.6, 5.0},
                                                   {45.4, 50.9, 37.6, 44.1, 60.2, 38.9, 17.8, 30.1, 66.9, 4.8, 7.4},
                                                   {39.8, 46.2, 30.8, 48.1, 64.8, 48.5, 13.6, 28.4, 60.0, 12.0, 1.0},
                                                   {38.8, 44.3, 28.5, 46.5, 62.8, 46.4, 11.7, 26.7, 57.6, 10.2, 1.0},
                                                   {40.0, 46.2, 30.4, 48.0, 64.7, 48.6, 13.1, 27.6, 59.7, 12.2, 1.5}}};
const std::array<Row, 7> kMedaRows = {{{"LLaVA-NeXT-7B", "full", 1.0, kMeda[0]},
                                       {"LLaVA-NeXT-7B", "h2o", 0.1, kMeda[1]},
                                       {"LLaVA-NeXT-7B", "look-m", 0.1, kMeda[2]},
                                       {"LLaVA-NeXT-7B", "meda", 0.1, kMeda[3]},
                                       {"LLaVA-v1.5-13B", "full", 1.0, kMeda[4]},
                                       {"LLaVA-v1.5-13B", "look-m", 0.1, kMeda[5]},
                                       {"LLaVA-v1.5-13B", "meda", 0.1, kMeda[6]}}};

// AirCache, visual cache kept 10 % and 1 %. (The first column is printed "ChatQA" but cites ChartQA.)
constexpr std::array<const char*, 4> kDocuments = {"ChartQA", "InfoVQA", "DocVQA", "TextVQA"};
using DocumentScores = std::array<double, 4>;
constexpr std::array<DocumentScores, 21> kAirCache = {
    {{80.3, 66.1, 87.0, 76.0}, {77.4, 59.2, 74.2, 70.1}, {71.0, 52.0, 55.3, 60.4}, {77.9, 60.5, 74.2, 72.0}, {71.0, 52.0, 55.3, 60.2},
     {78.2, 61.1, 80.5, 72.7}, {70.9, 51.9, 55.4, 60.2}, {79.3, 64.2, 84.4, 73.4}, {72.9, 57.8, 64.1, 58.2}, {79.9, 65.7, 85.5, 75.3},
     {76.4, 62.5, 73.2, 67.1}, {82.2, 73.0, 91.0, 77.7}, {80.4, 72.3, 90.1, 73.9}, {75.0, 64.9, 71.1, 61.7}, {81.7, 72.6, 90.0, 77.0},
     {78.4, 68.2, 78.5, 68.6}, {83.2, 76.2, 93.8, 84.4}, {81.6, 74.9, 87.2, 83.1}, {69.1, 66.2, 71.2, 60.2}, {82.3, 75.2, 92.9, 83.4},
     {75.9, 70.7, 78.3, 68.6}}};
const std::array<Row, 21> kAirCacheRows = {
    {{"LLaVA-OV-7B", "full", 1.0, kAirCache[0]},           {"LLaVA-OV-7B", "h2o", 0.1, kAirCache[1]},
     {"LLaVA-OV-7B", "h2o", 0.01, kAirCache[2]},           {"LLaVA-OV-7B", "elastic-cache", 0.1, kAirCache[3]},
     {"LLaVA-OV-7B", "elastic-cache", 0.01, kAirCache[4]}, {"LLaVA-OV-7B", "prefixkv", 0.1, kAirCache[5]},
     {"LLaVA-OV-7B", "prefixkv", 0.01, kAirCache[6]},      {"LLaVA-OV-7B", "snapkv", 0.1, kAirCache[7]},
     {"LLaVA-OV-7B", "snapkv", 0.01, kAirCache[8]},        {"LLaVA-OV-7B", "aircache", 0.1, kAirCache[9]},
     {"LLaVA-OV-7B", "aircache", 0.01, kAirCache[10]},     {"InternVL2-8B", "full", 1.0, kAirCache[11]},
     {"InternVL2-8B", "snapkv", 0.1, kAirCache[12]},       {"InternVL2-8B", "snapkv", 0.01, kAirCache[13]},
     {"InternVL2-8B", "aircache", 0.1, kAirCache[14]},     {"InternVL2-8B", "aircache", 0.01, kAirCache[15]},
     {"Qwen2-VL-7B", "full", 1.0, kAirCache[16]},          {"Qwen2-VL-7B", "snapkv", 0.1, kAirCache[17]},
     {"Qwen2-VL-7B", "snapkv", 0.01, kAirCache[18]},       {"Qwen2-VL-7B", "aircache", 0.1, kAirCache[19]},
     {"Qwen2-VL-7B", "aircache", 0.01, kAirCache[20]}}};

// VL-Cache, DocVQA ANLS at 1, 5, 10 and 20 %.
constexpr std::array<double, 4> kVlCacheShares = {0.01, 0.05, 0.1, 0.2};
struct Curve {
  const char* model;
  const char* method;
  std::array<double, 4> scores;
};
constexpr std::array<Curve, 8> kVlCache = {{{"LLaVA-Mistral-7B", "vl-cache", {43, 59, 62, 64}},
                                            {"LLaVA-Mistral-7B", "h2o", {37, 40, 56, 59}},
                                            {"LLaVA-Mistral-7B", "pyramidkv", {42, 58, 60, 61}},
                                            {"LLaVA-Mistral-7B", "streaming-llm", {20, 32, 47, 45}},
                                            {"LLaVA-1.6-34B", "vl-cache", {41, 82, 84, 85}},
                                            {"LLaVA-1.6-34B", "h2o", {28, 41, 75, 82}},
                                            {"LLaVA-1.6-34B", "pyramidkv", {43, 79, 83, 85}},
                                            {"LLaVA-1.6-34B", "streaming-llm", {0, 16, 34, 48}}}};

void append(std::vector<PaperValue>& values, std::span<const Row> rows, std::span<const char* const> columns) {
  for (const Row& row : rows) {
    for (std::size_t column = 0; column < columns.size(); ++column)
      values.push_back({columns[column], row.model, row.method, row.retention, row.scores[column]});
  }
}

std::string fixed(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", value);
  return text.data();
}

}  // namespace

std::vector<PaperValue> paperValues(const std::string& paper) {
  std::vector<PaperValue> values;
  if (paper == "meda") append(values, kMedaRows, kMileBench);
  if (paper == "aircache") append(values, kAirCacheRows, kDocuments);
  if (paper == "vl-cache") {
    values.push_back({"DocVQA", "LLaVA-Mistral-7B", "full", 1.0, 68});
    values.push_back({"DocVQA", "LLaVA-1.6-34B", "full", 1.0, 85});
    for (const Curve& curve : kVlCache) {
      for (std::size_t i = 0; i < kVlCacheShares.size(); ++i)
        values.push_back({"DocVQA", curve.model, curve.method, kVlCacheShares[i], curve.scores[i]});
    }
  }
  if (values.empty()) throw Exception(ErrorCode::kInvalidArgument, paper, "is no paper with values here: aircache, meda, vl-cache");
  return values;
}

std::string paperComparison(const std::string& paper, const std::string& benchmark, const Report& report) {
  std::string text = "### " + benchmark + " in the paper of " + paper + "\n\nOurs: " + report.model + ". Per cent.\n\n";
  text += "| method | asked | paper's model | paper | ours | difference |\n|---|---:|---|---:|---:|---:|\n";
  bool any = false;
  for (const PaperValue& value : paperValues(paper)) {
    if (value.benchmark != benchmark) continue;
    any = true;
    const auto ours = std::find_if(report.rows.begin(), report.rows.end(), [&](const ReportRow& row) {
      return row.method == value.method && std::abs(row.requested - value.retention) < 1e-9;
    });
    text.append("| ")
        .append(value.method)
        .append(" | ")
        .append(fixed(100 * value.retention))
        .append(" | ")
        .append(value.model)
        .append(" | ");
    text.append(fixed(value.score)).append(" | ");
    if (ours == report.rows.end()) {
      text.append(" | |\n");
    } else {
      text.append(fixed(100 * ours->score)).append(" | ").append(fixed(100 * ours->score - value.score)).append(" |\n");
    }
  }
  if (!any) {
    throw Exception(ErrorCode::kInvalidArgument, paper,
                    "prints no values for " + (benchmark.empty() ? std::string("these questions") : benchmark));
  }
  return text;
}

}  // namespace winnow::app
