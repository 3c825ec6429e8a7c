// The saved form of a KeptMap.
//
//   "WKM1"
//   tokens, layers, heads                                   (all numbers: 7 bits a byte, low first, the top bit says that more follow)
//   runs of origins until all tokens are told: modality, media + 1, frame + 1, row + 1, column + 1, width, length
//     width 0: all the same; else row by row over `width` columns from (row, column) on
//   per layer and head: a kind (HeadKind) and what it needs
//   1 if merged counts follow, else 0; per layer and head: a kind (MergedKind) and what it needs
//   pinned tokens: count, gaps
//   texts: count, then gap, length, bytes of each
//   FNV-1a over everything before it, 8 bytes, low first
//
// Gaps are differences to the token before, from -1 on, less 1. Limits keep a damaged map from asking for memory.
#include <algorithm>
#include <bit>
#include <span>

#include "app/chats/kept_map/kept_map.h"
#include "engine/base/fnv.h"

namespace winnow::app {

namespace {

constexpr char kMagic[] = "WKM1";
constexpr qsizetype kMagicBytes = 4;
constexpr qsizetype kChecksumBytes = 8;
constexpr quint64 kMaxTokens = quint64{1} << 22;
constexpr quint64 kMaxLayers = 4096;
constexpr quint64 kMaxHeads = 4096;
constexpr quint64 kMaxWords = (quint64{64} << 20) / 8;

// Stored: never renumbered.
enum class HeadKind : quint64 { kAll = 1, kAsFirstHead = 2, kGaps = 3, kBits = 4 };
enum class MergedKind : quint64 { kFew = 1, kEveryKept = 2 };

void put(QByteArray& out, quint64 value) {
  while (value >= 128) {
    out.append(static_cast<char>(value | 128));
    value >>= 7;
  }
  out.append(static_cast<char>(value));
}

// Ascending tokens as gaps.
class GapWriter {
 public:
  explicit GapWriter(QByteArray& out) : m_out(out) {}
  void put(std::int32_t token) {
    app::put(m_out, static_cast<quint64>(token - m_last - 1));
    m_last = token;
  }

 private:
  QByteArray& m_out;
  std::int32_t m_last = -1;
};

bool sameRun(const TokenOrigin& a, const TokenOrigin& b) { return a.modality == b.modality && a.media == b.media && a.frame == b.frame; }

void putOrigins(QByteArray& out, const std::vector<TokenOrigin>& origins) {
  std::size_t at = 0;
  while (at < origins.size()) {
    const TokenOrigin& first = origins[at];
    const auto follows = [&](std::size_t i, int row, int column) {
      return at + i < origins.size() && sameRun(origins[at + i], first) && origins[at + i].row == row && origins[at + i].column == column;
    };
    std::size_t width = 0, length = 1;
    if (first.row >= 0 && first.column >= 0) {
      width = 1;
      while (follows(width, first.row, first.column + static_cast<int>(width))) ++width;
      length = width;
      while (follows(length, first.row + static_cast<int>(length / width), first.column + static_cast<int>(length % width))) ++length;
    } else {
      while (follows(length, first.row, first.column)) ++length;
    }
    for (const qint64 field : {qint64{static_cast<int>(first.modality)}, qint64{first.media} + 1, qint64{first.frame} + 1,
                               qint64{first.row} + 1, qint64{first.column} + 1}) {
      put(out, static_cast<quint64>(field));
    }
    put(out, width);
    put(out, length);
    at += length;
  }
}

}  // namespace

QByteArray KeptMap::toBytes() const {
  QByteArray out(kMagic, kMagicBytes);
  put(out, m_origins.size());
  put(out, static_cast<quint64>(m_layers));
  put(out, static_cast<quint64>(m_heads));
  putOrigins(out, m_origins);

  const qsizetype bitBytes = (tokens() + 7) / 8;
  std::vector<int> keptCount;  // per layer and head
  for (int layer = 0; layer < m_layers; ++layer) {
    for (int head = 0; head < m_heads; ++head) {
      const std::uint64_t* bits = m_bits.data() + firstWord(layer, head);
      int kept = 0;
      for (std::size_t word = 0; word < words(); ++word) kept += std::popcount(bits[word]);
      keptCount.push_back(kept);
      if (kept == tokens()) {
        put(out, static_cast<quint64>(HeadKind::kAll));
        continue;
      }
      if (head > 0 && sameHeads(layer, 0, head)) {
        put(out, static_cast<quint64>(HeadKind::kAsFirstHead));
        continue;
      }
      QByteArray gaps;
      if (kept <= bitBytes) {  // a gap takes a byte at least
        put(gaps, static_cast<quint64>(kept));
        GapWriter writer(gaps);
        for (std::size_t word = 0; word < words(); ++word) {
          for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
            writer.put(static_cast<std::int32_t>(word * 64) + std::countr_zero(left));
          }
        }
      }
      const bool asGaps = !gaps.isEmpty() && gaps.size() <= bitBytes;
      put(out, static_cast<quint64>(asGaps ? HeadKind::kGaps : HeadKind::kBits));
      if (asGaps) {
        out += gaps;
      } else {
        for (qsizetype i = 0; i < bitBytes; ++i) out.append(static_cast<char>(bits[i / 8] >> (i % 8 * 8)));
      }
    }
  }

