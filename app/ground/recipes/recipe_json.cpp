#include "app/ground/recipes/recipe_json.h"

#include <QByteArray>
#include <QFile>
#include <QSaveFile>
#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/file_bytes.h"
#include "engine/base/member_count.h"

namespace winnow::app {

namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormat[] = "winnow-recipe";
constexpr int kVersion = 1;
constexpr std::size_t kMaxText = 65536;  // shares of a deep model are long

// method, retention, budget_tokens, before, turn_policy, seed, options. A member that is added must be in a table of recipe_spec.h, or be
// written and read below: then this compiles again.
static_assert(member_count<RecipeSpec>() == 7 + std::size(kWholeSettings) + std::size(kPartSettings));

Json toJson(const NamedRecipe& recipe) {
  const RecipeSpec& spec = recipe.spec;
  Json json = {{"format", kFormat}, {"version", kVersion}, {"name", recipe.name}, {"method", spec.method}, {"retention", spec.retention}};
  if (spec.budget_tokens) json["budget_tokens"] = *spec.budget_tokens;
  if (spec.before != BeforeDecoder()) json["before"] = text_of(spec.before);
  if (!spec.options.empty()) json["options"] = spec.options;
  for (const auto& [name, field] : kPartSettings) {
    if (!(spec.*field).empty()) json["parts"][name] = spec.*field;
  }
  for (const auto& [word, policy] : kTurnPolicyWords) {
    if (policy == spec.turn_policy) json["turn_policy"] = word;
  }
  for (const WholeSetting& setting : kWholeSettings) {
    const int value = spec.*setting.value;
    if (!setting.always_written && value == RecipeSpec().*setting.value) continue;
    if (setting.words.empty()) json[setting.name] = value;
    for (const SettingWord& each : setting.words) {
      if (each.value == value) json[setting.name] = each.word;
    }
  }
  json["seed"] = spec.seed;
  return json;
}

const WholeSetting* wholeSetting(const std::string& name) {
  const auto found = std::find_if(std::begin(kWholeSettings), std::end(kWholeSettings),
                                  [&name](const WholeSetting& setting) { return name == setting.name; });
  return found == std::end(kWholeSettings) ? nullptr : found;
}

// Reads one object and remembers where it is, so that a refusal names source and field.
class Reader {
 public:
  explicit Reader(std::string source) : m_source(std::move(source)) {}

  [[noreturn]] void refuse(const std::string& field, const std::string& reason) const {
    throw Exception(ErrorCode::kDamagedFile, m_source, field.empty() ? reason : field + " " + reason);
  }

  NamedRecipe recipe(const Json& json) const {
    if (!json.is_object()) refuse("", "is no recipe: a JSON object is expected");
    if (!json.contains("format") || json["format"] != kFormat) refuse("format", std::string("must be \"") + kFormat + '"');
    if (!json.contains("version") || json["version"] != kVersion) refuse("version", "must be " + std::to_string(kVersion));
    NamedRecipe recipe;
    RecipeSpec& spec = recipe.spec;
    for (const auto& [key, value] : json.items()) {
      if (key == "format" || key == "version" || key == "$schema") continue;
      if (key == "name") {
        recipe.name = text(key, value, kMaxRecipeName);
      } else if (key == "method") {
        spec.method = text(key, value, kMaxText);
      } else if (key == "retention") {
        spec.retention = share(key, value);
      } else if (key == "budget_tokens") {
        spec.budget_tokens = static_cast<int>(whole(key, value, 1, std::numeric_limits<int>::max()));
      } else if (key == "before") {
        const std::optional<BeforeDecoder> before = before_of(text(key, value, kMaxText));
        if (!before) refuse(key, std::string("must be ") + kBeforeForm);
        spec.before = *before;
      } else if (key == "options") {
        spec.options = optionsFromJson(value, kMaxText, [this](const auto& field, const auto& reason) { refuse(field, reason); });
      } else if (key == "parts") {
        parts(value, spec);
      } else if (key == "turn_policy") {
        spec.turn_policy = oneOf(std::span<const TurnPolicyWord>(kTurnPolicyWords), key, value);
      } else if (const WholeSetting* const setting = wholeSetting(key)) {
        spec.*setting->value =
            setting->words.empty()
                ? static_cast<int>(whole(key, value, static_cast<std::uint64_t>(setting->least), static_cast<std::uint64_t>(setting->most)))
                : oneOf(setting->words, key, value);
      } else if (key == "seed") {
        spec.seed = whole(key, value, 0, std::numeric_limits<std::uint64_t>::max());
      } else {
        refuse(key, "is no field of a recipe");
      }
    }
    if (!json.contains("method")) refuse("method", "is missing");
    return recipe;
  }

