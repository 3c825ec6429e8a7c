#include "ui/shell/chat/later_question.h"

#include <QCoreApplication>
#include <algorithm>

#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/format_text.h"
#include "engine/metrics/kept_figures.h"
#include "ui/recipes/recipe_words.h"
#include "ui/shell/chat/thread_media.h"

namespace winnow::ui {
namespace {

class LaterWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::LaterWords)
};

constexpr double kEverything = 0.999;

// The share of the media's tokens; 1: there are none.
double attachedShare(const TurnFigures& figures) { return figures.tokens.thread_visual == 0 ? 1.0 : kept_share(figures); }

// Null: nothing was answered yet.
const app::Run* lastRun(const QList<app::StoredMessage>& branch) {
  const auto last = std::find_if(branch.rbegin(), branch.rend(), [](const app::StoredMessage& message) { return message.hasRun; });
  return last == branch.rend() ? nullptr : &last->run;
}

// Nothing of what was watched outlives the watching, and nothing else is attached that the next question would see.
bool sourceIsGone(const QList<app::StoredMessage>& branch) {
  return isAboutWatched(branch) || (wasWatchedBefore(branch) && mediaOf(branch).empty());
}

QString afterAbout(double ms) { return ms > 0.0 ? LaterWords::tr(", about %1").arg(app::formatMilliseconds(ms)) : QString(); }

// Says what is left of what was read and compressed. Empty: all of it. noun: for what is attached.
QString seenOfWhatIsLeft(const app::Run& last, const QString& noun, const std::vector<MethodInfo>& methods) {
  const double share = attachedShare(last.figures);
  if (share >= kEverything) return {};
  const RecipeSpec spec = app::namedMakers(last).back().spec;
  const RecipeTraits traits = describe(spec).value_or(RecipeTraits());
  if (traits.fetches) return LaterWords::tr("Your next question fetches the parts of %1 that it needs; nothing was dropped.").arg(noun);
  if (traits.before_question)
    return LaterWords::tr("Your next question uses the %1 of %2 kept earlier.").arg(app::formatShare(share), noun);
  const MethodInfo* method = findMethod(methods, spec.method);
  if (method != nullptr && method->query_aware)
    return LaterWords::tr("Only %1 of %2 is left, chosen for earlier questions.").arg(app::formatShare(share), noun);
  return LaterWords::tr("Your next question uses the %1 of %2 that is left.").arg(app::formatShare(share), noun);
}

// Used if no earlier question decides it. Empty: nothing is attached.
QString seenAnew(const app::Run& last, const QString& noun, const RecipeSpec& recipe) {
  if (last.figures.tokens.thread_visual == 0) return {};
  const double share = attachedShare(last.figures);
  const RecipeTraits traits = describe(recipe).value_or(RecipeTraits());
  const bool known = last.recipe.spec == recipe && traits.before_question && !traits.fetches;
  if (share >= kEverything || !known) return LaterWords::tr("Your next question starts from all of %1.").arg(noun);
  return LaterWords::tr("Your next question uses the %1 of %2 kept before it is read.").arg(app::formatShare(share), noun);
}

QString howItComesToThat(Guard guard, const app::Run& last) {
  switch (guard) {
    case Guard::kPrefill: return LaterWords::tr("Everything is read again.");
    case Guard::kRam:
      return LaterWords::tr("The full cache (%1) stays in memory for it.").arg(app::formatBytes(last.figures.kv_bytes.full));
    case Guard::kAlone: return LaterWords::tr("It does not see earlier questions and answers.");
    case Guard::kKeep: break;
  }
  return {};
}

}  // namespace

QString laterQuestionText(const QList<app::StoredMessage>& branch, const LaterQuestion& later, const std::vector<MethodInfo>& methods) {
  const app::Run* last = lastRun(branch);
  if (last == nullptr) return {};
  if (sourceIsGone(branch))
    return LaterWords::tr("What was seen is gone. Your next question uses what was said about it. To watch again: File > Watch.");
  const QString noun = app::attachedNoun(attachedIn(branch));
  const QString about = afterAbout(later.expectedMs);
  if (anotherModelReads(branch, later))
    return LaterWords::tr("%1 reads everything again for your next question%2.").arg(app::displayText(later.modelName), about);
  if (later.guard != Guard::kKeep)
    return QStringList{seenAnew(*last, noun, later.recipe.spec), howItComesToThat(later.guard, *last)}.join(QLatin1Char(' ')).trimmed();
  if (later.readsAgain)
    return LaterWords::tr("Your next question reads everything again, with %1%2.").arg(recipeLabel(methods, later.recipe), about);
  // The cache of a question that was asked by itself knows nothing of what was said before it.
  const bool others = std::count_if(branch.begin(), branch.end(), [](const app::StoredMessage& m) { return m.hasRun; }) > 1;
  if (last->guard == Guard::kAlone && others)
    return LaterWords::tr("Your next question reads everything again, because the last one was asked separately.");
  const QString seen = seenOfWhatIsLeft(*last, noun, methods);
  if (!readingAgainHelps(branch, later)) return seen;
  const QString holds = LaterWords::tr("%1 compressed %2. New files: %3.")
                            .arg(recipesLabel(methods, app::namedMakers(*last)), noun, recipeLabel(methods, later.recipe));
  return QStringList{seen, holds}.join(QLatin1Char(' ')).trimmed();
}

bool readingAgainHelps(const QList<app::StoredMessage>& branch, const LaterQuestion& later) {
  const app::Run* last = lastRun(branch);
  if (last == nullptr || later.guard != Guard::kKeep || later.readsAgain || anotherModelReads(branch, later)) return false;
  if (sourceIsGone(branch)) return false;
  if (last->figures.tokens.thread_visual == 0) return false;  // of text alone hardly anything is dropped
  const QList<app::NamedRecipe> makers = app::namedMakers(*last);
  return std::none_of(makers.begin(), makers.end(), [&](const app::NamedRecipe& maker) { return maker.spec == later.recipe.spec; });
}

bool anotherModelReads(const QList<app::StoredMessage>& branch, const LaterQuestion& later) {
  const app::Run* last = lastRun(branch);
  return last != nullptr && !later.modelFolder.isEmpty() && !last->modelFolder.isEmpty() && last->modelFolder != later.modelFolder;
}

}  // namespace winnow::ui
