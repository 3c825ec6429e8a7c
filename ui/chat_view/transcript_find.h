// The places of words in a transcript's messages, and at which of these places the reader is.
//
// Used by transcript_view.h and its painter. What is looked for is what is shown: Markdown's signs are passed over, and a line's end counts
// as a space; case does not matter. Blocks that cannot have the words are never laid out. UI thread only.
#pragma once

#include <QString>
#include <optional>
#include <vector>

#include "ui/chat_view/transcript_hits.h"
#include "ui/chat_view/transcript_layout.h"

namespace winnow::ui {

class TranscriptFind {
 public:
  struct Range {
    TextPosition from;
    int to = 0;  // in the same row
    friend bool operator==(const Range&, const Range&) = default;
  };

  // Blank words find nothing. The place where the reader is: the first in or after message `from`.
  void look(const TranscriptLayout& layout, const QString& words, int from);
  void lookAgain(const TranscriptLayout& layout, int message);  // its text has changed, or it is new
  void step(int by);                                            // around at the ends

  const QString& words() const { return m_words; }
  bool active() const { return !m_words.isEmpty(); }
  int count() const { return static_cast<int>(m_ranges.size()); }
  int index() const { return m_at; }
  std::optional<Range> present() const;
  std::vector<Range> within(int message, int row) const;

 private:
  void add(const TranscriptLayout& layout, int message, std::vector<Range>& ranges) const;

  QString m_words;
  std::vector<Range> m_ranges;  // in the order of the text
  int m_at = 0;
};

}  // namespace winnow::ui
