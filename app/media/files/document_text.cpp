#include "app/media/files/document_text.h"

#include <algorithm>
#include <span>

#include "app/media/files/encoding_guess.h"
#include "app/media/files/plain_characters.h"
#include "engine/base/error.h"
#include "engine/base/known_format.h"

namespace winnow::app {
namespace {

constexpr std::size_t kDeclaredBytes = 4096;
constexpr qsizetype kFewBinary = 2;      // so many control characters may stray into any text
constexpr double kBinaryShare = 0.05;    // of control characters, above which it is none
constexpr double kReplacedShare = 0.25;  // of characters that are nothing

bool isBinary(const DecodedText& decoded) {
  const auto size = static_cast<double>(decoded.text.size());
  const qsizetype binary = countBinary(decoded.text);
  if (binary > kFewBinary && static_cast<double>(binary) > kBinaryShare * size) return true;
  return decoded.replaced > kFewBinary && static_cast<double>(decoded.replaced) > kReplacedShare * size;
}

// Formats of documents and archives may pass for text by their bytes' shares (a PDF of one page).
void requireNoFormat(TextBytes bytes, const std::string& subject) {
  const KnownFormat* const format = known_format(std::as_bytes(bytes.first(std::min(bytes.size(), kFormatHeadBytes))));
  if (format == nullptr || format->kind == FormatKind::kPage || format->kind == FormatKind::kPointer) return;
  const char* const remedy = format->kind == FormatKind::kDocument ? ": save its words as one (.txt)" : "";
  throw Exception(ErrorCode::kUnsupportedFormat, subject, std::string("this is ") + format->name + ", not a plain text" + remedy);
}

// Without the mark that says what is read anyway; one that says another order of bytes counts.
TextBytes withoutMark(TextBytes bytes, std::string& encoding) {
  const auto mark = encodingMark(bytes);
  if (!mark || mark->encoding.substr(0, 6) != encoding.substr(0, 6)) return bytes;
  encoding = mark->encoding;
  return bytes.subspan(mark->bytes);
}

}  // namespace

bool looksLikeText(TextBytes all) {
  const TextBytes head = all.first(std::min(all.size(), kDeclaredBytes));
  std::string encoding = guessEncoding(head).encoding;
  const TextBytes body = withoutMark(head, encoding);
  return !isBinary(decodeText(body, encoding));
}

std::string encodingFor(TextBytes bytes, const std::string& encoding, std::vector<MediaNotice>& notices) {
  if (!encoding.empty()) return encodingNamed(encoding).value_or(encoding);
  EncodingGuess guess = guessEncoding(bytes);
  if (!guess.sure) notices.push_back({NoticeCode::kEncodingGuessed, 0, 0, guess.encoding});
  return std::move(guess.encoding);
}

void noteReplaced(qsizetype replaced, const std::string& encoding, std::vector<MediaNotice>& notices) {
  if (replaced > 0) notices.push_back({NoticeCode::kBytesReplaced, replaced, 0, encoding});
}

DocumentText readText(TextBytes bytes, const std::string& encoding, const std::string& subject) {
  DocumentText document;
  document.encoding = encodingFor(bytes, encoding, document.notices);
  const TextBytes body = withoutMark(bytes, document.encoding);
  DecodedText decoded = decodeText(body, document.encoding);
  if (isBinary(decoded)) throw Exception(ErrorCode::kUnsupportedFormat, subject, "this is not a text: it holds binary data");
  noteReplaced(decoded.replaced, document.encoding, document.notices);
  if (const qsizetype leftOut = makePlain(decoded.text); leftOut > 0) document.notices.push_back({NoticeCode::kControlsLeftOut, leftOut});
  document.utf8 = decoded.text.toStdString();
  return document;
}

DocumentText readTextFile(const MediaFile& file, const std::string& encoding, const char* what) {
  if (file.sizeBytes() > kDocumentBytes) {
    throw Exception(ErrorCode::kLimitExceeded, file.path(),
                    "the text is " + std::to_string(file.sizeBytes() >> 20) + " MiB long, and " + what + " have at most 16");
  }
  const std::vector<std::uint8_t> bytes = file.readRange(0, file.sizeBytes());
  requireNoFormat(bytes, file.path());
  return readText(bytes, encoding, file.path());
}

std::int64_t countWords(const std::string& utf8) {
  std::int64_t words = 0;
  bool inside = false;
  for (const char character : utf8) {
    const bool space = character == ' ' || character == '\n' || character == '\t' || character == '\f';
    words += !space && !inside ? 1 : 0;
    inside = !space;
  }
  return words;
}

}  // namespace winnow::app
