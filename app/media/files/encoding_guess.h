// Which encoding a text is in that nobody told: by its mark, by being UTF-8, by the pattern of its bytes, else by what it would say.
//
// Used by document_text.h and subtitles.h. Judged by shares, never by one byte: a wrong byte in a text of UTF-8 leaves it UTF-8. UTF-16 and
// UTF-32 without a mark are known by bytes that no other text has; ISO-2022 and the double bytes of East Asia by uchardet and by how common
// their characters are; single bytes by what uchardet says and by how well the letters they stand for are those of a language
// (language_letters.h), because uchardet alone is wrong of every third text of a few words in Latin letters. Pure.
#pragma once

#include <cstddef>
#include <string>

#include "app/media/files/text_encoding.h"

namespace winnow::app {

struct EncodingGuess {
  std::string encoding;       // of text_encoding.h's list
  std::size_t markBytes = 0;  // at the text's beginning
  bool sure = true;           // false: neither marked nor UTF-8
};

EncodingGuess guessEncoding(TextBytes bytes);

// Characters that no text has: controls but for white space, backspace (which strikes over) and escape.
bool isBinaryByte(std::uint8_t byte);

}  // namespace winnow::app
