// A paper page by page: its pages small, the chosen one large, and its text beside it, which is searched and quoted from.
//
// Opened as a room from the card of a PDF, from the transcript, and by a page that an answer names. Everything comes from MediaPreview: no
// page is drawn in this process, and its text is shown, never interpreted. Ctrl+F searches all pages; Left, Right, Page up and Page down
// turn them; + and - change the size. Asks for the password where one is needed. UI thread only.
#pragma once

#include <QDialog>
#include <QImage>
#include <QPointer>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "ui/composer/media_preview.h"

class QLabel;
class QPlainTextEdit;
class QPushButton;
class QScrollArea;

namespace winnow::ui {

class ChangedFileNote;
class FindBar;
class FramePins;
class PageList;
class PinButton;

class PageViewer : public QDialog {
  Q_OBJECT
 public:
  // page: that it opens at; 0: its first.
  PageViewer(MediaPreview& preview, const app::Attachment& paper, int page, QWidget* parent);
  ~PageViewer() override;

  // Offers pinning all of its text; consequence: what it means for a question that was asked already.
  void setPins(FramePins* pins, const QString& consequence = {});
  int page() const { return m_page; }
  PageList* list() const { return m_list; }
  QPlainTextEdit* text() const { return m_text; }
  FindBar* findBar() const { return m_find; }
  QPushButton* quoteButton() const { return m_quote; }
  ChangedFileNote* changedNote() const { return m_changed; }
  bool hasPicture() const { return !m_image.isNull(); }

 Q_SIGNALS:
  void quoted(const QString& words, int page);  // into the question; the viewer closes

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void build();
  void load();
  void onSummary(const MediaSummary& summary);
  void onText(const QString& text, const std::vector<std::int32_t>& pageLines);
  void onFailed(const Error& error);
  void show(int page);
  void askPicture();
  void present();
  void resizeBy(int steps);
  int pageOfLine(int line) const;
  void goToText();
  void find(const QString& words);
  void step(int by);
  void markFound();
  void quote();
  void showPin();

  MediaPreview& m_preview;
  const app::Attachment m_paper;
  int m_page = 0;  // that is shown, from 1
  int m_pages = 0;
  int m_zoomSteps = 0;  // 0: as wide as its place
  PreviewToken m_summaryToken = 0;
  PreviewToken m_textToken = 0;
  PreviewToken m_pictureToken = 0;
  std::vector<std::int32_t> m_pageLines;
  struct Found {
    int from = 0;
    int to = 0;
  };
  std::vector<Found> m_found;  // places in the text
  int m_foundIndex = -1;
  bool m_following = false;  // the cursor of the text is moved by the page, not by its reader
  QImage m_image;
  QPointer<FramePins> m_pins;
  ChangedFileNote* m_changed = nullptr;
  PageList* m_list = nullptr;
  QScrollArea* m_scroll = nullptr;
  QLabel* m_picture = nullptr;
  QWidget* m_words = nullptr;  // text and search
  FindBar* m_find = nullptr;
  QPlainTextEdit* m_text = nullptr;
  QLabel* m_caption = nullptr;
  QPushButton* m_quote = nullptr;
  PinButton* m_pin = nullptr;
};

}  // namespace winnow::ui
