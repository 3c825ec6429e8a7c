// The line under the composer: what the question that is being written would take, and buttons that make it fit.
//
// Shows what it is given (plan_words.h). Its height stays while there is no plan, so that the composer does not jump; in a low window it is
// one shortened line that comes and goes. UI thread only.
#pragma once

#include <QWidget>
#include <vector>

#include "ui/composer/plan_words.h"

class QHBoxLayout;
class QLabel;
class QPushButton;

namespace winnow::ui {

class ElidedLabel;

class PlanLine : public QWidget {
  Q_OBJECT
 public:
  explicit PlanLine(QWidget* parent = nullptr);

  void setPlan(const PlanView& plan);
  void clear() { setPlan({}); }
  void setCompact(bool compact);  // a low window
  const PlanView& plan() const { return m_plan; }
  const std::vector<QPushButton*>& buttons() const { return m_buttons; }

 Q_SIGNALS:
  void remedyChosen(const winnow::ui::PlanRemedy& remedy);

 private:
  void arrange();

  PlanView m_plan;
  bool m_compact = false;
  QHBoxLayout* m_layout = nullptr;
  QLabel* m_mark = nullptr;
  QLabel* m_text = nullptr;
  ElidedLabel* m_short = nullptr;
  std::vector<QPushButton*> m_buttons;
};

}  // namespace winnow::ui
