#include "app/evaluation/report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "app/evaluation/figure_numbers.h"

namespace winnow::app {
namespace {

// A mean of numbers of which some are not there.
class Mean {
 public:
  void add(double value) { m_values.push_back(value); }
  void add(const std::optional<double>& value) {
    if (value) add(*value);
  }
  double value() const { return mean(m_values); }
  std::optional<double> ifAny() const { return m_values.empty() ? std::nullopt : std::optional<double>(value()); }

 private:
  std::vector<double> m_values;
};

// Scores by cluster; items without one are clusters by themselves.
class Clusters {
 public:
  void add(const EvaluationItem& item, double score) {
    m_clustered = m_clustered || !item.cluster.empty();
    m_scores[item.cluster.empty() ? item.id : item.cluster].push_back(score);
    m_all.push_back(score);
  }
  bool clustered() const { return m_clustered; }
  const std::vector<double>& scores() const { return m_all; }
  Interval interval() const {
    if (!m_clustered) return meanInterval(m_all);
    std::vector<std::vector<double>> clusters;
    for (const auto& [name, scores] : m_scores) clusters.push_back(scores);
    return clusteredInterval(clusters);
  }

 private:
  std::map<std::string, std::vector<double>> m_scores;
  std::vector<double> m_all;
  bool m_clustered = false;
};

bool isRight(const AnswerRecord* record) { return record != nullptr && record->score == 1.0; }

ReportRow rowOf(const GridRecipe& recipe, const std::vector<EvaluationItem>& items, const EvaluationPlan& plan, const ItemLog& log) {
  ReportRow row;
  row.recipe = recipe.name;
  row.method = recipe.title;
  row.requested = recipe.spec.retention;
  Clusters scores, ofFull;
  std::map<std::string, Mean> groups;
  Mean achieved, same, top, divergence, loss, budgets, bytes, bytesFull, generated;
  std::map<std::string, Mean> selection;
  for (const EvaluationItem& item : items) {
    const AnswerRecord* full = log.find(item.id, "full", plan.seeds.front());
    Mean score;
    for (const std::uint64_t seed : seedsOf(plan, recipe)) {
      const AnswerRecord* record = log.find(item.id, recipe.name, seed);
      if (record == nullptr) continue;
      ++row.answers;
      score.add(record->score);
      achieved.add(record->achievedRetention);
      if (full != nullptr && !record->loss) same.add(record->answer == full->answer ? 1.0 : 0.0);
      top.add(record->topAgreement);
      divergence.add(record->divergence);
      loss.add(record->loss);
      if (record->selection)
        visit_fields(*record->selection, [&](const char* name, const auto& figure) { selection[name].add(numberOf(figure)); });
      budgets.add(record->budgetDivergence);
      bytes.add(static_cast<double>(record->kvBytes));
      bytesFull.add(static_cast<double>(record->kvBytesFull));
      generated.add(static_cast<double>(record->generatedTokens));
    }
    if (!score.ifAny()) continue;
    scores.add(item, score.value());
    if (isRight(full)) ofFull.add(item, score.value());
    if (!item.group.empty()) groups[item.group].add(score.value());
  }
  row.items = static_cast<int>(scores.scores().size());
  row.score = mean(scores.scores());
  row.interval = scores.interval();
  if (ofFull.clustered()) row.ofFull = ShareOfFull{static_cast<int>(ofFull.scores().size()), mean(ofFull.scores()), ofFull.interval()};
  for (const auto& [group, score] : groups) row.groups[group] = score.value();
  row.achieved = achieved.value();
  row.sameAsFull = same.ifAny();
  row.topAgreement = top.ifAny();
  row.divergence = divergence.ifAny();
  if (loss.ifAny()) row.perplexity = std::exp(loss.value());
  if (!selection.empty()) {
    visit_fields(row.selection.emplace(), [&](const char* name, auto& figure) {
      if (const std::optional<double> number = selection[name].ifAny()) setNumber(figure, *number);
    });
  }
  row.budgetDivergence = budgets.value();
  row.kvBytes = bytes.value();
  row.kvBytesFull = bytesFull.value();
  row.generatedTokens = generated.value();
  return row;
}

}  // namespace

Report buildReport(const ReportSubject& subject, const std::vector<EvaluationItem>& items, const EvaluationPlan& plan, const ItemLog& log) {
  Report report;
  report.dataset = subject.dataset;
  report.model = subject.model;
  std::set<std::string> metrics;
  for (const EvaluationItem& item : items) {
    metrics.insert(metricName(item.metric));
    if (!item.group.empty() && std::find(report.groups.begin(), report.groups.end(), item.group) == report.groups.end())
      report.groups.push_back(item.group);
    const AnswerRecord* full = item.cluster.empty() ? nullptr : log.find(item.id, "full", plan.seeds.front());
    if (full != nullptr && !isRight(full)) report.mistakes.push_back({item.id, item.golds.front(), full->answer});
  }
  for (const std::string& metric : metrics) report.metrics += (report.metrics.empty() ? "" : ", ") + metric;
  report.planned = plannedAnswers(plan, items.size());
  for (const GridRecipe& recipe : plan.recipes) {
    ReportRow row = rowOf(recipe, items, plan, log);
    report.answered += row.answers;
    if (row.answers > 0) report.rows.push_back(std::move(row));
  }
  return report;
}

}  // namespace winnow::app
