#include "engine/text/normalizer.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "engine/text/tokenizer.h"
#include "engine/text/unicode/unicode_tables.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxMarks = std::size_t{1} << 25;  // of one stretch: 256 MiB
constexpr char32_t kLeadBase = 0x1100;
constexpr char32_t kVowelBase = 0x1161;
constexpr char32_t kTailBase = 0x11A7;
constexpr char32_t kSyllableBase = 0xAC00;
constexpr char32_t kLeads = 19;
constexpr char32_t kVowels = 21;
constexpr char32_t kTails = 28;
constexpr char32_t kSyllables = kLeads * kVowels * kTails;

struct Mark {
  char32_t code_point;
  std::uint8_t combining_class;
};

std::uint8_t combining_class(char32_t c) {
  if (c < 0x300) return 0;
  const auto ranges = unicode::combining_ranges();
  const auto found = std::upper_bound(ranges.begin(), ranges.end(), c, [](char32_t v, const auto& r) { return v < r.first; });
  if (found == ranges.begin()) return 0;
  const auto& range = *(found - 1);
  return c <= range.last ? range.combining_class : 0;
}

std::pair<char32_t, char32_t> parts_of(const unicode::CanonicalPair& row) { return {row.second, row.third}; }

// The ideograph that stands for c; c: there is none.
char32_t ideograph_of(char32_t c) {
  for (const unicode::CodePointRun& run : unicode::ideographs()) {
    if (c >= run.first && c - run.first < run.into.size()) return run.into[c - run.first];
  }
  return c;
}

// Decompositions that compose again, sorted by what they compose.
const std::vector<unicode::CanonicalPair>& compositions() {
  static const std::vector<unicode::CanonicalPair> kSorted = [] {
    std::vector<unicode::CanonicalPair> pairs;
    const auto composes = [](const unicode::CanonicalPair& row) {
      const auto holds = [&](const unicode::CodePointRange& range) { return row.first >= range.first && row.first <= range.last; };
      return row.third != 0 && std::ranges::none_of(unicode::never_composed(), holds);
    };
    std::ranges::copy_if(unicode::decompositions(), std::back_inserter(pairs), composes);
    std::ranges::sort(pairs, {}, parts_of);
    return pairs;
  }();
  return kSorted;
}

void decompose(char32_t c, std::vector<Mark>& out) {
  if (c >= kSyllableBase && c < kSyllableBase + kSyllables) {
    const char32_t s = c - kSyllableBase;
    out.push_back({kLeadBase + s / (kVowels * kTails), 0});
    out.push_back({kVowelBase + s % (kVowels * kTails) / kTails, 0});
    if (s % kTails != 0) out.push_back({kTailBase + s % kTails, 0});
    return;
  }
  // Only the first part decomposes further, at most a few times; the second parts come out in reverse.
  char32_t tail[8];
  std::size_t tails = 0;
  c = ideograph_of(c);
  const auto table = unicode::decompositions();
  while (c >= 0xC0 && tails < std::size(tail)) {
    const auto found = std::lower_bound(table.begin(), table.end(), c, [](const auto& row, char32_t v) { return row.first < v; });
    if (found == table.end() || found->first != c) break;
    if (found->third != 0) tail[tails++] = found->third;
    c = found->second;
  }
  out.push_back({c, combining_class(c)});
  while (tails > 0) {
    const char32_t next = tail[--tails];
    out.push_back({next, combining_class(next)});
  }
}

std::optional<char32_t> compose(char32_t a, char32_t b) {
  if (a >= kLeadBase && a < kLeadBase + kLeads && b >= kVowelBase && b < kVowelBase + kVowels) {
    return kSyllableBase + ((a - kLeadBase) * kVowels + (b - kVowelBase)) * kTails;
  }
  if (a >= kSyllableBase && a < kSyllableBase + kSyllables && (a - kSyllableBase) % kTails == 0 && b > kTailBase &&
      b < kTailBase + kTails) {
    return a + (b - kTailBase);
  }
  const auto& table = compositions();
  const auto found = std::ranges::lower_bound(table, std::pair(a, b), {}, parts_of);
  if (found == table.end() || parts_of(*found) != std::pair(a, b)) return std::nullopt;
  return found->first;
}

void order_marks(std::vector<Mark>& marks) {
  for (std::size_t i = 0; i < marks.size();) {
    std::size_t end = i;
    while (end < marks.size() && marks[end].combining_class != 0) ++end;
    std::stable_sort(marks.begin() + static_cast<std::ptrdiff_t>(i), marks.begin() + static_cast<std::ptrdiff_t>(end),
                     [](const Mark& a, const Mark& b) { return a.combining_class < b.combining_class; });
    i = end + 1;
  }
}

// Composes ordered marks.
void compose_marks(std::vector<Mark>& marks) {
  constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t starter = kNone;
  int last_class = -1;  // of what stands between the starter and here; -1: nothing does
  std::size_t kept = 0;
  for (const Mark mark : marks) {
    if (starter != kNone && (last_class == -1 || last_class < mark.combining_class)) {
      if (const auto joined = compose(marks[starter].code_point, mark.code_point)) {
        marks[starter].code_point = *joined;
        continue;
      }
    }
    if (mark.combining_class == 0) {
      starter = kept;
      last_class = -1;
    } else {
      last_class = mark.combining_class;
    }
    marks[kept++] = mark;
  }
  marks.resize(kept);
}

