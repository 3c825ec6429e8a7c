// Attention of rows that stand for every later question, as a probe pass after the cache found it.
//
// KVzip (arXiv 2505.23416), KVzip+ (arXiv 2601.07891, section 3.1) and self-study: they differ in what the rows are.
#pragma once

#include "engine/base/error.h"
#include "engine/recipes/scorers/context_scorer.h"

namespace winnow {

class ProbeVotesScorer : public ContextScorer {
 public:
  ProbeVotesScorer(std::string name, const ProbeNeed& probe) : name_(std::move(name)), probe_(probe) {}
  std::string name() const override { return name_; }
  StatisticsNeeds needs() const override {
    StatisticsNeeds needs;
    needs.probe = probe_;
    return needs;
  }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo&) const override {
    require(statistics.probe.has_value(), "ProbeVotesScorer: there was no probe");
    return *statistics.probe;
  }
  bool judges_streams() const override { return true; }

 private:
  std::string name_;
  ProbeNeed probe_;
};

}  // namespace winnow
