// One option of a method as a control of the right kind, with its help: a number, a word, a switch or a text.
//
// Used by recipe_editor.h. It checks nothing: the engine says what is wrong with a recipe. UI thread only.
#pragma once

#include <QWidget>

#include "engine/recipes/method_info.h"

class QCheckBox;
class QComboBox;
class QLineEdit;
class QSpinBox;

namespace winnow::ui {

class OptionField : public QWidget {
  Q_OBJECT
 public:
  explicit OptionField(OptionInfo option, QWidget* parent = nullptr);
  const OptionInfo& option() const { return m_option; }
  std::string value() const;
  void setValue(const std::string& text);
  // False if a recipe has to state it: the default needs no words.
  bool isDefault() const { return value() == m_option.otherwise; }
  QWidget* control() const;

 Q_SIGNALS:
  void changed();

 private:
  OptionInfo m_option;
  QSpinBox* m_number = nullptr;
  QComboBox* m_words = nullptr;
  QCheckBox* m_flag = nullptr;
  QLineEdit* m_text = nullptr;
};

}  // namespace winnow::ui
