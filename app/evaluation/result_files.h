// The files of one set's results: DIR/NAME.jsonl (the log) and DIR/NAME.run.json (what was asked).
//
// The second has what the log does not: recipes in their order, seeds, and of every question its metric, group, cluster and first right
// answer. resources/evaluation/report.py makes tables of the two. It replaces an earlier one of the same set and nothing else: what does
// not begin as ours does was written by somebody. Used by the terminal's eval. Errors: Exception(kInvalidArgument) for such a file and for
// one that is also an input; kFileUnreadable for the file system's. One thread.
#pragma once

#include <span>
#include <string>

#include "app/evaluation/score_table.h"

namespace winnow::app {

class ResultFiles {
 public:
  ResultFiles(const std::string& folder, const std::string& name);

  // Before anything is opened or asked. inputs: files that the evaluation reads.
  void requireReplaceable(std::span<const std::string> inputs) const;

  std::string base() const { return m_base; }  // DIR/NAME
  std::string log() const { return m_base + ".jsonl"; }
  std::string run() const { return m_base + ".run.json"; }
  void writeRun(const ReportSubject& subject, const std::vector<EvaluationItem>& items, const EvaluationPlan& plan) const;

 private:
  std::string m_base;
};

}  // namespace winnow::app
