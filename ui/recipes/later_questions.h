// The choice of what a later question of a chat goes on from (engine's Guard): what the window offers, in words that name the cost.
//
// Used by the composer and ui/shell. Pure; UI thread only (translations).
#pragma once

#include <QString>
#include <span>

#include "engine/messages/requests.h"
#include "engine/recipes/method_info.h"

namespace winnow::ui {

// In the order in which they are offered.
std::span<const Guard> laterGuards();
QString laterTitle(Guard guard);

// True if the full cache can stay in memory and be compressed again for each question.
bool canStayInMemory(const RecipeSpec& spec);
// The guard that really applies: if the full cache cannot stay in memory, the conversation goes on with what is left.
Guard laterGuard(Guard chosen, const RecipeSpec& spec);
// The cost of the choice under this recipe, and what a later question does not see.
QString laterCost(Guard chosen, const RecipeSpec& spec);

}  // namespace winnow::ui
