// Scores of what lies in the cache before a question is read: for events between the media and the question (phases context and stream).
#pragma once

#include <algorithm>

#include "engine/base/error.h"
#include "engine/recipes/composition.h"
#include "engine/recipes/scorers/scorer.h"

namespace winnow {

class ContextScorer : public Scorer {
 public:
  std::optional<Refusal> fits(const Composition& parts) const override {
    const PhaseFacts& facts = phase_facts(parts.phase);
    if (facts.before_question && !facts.fetches && (!facts.in_clips || judges_streams())) return std::nullopt;
    return Refusal{"scorer", name() + " judges the media before a question is read; start from a preset that does (kvzip, self-study)"};
  }
};

// Attention that later queries are expected to give a slot: (a_j + epsilon) norm(v_j) (Expected Attention, arXiv 2510.00636).
//
// a_j: statistics' expected attention. epsilon keeps slots with large values that nothing is expected to look at.
class ExpectedAttentionScorer : public ContextScorer {
 public:
  ExpectedAttentionScorer(ExpectedNeed expected, double epsilon) : expected_(expected), epsilon_(epsilon) {}
  std::string name() const override { return "expected-attention"; }
  StatisticsNeeds needs() const override { return {.value_norms = true, .expected = expected_}; }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo&) const override {
    HeadScores scores = statistics.expected;
    const auto epsilon = static_cast<float>(epsilon_);
    std::transform(scores.values.begin(), scores.values.end(), statistics.value_norms.values.begin(), scores.values.begin(),
                   [&](float attention, float norm) { return (attention + epsilon) * norm; });
    return scores;
  }

 private:
  ExpectedNeed expected_;
  double epsilon_;
};

// Keys unlike the others: minus the cosine between a key and the mean direction of all (KeyDiff, arXiv 2504.15364).
class KeyDifferenceScorer : public ContextScorer {
 public:
  std::string name() const override { return "key-difference"; }
  StatisticsNeeds needs() const override { return {.key_likeness = true}; }
  HeadScores score(const LayerStatistics& statistics, const SegmentInfo&) const override {
    HeadScores scores = statistics.key_likeness;
    for (float& score : scores.values) score = -score;
    return scores;
  }
  bool judges_streams() const override { return true; }
  std::vector<float> stream_scores(const StreamedSlots& slots, std::int64_t /*target*/) const override {
    std::vector<float> scores;
    for (const float likeness : slots.key_likeness) scores.push_back(-likeness);
    return scores;
  }
};

// Attention of rows that stand for every later question, as a probe pass after the cache found it.
//
// KVzip (arXiv 2505.23416), KVzip+ (arXiv 2601.07891, section 3.1) and self-study: they differ in what the rows are.
class ProbeVotesScorer : public ContextScorer {
 public:
  ProbeVotesScorer(std::string name, const ProbeNeed& probe) : name_(std::move(name)), probe_(probe) {}
  std::string name() const override { return name_; }
  StatisticsNeeds needs() const override { return {.probe = probe_}; }
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
