// The line above the question that offers to attach a long pasted text as a document instead.
//
// Used by composer.h. The text stands in the question until somebody chooses; what was changed in it since goes along. UI thread only.
#pragma once

#include <QTextCursor>
#include <QWidget>

class QLabel;
class QPushButton;

namespace winnow::ui {

// From so many characters on it is offered.
inline constexpr int kLongPaste = 2000;

class PasteOffer : public QWidget {
  Q_OBJECT
 public:
  explicit PasteOffer(QWidget* parent = nullptr);

  // pasted: its selection is the text.
  void offer(const QTextCursor& pasted);
  void dismiss();
  QPushButton* attachButton() const { return m_attach; }
  QPushButton* keepButton() const { return m_keep; }

 Q_SIGNALS:
  void attachChosen(const QString& text);  // which has left the question

 private:
  void attach();

  QTextCursor m_pasted;
  QLabel* m_words = nullptr;
  QPushButton* m_attach = nullptr;
  QPushButton* m_keep = nullptr;
};

}  // namespace winnow::ui
