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

// "SnapKV · 10 % with 11 % of the memory", of the one that takes least; empty: none saves any.
QString leastMemory(const ComparisonModel& model, const std::vector<int>& columns) {
  const auto bytes = [&model](int column) { return static_cast<double>(model.progress(column).held.prompt); };
  int least = columns.front();
  for (const int column : columns) least = bytes(column) < bytes(least) ? column : least;
  const double share = bytes(least) / std::max(1.0, bytes(model.reference()));
  if (share <= 0 || share > kWorthSaying) return {};
  return VerdictWords::tr("%1 with %2 of the memory").arg(model.label(least), app::formatShare(share));
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
  QString verdict;
  if (!other.empty()) {
    verdict = same.size() == 1 ? VerdictWords::tr("%1 says the same as %2") : VerdictWords::tr("%1 say the same as %2");
    verdict = verdict.arg(labels(model, same), full);
  } else {
    verdict = same.size() == 1 ? VerdictWords::tr("Both say the same") : VerdictWords::tr("All %1 say the same").arg(same.size() + 1);
  }
  if (const QString least = leastMemory(model, same); !least.isEmpty()) verdict += QStringLiteral("; ") + least;
  if (!other.empty()) {
    const QString rest = other.size() == 1 ? VerdictWords::tr("%1 differs") : VerdictWords::tr("%1 differ");
    verdict += QStringLiteral("; ") + rest.arg(labels(model, other));
  }
  return verdict + QLatin1Char('.');
}

}  // namespace winnow::ui