  put(out, merges() ? 1 : 0);
  for (std::size_t at = 0; at < m_merged.size(); ++at) {
    const std::vector<Merged>& entries = m_merged[at];
    if (2 * std::ssize(entries) <= keptCount[at]) {
      put(out, static_cast<quint64>(MergedKind::kFew));
      put(out, entries.size());
      GapWriter writer(out);
      for (const Merged& entry : entries) {
        writer.put(entry.token);
        put(out, static_cast<quint64>(entry.count));
      }
      continue;
    }
    put(out, static_cast<quint64>(MergedKind::kEveryKept));
    const int layer = static_cast<int>(at) / m_heads;
    const int head = static_cast<int>(at) % m_heads;
    auto entry = entries.begin();
    for (int token = 0; token < tokens(); ++token) {
      if (!isKept(layer, head, token)) continue;
      const bool took = entry != entries.end() && entry->token == token;
      put(out, took ? static_cast<quint64>(entry->count) : 0);
      if (took) ++entry;
    }
  }

  put(out, m_pinned.size());
  GapWriter pinned(out);
  for (const std::int32_t token : m_pinned) pinned.put(token);
  put(out, m_texts.size());
  GapWriter texts(out);
  for (const Text& text : m_texts) {
    texts.put(text.token);
    put(out, static_cast<quint64>(text.bytes.size()));
    out += text.bytes;
  }
  const quint64 sum = fnv1a(std::as_bytes(std::span(out.constData(), static_cast<std::size_t>(out.size()))));
  for (int i = 0; i < kChecksumBytes; ++i) out.append(static_cast<char>(sum >> (8 * i)));
  return out;
}

// Reads with every length checked against what is left and every token against the map; the first mistake ends it.
class KeptMapReader {
 public:
  explicit KeptMapReader(const QByteArray& bytes) : m_at(bytes.constData()), m_end(bytes.constData() + bytes.size()) {}

  std::optional<KeptMap> read() {
    const auto whole = m_end - m_at;
    if (whole < kMagicBytes + kChecksumBytes || !std::equal(kMagic, kMagic + kMagicBytes, m_at)) return std::nullopt;
    quint64 sum = 0;
    m_end -= kChecksumBytes;
    for (int i = 0; i < kChecksumBytes; ++i) sum |= quint64{static_cast<unsigned char>(m_end[i])} << (8 * i);
    if (sum != fnv1a(std::as_bytes(std::span(m_at, m_end)))) return std::nullopt;
    m_at += kMagicBytes;

    m_tokens = number(kMaxTokens);
    const quint64 layers = number(kMaxLayers);
    const quint64 heads = number(kMaxHeads);
    if (!m_good || layers * heads * ((m_tokens + 63) / 64) > kMaxWords) return std::nullopt;
    std::vector<TokenOrigin> origins = readOrigins();
    if (!m_good) return std::nullopt;
    m_map.resize(static_cast<int>(layers), static_cast<int>(heads), std::move(origins));
    readKept();
    if (number(1) == 1) readMerged();
    const quint64 pinned = count();
    for (quint64 i = 0, last = 0; i < pinned && m_good; ++i) m_map.m_pinned.push_back(token(last));
    const quint64 texts = count();
    for (quint64 i = 0, last = 0; i < texts && m_good; ++i) {
      const std::int32_t at = token(last);
      const auto length = static_cast<qsizetype>(count());
      if (!m_good) break;
      m_map.m_texts.push_back({at, QByteArray(m_at, length)});
      m_at += length;
    }
    if (!m_good || m_at != m_end) return std::nullopt;
    return std::move(m_map);
  }