 private:
  std::string text(const std::string& field, const Json& value, std::size_t longest) const {
    if (!value.is_string()) refuse(field, "must be a text");
    std::string text = value.get<std::string>();
    if (text.size() > longest) refuse(field, "is longer than " + std::to_string(longest) + " bytes");
    return text;
  }

  double share(const std::string& field, const Json& value) const {
    const double number = value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
    if (!(number > 0.0 && number <= 1.0)) refuse(field, "must be a number over 0 and at most 1");
    return number;
  }

  std::uint64_t whole(const std::string& field, const Json& value, std::uint64_t low, std::uint64_t high) const {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < low || value.get<std::uint64_t>() > high) {
      refuse(field, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    }
    return value.get<std::uint64_t>();
  }

  void parts(const Json& value, RecipeSpec& spec) const {
    if (!value.is_object()) refuse("parts", "must be an object");
    for (const auto& [name, part] : value.items()) {
      bool known = false;
      for (const auto& [field, member] : kPartSettings) {
        if (name != field) continue;
        spec.*member = text("parts." + name, part, kMaxText);
        known = true;
      }
      if (!known) refuse("parts." + name, "is no part of a recipe");
    }
  }

  // words: a table of words and values.
  template <class Word>
  decltype(Word::value) oneOf(std::span<const Word> words, const std::string& field, const Json& value) const {
    std::string all;
    for (const auto& [word, meaning] : words) {
      if (value == word) return meaning;
      all += all.empty() ? word : std::string(", ") + word;
    }
    refuse(field, "must be one of " + all);
  }

  std::string m_source;
};

Json parsed(std::string_view text) { return Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false); }

std::string dumped(const Json& json, int indent) { return json.dump(indent, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string recipeToJson(const NamedRecipe& recipe, int indent) { return dumped(toJson(recipe), indent); }

NamedRecipe recipeFromJson(std::string_view text, const std::string& source) {
  const Reader reader(source);
  const Json json = parsed(text);
  if (json.is_discarded()) reader.refuse("", "is no JSON text");
  return reader.recipe(json);
}

NamedRecipe readRecipeFile(const std::string& path) { return recipeFromJson(read_file_bytes(path, kMaxRecipeBytes), path); }

void writeRecipeFile(const std::string& path, const NamedRecipe& recipe) {
  QSaveFile file(QFile::decodeName(QByteArray::fromStdString(path)));
  const QByteArray text = QByteArray::fromStdString(recipeToJson(recipe, 2) + '\n');
  if (!file.open(QIODevice::WriteOnly) || file.write(text) != text.size() || !file.commit()) {
    throw Exception(ErrorCode::kFileUnwritable, path, file.errorString().toStdString());
  }
}

std::string recipesToJson(const std::vector<NamedRecipe>& recipes) {
  Json list = Json::array();
  for (const NamedRecipe& recipe : recipes) list.push_back(toJson(recipe));
  return dumped(list, -1);
}

std::vector<NamedRecipe> recipesFromJson(std::string_view text) {
  std::vector<NamedRecipe> recipes;
  const Json list = parsed(text);
  if (!list.is_array()) return recipes;
  const Reader reader("settings");
  for (const Json& entry : list) {
    if (recipes.size() == kMaxSavedRecipes) break;
    try {
      recipes.push_back(reader.recipe(entry));
    } catch (const Exception&) {
      continue;
    }
  }
  return recipes;
}

}  // namespace winnow::app
