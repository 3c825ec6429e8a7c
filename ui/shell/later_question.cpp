#include "ui/shell/later_question.h"

#include <QCoreApplication>
#include <algorithm>

#include "engine/recipes/method_info.h"
#include "ui/recipes/recipe_words.h"
#include "ui/shell/open_chat.h"
#include "ui/words/attached_words.h"
#include "ui/words/format_text.h"

namespace winnow::ui {
namespace {

class LaterWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::LaterWords)
};

constexpr double kEverything = 0.999;

// Of the media's tokens, the mean over layers; 1: there are none.
double keptShare(const TurnFigures& figures) {
  if (figures.tokens.thread_visual == 0 || figures.layers.empty()) return 1.0;
  double kept = 0.0;
  for (const LayerFigures& layer : figures.layers) kept += layer.kept_visual;
  return kept / static_cast<double>(figures.layers.size()) / static_cast<double>(figures.tokens.thread_visual);
}

// Of what was read and compressed. Empty: it is all there. noun: of what is attached.
QString seenOfWhatIsLeft(const app::Run& last, const QString& noun, const std::vector<MethodInfo>& methods) {
  const double share = keptShare(last.figures);
  if (share >= kEverything) return {};
  const RecipeSpec& spec = last.recipe.spec;
  const RecipeTraits traits = describe(spec).value_or(RecipeTraits());
  if (traits.fetches) return LaterWords::tr("A next question fetches its own part of %1; nothing was dropped.").arg(noun);
  if (traits.before_question)
    return LaterWords::tr("A next question sees the %1 of %2 that were kept before the first one was read.").arg(formatShare(share), noun);
  const MethodInfo* method = findMethod(methods, spec.method);
  if (method != nullptr && method->query_aware)
    return LaterWords::tr("A next question sees the %1 of %2 that the questions so far needed.").arg(formatShare(share), noun);
  return LaterWords::tr("A next question sees %1 of %2; the rest was dropped.").arg(formatShare(share), noun);
}

// Where no earlier question decides it. Empty: nothing is attached.
QString seenAnew(const app::Run& last, const QString& noun, const RecipeSpec& recipe) {
  if (last.figures.tokens.thread_visual == 0) return {};
  const double share = keptShare(last.figures);
  const RecipeTraits traits = describe(recipe).value_or(RecipeTraits());
  const bool known = last.recipe.spec == recipe && traits.before_question && !traits.fetches;
  if (share >= kEverything || !known) return LaterWords::tr("A next question sees %1 as a first one does.").arg(noun);
  return LaterWords::tr("A next question sees the %1 of %2 that are kept before it is read.").arg(formatShare(share), noun);
}

QString howItComesToThat(Guard guard, const app::Run& last) {
  switch (guard) {
    case Guard::kPrefill:
      return LaterWords::tr("Everything is read again for it.");
    case Guard::kRam:
      return LaterWords::tr("The full cache (%1) is kept in memory for it.").arg(formatBytes(last.figures.kv_bytes.full));
    case Guard::kAlone:
      return LaterWords::tr("It does not see what was said before.");
    case Guard::kKeep:
      break;
  }
  return {};
}

}  // namespace

QString laterQuestionText(const QList<app::StoredMessage>& branch, const LaterQuestion& later, const std::vector<MethodInfo>& methods) {
  const auto answered = [](const app::StoredMessage& message) { return message.hasRun; };
  const auto last = std::find_if(branch.rbegin(), branch.rend(), answered);
  if (last == branch.rend()) return {};
  const QString noun = attachedNoun(attachedIn(branch));
  if (later.guard != Guard::kKeep)
    return QStringList{seenAnew(last->run, noun, later.recipe), howItComesToThat(later.guard, last->run)}.join(QLatin1Char(' ')).trimmed();
  // The cache of a question that was asked by itself knows nothing of what was said before it.
  const bool others = std::count_if(branch.begin(), branch.end(), answered) > 1;
  if (last->run.guard == Guard::kAlone && others)
    return LaterWords::tr("Everything is read again for a next question: the last one was asked by itself.");
  return seenOfWhatIsLeft(last->run, noun, methods);
}

}  // namespace winnow::ui