 private:
  quint64 number(quint64 most) {
    quint64 value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
      if (m_at == m_end) break;
      const auto byte = static_cast<unsigned char>(*m_at++);
      value |= quint64{byte & 127U} << shift;
      if (byte < 128) {
        if (value > most) break;
        return value;
      }
    }
    m_good = false;
    return 0;
  }
  // Counts things that take a byte each at least.
  quint64 count() { return number(static_cast<quint64>(m_end - m_at)); }
  // The next of ascending tokens; `next` starts at 0.
  std::int32_t token(quint64& next) {
    const quint64 value = next + number(kMaxTokens);
    if (value >= m_tokens) m_good = false;
    next = value + 1;
    return static_cast<std::int32_t>(value);
  }

  std::vector<TokenOrigin> readOrigins() {
    std::vector<TokenOrigin> origins;
    while (m_good && origins.size() < m_tokens) {
      const quint64 modality = number(static_cast<quint64>(kLastModality));
      const auto media = static_cast<std::int32_t>(number(0x7fffffff)) - 1;
      const auto frame = static_cast<std::int32_t>(number(0x7fffffff)) - 1;
      const auto row = static_cast<std::int32_t>(number(0x7fff)) - 1;
      const auto column = static_cast<std::int32_t>(number(0x7fff)) - 1;
      const auto width = static_cast<std::int32_t>(number(0x7fff));
      const quint64 length = number(m_tokens - origins.size());
      // No coordinate of a run may leave the range of a token's.
      const quint64 lastRow =
          width > 0 ? static_cast<quint64>(row) + (length + static_cast<quint64>(width) - 1) / static_cast<quint64>(width) : 0;
      if (modality == 0 || length == 0 || (width > 0 && (row < 0 || column < 0 || lastRow > 0x7fff || column + width > 0x7fff)))
        m_good = false;
      for (quint64 i = 0; i < length && m_good; ++i) {
        const auto step = static_cast<std::int32_t>(i);
        origins.push_back({static_cast<Modality>(modality), media, frame, static_cast<std::int16_t>(width > 0 ? row + step / width : row),
                           static_cast<std::int16_t>(width > 0 ? column + step % width : column)});
      }
    }
    return origins;
  }

  void readKept() {
    for (int layer = 0; layer < m_map.m_layers; ++layer) {
      for (int head = 0; head < m_map.m_heads && m_good; ++head) readHead(layer, head);
    }
  }

  void readHead(int layer, int head) {
    std::uint64_t* bits = m_map.m_bits.data() + m_map.firstWord(layer, head);
    const int tokens = m_map.tokens();
    switch (static_cast<HeadKind>(number(4))) {
      case HeadKind::kAll:
        for (int token = 0; token < tokens; ++token) m_map.keep(layer, head, token);
        return;
      case HeadKind::kAsFirstHead:
        if (head == 0) break;
        std::copy_n(m_map.m_bits.data() + m_map.firstWord(layer, 0), m_map.words(), bits);
        return;
      case HeadKind::kGaps: {
        const quint64 kept = count();
        for (quint64 i = 0, next = 0; i < kept && m_good; ++i) {
          const std::int32_t at = token(next);
          if (m_good) m_map.keep(layer, head, at);
        }
        return;
      }
      case HeadKind::kBits: {
        const qsizetype bytes = (tokens + 7) / 8;
        if (m_end - m_at < bytes || (tokens % 8 != 0 && static_cast<unsigned char>(m_at[bytes - 1]) >> (tokens % 8) != 0)) break;
        for (qsizetype i = 0; i < bytes; ++i) bits[i / 8] |= std::uint64_t{static_cast<unsigned char>(m_at[i])} << (i % 8 * 8);
        m_at += bytes;
        return;
      }
    }
    m_good = false;
  }

  void readMerged() {
    const int heads = m_map.m_heads;
    m_map.m_merged.resize(static_cast<std::size_t>(m_map.m_layers) * static_cast<std::size_t>(heads));
    for (std::size_t at = 0; at < m_map.m_merged.size() && m_good; ++at) {
      const int layer = static_cast<int>(at) / heads;
      const int head = static_cast<int>(at) % heads;
      std::vector<KeptMap::Merged>& entries = m_map.m_merged[at];
      const auto add = [&](std::int32_t token, quint64 taken) {
        if (m_good && taken > 0) entries.push_back({token, static_cast<std::int32_t>(taken)});
      };
      switch (static_cast<MergedKind>(number(2))) {
        case MergedKind::kFew: {
          const quint64 few = count();
          for (quint64 i = 0, next = 0; i < few && m_good; ++i) {
            const std::int32_t atToken = token(next);
            if (m_good && !m_map.isKept(layer, head, atToken)) m_good = false;
            add(atToken, number(kMaxTokens));
          }
          break;
        }
        case MergedKind::kEveryKept:
          for (int token = 0; token < m_map.tokens() && m_good; ++token) {
            if (m_map.isKept(layer, head, token)) add(token, number(kMaxTokens));
          }
          break;
        default: m_good = false;
      }
    }
  }

  const char* m_at;
  const char* m_end;
  quint64 m_tokens = 0;
  bool m_good = true;
  KeptMap m_map;
};

std::optional<KeptMap> KeptMap::fromBytes(const QByteArray& bytes) { return KeptMapReader(bytes).read(); }

}  // namespace winnow::app
