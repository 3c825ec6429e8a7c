#include "app/media/document_text.h"

#include <QByteArrayView>
#include <QString>
#include <QStringDecoder>
#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t kDeclaredBytes = 4096;

struct Mark {
  std::array<std::uint8_t, 3> bytes;
  std::size_t length;
  QStringConverter::Encoding encoding;
};

constexpr std::array<Mark, 3> kMarks = {{{{0xEF, 0xBB, 0xBF}, 3, QStringConverter::Utf8},
                                         {{0xFF, 0xFE, 0}, 2, QStringConverter::Utf16LE},
                                         {{0xFE, 0xFF, 0}, 2, QStringConverter::Utf16BE}}};

// Windows-1252 where it differs from Latin-1: 0x80 to 0x9F. 0 where it has nothing.
constexpr std::array<char16_t, 32> kWindows = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
                                               0x2039, 0x0152, 0,      0x017D, 0,      0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
                                               0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

const Mark* markOf(Bytes bytes) {
  const auto* found = std::ranges::find_if(kMarks, [&](const Mark& mark) {
    return bytes.size() >= mark.length &&
           std::equal(mark.bytes.begin(), mark.bytes.begin() + static_cast<std::ptrdiff_t>(mark.length), bytes.begin());
  });
  return found == kMarks.end() ? nullptr : found;
}

// Characters that no text has: control characters but for tab, line ends, form feed and escape.
bool isControl(std::uint8_t byte) {
  return (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f' && byte != 0x1B) || byte == 0x7F;
}

// UTF-16 of a text that is mostly Latin: every second byte is zero, hardly any of the others.
std::optional<QStringConverter::Encoding> markless16(Bytes head) {
  if (head.size() < 4) return std::nullopt;
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < head.size(); ++i) zeros[i % 2] += head[i] == 0 ? 1 : 0;
  const std::size_t half = head.size() / 2;
  if (zeros[1] > half / 2 && zeros[0] * 20 < half) return QStringConverter::Utf16LE;
  if (zeros[0] > half / 2 && zeros[1] * 20 < half) return QStringConverter::Utf16BE;
  return std::nullopt;
}

// A head that is cut may end inside a character.
bool isUtf8(Bytes bytes, bool cut) {
  for (std::size_t drop = 0; drop <= (cut ? 3U : 0U) && drop <= bytes.size(); ++drop) {
    QStringDecoder decoder(QStringDecoder::Utf8, QStringDecoder::Flag::Stateless);
    const QString text = decoder(QByteArrayView(bytes.data(), static_cast<qsizetype>(bytes.size() - drop)));
    Q_UNUSED(text.size());
    if (!decoder.hasError()) return true;
  }
  return false;
}

QString decoded(Bytes bytes, QStringConverter::Encoding encoding) {
  QStringDecoder decoder(encoding, QStringDecoder::Flag::Stateless);
  return decoder(QByteArrayView(bytes.data(), static_cast<qsizetype>(bytes.size())));
}

QString latin(Bytes bytes) {
  QString text = QString::fromLatin1(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size()));
  for (QChar& character : text) {
    const char16_t code = character.unicode();
    if (code >= 0x80 && code < 0xA0 && kWindows[code - 0x80] != 0) character = QChar(kWindows[code - 0x80]);
  }
  return text;
}

}  // namespace

bool looksLikeText(Bytes all) {
  const Bytes head = all.first(std::min(all.size(), kDeclaredBytes));
  if (markOf(head) != nullptr || markless16(head)) return true;
  return std::ranges::none_of(head, isControl);
}

DocumentText readDocument(const MediaFile& file) {
  if (file.sizeBytes() > kDocumentBytes) {
    throw Exception(ErrorCode::kLimitExceeded, file.path(),
                    "the text is " + std::to_string(file.sizeBytes() >> 20) + " MiB long, and documents have at most 16");
  }
  const std::vector<std::uint8_t> bytes = file.readRange(0, file.sizeBytes());
  const Mark* mark = markOf(bytes);
  const Bytes body = Bytes(bytes).subspan(mark != nullptr ? mark->length : 0);
  const Bytes head = body.first(std::min(body.size(), kDeclaredBytes));
  QString text;
  DocumentText document;
  const std::optional<QStringConverter::Encoding> wide = mark != nullptr && mark->encoding != QStringConverter::Utf8
                                                             ? std::optional(mark->encoding)
                                                         : mark == nullptr ? markless16(head)
                                                                           : std::nullopt;
  if (wide) {
    text = decoded(body, *wide);
    document.encoding = "UTF-16";
  } else {
    if (std::ranges::any_of(body, isControl))
      throw Exception(ErrorCode::kUnsupportedFormat, file.path(), "this is not a text: it holds binary data");
    const bool utf8 = isUtf8(body, false);
    text = utf8 ? decoded(body, QStringConverter::Utf8) : latin(body);
    document.encoding = utf8 ? "UTF-8" : "Latin-1";
  }
  text.replace(QLatin1String("\r\n"), QLatin1String("\n"));
  text.replace(QLatin1Char('\r'), QLatin1Char('\n'));
  document.utf8 = text.toStdString();
  return document;
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
