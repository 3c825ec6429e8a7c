// The conversation on screen: a virtualised column of messages with selection, copy, actions and streaming.
//
// Used by ui/shell and ui/compare. Keys are in transcript_view_keys.cpp, finding in transcript_view_find.cpp. The messages stand in a
// TranscriptLayout, their look is TranscriptPainter's; here are the scroll bar, the pointer and the keys. Only rows near the viewport have
// a laid-out document; a delta touches the last block of one message. Follows the end of a growing answer only when the end was in view;
// else offers "Jump to latest". Opens nothing itself: links and attachments are reported by signals. Text is selected across blocks and
// messages and copied exactly. UI thread only.
#pragma once

#include <QAbstractScrollArea>
#include <QUrl>
#include <functional>
#include <optional>
#include <vector>

#include "ui/chat_view/transcript_find.h"
#include "ui/chat_view/transcript_hits.h"
#include "ui/chat_view/transcript_layout.h"
#include "ui/chat_view/transcript_selection.h"
#include "ui/chat_view/transcript_walks.h"

class QPushButton;

namespace winnow::ui {

class TranscriptView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TranscriptView(QWidget* parent = nullptr);

  void setMessages(std::vector<MessageContent> messages);  // scrolls to the end
  void appendMessage(MessageContent message);
  void updateMessage(const MessageContent& message);  // by id
  void appendText(qint64 id, const QString& delta);
  void appendThought(qint64 id, const QString& delta);
  void setPhase(qint64 id, const QString& phase, double share);
  void setMarks(qint64 id, std::vector<TextMark> marks);

  int messageCount() const { return m_layout.count(); }
  const MessageContent& messageAt(int index) const { return m_layout.at(index).content(); }

  // Topmost visible message and how far its top is above the viewport's top: to come back to the same place.
  struct Anchor {
    qint64 message = 0;  // 0: the end is in view
    double offset = 0.0;
  };
  Anchor anchor() const;
  void restoreAnchor(const Anchor& anchor);
  bool atEnd() const;
  void scrollToEnd();

  bool thoughtOpen(qint64 id) const;
  QString selectedText() const { return m_selection.text(m_layout); }
  void selectAll();
  void copySelection();
  // The place of a message's action, in viewport coordinates; an empty rectangle when it is not offered.
  QRect actionRect(qint64 id, Action action) const;
  // The place of a message's mark, in viewport coordinates; an empty rectangle when it is not near the viewport.
  QRect markRect(qint64 id, int mark) const;
  int focusedMessage() const { return m_focusIndex; }
  // The note of the mark that F8 stands on; empty: on none.
  QString focusedNote() const { return m_marks.note(m_layout); }

  // Brings the first place of these words from here on into view, and those after and before it; blank: finds nothing more. foundChanged
  // tells how many there are, now and when messages change.
  void find(const QString& words);
  void stepFound(int by);

  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void foundChanged(int index, int count);
  void regenerateRequested(qint64 id);
  void continueRequested(qint64 id);   // of an answer that was cut
  void readAgainRequested(qint64 id);  // of an answer from what was chosen for an earlier question
  void stopRequested(qint64 id);
  void answerNowRequested(qint64 id);    // of one that thinks, or waits for frames
  void readAllRequested(qint64 id);      // an answer from a part of its video's frames
  void newChatRequested(qint64 id);      // with its question
  void answerAloneRequested(qint64 id);  // without what was said before
  void editRequested(qint64 id);         // of a question
  void checkRequested(qint64 id);
  void citeRequested(qint64 id);
  void quoteActivated(qint64 id, int index);
  void comparisonActivated(qint64 id, int index);
  void keptMapRequested(qint64 id);   // of an answer
  void figuresRequested(qint64 id);   // of an answer
  void findFileRequested(qint64 id);  // of an answer that failed for one
  void branchRequested(qint64 id, int step);
  void attachmentActivated(qint64 id, int index);
  void linkActivated(qint64 id, const QUrl& url);
  void copied();
  void scrolled();

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void scrollContentsBy(int dx, int dy) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  bool focusNextPrevChild(bool next) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void timerEvent(QTimerEvent* event) override;

 private:
  // Changes message `id`, then follows the end or stays in place. change(MessageRows&).
  template <typename Change>
  void change(qint64 id, Change&& change);
  void afterChange(bool wasAtEnd);
  void layoutVisible();
  void updateScrollBar();
  void updatePill();
  bool endInView() const;
  void updateAnimation();
  QPointF origin() const;  // of the column, in viewport coordinates
  qreal columnWidth() const;
  void trigger(int index, Action action, int part);
  void copy(const QString& text);
  bool scrollSideways(const QPointF& point, qreal by);  // the wide row under the point; false: there is none
  bool scrollSidewaysByKey(int step);
  void moveFocus(int step);
  void moveMark(int step);
  void lookAgain(int message);
  void showOpenable();  // at which the keyboard stands
  void showFound();
  // Brings a place of a row's document into view. place: in the document's coordinates; empty: it is not shown.
  void reveal(int message, int row, const std::function<QRectF(const BlockDocument&)>& place);
  void showRect(const QRectF& rect);  // in the column's coordinates

  TranscriptLayout m_layout;
  TranscriptSelection m_selection;
  TranscriptFind m_find;
  MarkWalk m_marks;
  OpenableWalk m_openables;
  Target m_hover;
  std::optional<Target> m_pressed;
  bool m_selecting = false;
  QPointF m_lastPressed;  // while a table is dragged sideways
  bool m_layingOut = false;
  int m_focusIndex = -1;
  int m_animationTimer = 0;
  int m_animationStep = 0;
  QPushButton* m_pill = nullptr;
};

}  // namespace winnow::ui
