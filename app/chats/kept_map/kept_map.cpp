#include "app/chats/kept_map/kept_map.h"

#include <algorithm>

namespace winnow::app {

namespace {

bool same(const TokenOrigin& a, const TokenOrigin& b) {
  return a.modality == b.modality && a.media == b.media && a.frame == b.frame && a.row == b.row && a.column == b.column;
}

}  // namespace

void KeptMap::resize(int layers, int heads, std::vector<TokenOrigin> origins) {
  m_layers = layers;
  m_heads = heads;
  m_origins = std::move(origins);
  m_bits.assign(static_cast<std::size_t>(layers) * static_cast<std::size_t>(heads) * words(), 0);
}

KeptMap KeptMap::fromReport(const CacheReport& report) {
  KeptMap map;
  const int layers = static_cast<int>(report.kept.size());
  map.resize(layers, layers > 0 ? static_cast<int>(report.kept.front().size()) : 0, report.tokens);
  if (!report.merged.empty()) map.m_merged.resize(static_cast<std::size_t>(layers) * map.m_heads);
  for (int layer = 0; layer < layers; ++layer) {
    const auto& ofLayer = report.kept[static_cast<std::size_t>(layer)];
    for (int head = 0; head < std::min(map.m_heads, static_cast<int>(ofLayer.size())); ++head) {
      const std::vector<std::int32_t>& kept = ofLayer[static_cast<std::size_t>(head)];
      for (std::size_t i = 0; i < kept.size(); ++i) {
        if (kept[i] < 0 || kept[i] >= map.tokens()) continue;
        map.keep(layer, head, kept[i]);
        if (report.merged.empty()) continue;
        const std::int32_t count = report.merged[static_cast<std::size_t>(layer)][static_cast<std::size_t>(head)][i];
        if (count > 0) map.m_merged[static_cast<std::size_t>(layer) * map.m_heads + head].push_back({kept[i], count});
      }
    }
  }
  map.m_pinned = report.pinned;
  for (const TokenText& text : report.texts) map.m_texts.push_back({text.token, QByteArray::fromStdString(text.bytes)});
  return map;
}

int KeptMap::keptHeads(int layer, int token) const {
  int kept = 0;
  for (int head = 0; head < m_heads; ++head) kept += isKept(layer, head, token) ? 1 : 0;
  return kept;
}

int KeptMap::merged(int layer, int head, int token) const {
  if (m_merged.empty()) return 0;
  const std::vector<Merged>& entries = m_merged[static_cast<std::size_t>(layer) * m_heads + head];
  const auto found =
      std::lower_bound(entries.begin(), entries.end(), token, [](const Merged& entry, int wanted) { return entry.token < wanted; });
  return found != entries.end() && found->token == token ? found->count : 0;
}

int KeptMap::mostMerged(int layer, int token) const {
  int most = 0;
  for (int head = 0; head < m_heads; ++head) most = std::max(most, merged(layer, head, token));
  return most;
}

bool KeptMap::sameHeads(int layer, int a, int b) const {
  const auto first = m_bits.begin() + static_cast<std::ptrdiff_t>(firstWord(layer, a));
  return std::equal(first, first + static_cast<std::ptrdiff_t>(words()), m_bits.begin() + static_cast<std::ptrdiff_t>(firstWord(layer, b)));
}

bool KeptMap::headsDiffer() const {
  for (int layer = 0; layer < m_layers; ++layer) {
    for (int head = 1; head < m_heads; ++head) {
      if (!sameHeads(layer, 0, head)) return true;
    }
  }
  return false;
}

bool KeptMap::isPinned(int token) const { return std::binary_search(m_pinned.begin(), m_pinned.end(), token); }

QByteArray KeptMap::text(int token) const {
  const auto found =
      std::lower_bound(m_texts.begin(), m_texts.end(), token, [](const Text& text, int wanted) { return text.token < wanted; });
  return found != m_texts.end() && found->token == token ? found->bytes : QByteArray();
}

std::optional<KeptMap> KeptMap::over(const std::vector<TokenOrigin>& origins) const {
  std::vector<std::int32_t> place;  // of each own token among `origins`
  std::size_t next = 0;
  for (const TokenOrigin& own : m_origins) {
    while (next < origins.size() && !same(origins[next], own)) ++next;
    if (next == origins.size()) return std::nullopt;
    place.push_back(static_cast<std::int32_t>(next++));
  }
  KeptMap told;
  told.resize(m_layers, m_heads, origins);
  for (int layer = 0; layer < m_layers; ++layer) {
    for (int head = 0; head < m_heads; ++head) {
      for (int token = 0; token < tokens(); ++token) {
        if (isKept(layer, head, token)) told.keep(layer, head, place[static_cast<std::size_t>(token)]);
      }
    }
  }
  told.m_merged = m_merged;
  for (std::vector<Merged>& entries : told.m_merged) {
    for (Merged& entry : entries) entry.token = place[static_cast<std::size_t>(entry.token)];
  }
  told.m_pinned = m_pinned;
  for (std::int32_t& token : told.m_pinned) token = place[static_cast<std::size_t>(token)];
  told.m_texts = m_texts;
  for (Text& text : told.m_texts) text.token = place[static_cast<std::size_t>(text.token)];
  return told;
}

bool operator==(const KeptMap& a, const KeptMap& b) {
  return a.m_layers == b.m_layers && a.m_heads == b.m_heads &&
         std::equal(a.m_origins.begin(), a.m_origins.end(), b.m_origins.begin(), b.m_origins.end(), same) && a.m_bits == b.m_bits &&
         a.m_merged == b.m_merged && a.m_pinned == b.m_pinned && a.m_texts == b.m_texts;
}

}  // namespace winnow::app
