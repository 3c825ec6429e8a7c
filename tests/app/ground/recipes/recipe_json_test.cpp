#include "app/ground/recipes/recipe_json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "app/ground/recipes/method_texts.h"
#include "engine/base/error.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::app {
namespace {

using nlohmann::json;

int notOrdinary(const WholeSetting& setting) { return setting.words.empty() ? setting.least + 12 : setting.words.back().value; }

NamedRecipe everythingSet() {
  NamedRecipe recipe{.name = "Mein Gemisch \xe2\x80\x9e\x31\xe2\x80\x9c"};
  RecipeSpec& spec = recipe.spec;
  spec.method = "d2o";
  spec.retention = 0.07;
  spec.budget_tokens = 96;
  spec.before = {BeforeMethod::kVidCom2, 0.3};
  for (const WholeSetting& setting : kWholeSettings) spec.*setting.value = notOrdinary(setting);
  spec.turn_policy = TurnPolicy::kFirstOnly;
  spec.seed = std::numeric_limits<std::uint64_t>::max();
  spec.options = {{"sinks", "2"}, {"merge", "weighted"}, {"skip_layers", "true"}};
  spec.allocator = "meda";
  spec.scorer = "h2o";
  spec.reducer = "average";
  spec.scope = "visual";
  spec.granularity = "layer";
  return recipe;
}

Error refusal(const std::string& text) {
  try {
    recipeFromJson(text, "mine.json");
  } catch (const Exception& exception) {
    return exception.error();
  }
  ADD_FAILURE() << "accepted: " << text;
  return {};
}

TEST(RecipeJson, WhatIsReadEqualsWhatWasWritten) {
  for (const NamedRecipe& recipe : {NamedRecipe{}, everythingSet()}) {
    EXPECT_EQ(recipeFromJson(recipeToJson(recipe, 2), "x"), recipe);
    EXPECT_EQ(recipeFromJson(recipeToJson(recipe, -1), "x"), recipe);
  }
}

TEST(RecipeJson, PeopleMayWriteNumbersAndLeaveOutWhatIsOrdinary) {
  const NamedRecipe recipe = recipeFromJson(
      R"({"$schema": "recipe.schema.json", "format": "winnow-recipe", "version": 1, "method": "d2o",
          "options": {"sinks": 2, "beta": 0.5, "skip_layers": true}})",
      "x");
  EXPECT_EQ(recipe.spec.options, (std::map<std::string, std::string>{{"beta", "0.5"}, {"sinks", "2"}, {"skip_layers", "true"}}));
  EXPECT_EQ(recipe.spec.retention, RecipeSpec().retention);
  EXPECT_TRUE(recipe.name.empty());
}

