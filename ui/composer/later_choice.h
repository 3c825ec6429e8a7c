// The choice of what later questions go on from: four choices, and under them what the chosen one costs.
//
// Stands in the card of method_control.h. UI thread only.
#pragma once

#include <QWidget>

#include "engine/messages/requests.h"

class QComboBox;
class QLabel;

namespace winnow::ui {

class LaterChoice : public QWidget {
  Q_OBJECT
 public:
  explicit LaterChoice(QWidget* parent = nullptr);

  Guard guard() const { return m_guard; }
  void setGuard(Guard guard);
  void setRecipe(const RecipeSpec& spec);  // what the costs are told for
  void setWatching(bool watching);         // a source is watched here: nothing can be chosen
  QComboBox* box() const { return m_box; }
  QString cost() const;

 Q_SIGNALS:
  void chosen(winnow::Guard guard);

 private:
  void describe();

  RecipeSpec m_spec;
  Guard m_guard = Guard::kKeep;
  bool m_watching = false;
  QComboBox* m_box = nullptr;
  QLabel* m_cost = nullptr;
};

}  // namespace winnow::ui
