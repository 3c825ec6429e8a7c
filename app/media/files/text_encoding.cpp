#include "app/media/files/text_encoding.h"

#include <iconv.h>

#include <QByteArrayView>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <memory>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr std::size_t kMostName = 40;
constexpr qsizetype kCharactersAhead = 4096;  // room for what is converted at once

struct EncodingRow {
  const char* name;
  const char* converter;    // iconv's name for it
  std::size_t unit;         // bytes that are skipped where one is nothing
  std::string_view others;  // written otherwise: lower case, without what stands between letters and digits, each between spaces
};

constexpr std::array kEncodings = std::to_array<EncodingRow>({
    {"UTF-8", "UTF-8", 1, " utf8 unicode ascii usascii "},
    {"UTF-16LE", "UTF-16LE", 2, " utf16 utf16le ucs2 ucs2le "},
    {"UTF-16BE", "UTF-16BE", 2, " utf16be ucs2be "},
    {"UTF-32LE", "UTF-32LE", 4, " utf32 utf32le ucs4 "},
    {"UTF-32BE", "UTF-32BE", 4, " utf32be "},
    {"Windows-1252", "CP1252", 1, " windows1252 cp1252 win1252 1252 iso88591 latin1 l1 88591 ansi western "},
    {"Windows-1250", "CP1250", 1, " windows1250 cp1250 win1250 1250 "},
    {"Windows-1251", "CP1251", 1, " windows1251 cp1251 win1251 1251 "},
    {"Windows-1253", "CP1253", 1, " windows1253 cp1253 win1253 1253 "},
    {"Windows-1254", "CP1254", 1, " windows1254 cp1254 win1254 1254 iso88599 latin5 88599 "},
    {"Windows-1255", "CP1255", 1, " windows1255 cp1255 win1255 1255 "},
    {"Windows-1256", "CP1256", 1, " windows1256 cp1256 win1256 1256 "},
    {"Windows-1257", "CP1257", 1, " windows1257 cp1257 win1257 1257 "},
    {"Windows-1258", "CP1258", 1, " windows1258 cp1258 win1258 1258 "},
    {"Windows-874", "CP874", 1, " windows874 cp874 874 tis620 iso885911 "},
    {"ISO-8859-2", "ISO-8859-2", 1, " iso88592 latin2 l2 88592 "},
    {"ISO-8859-3", "ISO-8859-3", 1, " iso88593 latin3 88593 "},
    {"ISO-8859-4", "ISO-8859-4", 1, " iso88594 latin4 88594 "},
    {"ISO-8859-5", "ISO-8859-5", 1, " iso88595 88595 "},
    {"ISO-8859-6", "ISO-8859-6", 1, " iso88596 88596 "},
    {"ISO-8859-7", "ISO-8859-7", 1, " iso88597 88597 "},
    {"ISO-8859-8", "ISO-8859-8", 1, " iso88598 88598 "},
    {"ISO-8859-10", "ISO-8859-10", 1, " iso885910 latin6 885910 "},
    {"ISO-8859-13", "ISO-8859-13", 1, " iso885913 latin7 885913 "},
    {"ISO-8859-14", "ISO-8859-14", 1, " iso885914 latin8 885914 "},
    {"ISO-8859-15", "ISO-8859-15", 1, " iso885915 latin9 l9 885915 "},
    {"ISO-8859-16", "ISO-8859-16", 1, " iso885916 latin10 885916 "},
    {"KOI8-R", "KOI8-R", 1, " koi8r koi8 "},
    {"KOI8-U", "KOI8-U", 1, " koi8u "},
    {"IBM437", "CP437", 1, " ibm437 cp437 437 "},
    {"IBM850", "CP850", 1, " ibm850 cp850 850 "},
    {"IBM852", "CP852", 1, " ibm852 cp852 852 "},
    {"IBM855", "CP855", 1, " ibm855 cp855 855 "},
    {"IBM862", "CP862", 1, " ibm862 cp862 862 "},
    {"IBM865", "CP865", 1, " ibm865 cp865 865 "},
    {"IBM866", "CP866", 1, " ibm866 cp866 866 dos "},
    {"Macintosh", "MACINTOSH", 1, " macintosh mac macroman xmacroman "},
    {"Mac-Cyrillic", "MAC-CYRILLIC", 1, " maccyrillic xmaccyrillic "},
    {"Mac-CentralEurope", "MAC-CENTRALEUROPE", 1, " maccentraleurope macce xmacce "},
    {"VISCII", "VISCII", 1, " viscii "},
    {"GB18030", "GB18030", 1, " gb18030 gbk gb2312 euccn cp936 936 "},
    {"Big5", "BIG5-HKSCS", 1, " big5 big5hkscs cp950 950 "},
    {"EUC-TW", "EUC-TW", 1, " euctw "},
    {"Shift_JIS", "CP932", 1, " shiftjis sjis cp932 932 windows31j ms932 mskanji "},
    {"EUC-JP", "EUC-JP-MS", 1, " eucjp eucjpms ujis "},
    {"ISO-2022-JP", "ISO-2022-JP", 1, " iso2022jp jis "},
    {"EUC-KR", "CP949", 1, " euckr cp949 949 uhc ksc5601 "},
    {"ISO-2022-KR", "ISO-2022-KR", 1, " iso2022kr "},
    {"ISO-2022-CN", "ISO-2022-CN", 1, " iso2022cn "},
});

