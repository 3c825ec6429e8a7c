// What an evaluation found, per recipe, and how it is written: JSON, Markdown, CSV.
//
// Built from the log alone, so that a resumed run and an uninterrupted one write the same bytes. Used by the terminal's eval. Pure; any
// thread. Shares are in [0, 1] in the data and in JSON, per cent in Markdown; CSV has the data's.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/evaluation/evaluation_run.h"
#include "app/evaluation/interval.h"

namespace winnow::app {

// Of the questions that the full cache answers: what a model cannot do by itself is no loss of compression.
struct ShareOfFull {
  int items = 0;
  double score = 0.0;
  Interval interval;  // 95 %, clusters drawn
};

struct ReportRow {
  std::string recipe;
  std::string method;  // its title
  double requested = 1.0;
  double achieved = 1.0;  // mean
  int items = 0;          // with at least one answer
  int answers = 0;
  double score = 0.0;                    // mean over items of the mean over seeds
  Interval interval;                     // 95 %, over items, or over their clusters
  std::optional<ShareOfFull> ofFull;     // of sets whose questions come in clusters
  std::map<std::string, double> groups;  // score by the items' group
  std::optional<double> sameAsFull;      // share of answers equal, letter by letter, to the full cache's
  std::optional<double> topAgreement;    // means of the log's
  std::optional<double> divergence;
  std::optional<double> perplexity;           // exp of the mean over items, each with the same weight
  std::optional<SelectionFigures> selection;  // each the mean of those that were measured; output error: one number
  double budgetDivergence = 0.0;
  double kvBytes = 0.0;  // means, after the event
  double kvBytesFull = 0.0;
  double generatedTokens = 0.0;
};

// A question that the full cache answers wrongly.
struct FullMistake {
  std::string item;
  std::string gold;
  std::string answer;
};

struct Report {
  std::string dataset;
  std::string model;                // name, device, number format
  std::string metrics;              // "facts, time"
  std::vector<std::string> groups;  // columns, in the items' order
  int planned = 0;
  int answered = 0;
  std::vector<ReportRow> rows;        // in the recipes' order; recipes without an answer are left out
  std::vector<FullMistake> mistakes;  // of sets whose questions come in clusters
};

struct ReportSubject {
  std::string dataset;
  std::string model;
};

Report buildReport(const ReportSubject& subject, const std::vector<EvaluationItem>& items, const EvaluationPlan& plan, const ItemLog& log);

std::string reportJson(const Report& report);
std::string reportMarkdown(const Report& report);
std::string reportCsv(const Report& report);

}  // namespace winnow::app
