// The text of bytes that somebody attaches: which encoding they are in, and whether they are text at all.
//
// Used by document_source.h and subtitles.h, and by whoever has to tell a text from a picture. An encoding that is not named is guessed
// (encoding_guess.h). Afterwards lines end in "\n", struck over characters are those that remained, other control characters are left out.
// Notices say what was guessed, replaced or left out. Errors: Exception kUnsupportedFormat (binary), kInvalidArgument (an encoding
// that is not known), kLimitExceeded (over 16 MiB), kFileUnreadable. Plain functions.
#pragma once

#include <QString>
#include <cstdint>
#include <string>
#include <vector>

#include "app/media/files/media_file.h"
#include "app/media/files/text_encoding.h"
#include "engine/media/media_notice.h"

namespace winnow::app {

inline constexpr std::int64_t kDocumentBytes = 16LL << 20;

struct DocumentText {
  std::string utf8{};
  std::string encoding;  // a name of text_encoding.h
  std::vector<MediaNotice> notices{};
  std::string container = "text";         // or "pdf", "docx", ...
  std::int64_t pages = 0;                 // of the file; 0: it has none
  std::vector<std::int32_t> pageLines{};  // FrameSource::page_lines()
};

// True if the beginning of a file looks like text in one of the encodings.
bool looksLikeText(TextBytes head);

// encoding: a name that encodingNamed() knows; empty: by the bytes. subject: names the file in errors.
DocumentText readText(TextBytes bytes, const std::string& encoding, const std::string& subject);
// what: "documents", "subtitles", of which a file of more than 16 MiB says that it has too many.
DocumentText readTextFile(const MediaFile& file, const std::string& encoding, const char* what);

// The encoding named, or the guess: notices receives that it is one.
std::string encodingFor(TextBytes bytes, const std::string& encoding, std::vector<MediaNotice>& notices);
// Notes that some bytes were replaced.
void noteReplaced(qsizetype replaced, const std::string& encoding, std::vector<MediaNotice>& notices);

// Space-separated, as people count them.
std::int64_t countWords(const std::string& utf8);

}  // namespace winnow::app