constexpr std::size_t kMaxPrefixBytes = 64;
constexpr std::size_t kMaxNormalizedBytes = std::size_t{64} << 20;

void begin_later(TextStart& start) {
  if (start == TextStart::kNew) start = TextStart::kAfterToken;
}

}  // namespace

std::string normalized(NormalForm form, std::string_view text) {
  // Below U+0300 every character is its own NFC, and composition needs a second character from U+0300 on. Lead byte 0xCC starts U+0300.
  // NFD changes nothing below U+00C0, which lead byte 0xC3 has.
  const unsigned char lowest_high = form == NormalForm::kNfc ? 0xCC : 0xC3;
  const auto is_high = [&](char byte) { return static_cast<unsigned char>(byte) >= lowest_high; };
  std::string out;
  out.reserve(text.size());
  std::vector<Mark> marks;
  std::size_t done = 0;
  while (done < text.size()) {
    const auto high = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(done), text.end(), is_high);
    if (high == text.end()) break;
    // The character before the first high one may compose with it.
    std::size_t begin = static_cast<std::size_t>(high - text.begin());
    if (begin > done) {
      --begin;
      while (begin > done && utf8::is_continuation(static_cast<unsigned char>(text[begin]))) --begin;
    }
    out.append(text.substr(done, begin - done));
    marks.clear();
    std::size_t at = begin;
    while (at < text.size()) {
      // A stretch ends at ASCII that follows ASCII: nothing composes across it.
      if (at > begin && static_cast<unsigned char>(text[at]) < 0x80 && static_cast<unsigned char>(text[at - 1]) < 0x80) break;
      const utf8::Decoded next = utf8::decode(text, at);
      decompose(next.code_point, marks);
      if (marks.size() > kMaxMarks) throw Exception(ErrorCode::kLimitExceeded, "", "the text becomes too long in its normal form");
      at += next.bytes;
    }
    order_marks(marks);
    if (form == NormalForm::kNfc) compose_marks(marks);
    for (const Mark& mark : marks) utf8::append(out, mark.code_point);
    done = at;
  }
  out.append(text.substr(done));
  return out;
}

Normalizer::Normalizer(const Json& description, const std::string& path) {
  if (description.is_null()) return;
  if (step_type(description, path, "normalizer") == "Sequence") {
    for (const Json& step : steps_of(description, "normalizers", path)) add(step, path);
  } else {
    add(description, path);
  }
}

void Normalizer::add(const Json& step, const std::string& path) {
  const std::string type = step_type(step, path, "normalizer");
  const JsonObject fields(step, path, "normalizer");
  if (type == "NFC" || type == "NFD") {
    steps_.emplace_back(type == "NFC" ? NormalForm::kNfc : NormalForm::kNfd);
  } else if (type == "Prepend") {
    steps_.emplace_back(Prepend{fields.string("prepend", kMaxPrefixBytes)});
  } else if (type == "Replace") {
    steps_.emplace_back(LiteralReplacement::read(fields));
  } else if (type == "Strip") {
    steps_.emplace_back(Strip{fields.boolean("strip_left"), fields.boolean("strip_right")});
  } else {
    throw Exception(ErrorCode::kUnsupportedModel, path, "the normalizer " + type + " is not supported");
  }
}

void Normalizer::run(const NormalForm& form, Result& result) { result.text = normalized(form, result.text); }

void Normalizer::run(const Prepend& prefix, Result& result) {
  if (result.start != TextStart::kContinued && !result.text.empty()) result.text.insert(0, prefix.text);
}

void Normalizer::run(const Strip& strip, Result& result) {
  std::string_view text = result.text;
  if (strip.right) text = text.substr(0, utf8::without_spaces_at_end(text));
  if (strip.left && result.start != TextStart::kContinued) {
    const std::size_t spaces = utf8::spaces_at_start(text);
    if (spaces > 0) begin_later(result.start);
    text = text.substr(spaces);
  }
  result.text = std::string(text);
}

void Normalizer::run(const LiteralReplacement& replacement, Result& result) {
  // A replacement of several characters has the place of the last one.
  if (result.text.starts_with(replacement.from) && (replacement.to.empty() || utf8::count(replacement.from) > 1)) begin_later(result.start);
  result.text = replacement.apply(result.text);
}

Normalizer::Result Normalizer::apply(std::string_view text, TextStart start) const {
  Result result{std::string(text), start};
  for (const auto& step : steps_) {
    std::visit([&](const auto& known) { run(known, result); }, step);
    if (result.text.size() > kMaxNormalizedBytes) {
      throw Exception(ErrorCode::kLimitExceeded, "", "the text becomes longer than 64 MiB before it is split");
    }
  }
  return result;
}

}  // namespace winnow
