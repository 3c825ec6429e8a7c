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
    case Guard::kPrefill:
      return LaterChoices::tr("Read everything again for each");
    case Guard::kRam:
      return LaterChoices::tr("Keep all of it in memory beside");
    case Guard::kAlone:
      return LaterChoices::tr("Each by itself, about the media only");
    case Guard::kKeep:
      break;
  }
  return LaterChoices::tr("Go on, with what is left");
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
                          "Costs a full reading for each question, without need: what this method keeps does not depend on the question.")
                    : LaterChoices::tr("Costs a full reading for each question. Nothing that an earlier one dropped is missing.");
    case Guard::kRam:
      return canStayInMemory(spec)
                 ? LaterChoices::tr("Costs the memory of the full cache. Nothing that an earlier question dropped is missing.")
                 : LaterChoices::tr("Not with this method, which leaves no full cache to keep: questions go on with what is left.");
    case Guard::kAlone:
      return before ? LaterChoices::tr("Costs next to nothing: what is kept serves every question. They do not see what was said before.")
                    : LaterChoices::tr("Costs a full reading for each question. They do not see what was said before.");
    case Guard::kKeep:
      break;
  }
  if (before || keepsEverything(spec)) return LaterChoices::tr("Costs nothing, and no question has dropped what another needs.");
  return LaterChoices::tr("Costs nothing. What earlier questions made the method drop is gone.");
}

}  // namespace winnow::ui
