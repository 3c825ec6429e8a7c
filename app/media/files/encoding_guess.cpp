#include "app/media/files/encoding_guess.h"

#include <uchardet/uchardet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "app/media/files/language_letters.h"

namespace winnow::app {
namespace {

constexpr std::size_t kJudgedBytes = 32 << 10;
constexpr double kWords = -4.0;         // LettersJudged::score of a text in its own code page is above
constexpr double kCommon = 0.95;        // share of common characters in a text of East Asia
constexpr double kWrong = 0.02;         // share of wrong bytes that a text may have
constexpr double kPlainScripts = 0.95;  // share of ASCII and one script in a text

bool isHigh(std::uint8_t byte) { return byte >= 0x80; }

// The part that tells an encoding: of a long text, the lines that are not ASCII.
std::vector<std::uint8_t> judgedPart(TextBytes bytes) {
  if (bytes.size() <= kJudgedBytes) return {bytes.begin(), bytes.end()};
  std::vector<std::uint8_t> part;
  for (auto at = bytes.begin(); at != bytes.end() && part.size() < kJudgedBytes;) {
    const auto high = std::find_if(at, bytes.end(), isHigh);
    if (high == bytes.end()) break;
    const auto last = std::find(std::make_reverse_iterator(high), std::make_reverse_iterator(at), std::uint8_t{'\n'});
    const auto end = std::find(high, bytes.end(), std::uint8_t{'\n'});
    const auto room = static_cast<std::ptrdiff_t>(kJudgedBytes);
    const auto from = std::max(last.base(), high - std::min(high - bytes.begin(), room / 2));
    const auto to = end - from > room ? from + room : end;
    part.insert(part.end(), from, to);
    part.push_back('\n');
    at = to;
  }
  return part;
}

// uchardet's answer, by the list's name; empty: nothing, or an impossible one.
std::string detected(TextBytes bytes) {
  const std::unique_ptr<struct uchardet, decltype(&uchardet_delete)> detector(uchardet_new(), &uchardet_delete);
  if (uchardet_handle_data(detector.get(), reinterpret_cast<const char*>(bytes.data()), bytes.size()) != 0) return {};
  uchardet_data_end(detector.get());
  const std::string name = encodingNamed(uchardet_get_charset(detector.get())).value_or("");
  return name.starts_with("UTF-") ? std::string() : name;
}

// ---- without a mark: two and four bytes a character

struct ScriptShare {
  qsizetype plain = 0, script = 0, all = 0;
  double value() const { return all == 0 ? 0.0 : static_cast<double>(plain + script) / static_cast<double>(all); }
};

bool isPlain(QChar c) {
  return (c.unicode() >= 0x20 && c.unicode() < 0x250) || c == u'\n' || c == u'\r' || c == u'\t' ||
         (c.unicode() >= 0x2000 && c.unicode() < 0x2070) || (c.unicode() >= 0x3000 && c.unicode() < 0x3020) ||
         (c.unicode() >= 0xFF00 && c.unicode() < 0xFF66);
}

// Scripts that stand together in one text count as one.
int scriptOf(QChar c) {
  const QChar::Script script = c.script();
  const bool japanese = script == QChar::Script_Hiragana || script == QChar::Script_Katakana;
  return japanese ? QChar::Script_Han : static_cast<int>(script);
}

// han: whether its script may be this one.
double scriptShare(const QString& text, bool han) {
  ScriptShare share;
  std::vector<qsizetype> scripts(QChar::ScriptCount, 0);
  for (const QChar c : text) {
    if (c.isSurrogate()) continue;
    ++share.all;
    if (isPlain(c)) {
      ++share.plain;
    } else if (c.isLetter() || c.isMark()) {
      ++scripts[static_cast<std::size_t>(scriptOf(c))];
    }
  }
  if (!han) scripts[QChar::Script_Han] = 0;
  share.script = *std::ranges::max_element(scripts);
  return share.value();
}

// Two letters of ASCII are a character of Han as well (four are none): text in that script has many bytes beyond ASCII.
std::string wideEncoding(TextBytes bytes) {
  const TextBytes head = bytes.first(std::min(bytes.size(), kJudgedBytes));
  const bool han = static_cast<std::size_t>(std::ranges::count_if(head, isHigh)) * 8 > head.size();
  std::string best;
  double most = kPlainScripts;
  for (const char* encoding : {"UTF-32LE", "UTF-32BE", "UTF-16LE", "UTF-16BE"}) {
    const DecodedText decoded = decodeText(head, encoding);
    const double wrong = static_cast<double>(decoded.replaced) / static_cast<double>(std::max<qsizetype>(1, decoded.text.size()));
    const double share = scriptShare(decoded.text, han || std::string_view(encoding).starts_with("UTF-32")) - wrong;
    if (share <= most) continue;
    most = share;
    best = encoding;
  }
  return best;
}

// ---- one byte and two bytes a character

struct ByteRange {
  std::uint8_t first = 1, last = 0;
  bool holds(std::uint8_t byte) const { return byte >= first && byte <= last; }
};

// The characters that are common in an encoding of East Asia, by their first byte.
struct EastAsian {
  const char* encoding;
  std::array<ByteRange, 3> leads;
  std::uint8_t leastTrail;
  ByteRange singles;  // bytes that are a character by themselves
  ByteRange kana;     // of which there must be some
};
// The narrower before those that hold their bytes too.
constexpr std::array<EastAsian, 5> kEastAsian = {{{"EUC-JP", {{{0xA1, 0xA1}, {0xA4, 0xA5}, {0xB0, 0xCF}}}, 0xA1, {}, {0xA4, 0xA5}},
                                                  {"EUC-KR", {{{0xA1, 0xA1}, {0xB0, 0xC8}, {}}}, 0xA1, {}, {}},
                                                  {"GB18030", {{{0xA1, 0xA3}, {0xB0, 0xD7}, {}}}, 0xA1, {}, {}},
                                                  {"Big5", {{{0xA1, 0xC6}, {}, {}}}, 0x40, {}, {}},
                                                  {"Shift_JIS", {{{0x81, 0x83}, {0x88, 0x97}, {}}}, 0x40, {0xA1, 0xDF}, {0x82, 0x83}}}};
constexpr double kLeastKana = 0.15;

double commonShare(TextBytes bytes, const EastAsian& east) {
  qsizetype all = 0, common = 0, kana = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    if (!isHigh(bytes[at])) continue;
    ++all;
    if (east.singles.holds(bytes[at]) || at + 1 == bytes.size()) continue;
    const bool listed = std::ranges::any_of(east.leads, [&](const ByteRange& range) { return range.holds(bytes[at]); });
    common += listed && bytes[at + 1] >= east.leastTrail ? 1 : 0;
    kana += east.kana.holds(bytes[at]) ? 1 : 0;
    ++at;
  }
  if (all == 0 || (east.kana.last != 0 && static_cast<double>(kana) < kLeastKana * static_cast<double>(all))) return 0.0;
  return static_cast<double>(common) / static_cast<double>(all);
}

bool decodes(TextBytes bytes, const std::string& encoding) {
  const DecodedText decoded = decodeText(bytes, encoding);
  return static_cast<double>(decoded.replaced) <= kWrong * static_cast<double>(decoded.text.size());
}

std::string eastAsianEncoding(TextBytes bytes) {
  std::string best;
  double most = kCommon;
  for (const EastAsian& east : kEastAsian) {
    const double share = commonShare(bytes, east);
    if (share < most || (share == most && !best.empty()) || !decodes(bytes, east.encoding)) continue;
    most = share;
    best = east.encoding;
  }
  return best;
}

// True for an encoding that the table above does not have.
bool isCommonIn(TextBytes bytes, const std::string& encoding) {
  const auto* row = std::ranges::find_if(kEastAsian, [&](const EastAsian& east) { return encoding == east.encoding; });
  return row == kEastAsian.end() || commonShare(bytes, *row) >= kCommon;
}

bool isMultiByte(const std::string& encoding) {
  return encoding.starts_with("ISO-2022") || encoding.starts_with("EUC") || encoding == "GB18030" || encoding == "Big5" ||
         encoding == "Shift_JIS";
}

std::string narrowEncoding(TextBytes bytes) {
  const std::vector<std::uint8_t> part = judgedPart(bytes);
  const std::string said = detected(part);
  if (isMultiByte(said) && decodes(part, said)) {
    // Almost anything is some character of GB18030: one whose characters are common counts more.
    const std::string common = isCommonIn(part, said) ? said : eastAsianEncoding(part);
    return common.empty() ? said : common;
  }
  const auto high = static_cast<qsizetype>(std::ranges::count_if(part, isHigh));
  if (high == 0) return "UTF-8";
  const LettersJudged letters = bestCodePage([&](const std::string& codePage) { return decodeText(part, codePage).text; }, high, said);
  const std::string east = letters.score < kWords ? eastAsianEncoding(part) : std::string();
  return east.empty() ? letters.encoding : east;
}

// How much of a text is UTF-8: whole sequences of several bytes against wrong bytes.
struct Utf8Share {
  qsizetype whole = 0;
  qsizetype wrong = 0;
};
Utf8Share utf8Share(TextBytes bytes) {
  const DecodedText decoded = decodeText(bytes, "UTF-8");
  Utf8Share share{.wrong = decoded.replaced};
  for (const QChar c : decoded.text) share.whole += c.unicode() >= 0x80 && !c.isLowSurrogate() ? 1 : 0;
  share.whole -= share.wrong;
  return share;
}

}  // namespace

