#include <algorithm>
#include <string>
#include <vector>

#include "engine/recipes/composition.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/methods/registry.h"
#include "engine/recipes/recipe.h"
#include "engine/recipes/statistics/layer_statistics.h"

namespace winnow {
namespace {

std::string rows_in_words(const RowRule& rows) {
  if (rows.kind == RowRule::Kind::kPostVision) return "the post-vision rows";
  return rows == RowRule::all() ? "all rows" : "the last " + std::to_string(rows.window) + " rows";
}

std::vector<std::string> words_of(const StatisticsNeed& need) {
  const std::string rows = rows_in_words(need.rows);
  std::vector<std::string> words;
  if (need.column_sums) words.push_back((need.column_squares ? "column sums and squares of " : "column sums of ") + rows);
  if (need.head_variance) words.emplace_back("variance of column sums");
  if (need.row_entropy) words.push_back("entropy of " + rows);
  if (need.sparsity_p) words.push_back("sparsity of " + rows);
  return words;
}

std::vector<std::string> words_of(const WordJudgement& judgement) {
  if (std::holds_alternative<ByExpectation>(judgement)) return {"mean and covariance of its queries", "norms of values"};
  if (std::get<ByAttention>(judgement).norms) return {"norms of values behind the output projection"};
  return {};
}

std::vector<std::string> words_of(const ProbeNeed& probe) {
  const auto with = [](const char* rows, const WordJudgement& judgement) {
    std::vector<std::string> words = words_of(judgement);
    words.insert(words.begin(), rows);
    return words;
  };
  if (const auto* repetition = std::get_if<RepetitionProbe>(&probe)) return with("attention of the repeated media", repetition->judgement);
  if (const auto* own = std::get_if<DescriptionProbe>(&probe)) return with("attention of the model's own description", own->judgement);
  if (const auto* request = std::get_if<RequestProbe>(&probe))
    return with("attention of a request to describe the media", request->judgement);
  if (const auto* text = std::get_if<TemplateProbe>(&probe)) return with("attention of the template's text", text->judgement);
  return {"likeness of the question's queries and each frame's keys, before rotation"};
}

std::vector<std::string> words_of(const Pruning& pruning) {
  switch (pruning.judge) {
    case Pruning::Judge::kLastRow: return {"last row of one layer"};
    case Pruning::Judge::kReceived: return {"mean of all rows of one layer"};
    case Pruning::Judge::kVision: return {"attention of the vision encoder"};
    case Pruning::Judge::kRollout: break;
  }
  return {"attention rollout of the vision encoder", "attention rollout of the first layers"};
}

void add(const StatisticsNeeds& needs, std::vector<std::string>& words) {
  const auto say = [&](const std::vector<std::string>& more) {
    for (const std::string& word : more) {
      if (std::ranges::find(words, word) == words.end()) words.push_back(word);
    }
  };
  for (const StatisticsNeed& need : needs.attention) say(words_of(need));
  if (needs.cross_modal) say({"cross-modal entropies"});
  if (needs.elite) say({"attention of elite instruction tokens"});
  if (needs.probe) say(words_of(*needs.probe));
  if (needs.key_likeness) say({"directions of the media's keys"});
  if (needs.change) say({"directions of the media's keys in the newest frames"});
  if (needs.expected) say({"mean and covariance of the media's queries"});
  if (needs.value_norms) say({"norms of the media's values"});
}

// The statistics that a composition asks for, in words: what `winnow-cli methods` and the method cards list. Any thread.
std::vector<std::string> statistics_words(const Composition& composition) {
  if (composition.pruning) return words_of(*composition.pruning);
  std::vector<std::string> words;
  if (composition.scorer != nullptr) add(composition.scorer->needs(), words);
  if (composition.allocator != nullptr) add(composition.allocator->needs(), words);
  if (composition.decode.accumulates) words.emplace_back("decode rows");
  return words;
}

}  // namespace

std::vector<MethodInfo> list_methods() {
  std::vector<MethodInfo> methods;
  for (const Method* method : method_registry()) {
    OptionReader options(method->name, {}, 0);
    const Composition composition = method->compose(options);
    MethodInfo info;
    info.name = method->name;
    info.title = method->title;
    info.source = method->source;
    info.phase = composition.phase;
    info.query_aware = method->query_aware;
    info.merges = composition.reducer->merges();
    info.needs = statistics_words(composition);
    info.options = options.described();
    methods.push_back(std::move(info));
  }
  return methods;
}

std::optional<RecipeTraits> describe(const RecipeSpec& spec) {
  MethodPhase phase{};
  try {
    OptionReader options(spec.method, spec.options, spec.seed);
    phase = find_method(spec.method).compose(options).phase;
  } catch (const Exception&) {
    return std::nullopt;
  }
  return RecipeTraits{phase_facts(phase), phase};
}

std::vector<OptionInfo> method_options(const std::string& method, const std::map<std::string, std::string>& given) {
  const Method& entry = find_method(method);
  OptionTexts readable = given;
  for (;;) {
    OptionReader options(entry.name, readable, 0);
    try {
      entry.compose(options);
      return options.described();
    } catch (const Exception&) {
      if (readable.empty()) throw;
      // The option that was asked for last cannot be read, or not beside the others.
      if (options.described().empty() || readable.erase(options.described().back().name) == 0) readable.clear();
    }
  }
}

std::string option_text(const OptionInfo& option) {
  if (option.words.empty()) return option.name + "=" + option.otherwise;
  std::string words;
  for (const std::string& word : option.words) words += (words.empty() ? "" : "|") + word;
  return option.name + "=" + words;
}

std::optional<Error> recipe_problem(const RecipeSpec& spec) {
  try {
    Recipe::from_spec(spec);
  } catch (const Exception& problem) {
    return problem.error();
  }
  return std::nullopt;
}

std::optional<Error> recipe_problem(const RecipeSpec& spec, const ModelTraits& model) {
  const RecipeSpec measured = with_measured_options(spec, model.measured);
  if (std::optional<Error> problem = recipe_problem(measured)) return problem;
  return Recipe::from_spec(measured).misfit(model);
}

RecipeSpec with_measured_options(RecipeSpec spec, const MeasuredOptions& measured) {
  const auto known = [&](const Method* method) { return spec.method == method->name; };
  if (std::ranges::none_of(method_registry(), known)) return spec;
  for (const OptionInfo& option : method_options(spec.method, spec.options)) {
    if (const auto found = measured.find(option.name); found != measured.end()) spec.options.insert(*found);
  }
  return spec;
}

}  // namespace winnow
