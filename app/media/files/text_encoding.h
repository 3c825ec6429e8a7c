// The encodings that texts come in: their names, and bytes of one as text.
//
// Used by document_text.h and subtitles.h, by what offers a choice of encodings and by --encoding. Converted by the C library's iconv. A
// closed list: a name from outside never reaches iconv. Names are those of the WHATWG and of IANA; where a code page extends a standard and
// is what is really written under its name, it is meant (Windows-1252 for Latin-1, GB18030 for GBK). Plain functions, any thread.
#pragma once

#include <QString>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace winnow::app {

using TextBytes = std::span<const std::uint8_t>;

// The name in the list of one that people write: "cp1251", "Windows 1251"; none: there is no such encoding in it.
std::optional<std::string> encodingNamed(std::string_view written);
// Names as they are shown, in an order for people.
std::vector<std::string> encodingNames();

// A mark at a text's beginning that names its encoding.
struct EncodingMark {
  std::string encoding;
  std::size_t bytes = 0;
};
std::optional<EncodingMark> encodingMark(TextBytes bytes);

struct DecodedText {
  QString text;
  qsizetype replaced = 0;  // how often U+FFFD stands for bytes that are nothing in this encoding
};
// encoding: a name of the list, and bytes without its mark. Throws Exception(kUnsupportedFormat) where the system cannot convert it.
DecodedText decodeText(TextBytes bytes, const std::string& encoding);

// Loads the system's converters of the whole list and keeps them, for a process that cannot load one later.
void keepConverters();

}  // namespace winnow::app