TEST(RecipeJson, RefusalsNameSourceAndField) {
  const std::string head = R"({"format": "winnow-recipe", "version": 1, "method": "h2o")";
  const std::pair<const char*, const char*> wrong[] = {
      {R"(, "retention": 0})", "retention"},
      {R"(, "retention": "half"})", "retention"},
      {R"(, "retention": 1e999})", ""},
      {R"(, "budget_tokens": 0})", "budget_tokens"},
      {R"(, "budget_tokens": 2147483648})", "budget_tokens"},
      {R"(, "budget_tokens": 1.5})", "budget_tokens"},
      {R"(, "min_event_tokens": -1})", "min_event_tokens"},
      {R"(, "seed": 18446744073709551616})", "seed"},
      {R"(, "turn_policy": "sometimes"})", "turn_policy"},
      {R"(, "kv": "int3"})", "kv"},
      {R"(, "kv": 8})", "kv"},
      {R"(, "options": [1]})", "options"},
      {R"(, "options": {"sinks": [[[[[[1]]]]]]}})", "options.sinks"},
      {R"(, "options": {"sinks": null}})", "options.sinks"},
      {R"(, "parts": {"allocater": "meda"}})", "parts.allocater"},
      {R"(, "parts": {"allocator": 3}})", "parts.allocator"},
      {R"(, "retension": 0.5})", "retension"},
      {R"(, "name": 7})", "name"},
  };
  for (const auto& [tail, field] : wrong) {
    const Error error = refusal(head + tail);
    EXPECT_EQ(error.code, ErrorCode::kDamagedFile) << tail;
    EXPECT_EQ(error.subject, "mine.json") << tail;
    EXPECT_EQ(error.reason.find(field), 0u) << tail << ": " << error.reason;
  }
  EXPECT_EQ(refusal(head + R"(, "name": ")" + std::string(kMaxRecipeName + 1, 'x') + "\"}").reason.find("name"), 0u);
  EXPECT_EQ(refusal("[]").subject, "mine.json");
  EXPECT_EQ(refusal("").subject, "mine.json");
  EXPECT_EQ(refusal(std::string(500'000, '[')).subject, "mine.json");
  EXPECT_EQ(refusal(R"({"format": "winnow-recipe", "version": 2, "method": "h2o"})").reason.find("version"), 0u);
  EXPECT_EQ(refusal(R"({"format": "another", "version": 1, "method": "h2o"})").reason.find("format"), 0u);
  EXPECT_EQ(refusal(R"({"format": "winnow-recipe", "version": 1})").reason.find("method"), 0u);
}

TEST(RecipeJson, FilesAreWrittenWholeAndReadWithALimit) {
  const test::ScratchFolder scratch;
  const std::string file = scratch.file("caf\xc3\xa9 recipe.json");
  writeRecipeFile(file, everythingSet());
  EXPECT_EQ(readRecipeFile(file), everythingSet());
  const auto code = [](const std::string& path) {
    try {
      readRecipeFile(path);
    } catch (const Exception& exception) {
      EXPECT_EQ(exception.error().subject, path);
      return exception.error().code;
    }
    return ErrorCode::kInternal;
  };
  EXPECT_EQ(code(scratch.file("not there.json")), ErrorCode::kFileNotFound);
  std::ofstream(scratch.file("large.json")) << std::string(kMaxRecipeBytes + 1, ' ');
  EXPECT_EQ(code(scratch.file("large.json")), ErrorCode::kLimitExceeded);
  EXPECT_THROW(writeRecipeFile(scratch.file("no folder/x.json"), everythingSet()), Exception);
}

TEST(RecipeJson, OneBadEntryDoesNotHideTheOthers) {
  NamedRecipe plain;
  plain.name = "plain";
  json list = json::parse(recipesToJson({everythingSet(), plain}));
  ASSERT_EQ(list.size(), 2u);
  list.insert(list.begin() + 1, json{{"format", "winnow-recipe"}, {"version", 99}});
  EXPECT_EQ(recipesFromJson(list.dump()), (std::vector<NamedRecipe>{everythingSet(), plain}));
  EXPECT_TRUE(recipesFromJson("nonsense").empty());
  EXPECT_TRUE(recipesFromJson("").empty());
}

// As much of JSON Schema as resources/recipe.schema.json uses; an unknown keyword is a failure, so that none is overlooked.
void expectFits(const json& schema, const json& value, const std::string& where) {
  static const std::set<std::string> kKnown = {
      "$schema",    "title", "description", "default",   "type",    "required", "additionalProperties",
      "properties", "const", "enum",        "maxLength", "minimum", "maximum",  "exclusiveMinimum"};
  for (const auto& [keyword, rule] : schema.items()) {
    ASSERT_TRUE(kKnown.contains(keyword)) << where << ": the test does not know " << keyword;
    if (keyword == "const") {
      EXPECT_EQ(value, rule) << where;
    } else if (keyword == "enum") {
      EXPECT_NE(std::find(rule.begin(), rule.end(), value), rule.end()) << where;
    } else if (keyword == "type") {
      const auto is = [&](const std::string& type) {
        return (type == "object" && value.is_object()) || (type == "string" && value.is_string()) ||
               (type == "number" && value.is_number()) || (type == "integer" && value.is_number_integer()) ||
               (type == "boolean" && value.is_boolean());
      };
      bool any = false;
      for (const json& type : rule.is_array() ? rule : json::array({rule})) any = any || is(type.get<std::string>());
      EXPECT_TRUE(any) << where << " is " << value.type_name();
    } else if (keyword == "required") {
      for (const json& name : rule) EXPECT_TRUE(value.contains(name.get<std::string>())) << where << ": " << name;
    } else if (keyword == "maxLength") {
      EXPECT_LE(value.get<std::string>().size(), rule.get<std::size_t>()) << where;
    } else if (keyword == "minimum") {
      EXPECT_GE(value, rule) << where;
    } else if (keyword == "maximum") {
      EXPECT_LE(value, rule) << where;
    } else if (keyword == "exclusiveMinimum") {
      EXPECT_GT(value, rule) << where;
    }
  }
  if (!value.is_object()) return;
  for (const auto& [name, member] : value.items()) {
    const json& others = schema.at("additionalProperties");
    if (schema.contains("properties") && schema["properties"].contains(name)) {
      expectFits(schema["properties"][name], member, where + "." + name);
    } else if (others.is_object()) {
      expectFits(others, member, where + "." + name);
    } else {
      ADD_FAILURE() << where << "." << name << " is not in the schema";
    }
  }
}

TEST(RecipeJson, TheWriterKeepsToTheSchema) {
  std::ifstream stream(source_folder() + "/resources/recipe.schema.json");
  const json schema = json::parse(stream);
  expectFits(schema, json::parse(recipeToJson(NamedRecipe{}, -1)), "plain");
  const json full = json::parse(recipeToJson(everythingSet(), -1));
  expectFits(schema, full, "everything");
  for (const auto& [name, property] : schema["properties"].items()) {
    EXPECT_TRUE(name == "$schema" || full.contains(name)) << "the writer never writes " << name;
  }
  for (const auto& [name, property] : schema["properties"]["parts"]["properties"].items())
    EXPECT_TRUE(full["parts"].contains(name)) << name;
}

TEST(RecipeJson, EveryNumberOfTheTableIsInTheSchemaAndHasItsWords) {
  std::ifstream stream(source_folder() + "/resources/recipe.schema.json");
  const json schema = json::parse(stream);
  for (const WholeSetting& setting : kWholeSettings) {
    ASSERT_TRUE(schema["properties"].contains(setting.name)) << setting.name;
    const json& property = schema["properties"][setting.name];
    const SettingText* const text = settingText(setting.name);
    ASSERT_NE(text, nullptr) << setting.name;
    EXPECT_EQ(text->choices.size(), setting.words.size()) << setting.name;
    if (setting.words.empty()) {
      EXPECT_EQ(property["type"], "integer") << setting.name;
      EXPECT_EQ(property["minimum"], setting.least) << setting.name;
      EXPECT_EQ(property["maximum"], setting.most) << setting.name;
      EXPECT_EQ(property["default"], RecipeSpec().*setting.value) << setting.name;
    } else {
      json words = json::array();
      for (const SettingWord& each : setting.words) {
        words.push_back(each.word);
        EXPECT_TRUE(setting.allows(each.value)) << setting.name;
        if (each.value == RecipeSpec().*setting.value) {
          EXPECT_EQ(property["default"], each.word) << setting.name;
        }
      }
      EXPECT_EQ(property["enum"], words) << setting.name;
    }
    for (const char* words : {text->title, text->help, text->terminal}) EXPECT_NE(std::string(words), "") << setting.name;
  }
  EXPECT_EQ(settingText("no such setting"), nullptr);
}

TEST(RecipeJson, ANumberThatCameLaterIsWrittenOnlyWhereItIsSet) {
  for (const WholeSetting& setting : kWholeSettings) {
    NamedRecipe recipe;
    EXPECT_EQ(json::parse(recipeToJson(recipe, -1)).contains(setting.name), setting.always_written) << setting.name;
    recipe.spec.*setting.value = notOrdinary(setting);
    EXPECT_TRUE(json::parse(recipeToJson(recipe, -1)).contains(setting.name)) << setting.name;
  }
}

}  // namespace
}  // namespace winnow::app
