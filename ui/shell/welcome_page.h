// What a new chat shows before the first question: what Winnow does, samples to try, and how to add a model or a file.
//
// Used by main_window.h. UI thread only.
#pragma once

#include <QList>
#include <QScrollArea>

#include "app/resources/bundled_files.h"

class QGridLayout;
class QLabel;
class QPushButton;

namespace winnow::ui {

class WelcomePage : public QScrollArea {
  Q_OBJECT
 public:
  explicit WelcomePage(QList<app::Sample> samples, QWidget* parent = nullptr);
  // A model is there (its name), or not; the demo model knows only its own small world, and the page says so.
  void setModel(const QString& name, bool ready, bool isDemo);

 Q_SIGNALS:
  void sampleChosen(const QString& file, const QString& question);
  void chooseModelRequested();

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void arrange();
  QList<app::Sample> m_samples;
  QWidget* m_content = nullptr;
  QGridLayout* m_grid = nullptr;
  QList<QWidget*> m_cards;
  QLabel* m_modelLine = nullptr;
  QLabel* m_try = nullptr;
  QPushButton* m_choose = nullptr;
  int m_columns = 0;
};

}  // namespace winnow::ui
