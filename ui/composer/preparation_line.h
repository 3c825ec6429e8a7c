// The line between what is attached and the plan: what happens to attached media before a question is asked, and one thing to do about it.
//
// Shows what it is given, else what holds as long as nothing is attached; hidden while there is nothing to say. UI thread only.
#pragma once

#include <QString>
#include <QWidget>

class QLabel;
class QProgressBar;
class QPushButton;

namespace winnow::ui {

class ElidedLabel;

struct PreparationView {
  QString text;         // empty: nothing to show
  double share = -1.0;  // 0..1 while it works; negative: it does not
  QString action;       // the button's words; empty: none

  friend bool operator==(const PreparationView&, const PreparationView&) = default;
};

class PreparationLine : public QWidget {
  Q_OBJECT
 public:
  explicit PreparationLine(QWidget* parent = nullptr);

  void setView(const PreparationView& view);
  const PreparationView& view() const { return m_view; }
  void setIdleText(const QString& text, const QString& action);
  void setCompact(bool compact);  // a low window: one shortened line
  const QString& idleText() const { return m_idleText; }
  QPushButton* button() const { return m_button; }

 Q_SIGNALS:
  void actionTriggered();
  void idleActionTriggered();

 private:
  void arrange();

  PreparationView m_view;
  bool m_compact = false;
  QString m_idleText;
  QString m_idleAction;
  QLabel* m_text = nullptr;
  ElidedLabel* m_short = nullptr;  // in a low window
  QProgressBar* m_bar = nullptr;
  QPushButton* m_button = nullptr;
};

}  // namespace winnow::ui
