// The text box of the composer: grows with its text, Enter sends, pasted pictures and files become attachments.
//
// UI thread only.
#pragma once

#include <QMimeData>
#include <QPlainTextEdit>
#include <QTextCursor>

namespace winnow::ui {

enum class EnterKey : int { kSends = 1, kControlSends = 2 };

class PromptEdit : public QPlainTextEdit {
  Q_OBJECT
 public:
  explicit PromptEdit(QWidget* parent = nullptr);
  void pasteText(const QString& text);
  void quote(const QString& words, int page);  // of an attached paper
  void setEnterKey(EnterKey key) { m_enterKey = key; }
  void setMaximumLines(int lines);
  // The hint of the empty box; `brief` where it has no room for that in one line.
  void setHint(const QString& hint, const QString& brief);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void submitted();
  void mediaPasted(const QMimeData& mime);     // anything but text, or nothing that is known
  void textPasted(const QTextCursor& pasted);  // it stands there now, selected by this cursor

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  bool canInsertFromMimeData(const QMimeData* source) const override;
  void insertFromMimeData(const QMimeData* source) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  int textLines() const;
  void showHint();
  QString m_hint;
  QString m_briefHint;
  EnterKey m_enterKey = EnterKey::kSends;
  int m_maximumLines = 8;
};

}  // namespace winnow::ui
