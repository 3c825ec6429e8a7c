// The tokens that each layer and kv head kept of a prompt at a compression event, and how many dropped tokens live on in the kept ones.
//
// Made from the engine's CacheReport, saved with an answer (toBytes), drawn by ui/kept_map. Tokens are original token indices of the
// conversation, from 0; layers and kv heads count from 0. Memory: a bit per token, layer and head, plus the merged counts.
// Saved form: a magic word, variable-length integers, a checksum; damaged or foreign bytes give nothing, whatever they hold.
// Threads: a value; const access from any.
#pragma once

#include <QByteArray>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/messages/events.h"

namespace winnow::app {

class KeptMap {
 public:
  // Larger ones are not saved. 32k tokens in 28 layers of 4 kv heads stay below it in every case (tested).
  static constexpr qsizetype kMaxBytes = qsizetype{4} << 20;

  KeptMap() = default;
  static KeptMap fromReport(const CacheReport& report);

  int tokens() const { return static_cast<int>(m_origins.size()); }
  int layers() const { return m_layers; }
  int heads() const { return m_heads; }
  const std::vector<TokenOrigin>& origins() const { return m_origins; }

  bool isKept(int layer, int head, int token) const {
    return (m_bits[firstWord(layer, head) + static_cast<std::size_t>(token) / 64] >> (token % 64) & 1) != 0;
  }
  int keptHeads(int layer, int token) const;  // how many heads of the layer keep it
  // Dropped tokens that were merged into this kept one; 0 for a dropped one.
  int merged(int layer, int head, int token) const;
  int mostMerged(int layer, int token) const;  // the largest over the layer's heads
  bool merges() const { return !m_merged.empty(); }
  bool headsDiffer() const;  // in some layer the heads keep different tokens
  bool isPinned(int token) const;
  // UTF-8 of a text token, which may begin or end inside a character; empty for visual tokens.
  QByteArray text(int token) const;

  // The same map told over another list of tokens, in which all of this one's occur in order (methods that prune tokens before the decoder
  // leave them out): what it does not have is dropped. Empty if the lists do not fit.
  std::optional<KeptMap> over(const std::vector<TokenOrigin>& origins) const;

  QByteArray toBytes() const;
  static std::optional<KeptMap> fromBytes(const QByteArray& bytes);

  friend bool operator==(const KeptMap& a, const KeptMap& b);

 private:
  friend class KeptMapReader;

  struct Merged {
    std::int32_t token = 0;
    std::int32_t count = 0;
    friend bool operator==(const Merged&, const Merged&) = default;
  };
  struct Text {
    std::int32_t token = 0;
    QByteArray bytes;
    friend bool operator==(const Text&, const Text&) = default;
  };

  void resize(int layers, int heads, std::vector<TokenOrigin> origins);
  std::size_t words() const { return (m_origins.size() + 63) / 64; }  // of one head
  std::size_t firstWord(int layer, int head) const { return (static_cast<std::size_t>(layer) * m_heads + head) * words(); }
  bool sameHeads(int layer, int a, int b) const;
  void keep(int layer, int head, int token) {
    m_bits[firstWord(layer, head) + static_cast<std::size_t>(token) / 64] |= std::uint64_t{1} << (token % 64);
  }

  int m_layers = 0;
  int m_heads = 0;
  std::vector<TokenOrigin> m_origins;
  std::vector<std::uint64_t> m_bits;          // [layers, heads, words()]
  std::vector<std::vector<Merged>> m_merged;  // [layers * heads] ascending, counts above 0; empty: nothing merges
  std::vector<std::int32_t> m_pinned;         // ascending
  std::vector<Text> m_texts;                  // ascending
};

// The map on its way from the engine's event to the views and the database: made once, never changed.
using SharedKeptMap = std::shared_ptr<const KeptMap>;

}  // namespace winnow::app
