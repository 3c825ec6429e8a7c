#include "app/media/files/document_text.h"

#include <algorithm>
#include <span>

#include "app/media/files/encoding_guess.h"
#include "engine/base/error.h"
#include "engine/base/known_format.h"

namespace winnow::app {
namespace {

constexpr char16_t kEscape = 0x1B;
constexpr char16_t kEndOfFile = 0x1A;  // DOS's
constexpr char16_t kDelete = 0x7F;

bool isForm(QChar c) { return c == u'\n' || c == u'\t' || c == u'\f'; }
bool isControl(QChar c) { return (c.unicode() < 0x20 && !isForm(c)) || c.unicode() == kDelete; }

// Characters of a terminal's sequence that begins at `at` with escape: "ESC [ 3 1 m"; 1: the escape alone.
qsizetype sequenceLength(const QString& text, qsizetype at) {
  if (at + 1 >= text.size() || text[at + 1] != u'[') return 1;
  for (qsizetype end = at + 2; end < text.size(); ++end) {
    if (text[end].unicode() >= 0x40 && text[end].unicode() <= 0x7E) return end - at + 1;
    if (text[end].unicode() < 0x20 || text[end].unicode() > 0x7E) break;
  }
  return 1;
}

void endLinesAlike(QString& text) {
  text.replace(QLatin1String("\r\n"), QLatin1String("\n"));
  for (QChar& c : text) {
    if (c == u'\r' || c == u'\v' || c.unicode() == 0x85) c = u'\n';
  }
}

// Before the mark of DOS and the zeros of a file that was given more room than it has words.
qsizetype endOfWords(const QString& text) {
  qsizetype end = text.size();
  while (end > 0 && (text[end - 1].isNull() || text[end - 1].unicode() == kEndOfFile)) --end;
  return end;
}

// A text without the characters that steer a typewriter or a terminal.
//
// Pure.

// Lines end in "\n", whatever ended them. A character that is struck over by another ("N" backspace "N", "_" backspace "x") is that one.
// Sequences of a terminal (colours) and other control characters are left out, inside a text with a space for them.
// Returns how many characters were left out for that they are controls.
qsizetype makePlain(QString& text) {
  endLinesAlike(text);
  const qsizetype end = endOfWords(text);
  qsizetype leftOut = text.size() - end;
  text.truncate(end);
  QString plain;
  plain.reserve(text.size());
  for (qsizetype at = 0; at < text.size(); ++at) {
    const QChar c = text[at];
    if (!isControl(c)) {
      plain += c;
    } else if (c == u'\b' && !plain.isEmpty() && plain.back() != u'\n' && at + 1 < text.size() && !isControl(text[at + 1])) {
      const QChar over = text[++at];
      if (over != u'_') plain.back() = over;
    } else if (c.unicode() == kEscape) {
      const qsizetype length = sequenceLength(text, at);
      leftOut += length;
      at += length - 1;
    } else {
      ++leftOut;
      if (c.unicode() != kDelete && c != u'\b') plain += u' ';
    }
  }
  text = std::move(plain);
  return leftOut;
}

// Control characters that no text has, by their number; what is binary has many. Those at its end do not count, unless there is nothing
// else.
qsizetype countBinary(const QString& text) {
  const qsizetype end = endOfWords(text);
  if (end == 0) return text.size();
  qsizetype count = 0;
  for (const QChar c : QStringView(text).first(end))
    count += isControl(c) && c != u'\r' && c != u'\v' && c != u'\b' && c.unicode() != kEscape ? 1 : 0;
  return count;
}

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
  const char* const remedy = format->kind == FormatKind::kDocument ? ": save it as PDF" : "";
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
