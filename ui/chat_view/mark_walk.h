// Goes from marked word to marked word over all messages: where F8 stands.
//
// Used by transcript_view.h and its painter. UI thread only.
#pragma once

#include "ui/chat_view/transcript_layout.h"

namespace winnow::ui {

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
