#include "ui/recipes/later_questions.h"

#include <QCoreApplication>

#include "ui/recipes/recipe_words.h"

namespace winnow::ui {
namespace {

class LaterChoices {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::LaterChoices)
};

constexpr Guard kGuards[] = {Guard::kKeep, Guard::kAlone, Guard::kPrefill, Guard::kRam};

}  // namespace

std::span<const Guard> laterGuards() { return kGuards; }

QString laterTitle(Guard guard) {
  switch (guard) {
    case Guard::kPrefill: return LaterChoices::tr("Read everything again each time");
    case Guard::kRam: return LaterChoices::tr("Also keep the full cache in memory");
    case Guard::kAlone: return LaterChoices::tr("Ask each separately, about the attachments only");
    case Guard::kKeep: break;
  }
  return LaterChoices::tr("Use what was kept");
}

bool canStayInMemory(const RecipeSpec& spec) {
  RecipeSpec again = spec;
  again.turn_policy = TurnPolicy::kWhole;  // as the engine does under this guard
  return !recipe_problem(again);
}

Guard laterGuard(Guard chosen, const RecipeSpec& spec) { return chosen == Guard::kRam && !canStayInMemory(spec) ? Guard::kKeep : chosen; }

QString laterCost(Guard chosen, const RecipeSpec& spec) {
  const bool before = describe(spec).value_or(RecipeTraits()).before_question;
  switch (chosen) {
    case Guard::kPrefill:
      return before ? LaterChoices::tr(
                          "Reads everything again for each question. This method does not need that: it keeps the same for every question.")
                    : LaterChoices::tr("Reads everything again for each question, so nothing is missing.");
    case Guard::kRam:
      return canStayInMemory(spec)
                 ? LaterChoices::tr("Needs memory for the full cache, so nothing is missing.")
                 : LaterChoices::tr("Not available: this method leaves no full cache to keep. Later questions use what was kept.");
    case Guard::kAlone:
      return before ? LaterChoices::tr("Fast: every question uses the same kept part. It does not see earlier questions and answers.")
                    : LaterChoices::tr("Reads everything again for each question. It does not see earlier questions and answers.");
    case Guard::kKeep: break;
  }
  if (before || keeps_everything(spec)) return LaterChoices::tr("Costs nothing, and every question finds the same.");
  return LaterChoices::tr("Costs nothing. What was dropped for an earlier question is gone.");
}

}  // namespace winnow::ui
