// Which cache method, and how much is kept: a button that says both, and the card that opens under it.
//
// Used by the composer. The list of methods is given (list_methods() of the engine). Percent exists only here; the value is a share in
// (0, 1]. UI thread only.
#pragma once

#include <QToolButton>
#include <vector>

#include "engine/api/engine.h"

class QComboBox;
class QFrame;
class QLabel;
class QSlider;
class QSpinBox;

namespace winnow::ui {

class MethodControl : public QToolButton {
  Q_OBJECT
 public:
  explicit MethodControl(std::vector<MethodInfo> methods, QWidget* parent = nullptr);

  QString method() const { return m_method; }
  double retention() const { return m_retention; }
  void setChoice(const QString& method, double retention);
  void stepRetention(int percent);
  void openCard();
  QFrame* card() const { return m_card; }
  QComboBox* methodBox() const { return m_box; }
  QSlider* slider() const { return m_slider; }
  QSpinBox* spin() const { return m_spin; }

  QSize sizeHint() const override;
  static QString label(const QString& title, const QString& method, double retention);

 Q_SIGNALS:
  void choiceChanged(const QString& method, double retention);

 private:
  void describe();
  const MethodInfo* info() const;

  std::vector<MethodInfo> m_methods;
  QString m_method = QStringLiteral("vl-cache");
  double m_retention = 0.2;
  QFrame* m_card = nullptr;
  QComboBox* m_box = nullptr;
  QLabel* m_about = nullptr;
  QLabel* m_share = nullptr;
  QSlider* m_slider = nullptr;
  QSpinBox* m_spin = nullptr;
};

}  // namespace winnow::ui
