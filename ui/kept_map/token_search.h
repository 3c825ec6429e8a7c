// The places of words, or of a line, in a text that is given token by token.
//
// Used by token_text_view.h. Case does not matter, and a line's end counts as a space. Plain functions, any thread.
#pragma once

#include <QString>
#include <vector>

#include "engine/base/token_origin.h"

namespace winnow::ui {

// First and last of neighbouring tokens, by place in the text.
struct TokenRange {
  int first = 0;
  int last = 0;

  friend bool operator==(const TokenRange&, const TokenRange&) = default;
};

// texts: of the tokens in order. From the beginning on, not overlapping.
std::vector<TokenRange> findWords(const std::vector<QString>& texts, const QString& words);
// line: from 0; the next one that has tokens where it has none. Empty: there is none.
std::vector<TokenRange> findLine(const std::vector<TokenOrigin>& origins, int line);
// The line that ":12" asks for, from 0; -1: it asks for none.
int askedLine(const QString& text);

}  // namespace winnow::ui