struct MarkRow {
  std::array<std::uint8_t, 4> bytes;
  std::size_t length;
  const char* encoding;
};
// The longer ones first: UTF-16's begins UTF-32's.
constexpr std::array kMarks = std::to_array<MarkRow>({{{0xFF, 0xFE, 0, 0}, 4, "UTF-32LE"},
                                                      {{0, 0, 0xFE, 0xFF}, 4, "UTF-32BE"},
                                                      {{0x84, 0x31, 0x95, 0x33}, 4, "GB18030"},
                                                      {{0xEF, 0xBB, 0xBF, 0}, 3, "UTF-8"},
                                                      {{0xFF, 0xFE, 0, 0}, 2, "UTF-16LE"},
                                                      {{0xFE, 0xFF, 0, 0}, 2, "UTF-16BE"}});

class Converter {
 public:
  explicit Converter(const char* from) : m_handle(::iconv_open("UTF-16LE", from)) {}
  ~Converter() {
    if (works()) ::iconv_close(m_handle);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  bool works() const { return m_handle != reinterpret_cast<iconv_t>(-1); }
  iconv_t handle() const { return m_handle; }

 private:
  iconv_t m_handle;
};

// Qt's decoder and not iconv's: it goes on behind wrong bytes, a U+FFFD for each.
DecodedText decodeUtf8(TextBytes bytes) {
  const QByteArrayView view(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size()));
  DecodedText decoded{QString::fromUtf8(view), 0};
  qsizetype meant = 0;
  for (qsizetype at = view.indexOf("\xEF\xBF\xBD"); at >= 0; at = view.indexOf("\xEF\xBF\xBD", at + 3)) ++meant;
  decoded.replaced = decoded.text.count(QChar(QChar::ReplacementCharacter)) - meant;
  return decoded;
}

}  // namespace

std::optional<std::string> encodingNamed(std::string_view written) {
  std::string key = " ";
  for (const char c : written) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  key += ' ';
  if (key.size() <= 2 || written.size() > kMostName) return std::nullopt;
  const auto* found = std::ranges::find_if(kEncodings, [&](const EncodingRow& row) { return row.others.find(key) != row.others.npos; });
  if (found == kEncodings.end()) return std::nullopt;
  return found->name;
}

std::vector<std::string> encodingNames() {
  std::vector<std::string> names;
  for (const EncodingRow& row : kEncodings) names.emplace_back(row.name);
  return names;
}

std::optional<EncodingMark> encodingMark(TextBytes bytes) {
  for (const MarkRow& mark : kMarks) {
    if (bytes.size() >= mark.length && std::equal(mark.bytes.begin(), mark.bytes.begin() + mark.length, bytes.begin()))
      return EncodingMark{mark.encoding, mark.length};
  }
  return std::nullopt;
}

DecodedText decodeText(TextBytes bytes, const std::string& encoding) {
  if (encoding == "UTF-8") return decodeUtf8(bytes);
  const auto* row = std::ranges::find_if(kEncodings, [&](const EncodingRow& each) { return encoding == each.name; });
  if (row == kEncodings.end()) throw Exception(ErrorCode::kInvalidArgument, encoding, "this is no encoding that is known");
  const Converter converter(row->converter);
  if (!converter.works())
    throw Exception(ErrorCode::kUnsupportedFormat, encoding, "this system cannot convert it: its C library lacks the module for it");
  DecodedText decoded;
  std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());  // iconv wants bytes that may be written
  char* in = reinterpret_cast<char*>(copy.data());
  std::size_t left = copy.size();
  QString room(kCharactersAhead, Qt::Uninitialized);
  const auto convert = [&](char** from, std::size_t* count) {
    char* out = reinterpret_cast<char*>(room.data());
    std::size_t free = static_cast<std::size_t>(room.size()) * sizeof(QChar);
    const std::size_t result = ::iconv(converter.handle(), from, count, &out, &free);
    const int problem = result == static_cast<std::size_t>(-1) ? errno : 0;
    decoded.text += QStringView(room).first(room.size() - static_cast<qsizetype>(free / sizeof(QChar)));
    return problem;
  };
  while (left > 0) {
    const int problem = convert(&in, &left);
    if (problem == 0 || problem == E2BIG) continue;
    decoded.text += QChar(QChar::ReplacementCharacter);
    ++decoded.replaced;
    const std::size_t skipped = problem == EINVAL ? left : std::min(row->unit, left);
    in += skipped;
    left -= skipped;
  }
  convert(nullptr, nullptr);  // what it has held back
  return decoded;
}

void keepConverters() {
  static const auto kept = [] {
    std::vector<std::unique_ptr<const Converter>> all;
    for (const EncodingRow& row : kEncodings) all.push_back(std::make_unique<const Converter>(row.converter));
    return all;
  }();
}

}  // namespace winnow::app
