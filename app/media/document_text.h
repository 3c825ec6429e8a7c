// The text of a file that somebody attaches: which encoding it is in, and whether it is text at all.
//
// Used by document_source.h and by whoever has to tell a text from a picture. UTF-8 and UTF-16 by their byte order marks; without one,
// UTF-8 where the bytes are that, UTF-16 where every second byte is mostly zero, otherwise Latin-1 (Windows-1252 where it has the
// characters). Lines end in "\n" afterwards. Errors: Exception kUnsupportedFormat (binary), kLimitExceeded (over 16 MiB), kFileUnreadable.
// Plain functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "app/media/media_file.h"

namespace winnow::app {

inline constexpr std::int64_t kDocumentBytes = 16LL << 20;

struct DocumentText {
  std::string utf8;
  std::string encoding;  // "UTF-8", "UTF-16", "Latin-1"
};

// Whether the beginning of a file looks like text in one of these encodings.
bool looksLikeText(std::span<const std::uint8_t> head);

DocumentText readDocument(const MediaFile& file);

// Space-separated, as people count them.
std::int64_t countWords(const std::string& utf8);

}  // namespace winnow::app
