// The parts of a code listing that are drawn in colours of their own: keywords, texts, numbers, comments.
//
// Used by block_document.h. A table of a dozen languages and one scanner for all of them: it knows no grammar. A language that is not in
// the table has no parts. Pure.
#pragma once

#include <QString>
#include <vector>

namespace winnow::ui {

enum class CodePart : int { kKeyword = 1, kText = 2, kNumber = 3, kComment = 4 };

struct CodeSpan {
  qsizetype from = 0;
  qsizetype length = 0;
  CodePart part = CodePart::kKeyword;

  friend bool operator==(const CodeSpan&, const CodeSpan&) = default;
};

// Ascending, not overlapping. language: as the fence names it, in any case.
std::vector<CodeSpan> codeSpans(QStringView code, const QString& language);

}  // namespace winnow::ui
