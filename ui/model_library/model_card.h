// One model on the page of models: its name, lines about it, what can be done with it, and how far what is done is.
//
// Used by here_page.h and get_page.h, which fill it and fill it anew. UI thread only.
#pragma once

#include <QWidget>

class QBoxLayout;
class QLabel;
class QProgressBar;
class QPushButton;

namespace winnow::ui {

class ModelCard : public QWidget {
  Q_OBJECT
 public:
  enum class Tone : int { kText = 1, kMuted = 2, kGood = 3, kWarning = 4 };

  // key: whatever its page knows it by.
  ModelCard(const QString& key, const QString& title, QWidget* parent = nullptr);

  QString key() const { return m_key; }
  QString title() const;
  // One line more under the name; empty text: none.
  void addLine(const QString& text, Tone tone);
  // Under them all; empty text: none.
  void setNote(const QString& text, Tone tone);
  QString note() const;
  // percent below 0: nobody knows.
  void showProgress(int percent);
  void hideProgress();
  // Its buttons from now on. The first is where the keyboard comes to.
  void clearButtons();
  QPushButton* addButton(const QString& text);
  QPushButton* button(int index) const;  // null: there is none
  int buttonCount() const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QLabel* newLine(Tone tone);
  void setTone(QLabel& label, Tone tone);
  void tint();

  const QString m_key;
  QBoxLayout* m_across;  // words, and beside or under them the buttons
  QBoxLayout* m_words;
  QBoxLayout* m_buttons;
  QLabel* m_title;
  QLabel* m_note;
  QProgressBar* m_bar;
};

}  // namespace winnow::ui
