#include "engine/text/character_map.h"

#include "engine/text/base64.h"
#include "engine/text/utf8.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxTableBytes = std::size_t{8} << 20;
constexpr std::size_t kMaxMappedBytes = std::size_t{64} << 20;
constexpr std::size_t kClusterBytes = 6;  // longer clusters are looked up character by character

// A unit of the double array.
bool has_leaf(std::uint32_t unit) { return (unit >> 8 & 1) != 0; }
std::uint32_t label_of(std::uint32_t unit) { return unit & (std::uint32_t{1} << 31 | 0xFF); }
std::size_t offset_of(std::uint32_t unit) { return std::size_t{unit >> 10} << ((unit & std::uint32_t{1} << 9) >> 6); }
std::size_t value_of(std::uint32_t unit) { return unit & ~(std::uint32_t{1} << 31); }

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

}  // namespace

CharacterMap::CharacterMap(const JsonObject& step) : path_(step.file()) {
  const auto table = bytes_of_base64(step.string("precompiled_charsmap", kMaxTableBytes));
  if (!table) throw Exception(ErrorCode::kDamagedFile, path_, "precompiled_charsmap is not base64");
  if (table->empty()) return;  // a model without rules
  const std::size_t trie_bytes = table->size() < 4 ? 0 : little_endian(*table);
  if (trie_bytes < 4 || trie_bytes % 4 != 0 || trie_bytes > table->size() - 4) {
    throw Exception(ErrorCode::kDamagedFile, path_, "precompiled_charsmap is shorter than it says");
  }
  for (std::size_t at = 4; at < 4 + trie_bytes; at += 4) trie_.push_back(little_endian(std::string_view(*table).substr(at, 4)));
  texts_ = table->substr(4 + trie_bytes);
  if (!utf8::is_valid(texts_)) throw Exception(ErrorCode::kDamagedFile, path_, "precompiled_charsmap has text that is not UTF-8");
}

void CharacterMap::fail() const { throw Exception(ErrorCode::kDamagedFile, path_, "precompiled_charsmap points outside itself"); }

std::uint32_t CharacterMap::unit(std::size_t place) const {
  if (place >= trie_.size()) fail();
  return trie_[place];
}

std::string_view CharacterMap::text_at(std::size_t place) const {
  if (place > texts_.size()) fail();
  const std::size_t end = texts_.find('\0', place);
  if (place < texts_.size() && utf8::is_continuation(static_cast<unsigned char>(texts_[place]))) fail();
  return std::string_view(texts_).substr(place, end == std::string::npos ? end : end - place);
}

std::optional<std::string_view> CharacterMap::find(std::string_view text) const {
  if (trie_.empty()) return std::nullopt;
  std::size_t place = offset_of(trie_.front());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) return std::nullopt;
    place ^= byte;
    const std::uint32_t found = unit(place);
    if (label_of(found) != byte) return std::nullopt;
    place ^= offset_of(found);
    if (has_leaf(found)) return text_at(value_of(unit(place)));
  }
  return std::nullopt;
}

std::string CharacterMap::apply(std::string_view text) const {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = at + clusters_.bytes_at(text, at);
    if (end - at < kClusterBytes) {
      if (const auto whole = find(text.substr(at, end - at))) {
        out += *whole;
        at = end;
      }
    }
    while (at < end) {
      const std::string_view character = text.substr(at, utf8::length_of_lead(static_cast<unsigned char>(text[at])));
      out += find(character).value_or(character);
      at += character.size();
    }
    if (out.size() > kMaxMappedBytes) {
      throw Exception(ErrorCode::kLimitExceeded, "", "the text becomes longer than 64 MiB before it is split");
    }
  }
  return out;
}

}  // namespace winnow
