#include "ui/recipes/method_texts.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "tests/support/source_folder.h"
#include "ui/recipes/method_cards.h"
#include "ui/recipes/recipe_words.h"

namespace winnow::ui {
namespace {

// Adding a method needs its sentences in app/ground/recipes/method_texts.cpp.
TEST(MethodTexts, EveryMethodSaysWhatItDoesAndWhenNotToUseIt) {
  for (const MethodInfo& method : list_methods()) {
    EXPECT_FALSE(methodPurpose(method.name).isEmpty()) << method.name;
    EXPECT_FALSE(methodCaution(method.name).isEmpty()) << method.name;
    EXPECT_FALSE(method.source.empty()) << method.name;
    EXPECT_EQ(methodTags(method).size(), method.name == "full" ? 1 : 3) << method.name;
  }
  EXPECT_TRUE(methodPurpose("no such method").isEmpty());
}

TEST(MethodTexts, EveryPhaseHasWordsOfItsOwn) {
  QStringList words;
  for (const PhaseEntry& phase : kPhases) words << phaseWords(phase.phase);
  EXPECT_EQ(words.removeDuplicates(), 0) << words.join(u", ").toStdString();
  EXPECT_FALSE(words.contains(QString()));
}

// The recommended one was far down a flat list. By the registry's facts alone: a new method finds its place.
TEST(MethodGroups, TheRecommendedOneIsOnTopAndControlsAreLast) {
  const std::vector<MethodInfo> methods = grouped(list_methods());
  EXPECT_EQ(methods.size(), list_methods().size());
  EXPECT_EQ(methods.front().name, kDefaultMethod);
  std::map<MethodGroup, std::set<std::string>> names;
  for (const MethodInfo& method : methods) names[groupOf(method)].insert(method.name);
  EXPECT_EQ(names[MethodGroup::kRecommended].size(), 1U);
  EXPECT_EQ(names[MethodGroup::kComparison], (std::set<std::string>{"full", "random", "random-context", "every-k", "last-frames"}));
  EXPECT_EQ(names[MethodGroup::kStreams], (std::set<std::string>{"self-study-stream", "kvzip-stream", "infinipot-v"}));
  EXPECT_TRUE(names[MethodGroup::kByQuestion].contains("snapkv"));
  EXPECT_TRUE(names[MethodGroup::kByQuestion].contains("rekv"));
  EXPECT_TRUE(names[MethodGroup::kBeforeQuestion].contains("kvzip"));
  EXPECT_TRUE(names[MethodGroup::kWhileReading].contains("fastv"));
  QStringList titles;
  for (const auto& [group, members] : names) {
    EXPECT_FALSE(members.empty());
    titles << groupTitle(group);
  }
  EXPECT_EQ(titles.removeDuplicates(), 0);
}

TEST(MethodGroups, CardsStandInThemWithSavedRecipesBelowTheRecommendedOne) {
  MethodCardModel model(list_methods(), std::nullopt);
  app::NamedRecipe mine;
  mine.name = "mine";
  mine.spec.method = "snapkv";
  model.setRecipes({mine}, 0.2);
  EXPECT_EQ(model.card(0).recipe.spec.method, kDefaultMethod);
  EXPECT_EQ(model.card(0).tags.front(), groupTitle(MethodGroup::kRecommended));
  EXPECT_TRUE(model.card(1).saved);
  int groups = 0;
  for (int row = 0; row < model.rowCount(); ++row) {
    groups += model.beginsGroup(row) ? 1 : 0;
    if (row > 0) {
      EXPECT_LE(model.card(row - 1).group, model.card(row).group) << row;
    }
  }
  EXPECT_EQ(groups, 9);
}

TEST(MethodTexts, EveryOptionAndPartIsExplained) {
  for (const MethodInfo& method : list_methods()) {
    for (const OptionInfo& option : method.options) {
      EXPECT_FALSE(optionHelp(option.name).isEmpty()) << method.name << ": " << option.name;
      EXPECT_NE(optionTitle(option.name), QString::fromStdString(option.name)) << method.name << ": no words";
    }
  }
  for (const PartInfo& part : list_parts()) {
    EXPECT_FALSE(partTitle(part.kind).isEmpty()) << part.kind;
    EXPECT_FALSE(partHelp(part.kind, part.name).isEmpty()) << part.kind << ": " << part.name;
  }
}

// The numbers that allocators name, read from their sources: whoever adds one explains it.
TEST(MethodTexts, EveryReasonIsExplained) {
  for (const char* file :
       {"allocators/cross_modal.h", "allocators/inverse_variance.h", "allocators/strength_skew.h", "methods/vl_cache.cpp"}) {
    std::ifstream stream(source_folder() + "/engine/recipes/" + file);
    std::stringstream text;
    text << stream.rdbuf();
    const std::string source = text.str();
    std::size_t at = source.find("measure_names() const override { return {");
    ASSERT_NE(at, std::string::npos) << file;
    const std::string names = source.substr(at, source.find(';', at) - at);
    int found = 0;
    for (std::size_t open = names.find('"'); open != std::string::npos; open = names.find('"', names.find('"', open + 1) + 1)) {
      const std::string name = names.substr(open + 1, names.find('"', open + 1) - open - 1);
      EXPECT_FALSE(reasonHelp(name).isEmpty()) << name;
      ++found;
    }
    EXPECT_GT(found, 0) << file;
  }
}

TEST(RecipeWords, SayWhatIsUsedAndWhatDiffers) {
  const std::vector<MethodInfo> methods = list_methods();
  app::NamedRecipe recipe;
  EXPECT_EQ(recipeLabel(methods, recipe), QStringLiteral("Self-study · 20\u202f%")) << "before a choice is made";
  recipe.spec.method = "vl-cache";
  EXPECT_EQ(recipeLabel(methods, recipe), QStringLiteral("VL-Cache · 20\u202f%"));
  recipe.spec.allocator = "meda";
  recipe.spec.options["recent_share"] = "0.2";
  EXPECT_EQ(recipeTitle(methods, recipe), QStringLiteral("VL-Cache, changed"));
  EXPECT_EQ(recipeChanges(recipe.spec).size(), 2);
  recipe.spec.min_event_tokens = 10;
  EXPECT_EQ(recipeChanges(recipe.spec).at(1), QStringLiteral("Short texts: 10"));
  EXPECT_EQ(recipeChanges(recipe.spec).at(2), QStringLiteral("Share for recent tokens: 0.2"));
  EXPECT_EQ(recipeTitle(methods, [] { return app::NamedRecipe{.spec = {.method = "vl-cache", .min_event_tokens = 0}}; }()),
            QStringLiteral("VL-Cache, changed"));
  recipe.spec.budget_tokens = 64;
  recipe.name = "mine";
  EXPECT_EQ(recipeLabel(methods, recipe), QStringLiteral("mine · 64 slots"));
  recipe = {};
  recipe.spec.method = "full";
  EXPECT_EQ(recipeLabel(methods, recipe), QStringLiteral("Full cache"));
  recipe.spec.method = "from-another-version";
  EXPECT_TRUE(recipeLabel(methods, recipe).startsWith(QStringLiteral("from-another-version")));
}

}  // namespace
}  // namespace winnow::ui
