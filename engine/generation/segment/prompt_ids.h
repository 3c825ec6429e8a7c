// Tokenises the pieces of a prompt's text.
//
// Used by build_prompt(). Special tokens are recognised only in the template's own text; those that take the white space beside them take a
// message's, too. Everything between two of them is encoded at once, because merges cross the border between template and message ("\n" +
// "\nWhat"), but not the border of a medium.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/text/chat_template.h"
#include "engine/text/tokenizer.h"

namespace winnow {

// Stands for a document; no vocabulary has it.
inline constexpr std::int64_t kDocumentPlaceholder = -2;
// Marks a document in a template's text: a code point that is no character and never occurs in user text.
inline constexpr std::string_view kDocumentMark = "\xEF\xB7\x90";  // U+FDD0

// Videos whose family has no token for them are kVideoMark in the text, and kVideoPlaceholder here. start: of the first piece.
std::vector<std::int64_t> prompt_ids(const Tokenizer& tokenizer, std::span<const TemplatePiece> pieces, TextStart start);

}  // namespace winnow
