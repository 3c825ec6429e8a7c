// The scores of an evaluation by recipe, as the terminal prints them (Markdown, per cent).
//
// Built from the log alone, so that a resumed run and an uninterrupted one print the same. Intervals, groups and every other column are
// made of the same log by resources/evaluation/report.py. Used by the terminal's eval. Pure; any thread.
#pragma once

#include <string>

#include "app/evaluation/evaluation_run.h"

namespace winnow::app {

struct ReportSubject {
  std::string dataset;
  std::string model;  // name, device, element type
};

// A row a recipe that has an answer; a score is the mean over questions of the mean over seeds.
std::string scoreTable(const ReportSubject& subject, const std::vector<EvaluationItem>& items, const EvaluationPlan& plan,
                       const ItemLog& log);

}  // namespace winnow::app
