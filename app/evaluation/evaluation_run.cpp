#include "app/evaluation/evaluation_run.h"

#include <algorithm>
#include <span>

#include "app/evaluation/answer_metrics.h"
#include "app/evaluation/interval.h"
#include "engine/metrics/budget_divergence.h"

namespace winnow::app {
namespace {

struct Wanted {
  const GridRecipe* recipe = nullptr;
  std::uint64_t seed = 0;
};

AnswerRecord recordOf(const EvaluationItem& item, const Wanted& wanted, const RecipeAnswer& given) {
  AnswerRecord record;
  record.item = item.id;
  record.recipe = wanted.recipe->name;
  record.seed = wanted.seed;
  record.answer = given.answer;
  record.score = scoreOf(item, given.answer);
  record.requestedRetention = wanted.recipe->spec.retention;
  record.achievedRetention = given.figures.achieved_retention;
  record.kvBytes = given.figures.kv_bytes.after_event;
  record.kvBytesFull = given.figures.kv_bytes.full;
  std::vector<double> budgets;
  for (const LayerFigures& layer : given.figures.layers) budgets.push_back(static_cast<double>(layer.budget));
  record.budgetDivergence = divergence_from_uniform(budgets);
  record.generatedTokens = given.figures.tokens.generated;
  record.topAgreement = given.topAgreement;
  record.divergence = given.divergence;
  record.selection = given.selection;
  if (record.selection && !record.selection->output_error.empty()) record.selection->output_error = {mean(record.selection->output_error)};
  return record;
}

void answerTogether(const EvaluationItem& item, std::span<const Wanted> wanted, Answerer& answerer, ItemLog& log,
                    const InterruptToken& interrupt) {
  std::vector<RecipeSpec> specs;
  for (const Wanted& one : wanted) {
    specs.push_back(one.recipe->spec);
    specs.back().seed = one.seed;
  }
  const std::vector<RecipeAnswer> given = answerer.answers(messageOf(item), specs, interrupt);
  require(given.size() == wanted.size(), "an answer per recipe");
  for (std::size_t i = 0; i < given.size(); ++i) log.add(recordOf(item, wanted[i], given[i]));
}

}  // namespace

std::vector<std::uint64_t> seedsOf(const EvaluationPlan& plan, const GridRecipe& recipe) {
  return recipe.spec.method == "full" ? std::vector<std::uint64_t>{plan.seeds.front()} : plan.seeds;
}

int plannedAnswers(const EvaluationPlan& plan, std::size_t items) {
  std::size_t perItem = 0;
  for (const GridRecipe& recipe : plan.recipes) perItem += seedsOf(plan, recipe).size();
  return static_cast<int>(perItem * items);
}

EvaluationOutcome runEvaluation(const std::vector<EvaluationItem>& items, const EvaluationPlan& plan, Answerer& answerer, ItemLog& log,
                                const OnProgress& onProgress, const InterruptToken& interrupt) {
  const int planned = plannedAnswers(plan, items.size());
  int done = 0;
  int asked = 0;
  for (const EvaluationItem& item : items) {
    std::vector<Wanted> wanted;
    for (const GridRecipe& recipe : plan.recipes) {
      for (const std::uint64_t seed : seedsOf(plan, recipe)) {
        if (log.find(item.id, recipe.name, seed) != nullptr) {
          ++done;
          continue;
        }
        wanted.push_back({&recipe, seed});
      }
    }
    for (std::size_t first = 0; first < wanted.size(); first += Compare::kMostRecipes) {
      const std::span<const Wanted> together = std::span(wanted).subspan(first, std::min(Compare::kMostRecipes, wanted.size() - first));
      if (interrupt.requested()) return EvaluationOutcome::kInterrupted;
      try {
        answerTogether(item, together, answerer, log, interrupt);
      } catch (const Interrupted&) {
        return EvaluationOutcome::kInterrupted;
      }
      done += static_cast<int>(together.size());
      asked += static_cast<int>(together.size());
      onProgress(done, asked, planned);
    }
    if (wanted.empty()) onProgress(done, asked, planned);
  }
  return EvaluationOutcome::kComplete;
}

}  // namespace winnow::app
