// In which encoding a text is read, and another one to read it in: where it had to be guessed, or was chosen.
//
// Used by attachment_card.h. UI thread only.
#pragma once

#include <QStringList>
#include <QWidget>

class QLabel;
class QMenu;
class QPushButton;

namespace winnow::ui {

class EncodingChoice : public QWidget {
  Q_OBJECT
 public:
  explicit EncodingChoice(const QStringList& encodings, QWidget* parent = nullptr);

  enum class Found : int { kForSure = 1, kByGuess = 2 };
  // read: the encoding that it is read in. chosen: that somebody chose; empty: it is found by the bytes.
  void show(const QString& read, const QByteArray& chosen, Found found);
  QString text() const;
  QMenu* menu() const { return m_menu; }

 Q_SIGNALS:
  void chosen(const QByteArray& encoding);  // empty: by the bytes

 private:
  QLabel* m_label = nullptr;
  QPushButton* m_change = nullptr;
  QMenu* m_menu = nullptr;
};

}  // namespace winnow::ui
