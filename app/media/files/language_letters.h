// How well a text's letters beyond ASCII are those of a language: what tells apart the code pages that have other letters in the same
// places.
//
// Used by encoding_guess.h. A table of languages: the code pages that they were written in, and their letters by how often they stand.
// Pure.
#pragma once

#include <QString>
#include <functional>
#include <string>

namespace winnow::app {

struct LettersJudged {
  std::string encoding;
  double score = 0.0;  // mean natural logarithm of a character's share; above -4: words of the language it was judged by
};

// The code page whose text is most of all a language's. decoded: the text in a code page; characters: how many bytes beyond ASCII it has,
// at least one; favoured: what another judge says, which decides between near ones; empty: nothing.
LettersJudged bestCodePage(const std::function<QString(const std::string&)>& decoded, qsizetype characters, const std::string& favoured);

}  // namespace winnow::app
