// A look at an attached document: its text, lines numbered, and whether it is pinned.
//
// Opened from its card or from the transcript. Modal to its window, deletes itself when closed. Asks MediaPreview for the text, which is
// shown and never interpreted, and whether it is the file that was attached. Ctrl+F searches. UI thread only.
#pragma once

#include <QDialog>
#include <QPointer>

#include "app/chats/chat/conversation.h"
#include "ui/composer/media_preview.h"

class QLabel;
class QLineEdit;
class QPlainTextEdit;

namespace winnow::ui {

class ChangedFileNote;
class FramePins;
class PinButton;

class DocumentViewer : public QDialog {
  Q_OBJECT
 public:
  // line: that it opens at, from 0.
  DocumentViewer(MediaPreview& preview, const app::Attachment& document, int line, QWidget* parent);

  // Offers pinning all of it; consequence: what it means for a question that was asked already.
  void setPins(FramePins* pins, const QString& consequence = {});
  ChangedFileNote* changedNote() const { return m_changed; }
  QPlainTextEdit* text() const { return m_text; }
  QLineEdit* searchBox() const { return m_search; }
  PinButton* pinButton() const { return m_pin; }

 protected:
  void keyPressEvent(QKeyEvent* event) override;

 private:
  void showText(const QString& text);
  void showPin();
  void find(bool backward);

  MediaPreview& m_preview;
  PreviewToken m_token = 0;
  int m_line = 0;
  QPointer<FramePins> m_pins;
  ChangedFileNote* m_changed = nullptr;
  QPlainTextEdit* m_text = nullptr;
  QLineEdit* m_search = nullptr;
  QLabel* m_caption = nullptr;
  PinButton* m_pin = nullptr;
};

}  // namespace winnow::ui
