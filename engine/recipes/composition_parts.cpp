#include "engine/recipes/composition_parts.h"

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "engine/base/error.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/methods/registry.h"
#include "engine/recipes/reducers/registry.h"

namespace winnow {

namespace {

constexpr std::array<std::pair<const char*, Scope>, 3> kScopes = {
    {{"all", Scope::kAll}, {"visual", Scope::kVisual}, {"context", Scope::kContext}}};
constexpr std::array<std::pair<const char*, Granularity>, 3> kGranularities = {
    {{"head", Granularity::kHead}, {"layer", Granularity::kLayer}, {"ragged", Granularity::kRagged}}};

[[noreturn]] void refuse_part(const std::string& subject, const std::string& reason) {
  throw Exception(ErrorCode::kIllegalRecipe, subject, reason);
}

[[noreturn]] void refuse_unknown(const std::string& kind, const std::string& name, const std::string& known) {
  refuse_part(kind, "there is no " + kind + " \"" + name + "\"; known are " + known + ", or a method that has one");
}

Composition preset(const Method& entry, std::uint64_t seed) {
  OptionReader defaults(entry.name, {}, seed);
  return entry.compose(defaults);
}

// The first preset that is called `name` or has a part of that name.
Composition preset_with(const char* kind, const std::string& name, std::uint64_t seed,
                        const std::function<std::string(const Composition&)>& part) {
  std::vector<std::string> known;
  for (const Method* entry : method_registry()) {
    Composition composition = preset(*entry, seed);
    const std::string own = part(composition);
    if (own.empty()) continue;
    if (name == entry->name || name == own) return composition;
    if (std::find(known.begin(), known.end(), own) == known.end()) known.push_back(own);
  }
  std::string all;
  for (const std::string& each : known) all += (all.empty() ? "" : ", ") + each;
  refuse_unknown(kind, name, all);
}

std::string allocator_name(const Composition& parts) { return parts.allocator ? parts.allocator->name() : ""; }
std::string scorer_name(const Composition& parts) { return parts.scorer ? parts.scorer->name() : ""; }

// By its own name, with its default options, or as the preset of that name has it.
std::shared_ptr<const Reducer> reducer_of(const std::string& name, std::uint64_t seed) {
  std::string known;
  for (std::shared_ptr<const Reducer>& reducer : all_reducers(seed)) {
    if (name == reducer->name()) return std::move(reducer);
    known += (known.empty() ? "" : ", ") + reducer->name();
  }
  for (const Method* entry : method_registry()) {
    if (name != entry->name) continue;
    if (Composition composition = preset(*entry, seed); composition.scorer != nullptr) return composition.reducer;
  }
  refuse_unknown("reducer", name, known);
}

template <class Value, std::size_t kCount>
void choose(const char* kind, const std::string& name, const std::array<std::pair<const char*, Value>, kCount>& words, Value& into) {
  if (name.empty()) return;
  std::string known;
  for (const auto& [word, value] : words) {
    if (name == word) {
      into = value;
      return;
    }
    known += (known.empty() ? "" : word == words.back().first ? " or " : ", ") + std::string(word);
  }
  refuse_part(kind, "must be " + known);
}

template <class Value, std::size_t kCount>
std::string word_of(Value value, const std::array<std::pair<const char*, Value>, kCount>& words) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const auto& each) { return each.second == value; });
  return found->first;
}

}  // namespace

Composition compose(const RecipeSpec& spec) {
  const Method& entry = find_method(spec.method);
  OptionReader options(entry.name, spec.options, spec.seed);
  Composition composition = entry.compose(options);
  composition.method = entry.name;
  options.finish();
  const bool changed =
      !(spec.allocator.empty() && spec.scorer.empty() && spec.reducer.empty() && spec.scope.empty() && spec.granularity.empty());
  if (!changed) return composition;
  if (composition.pruning) refuse_part("method", "token pruning has no parts to exchange; choose a method that compresses the cache");
  if (composition.scorer == nullptr) refuse_part("method", "the full cache has no parts to exchange; choose a method to start from");

  if (!spec.allocator.empty()) {
    Composition from = preset_with("allocator", spec.allocator, spec.seed, allocator_name);
    composition.allocator = std::move(from.allocator);
    composition.min_fraction = from.min_fraction;
    composition.faithful_clip = from.faithful_clip;
  }
  if (!spec.scorer.empty()) {
    // How a slot is chosen while decoding and what is protected beside the score belong to the score.
    Composition from = preset_with("scorer", spec.scorer, spec.seed, scorer_name);
    composition.scorer = std::move(from.scorer);
    composition.protection = from.protection;
    if (composition.phase == MethodPhase::kDecode && composition.scorer->follows_decode()) {
      composition.decode = from.decode;
    }
  }
  if (!spec.reducer.empty()) composition.reducer = reducer_of(spec.reducer, spec.seed);
  if (composition.reducer->needs_attention()) composition.decode.accumulates = true;
  choose("scope", spec.scope, kScopes, composition.scope);
  choose("granularity", spec.granularity, kGranularities, composition.granularity);
  return composition;
}

std::vector<PartInfo> list_parts() {
  std::vector<PartInfo> parts;
  const auto add = [&](const char* kind, const std::string& name, const char* preset_name) {
    if (name.empty()) return;
    auto found = std::find_if(parts.begin(), parts.end(), [&](const PartInfo& part) { return part.kind == kind && part.name == name; });
    if (found == parts.end()) found = parts.insert(parts.end(), {kind, name, {}});
    found->presets.emplace_back(preset_name);
  };
  for (const std::shared_ptr<const Reducer>& reducer : all_reducers(0)) parts.push_back({"reducer", reducer->name(), {}});
  for (const Method* entry : method_registry()) {
    const Composition composition = preset(*entry, 0);
    if (composition.scorer == nullptr) continue;
    add("allocator", allocator_name(composition), entry->name);
    add("scorer", scorer_name(composition), entry->name);
    add("reducer", composition.reducer->name(), entry->name);
    add("scope", word_of(composition.scope, kScopes), entry->name);
    add("granularity", word_of(composition.granularity, kGranularities), entry->name);
  }
  std::stable_sort(parts.begin(), parts.end(), [](const PartInfo& a, const PartInfo& b) { return a.kind < b.kind; });
  return parts;
}

}  // namespace winnow
