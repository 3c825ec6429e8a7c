#include "ui/recipes/recipe_words.h"

#include <QCoreApplication>
#include <algorithm>
#include <iterator>

#include "app/words/display_text.h"
#include "app/words/format_text.h"
#include "ui/recipes/method_texts.h"

namespace winnow::ui {
namespace {

class RecipeWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::RecipeWords)
};

bool isOrdinary(const RecipeSpec& spec, const WholeSetting& setting) { return spec.*setting.value == RecipeSpec().*setting.value; }

QString settingText(const char* english) { return QCoreApplication::translate("winnow::app::SettingTexts", english); }

}  // namespace

QString settingTitle(const app::SettingText& setting) { return settingText(setting.title); }
QString settingHelp(const app::SettingText& setting) { return settingText(setting.help); }
QString settingChoice(const app::SettingText& setting, std::size_t choice) { return settingText(setting.choices[choice]); }

bool isPlain(const RecipeSpec& spec) {
  const auto own = [&spec](const PartSetting& part) { return (spec.*part.name).empty(); };
  const auto ordinary = [&spec](const WholeSetting& setting) { return isOrdinary(spec, setting); };
  return spec.options.empty() && spec.before == BeforeDecoder() && std::all_of(std::begin(kPartSettings), std::end(kPartSettings), own) &&
         std::all_of(std::begin(kWholeSettings), std::end(kWholeSettings), ordinary);
}

const MethodInfo* findMethod(const std::vector<MethodInfo>& methods, const std::string& name) {
  const auto found = std::find_if(methods.begin(), methods.end(), [&name](const MethodInfo& method) { return method.name == name; });
  return found == methods.end() ? nullptr : &*found;
}

QString methodTitle(const std::vector<MethodInfo>& methods, const std::string& name) {
  const MethodInfo* method = findMethod(methods, name);
  return app::displayText(QString::fromStdString(method != nullptr && !method->title.empty() ? method->title : name));
}

QString recipeTitle(const std::vector<MethodInfo>& methods, const app::NamedRecipe& recipe) {
  if (!recipe.name.empty()) return app::displayText(QString::fromStdString(recipe.name)).simplified();
  const QString title = methodTitle(methods, recipe.spec.method);
  return isPlain(recipe.spec) ? title : RecipeWords::tr("%1, changed").arg(title);
}

QString budgetText(const RecipeSpec& spec) {
  if (spec.budget_tokens) return RecipeWords::tr("%1 slots").arg(app::formatCount(*spec.budget_tokens));
  return app::formatShare(spec.retention);
}

QString shareTitle(const RecipeSpec& spec) {
  std::string scope = spec.scope;
  for (const PartInfo& part : list_parts()) {
    const bool its = scope.empty() && part.kind == "scope" && std::ranges::find(part.presets, spec.method) != part.presets.end();
    if (its) scope = part.name;
  }
  return scope == "all" ? RecipeWords::tr("Share to keep of everything, text included")
                        : RecipeWords::tr("Share of the attachments to keep");
}

QString recipeLabel(const std::vector<MethodInfo>& methods, const app::NamedRecipe& recipe) {
  const QString title = recipeTitle(methods, recipe);
  return keeps_everything(recipe.spec) ? title : QStringLiteral("%1 · %2").arg(title, budgetText(recipe.spec));
}

QString recipesLabel(const std::vector<MethodInfo>& methods, const QList<app::NamedRecipe>& recipes) {
  QStringList labels;
  for (const app::NamedRecipe& recipe : recipes) labels << recipeLabel(methods, recipe);
  return labels.join(RecipeWords::tr(", then "));
}

QStringList recipeChanges(const RecipeSpec& spec) {
  QStringList changes;
  for (const auto& [kind, part] : kPartSettings) {
    if (!(spec.*part).empty())
      changes << QStringLiteral("%1: %2").arg(partTitle(kind), app::displayText(QString::fromStdString(spec.*part)));
  }
  if (spec.before != BeforeDecoder())
    changes << QStringLiteral("%1: %2").arg(settingTitle(*app::settingText("before")), QString::fromStdString(text_of(spec.before)));
  for (const WholeSetting& setting : kWholeSettings) {
    if (isOrdinary(spec, setting)) continue;
    const app::SettingText& text = *app::settingText(setting.name);
    QString value = app::formatCount(spec.*setting.value);
    for (std::size_t i = 0; i < setting.words.size(); ++i) {
      if (setting.words[i].value == spec.*setting.value) value = settingChoice(text, i);
    }
    changes << QStringLiteral("%1: %2").arg(settingTitle(text), value);
  }
  for (const auto& [name, value] : spec.options) {
    changes << app::displayText(QStringLiteral("%1: %2").arg(optionTitle(name), QString::fromStdString(value)));
  }
  return changes;
}

QString phaseWords(MethodPhase phase) {
  switch (phase) {
    case MethodPhase::kContext: return RecipeWords::tr("Once, before the question");
    case MethodPhase::kRetrieve: return RecipeWords::tr("Fetched for every question");
    case MethodPhase::kStream: return RecipeWords::tr("Clip by clip, before the question");
    case MethodPhase::kDecode: return RecipeWords::tr("Also while writing");
    case MethodPhase::kRatioDecode: return RecipeWords::tr("Also while writing, at a fixed share");
    case MethodPhase::kPrefill: return RecipeWords::tr("Prunes tokens while reading");
    case MethodPhase::kOnce: break;
  }
  return RecipeWords::tr("Once, after the question");
}

QStringList methodTags(const MethodInfo& method) {
  if (method.name == "full") return {RecipeWords::tr("No compression")};
  return {phaseWords(method.phase),
          method.query_aware ? RecipeWords::tr("Guided by the question") : RecipeWords::tr("Independent of the question"),
          method.merges ? RecipeWords::tr("Merges") : RecipeWords::tr("Drops")};
}

}  // namespace winnow::ui
