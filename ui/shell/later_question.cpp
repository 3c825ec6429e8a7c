#include "ui/shell/later_question.h"

#include <QCoreApplication>
#include <algorithm>

#include "ui/words/format_text.h"

namespace winnow::ui {
namespace {

class LaterWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::LaterWords)
};

// Of the media's tokens, the mean over layers; 1: there are none.
double keptShare(const TurnFigures& figures) {
  if (figures.tokens.thread_visual == 0 || figures.layers.empty()) return 1.0;
  double kept = 0.0;
  for (const LayerFigures& layer : figures.layers) kept += layer.kept_visual;
  return kept / static_cast<double>(figures.layers.size()) / static_cast<double>(figures.tokens.thread_visual);
}

}  // namespace

QString laterQuestionText(const QList<app::StoredMessage>& branch, const std::vector<MethodInfo>& methods) {
  constexpr double kEverything = 0.999;
  const auto last = std::find_if(branch.rbegin(), branch.rend(), [](const app::StoredMessage& message) { return message.hasRun; });
  if (last == branch.rend()) return {};
  const double share = keptShare(last->run.figures);
  if (share >= kEverything) return {};
  const std::string& name = last->run.recipe.spec.method;
  const auto method = std::find_if(methods.begin(), methods.end(), [&](const MethodInfo& known) { return known.name == name; });
  if (method != methods.end() && method->phase == "context")
    return LaterWords::tr("A next question sees the %1 of the pictures that were kept before the first one was read.")
        .arg(formatShare(share));
  if (method != methods.end() && method->query_aware)
    return LaterWords::tr("A next question sees the %1 of the pictures that the questions so far needed.").arg(formatShare(share));
  return LaterWords::tr("A next question sees %1 of the pictures; the rest was dropped.").arg(formatShare(share));
}

}  // namespace winnow::ui
