// A dialog to put a recipe together: a method, its options, parts of other methods, the budget and when it acts; with a name to save it.
//
// Opened by ui/shell. Every change is judged by the engine's own rules (recipe_problem); what cannot be combined is said in a sentence and
// cannot be used. Saves to the settings and to files. UI thread only.
#pragma once

#include <QDialog>
#include <vector>

#include "app/chats/settings/settings.h"
#include "app/ground/recipes/method_texts.h"
#include "app/ground/recipes/recipe_json.h"
#include "engine/recipes/method_info.h"

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QScrollArea;
class QSpinBox;

namespace winnow::ui {

class BeforeField;
class OptionField;

class RecipeEditor : public QDialog {
  Q_OBJECT
 public:
  // model: the loaded one.
  RecipeEditor(const std::vector<MethodInfo>& methods, app::Settings& settings, const app::NamedRecipe& start, ModelTraits model,
               QWidget* parent = nullptr);

  app::NamedRecipe recipe() const;
  bool legal() const { return m_legal; }
  QString verdict() const;  // the sentence about the recipe
  QLineEdit* nameEdit() const { return m_name; }
  QComboBox* methodBox() const { return m_method; }
  QComboBox* partBox(const std::string& kind) const;
  QPushButton* useButton() const { return m_use; }
  QPushButton* saveButton() const { return m_save; }
  void exportTo(const QByteArray& path);

 Q_SIGNALS:
  void applied(const winnow::app::NamedRecipe& recipe);

 private:
  struct Part {
    const char* kind;
    std::string RecipeSpec::*field;
    QComboBox* box = nullptr;
    QLabel* help = nullptr;
  };

  struct Number {
    int RecipeSpec::*field;
    QSpinBox* box = nullptr;
  };

  struct Choice {
    int RecipeSpec::*field;
    QComboBox* box = nullptr;  // items' data: the numbers
  };

  void buildForm();
  QWidget* fieldOf(const WholeSetting& setting, const app::SettingText& text);
  void fill(const app::NamedRecipe& recipe);
  void methodChanged();
  void fillOptions(const RecipeSpec& spec);
  void showOptions(const RecipeSpec& spec);
  void removeOption(std::size_t at);
  void settleForm();
  void optionChanged();
  void fillParts(const RecipeSpec& spec);
  void judge();
  void save();
  void use();
  void browse();
  void tell(const QString& text, bool warning);

  const std::vector<MethodInfo> m_methods;
  const std::vector<PartInfo> m_partList;
  app::Settings& m_settings;
  const ModelTraits m_model;
  double m_exactRetention = 0.2;  // the control shows a tenth of a per cent
  bool m_legal = false;
  bool m_filling = false;
  QScrollArea* m_scroll = nullptr;
  QFormLayout* m_form = nullptr;
  QLineEdit* m_name = nullptr;
  QComboBox* m_method = nullptr;
  QLabel* m_methodHelp = nullptr;
  QComboBox* m_budgetKind = nullptr;
  QDoubleSpinBox* m_share = nullptr;
  QSpinBox* m_slots = nullptr;
  BeforeField* m_before = nullptr;
  QLabel* m_noOptions = nullptr;
  std::vector<OptionField*> m_options;  // the rows below m_noOptions
  std::vector<Part> m_parts;
  QComboBox* m_turns = nullptr;
  std::vector<Number> m_numbers;
  std::vector<Choice> m_choices;
  QLineEdit* m_seed = nullptr;
  QLabel* m_verdict = nullptr;
  QPushButton* m_export = nullptr;
  QPushButton* m_save = nullptr;
  QPushButton* m_use = nullptr;
};

}  // namespace winnow::ui
