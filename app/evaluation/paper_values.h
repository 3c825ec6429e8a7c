// Accuracy that papers printed, beside what was measured here.
//
// Used by the terminal's eval --paper. Values are per cent as printed; retention is the share of the cache kept (AirCache: of the visual
// cache). Sources: MEDA (arXiv 2502.17599), AirCache (2503.23956), VL-Cache (2410.23317). Pure; any thread.
// Errors: Exception(kInvalidArgument) for a paper or benchmark without values.
#pragma once

#include <string>
#include <vector>

#include "app/evaluation/report.h"

namespace winnow::app {

struct PaperValue {
  std::string benchmark;  // ChartQA, DocVQA, TextVQA; of MileBench the column: T-1 .. IR
  std::string model;
  std::string method;  // our preset's name; "pyramidkv" is the paper's PyramidKV, and so on
  double retention = 1.0;
  double score = 0.0;  // per cent
};

std::vector<PaperValue> paperValues(const std::string& paper);

// A Markdown table: the paper's values for one benchmark, each beside ours for the same method and retention where that was asked.
std::string paperComparison(const std::string& paper, const std::string& benchmark, const Report& report);

}  // namespace winnow::app
