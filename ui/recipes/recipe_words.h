// A recipe in few words: what buttons, lists and messages call it.
//
// Used by the composer, the method picker, the recipe editor and ui/shell. UI thread only (translations).
#pragma once

#include <QList>
#include <QString>
#include <QStringList>
#include <vector>

#include "app/ground/recipes/method_texts.h"
#include "app/ground/recipes/recipe_json.h"
#include "engine/recipes/method_info.h"

namespace winnow::ui {

// The method as it comes: no options, no other parts, ordinary settings.
bool isPlain(const RecipeSpec& spec);
const MethodInfo* findMethod(const std::vector<MethodInfo>& methods, const std::string& name);
QString methodTitle(const std::vector<MethodInfo>& methods, const std::string& name);
// "My mixture", "VL-Cache", "VL-Cache, changed".
QString recipeTitle(const std::vector<MethodInfo>& methods, const app::NamedRecipe& recipe);
QString budgetText(const RecipeSpec& spec);  // "20 %", "64 slots"
// The title of its share, which not all methods take of the same: "Share of the attachments to keep".
QString shareTitle(const RecipeSpec& spec);
// Title and budget; the full cache has only a title.
QString recipeLabel(const std::vector<MethodInfo>& methods, const app::NamedRecipe& recipe);
// Several of one cache, in their order: "Self-Study · 20 %, then SnapKV · 10 %".
QString recipesLabel(const std::vector<MethodInfo>& methods, const QList<app::NamedRecipe>& recipes);
// The differences from the method: "allocator meda", "window 16", "Short texts: 10".
QStringList recipeChanges(const RecipeSpec& spec);

QString settingTitle(const app::SettingText& setting);
QString settingHelp(const app::SettingText& setting);
QString settingChoice(const app::SettingText& setting, std::size_t choice);

// "Once, after the question", "Also while writing" ...
QString phaseWords(MethodPhase phase);
// Phase, judged by the question or not, merges or drops: the tags of a card.
QStringList methodTags(const MethodInfo& method);

}  // namespace winnow::ui
