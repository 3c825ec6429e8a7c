// The field of the recipe editor for what a recipe leaves unread (RecipeSpec::before): a method and a share, with their help.
//
// Used by recipe_editor.h. UI thread only.
#pragma once

#include <QWidget>

#include "engine/recipes/recipe_spec.h"

class QComboBox;
class QDoubleSpinBox;

namespace winnow::ui {

class BeforeField : public QWidget {
  Q_OBJECT
 public:
  explicit BeforeField(QWidget* parent = nullptr);
  BeforeDecoder value() const;
  void setValue(const BeforeDecoder& before);

 Q_SIGNALS:
  void changed();

 private:
  void showShare();

  QComboBox* m_method = nullptr;      // items' data: the BeforeMethod
  QDoubleSpinBox* m_share = nullptr;  // in percent; of methods that keep one
  double m_exactShare = 0.5;          // the control shows a tenth of a per cent
  double m_threshold = 0.0;           // of pixelprune, which the control does not show
};

}  // namespace winnow::ui
