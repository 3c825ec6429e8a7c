// The conversation on screen: a virtualised column of messages with selection, copy, actions and streaming.
//
// Used by ui/shell. Only rows near the viewport have a laid-out document; a delta touches the last block of one message. Follows
// the end of a growing answer only when the end was in view; else offers "Jump to latest". Opens nothing itself: links and attachments
// are reported by signals. Text is selected across blocks and messages and copied exactly. UI thread only.
#pragma once

#include <QAbstractScrollArea>
#include <QUrl>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ui/chat_view/message_rows.h"

class QPushButton;

namespace winnow::ui {

class TranscriptView : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit TranscriptView(QWidget* parent = nullptr);
  ~TranscriptView() override;

  void setMessages(std::vector<MessageContent> messages);  // scrolls to the end
  void appendMessage(MessageContent message);
  void updateMessage(const MessageContent& message);  // by id
  void removeMessage(qint64 id);
  void appendText(qint64 id, const QString& delta);
  void setPhase(qint64 id, const QString& phase, double share);
  void setMarks(qint64 id, std::vector<TextMark> marks);

  int messageCount() const { return static_cast<int>(m_messages.size()); }
  const MessageContent* message(qint64 id) const;
  const MessageContent& messageAt(int index) const { return m_messages[static_cast<std::size_t>(index)]->content(); }

  // Topmost visible message and how far its top is above the viewport's top: to come back to the same place.
  struct Anchor {
    qint64 message = 0;  // 0: the end is in view
    double offset = 0.0;
  };
  Anchor anchor() const;
  void restoreAnchor(const Anchor& anchor);
  bool atEnd() const;
  void scrollToEnd();

  QString selectedText() const;
  void selectAll();
  void copySelection();
  bool hasSelection() const;
  // Where an action of a message is drawn, in viewport coordinates; an empty rectangle when it is not offered.
  QRect actionRect(qint64 id, Action action) const;
  int focusedMessage() const { return m_focusIndex; }
  // Where a mark of a message is drawn, in viewport coordinates; an empty rectangle when it is not near the viewport.
  QRect markRect(qint64 id, int mark) const;
  // The note of the mark that F8 stands on; empty: on none.
  QString focusedNote() const;

  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void regenerateRequested(qint64 id, int longestTokens);  // 0: as long as the settings say
  void stopRequested(qint64 id);
  void editRequested(qint64 id);  // of a question
  void checkRequested(qint64 id);
  void comparisonActivated(qint64 id, int index);
  void keptMapRequested(qint64 id);  // of an answer
  void branchRequested(qint64 id, int step);
  void attachmentActivated(qint64 id, int index);
  void linkActivated(const QUrl& url);
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
  void keyPressEvent(QKeyEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  bool viewportEvent(QEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  void timerEvent(QTimerEvent* event) override;

 private:
  struct TextPosition {
    int message = 0;
    int row = 0;
    int position = 0;
    auto operator<=>(const TextPosition&) const = default;
  };
  struct Target {
    int message = -1;
    ActionArea area;
    QUrl link;
    bool text = false;
    int mark = -1;  // of the message under the pointer
  };

  int indexOf(qint64 id) const;
  bool bare() const;  // one answer alone: read from its top
  void relayout(bool widthChanged);
  void computeTops(std::size_t from = 0);
  void afterChange(bool wasAtEnd);
  void layoutVisible();
  void updateScrollBar();
  void updatePill();
  qreal contentTop() const;
  QRectF columnRect() const;
  qreal columnLeft() const;
  qreal columnWidth() const;
  QPointF toContent(const QPointF& viewportPoint) const;
  int messageAtY(qreal y) const;
  Target targetAt(const QPoint& viewportPoint) const;
  std::optional<TextPosition> textPositionAt(const QPointF& viewportPoint) const;
  std::pair<TextPosition, TextPosition> orderedSelection() const;
  void trigger(const Target& target);
  void paintMessage(QPainter& painter, int index, const QRectF& clip);
  void paintRow(QPainter& painter, const MessageRows& message, int index, std::size_t row, const QRectF& clip);
  void paintAction(QPainter& painter, const ActionArea& area, bool hovered, const MessageRows& message) const;
  void moveFocus(int step);
  void moveMark(int step);
  void updateAnimation();

  std::vector<std::unique_ptr<MessageRows>> m_messages;
  std::vector<qreal> m_tops;  // of the messages, in content coordinates; one more than messages: the end
  std::optional<TextPosition> m_selectionAnchor, m_selectionEnd;
  Target m_hover;
  std::optional<Target> m_pressed;
  bool m_selecting = false;
  bool m_layingOut = false;
  int m_focusIndex = -1;
  qint64 m_markMessage = 0;  // where F8 stands
  int m_mark = -1;
  int m_animationTimer = 0;
  int m_animationStep = 0;
  QPushButton* m_pill = nullptr;
};

}  // namespace winnow::ui
