#include "app/evaluation/evaluation_run.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "app/evaluation/answer_metrics.h"
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
  if (item.metric == AnswerMetric::kPerplexity) {
    record.loss = given.loss.value();
    record.score = std::exp(-*record.loss);  // the geometric mean of the probabilities
  } else {
    record.score = scoreOf(item, given.answer);
  }
  record.requestedRetention = wanted.recipe->spec.retention;
  record.achievedRetention = given.figures.achieved_retention;
  record.kvBytes = given.figures.kv_bytes.after_event;
  record.kvBytesFull = given.figures.kv_bytes.full;
  std::vector<double> budgets;
  for (const LayerFigures& layer : given.figures.layers) budgets.push_back(static_cast<double>(layer.budget));
  record.budgetDivergence = divergence_from_uniform(budgets);
  record.generatedTokens = given.figures.tokens.generated;
  record.notices = given.notices;
  record.topAgreement = given.topAgreement;
  record.divergence = given.divergence;
  record.selection = given.selection;
  if (record.selection && !record.selection->output_error.empty()) {
    std::vector<double>& errors = record.selection->output_error;
    errors = {std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size())};
  }
  return record;
}

// One run over the items that are missing in the log.
class Run {
 public:
  Run(const EvaluationPlan& plan, int planned, Answerer& answerer, ItemLog& log, const OnProgress& onProgress)
      : m_plan(plan), m_planned(planned), m_answerer(answerer), m_log(log), m_onProgress(onProgress) {}

  // Each recipe's answer as if the question were alone.
  void askForItself(const EvaluationItem& item, const InterruptToken& interrupt) {
    std::vector<Wanted> wanted;
    for (const Wanted& one : recipes()) {
      if (one.recipe->together) continue;
      if (isThere(item, one)) {
        ++m_done;
      } else {
        wanted.push_back(one);
      }
    }
    if (wanted.empty()) told(0);
    if (item.metric == AnswerMetric::kPerplexity) {
      for (const Wanted& one : wanted) {
        interrupt.throw_if_requested();
        m_log.add(recordOf(item, one, m_answerer.given(messageOf(item), item.golds.front(), specOf(one), interrupt)));
        told(1);
      }
      return;
    }
    for (std::size_t first = 0; first < wanted.size(); first += Compare::kMostRecipes) {
      interrupt.throw_if_requested();
      const std::span<const Wanted> together = std::span(wanted).subspan(first, std::min(Compare::kMostRecipes, wanted.size() - first));
      std::vector<RecipeSpec> specs;
      for (const Wanted& one : together) specs.push_back(specOf(one));
      const std::vector<RecipeAnswer> given = m_answerer.answers(messageOf(item), specs, interrupt);
      require(given.size() == together.size(), "an answer per recipe");
      for (std::size_t i = 0; i < given.size(); ++i) m_log.add(recordOf(item, together[i], given[i]));
      told(together.size());
    }
  }

  // A cluster's questions under the recipes that are asked all of them: all again where one is missing.
  void askTogether(std::span<const EvaluationItem> items, const InterruptToken& interrupt) {
    std::vector<Message> questions;
    for (const EvaluationItem& item : items) questions.push_back(messageOf(item));
    for (const Wanted& one : recipes()) {
      if (!one.recipe->together) continue;
      std::vector<bool> there;
      for (const EvaluationItem& item : items) there.push_back(isThere(item, one));
      const auto missing = static_cast<std::size_t>(std::count(there.begin(), there.end(), false));
      m_done += static_cast<int>(items.size() - missing);
      if (missing > 0) {
        interrupt.throw_if_requested();
        const std::vector<RecipeAnswer> given = m_answerer.series(questions, specOf(one), *one.recipe->together, interrupt);
        require(given.size() == items.size(), "an answer per question");
        for (std::size_t i = 0; i < given.size(); ++i) {
          if (!there[i]) m_log.add(recordOf(items[i], one, given[i]));
        }
      }
      told(missing);
    }
  }

 private:
  std::vector<Wanted> recipes() const {
    std::vector<Wanted> all;
    for (const GridRecipe& recipe : m_plan.recipes) {
      for (const std::uint64_t seed : seedsOf(m_plan, recipe)) all.push_back({&recipe, seed});
    }
    return all;
  }
  bool isThere(const EvaluationItem& item, const Wanted& one) const { return m_log.find(item.id, one.recipe->name, one.seed) != nullptr; }
  static RecipeSpec specOf(const Wanted& one) {
    RecipeSpec spec = one.recipe->spec;
    spec.seed = one.seed;
    return spec;
  }
  void told(std::size_t answers) {
    m_done += static_cast<int>(answers);
    m_asked += static_cast<int>(answers);
    m_onProgress(m_done, m_asked, m_planned);
  }

  const EvaluationPlan& m_plan;
  const int m_planned;
  Answerer& m_answerer;
  ItemLog& m_log;
  const OnProgress& m_onProgress;
  int m_done = 0;
  int m_asked = 0;
};

// Of the items from `first` on, those about the same.
std::size_t clusterSize(const std::vector<EvaluationItem>& items, std::size_t first) {
  std::size_t end = first + 1;
  while (end < items.size() && !items[first].cluster.empty() && items[end].cluster == items[first].cluster) ++end;
  return end - first;
}

}  // namespace

std::vector<std::uint64_t> seedsOf(const EvaluationPlan& plan, const GridRecipe& recipe) {
  return keeps_everything(recipe.spec) ? std::vector<std::uint64_t>{plan.seeds.front()} : plan.seeds;
}

int plannedAnswers(const EvaluationPlan& plan, std::size_t items) {
  std::size_t perItem = 0;
  for (const GridRecipe& recipe : plan.recipes) perItem += seedsOf(plan, recipe).size();
  return static_cast<int>(perItem * items);
}

EvaluationOutcome runEvaluation(const std::vector<EvaluationItem>& items, const EvaluationPlan& plan, Answerer& answerer, ItemLog& log,
                                const OnProgress& onProgress, const InterruptToken& interrupt) {
  Run run(plan, plannedAnswers(plan, items.size()), answerer, log, onProgress);
  try {
    for (std::size_t first = 0; first < items.size();) {
      const std::span<const EvaluationItem> cluster = std::span(items).subspan(first, clusterSize(items, first));
      for (const EvaluationItem& item : cluster) run.askForItself(item, interrupt);
      run.askTogether(cluster, interrupt);
      first += cluster.size();
    }
  } catch (const Interrupted&) {
    return EvaluationOutcome::kInterrupted;
  }
  return EvaluationOutcome::kComplete;
}

}  // namespace winnow::app
