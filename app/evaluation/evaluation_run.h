// Runs an evaluation: every item under every recipe and seed that the log does not have yet.
//
// Items are taken one after another, and the recipes of an item together (as many as a comparison takes), so that they share its media and
// prefill; recipes that are asked all questions of a cluster follow after its last (GridRecipe::together). Used by the terminal's eval.
// Errors: those of the answerer and the log. On Stop and Cancel the answers that were asked together and are not all there yet are left
// out; the others are in the log.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "app/evaluation/answerer.h"
#include "app/evaluation/dataset.h"
#include "app/evaluation/item_log.h"
#include "app/evaluation/recipe_grid.h"

namespace winnow::app {

struct EvaluationPlan {
  std::vector<GridRecipe> recipes;
  std::vector<std::uint64_t> seeds = {0};  // `full` answers greedily the same with every seed: it is asked with the first only
};

// The seeds that a recipe is asked with.
std::vector<std::uint64_t> seedsOf(const EvaluationPlan& plan, const GridRecipe& recipe);
int plannedAnswers(const EvaluationPlan& plan, std::size_t items);

// done: answers in the log so far; asked: those of them that this run made. After every group asked together.
using OnProgress = std::function<void(int done, int asked, int planned)>;

enum class EvaluationOutcome : int { kComplete = 1, kInterrupted = 2 };
EvaluationOutcome runEvaluation(const std::vector<EvaluationItem>& items, const EvaluationPlan& plan, Answerer& answerer, ItemLog& log,
                                const OnProgress& onProgress, const InterruptToken& interrupt);

}  // namespace winnow::app