bool isBinaryByte(std::uint8_t byte) {
  return (byte < 0x20 && byte != '\b' && byte != '\t' && byte != '\n' && byte != '\v' && byte != '\f' && byte != '\r' && byte != 0x1B);
}

EncodingGuess guessEncoding(TextBytes bytes) {
  if (const auto mark = encodingMark(bytes)) return {mark->encoding, mark->bytes, true};
  const auto binary = static_cast<std::size_t>(std::ranges::count_if(bytes, isBinaryByte));
  if (binary * 10 > bytes.size()) {
    if (std::string wide = wideEncoding(bytes); !wide.empty()) return {std::move(wide), 0, false};
  }
  const Utf8Share share = utf8Share(bytes);
  if (share.wrong == 0) {
    // Seven bits may still be ISO-2022.
    const bool escapes = share.whole == 0 && std::ranges::find(bytes, std::uint8_t{0x1B}) != bytes.end();
    std::string said = escapes ? detected(bytes) : std::string();
    if (said.starts_with("ISO-2022")) return {std::move(said), 0, false};
    return {"UTF-8", 0, true};
  }
  if (share.whole >= 3 * share.wrong) return {"UTF-8", 0, true};
  const auto high = static_cast<std::size_t>(std::ranges::count_if(bytes, isHigh));
  if (binary > 0 && high * 8 > bytes.size()) {
    if (std::string wide = wideEncoding(bytes); !wide.empty()) return {std::move(wide), 0, false};
  }
  std::string narrow = narrowEncoding(bytes);
  if (share.whole > share.wrong && !isMultiByte(narrow)) return {"UTF-8", 0, true};
  return {std::move(narrow), 0, false};
}

}  // namespace winnow::app
