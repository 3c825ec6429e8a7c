// Cuts a growing Markdown text into blocks that never change again once the next one has begun.
//
// Used by the transcript: while an answer streams only the last block is looked at again (re-parsing the whole text per token took 47 s
// for 2,000 tokens, the last block alone 0.6 s). It finds borders only; markdown_parser.h understands what is inside. Cutting a text
// in any pieces gives the same blocks as cutting it at once. A block is at most kMaxBlockCharacters long: a longer paragraph or code
// listing is continued in the next block, so that no input, however odd, makes one step of the window long. Any thread, one at a time.
#pragma once

#include <QString>
#include <vector>

namespace winnow::ui {

struct SourceBlock {
  qsizetype start = 0;   // in the source, including the fence line of a code block
  qsizetype length = 0;  // up to the start of the next block
  bool code = false;     // fenced at top level: the text between the fences is [codeStart, codeStart + codeLength)
  qsizetype codeStart = 0;
  qsizetype codeLength = 0;
  QString language{};
  bool continues = false;  // this block carries on the previous one (cut at the length limit)
  bool operator==(const SourceBlock&) const = default;
};

class MarkdownSplitter {
 public:
  static constexpr qsizetype kMaxBlockCharacters = 12288;

  // Returns the index of the first block that may differ from before.
  std::size_t append(QStringView delta);
  void clear();

  const QString& text() const { return m_text; }
  const std::vector<SourceBlock>& blocks() const { return m_blocks; }
  QStringView source(const SourceBlock& block) const;
  // The exact text between the fences; copying code gives this.
  QString code(const SourceBlock& block) const;

 private:
  void scanFrom(qsizetype start);
  qsizetype scanBlock(qsizetype start, SourceBlock& block) const;
  qsizetype scanCode(qsizetype contentStart, SourceBlock& block) const;

  QString m_text;
  std::vector<SourceBlock> m_blocks;
};

}  // namespace winnow::ui
