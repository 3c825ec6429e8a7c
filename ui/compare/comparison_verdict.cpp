#include "ui/compare/comparison_verdict.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <vector>

#include "app/words/format_text.h"
#include "ui/compare/comparison_model.h"

namespace winnow::ui {
namespace {

class VerdictWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::VerdictWords)
};

constexpr double kWorthSaying = 0.95;  // of the reference's memory

bool answered(const ComparisonModel& model, int column) {
  return model.answer(column).state == app::ColumnState::kAnswered && model.progress(column).stage == ColumnStage::kDone;
}

QString labels(const ComparisonModel& model, const std::vector<int>& columns) {
  QStringList names;
  for (const int column : columns) names << model.label(column);
  const QString last = names.takeLast();
  return names.isEmpty() ? last : VerdictWords::tr("%1 and %2").arg(names.join(QStringLiteral(", ")), last);
}

// The one of these that takes least, and its share of the reference's memory.
struct Least {
  int column = 0;
  double share = 0;
  bool isWorthSaying() const { return share > 0 && share <= kWorthSaying; }
};

Least leastMemory(const ComparisonModel& model, const std::vector<int>& columns) {
  const auto bytes = [&model](int column) { return static_cast<double>(model.progress(column).held.prompt); };
  const int least = *std::ranges::min_element(columns, {}, bytes);
  return {least, bytes(least) / std::max(1.0, bytes(model.reference()))};
}

}  // namespace

QString comparisonVerdict(const ComparisonModel& model) {
  const int reference = model.reference();
  if (model.running() || model.cancelled() || model.columns() < 2 || !answered(model, reference)) return {};
  std::vector<int> same;
  std::vector<int> other;
  for (int i = 0; i < model.columns(); ++i) {
    if (i == reference || !answered(model, i)) continue;
    (model.answer(i).text.simplified() == model.answer(reference).text.simplified() ? same : other).push_back(i);
  }
  if (same.empty() && other.empty()) return {};
  const QString full = model.label(reference);
  if (same.empty()) {
    const QString from = other.size() == 1 ? VerdictWords::tr("%1 differs from %2.") : VerdictWords::tr("%1 differ from %2.");
    return from.arg(labels(model, other), full);
  }
  const Least least = leastMemory(model, same);
  const QString share = app::formatShare(least.share);
  QString verdict;
  if (!other.empty() && same.size() == 1 && least.isWorthSaying()) {
    verdict = VerdictWords::tr("%1 says the same as %2 with %3 of the memory").arg(labels(model, same), full, share);
  } else if (!other.empty()) {
    verdict = same.size() == 1 ? VerdictWords::tr("%1 says the same as %2") : VerdictWords::tr("%1 say the same as %2");
    verdict = verdict.arg(labels(model, same), full);
  } else {
    verdict = same.size() == 1 ? VerdictWords::tr("Both say the same") : VerdictWords::tr("All %1 say the same").arg(same.size() + 1);
  }
  if (least.isWorthSaying() && (other.empty() || same.size() > 1))
    verdict += QStringLiteral("; ") + VerdictWords::tr("%1 with %2 of the memory").arg(model.label(least.column), share);
  if (!other.empty()) {
    const QString rest = other.size() == 1 ? VerdictWords::tr("%1 differs") : VerdictWords::tr("%1 differ");
    verdict += QStringLiteral("; ") + rest.arg(labels(model, other));
  }
  return verdict + QLatin1Char('.');
}

}  // namespace winnow::ui
