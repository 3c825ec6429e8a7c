// Walks over a transcript by keys: through what a message holds to be opened, its attachments and then the links of its text; and from
// marked word to marked word over all messages, where F8 stands.
//
// Used by transcript_view.h and its painter. UI thread only.
#pragma once

#include <QUrl>
#include <optional>
#include <vector>

#include "ui/chat_view/transcript_layout.h"

namespace winnow::ui {

struct Openable {
  int attachment = -1;  // by number; -1: a link
  QUrl link;
  int row = 0;  // of the message: where the link's words stand
  int from = 0;
  int to = 0;
};

class OpenableWalk {
 public:
  void clear() { *this = OpenableWalk(); }
  // Forwards (1) from the message itself to its first, on to its last and out; backwards (-1) to the message itself and out. False: out.
  bool step(const TranscriptLayout& layout, int message, int step);
  void toLast(const TranscriptLayout& layout, int message);  // if there is any
  void lookAgain(const TranscriptLayout& layout);            // texts have changed
  qint64 message() const { return m_message; }
  std::optional<Openable> present() const;  // none: on the message itself, or out

 private:
  qint64 m_message = 0;
  int m_at = -1;
  std::vector<Openable> m_all;  // of the message
};

// Goes from marked word to marked word over all messages: where F8 stands.
class MarkWalk {
 public:
  void clear() { *this = MarkWalk(); }
  // To the next (1) or the one before (-1), around at the ends. False: there is no mark.
  bool step(const TranscriptLayout& layout, int step);
  bool stands() const { return m_mark >= 0; }
  qint64 message() const { return m_message; }
  int mark() const { return m_mark; }
  // The note on it; empty: none.
  QString note(const TranscriptLayout& layout) const;

 private:
  qint64 m_message = 0;
  int m_mark = -1;
};

}  // namespace winnow::ui
