// The messages of a transcript as one column: where each stands, and which of its rows have been measured.
//
// Used by transcript_view.h and what it is made of. Coordinates are the column's: x from its left edge, y from the top of all messages.
// Rows are measured when measure() reaches them and estimated before; nothing here knows of a scroll bar. UI thread only.
#pragma once

#include <memory>
#include <vector>

#include "ui/chat_view/message_rows.h"

namespace winnow::ui {

class TranscriptLayout {
 public:
  void set(std::vector<MessageContent> messages);
  void append(MessageContent message);
  bool update(const MessageContent& message);  // by id; false: there is no such message
  void toggle(int index, Fold what);

  int count() const { return static_cast<int>(m_messages.size()); }
  const MessageRows& at(int index) const { return *m_messages[static_cast<std::size_t>(index)]; }
  MessageRows& at(int index) { return *m_messages[static_cast<std::size_t>(index)]; }  // place() follows a change
  int indexOf(qint64 id) const;                                                        // none: -1
  bool bare() const;                                                                   // one answer alone: read from its top

  // Lays everything out for a column of this width; measured rows stay so if it is the same.
  void setWidth(qreal width);
  qreal width() const { return m_width; }
  void invalidate();  // fonts or colours changed
  void place();       // heights changed

  qreal top(int index) const { return m_tops[static_cast<std::size_t>(index)]; }
  QRectF rect(int index) const { return QRectF(0, top(index), m_width, at(index).height()); }
  qreal height() const { return m_tops.empty() ? 0 : m_tops.back(); }
  int messageAt(qreal y) const;  // the last one that begins at or above y; none: -1

  // Measures what meets [top, top + page] and a little around it. What is above `top` may turn out taller or lower than estimated:
  // `shift` is how far the rest moved by it.
  struct Measured {
    bool changed = false;
    qreal shift = 0;
  };
  Measured measure(qreal top, qreal page);
  // Drops the documents that are more than a page away.
  void release(qreal top, qreal page);

 private:
  std::vector<std::unique_ptr<MessageRows>> m_messages;
  std::vector<qreal> m_tops{0.0};  // one more than messages: the end
  qreal m_width = 0;
};

}  // namespace winnow::ui
