// Tokenises a document: its text as ordinary token ids, and the line in which each begins.
//
// Made when a document is opened (media_encoder.h). What looks like a special token in it is text. Errors: those of Tokenizer::encode();
// kDamagedFile for one without a word. Engine thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/generation/context/document_memo.h"
#include "engine/text/tokenizer.h"

namespace winnow {

// most: only so many tokens from the beginning; 0: all. path: for errors.
DocumentTokens document_tokens(const Tokenizer& tokenizer, std::string_view text, std::int64_t most, const std::string& path);

}  // namespace winnow
