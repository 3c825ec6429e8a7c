#include "app/evaluation/score_table.h"

#include <array>
#include <cstdio>
#include <set>

namespace winnow::app {
namespace {

class Mean {
 public:
  void add(double value) {
    m_sum += value;
    ++m_count;
  }
  int count() const { return m_count; }
  double value() const { return m_count > 0 ? m_sum / m_count : 0.0; }

 private:
  double m_sum = 0.0;
  int m_count = 0;
};

std::string percentCell(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), " %.1f |", 100.0 * share);
  return text.data();
}

}  // namespace

std::string scoreTable(const ReportSubject& subject, const std::vector<EvaluationItem>& items, const EvaluationPlan& plan,
                       const ItemLog& log) {
  std::string rows;
  int answered = 0;
  for (const GridRecipe& recipe : plan.recipes) {
    Mean scores, achieved;
    for (const EvaluationItem& item : items) {
      Mean score;
      for (const std::uint64_t seed : seedsOf(plan, recipe)) {
        const AnswerRecord* record = log.find(item.id, recipe.name, seed);
        if (record == nullptr) continue;
        score.add(record->score);
        achieved.add(record->achievedRetention);
      }
      if (score.count() > 0) scores.add(score.value());
    }
    answered += achieved.count();
    if (scores.count() == 0) continue;
    rows.append("| ").append(recipe.title).append(" |").append(percentCell(recipe.spec.retention)).append(percentCell(achieved.value()));
    rows.append(" ").append(std::to_string(scores.count())).append(" |").append(percentCell(scores.value())).append("\n");
  }
  std::set<std::string> metrics;
  for (const EvaluationItem& item : items) metrics.insert(metricName(item.metric));
  std::string named;
  for (const std::string& metric : metrics) named.append(named.empty() ? "" : ", ").append(metric);
  std::string text = "## " + subject.dataset + "\n\n" + subject.model + "; metric " + named + "; ";
  text += std::to_string(answered) + " of " + std::to_string(plannedAnswers(plan, items.size())) + " answers. Per cent.\n\n";
  return text + "| method | asked | kept | questions | score |\n|---|---:|---:|---:|---:|\n" + rows;
}

}  // namespace winnow::app
