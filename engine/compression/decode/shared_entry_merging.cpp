#include "engine/compression/decode/shared_entry_merging.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/compression/reducers/shared_entries.h"
#include "engine/layers/rotary.h"
#include "engine/recipes/budget.h"
#include "engine/recipes/scorers/global_local.h"

namespace winnow {

namespace {

using Head = SharedEntryMerging::Head;
using TokenScore = SharedEntryMerging::TokenScore;

std::vector<bool> direct_slots(const KvCache& cache, LayerId layer, KvHead kv_head) {
  std::vector<bool> direct(static_cast<std::size_t>(cache.slots(layer, kv_head)), true);
  if (const SharedEntries* table = cache.shared_entries(layer, kv_head)) {
    for (const std::int32_t slot : table->slot) {
      if (slot != SharedEntries::kZero) direct[static_cast<std::size_t>(slot)] = false;
    }
  }
  return direct;
}

// Global-local score of every token of the table, judged among all tokens, the window's included.
std::vector<float> table_scores(const Head& head) {
  std::vector<float> global, local;
  for (const TokenScore& score : head.table) {
    global.push_back(score.global);
    local.push_back(score.local());
  }
  for (const SharedEntryMerging::WindowToken& token : head.window) {
    global.push_back(token.score.global);
    local.push_back(token.score.local());
  }
  std::vector<float> scores = global_local(global, local);
  scores.resize(head.table.size());
  return scores;
}

}  // namespace

std::int64_t SharedEntryMerging::Head::unpinned() const {
  return std::count_if(window.begin(), window.end(), [](const WindowToken& token) { return !token.pinned; });
}

SharedEntryMerging::SharedEntryMerging(std::int64_t window, const SharingRule& rule, std::vector<std::int64_t> caps, std::int64_t kv_heads,
                                       std::vector<Head> heads)
    : window_(window), rule_(rule), caps_(std::move(caps)), kv_heads_(kv_heads), heads_(std::move(heads)) {
  require(heads_.size() == static_cast<std::size_t>(caps_.layers() * kv_heads), "SharedEntryMerging: scores for every head");
}

void SharedEntryMerging::follow(const KvCache& cache, LayerId layer, KvHead kv_head, std::span<const float> probabilities,
                                Head& head) const {
  const std::span<const std::int32_t> original = cache.original(layer, kv_head);
  require(probabilities.size() == head.table.size() + head.window.size() + 1, "SharedEntryMerging: scores and cache have parted");
  // The decoded token's slot is the newest.
  head.window.push_back({*std::max_element(original.begin(), original.end()), {}});
  const auto add = [](TokenScore& score, float probability) {
    score.global += probability;
    score.current += probability;
  };
  for (std::size_t i = 0; i < head.table.size(); ++i) add(head.table[i], probabilities[i]);
  const std::vector<bool> direct = direct_slots(cache, layer, kv_head);
  std::size_t at = head.table.size();
  for (std::size_t slot = 0; slot < original.size(); ++slot) {
    if (!direct[slot]) continue;
    const auto token = std::lower_bound(head.window.begin(), head.window.end(), original[slot],
                                        [](const WindowToken& each, std::int32_t wanted) { return each.original < wanted; });
    require(token != head.window.end() && token->original == original[slot], "SharedEntryMerging: a direct slot is not in the window");
    add(token->score, probabilities[at++]);
  }
  if (++head.rows < window_) return;
  head.rows = 0;
  const auto close = [](TokenScore& score) {
    score.past = score.current;
    score.current = 0.0F;
  };
  for (TokenScore& score : head.table) close(score);
  for (WindowToken& token : head.window) close(token.score);
}

void SharedEntryMerging::close_oldest(KvCache& cache, LayerId layer, KvHead kv_head, Head& head, const SharingRule& rule) {
  const auto leaves = std::find_if(head.window.begin(), head.window.end(), [](const WindowToken& token) { return !token.pinned; });
  const WindowToken oldest = *leaves;
  head.window.erase(leaves);
  const std::span<const std::int32_t> original = cache.original(layer, kv_head);
  const std::vector<bool> direct = direct_slots(cache, layer, kv_head);
  std::int32_t slot = 0;
  while (!direct[static_cast<std::size_t>(slot)] || original[static_cast<std::size_t>(slot)] != oldest.original) ++slot;

  const auto [key_row, value_row] = cache.row_views(layer, kv_head, slot);
  at::Tensor key = key_row.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true).unsqueeze(0);
  const at::Tensor value = value_row.clone().unsqueeze(0);
  if (rule.rotation != SharedEntries::Rotation::kStored) {
    key = turned_keys(key, at::full({1, 1}, -static_cast<double>(oldest.original), key.options()), cache.shape().rotary);
  }
  const float norm = at::linalg_vector_norm(key).item<float>();
  cache.write(layer, kv_head, slot, key / std::max(norm, 1e-12F), value);

  SharedEntries* table = cache.shared_entries(layer, kv_head);
  if (table == nullptr) {
    SharedEntries fresh;
    fresh.rotation = rule.rotation;
    fresh.zero_counts = rule.zero_counts;
    cache.set_shared_entries(layer, kv_head, std::move(fresh));
    table = cache.shared_entries(layer, kv_head);
  }
  // Tokens leave the window in their order, but an event of a later segment may have filed younger ones already.
  const auto place = std::lower_bound(table->original.begin(), table->original.end(), oldest.original) - table->original.begin();
  table->original.insert(table->original.begin() + place, oldest.original);
  table->slot.insert(table->slot.begin() + place, slot);
  table->norm.insert(table->norm.begin() + place, norm);
  head.table.insert(head.table.begin() + place, oldest.score);
}

// The least slot's tokens move into the most similar slot, or are masked where none is similar enough.
void SharedEntryMerging::merge_least(KvCache& cache, LayerId layer, KvHead kv_head, const Head& head) const {
  SharedEntries& table = *cache.shared_entries(layer, kv_head);
  const std::vector<float> scores = table_scores(head);
  const auto slots = static_cast<std::size_t>(cache.slots(layer, kv_head));
  std::vector<double> total(slots, 0.0);
  std::vector<std::size_t> first(slots, table.size());  // the slot's oldest token
  for (std::size_t i = table.size(); i-- > 0;) {
    if (table.slot[i] == SharedEntries::kZero) continue;
    total[static_cast<std::size_t>(table.slot[i])] += scores[i];
    first[static_cast<std::size_t>(table.slot[i])] = i;
  }
  std::size_t least = slots;
  for (std::size_t slot = 0; slot < slots; ++slot) {
    if (first[slot] == table.size()) continue;
    if (least == slots || total[slot] < total[least] || (total[slot] == total[least] && first[slot] < first[least])) least = slot;
  }

  const auto [least_key, least_value] = cache.row_views(layer, kv_head, static_cast<std::int64_t>(least));
  const at::Tensor key = least_key.to(at::kFloat);
  const at::Tensor value = least_value.to(at::kFloat);
  std::size_t best = slots;
  float best_similarity = 0.0F;
  std::size_t begin = 0;
  // A GPU takes all at once: launches and waits for every block cost more than the copy.
  const bool in_blocks = cache.shape().device.is_cpu();
  for (std::int64_t block = 0; block < (in_blocks ? KvCache::blocks_for(cache.slots(layer, kv_head)) : 1); ++block) {
    const auto rows = [&](KvPart part) {
      if (in_blocks) return cache.block_view(layer, kv_head, part, block).to(at::kFloat);
      return (part == KvPart::kKeys ? cache.gather_keys(layer, kv_head) : cache.gather_values(layer, kv_head)).to(at::kFloat);
    };
    const at::Tensor similarity = pair_similarity(rows(KvPart::kKeys), rows(KvPart::kValues), key, value).to(at::kCPU).contiguous();
    const float* const values = similarity.const_data_ptr<float>();
    for (std::size_t i = 0; i < static_cast<std::size_t>(similarity.numel()); ++i) {
      const std::size_t slot = begin + i;
      if (slot == least || first[slot] == table.size()) continue;
      const bool older_tie = best != slots && values[i] == best_similarity && first[slot] < first[best];
      if (best == slots || values[i] > best_similarity || older_tie) {
        best = slot;
        best_similarity = values[i];
      }
    }
    begin += static_cast<std::size_t>(similarity.numel());
  }

  const bool similar = best != slots && best_similarity >= static_cast<float>(rule_.least_similarity);
  if (similar) {
    const auto [best_key, best_value] = cache.row_views(layer, kv_head, static_cast<std::int64_t>(best));
    const double sum = total[least] + total[best];
    const double share = sum > 0.0 ? total[least] / sum : 0.5;
    const at::Tensor merged_key = key * share + best_key.to(at::kFloat) * (1.0 - share);
    const at::Tensor merged_value = value * share + best_value.to(at::kFloat) * (1.0 - share);
    cache.write(layer, kv_head, static_cast<std::int64_t>(best), merged_key.unsqueeze(0), merged_value.unsqueeze(0));
  }
  for (std::int32_t& slot : table.slot) {
    if (slot == static_cast<std::int32_t>(least)) slot = similar ? static_cast<std::int32_t>(best) : SharedEntries::kZero;
  }
  cache.evict(layer, kv_head, static_cast<std::int64_t>(least));
}

// Takes tokens out of the table, masked ones first; a slot that loses its last token is freed.
void SharedEntryMerging::shorten(KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t limit, Head& head) const {
  while (std::ssize(head.table) > limit) {
    SharedEntries& table = *cache.shared_entries(layer, kv_head);
    const std::vector<float> scores = table_scores(head);
    std::size_t out = 0;
    for (std::size_t i = 1; i < table.size(); ++i) {
      const bool masked = table.slot[i] == SharedEntries::kZero;
      const bool out_masked = table.slot[out] == SharedEntries::kZero;
      if (masked != out_masked ? masked : scores[i] < scores[out]) out = i;
    }
    const std::int32_t slot = table.slot[out];
    const auto at = static_cast<std::ptrdiff_t>(out);
    table.original.erase(table.original.begin() + at);
    table.slot.erase(table.slot.begin() + at);
    table.norm.erase(table.norm.begin() + at);
    head.table.erase(head.table.begin() + at);
    if (slot != SharedEntries::kZero && std::find(table.slot.begin(), table.slot.end(), slot) == table.slot.end()) {
      cache.evict(layer, kv_head, slot);
    }
  }
}

void SharedEntryMerging::after_layer(KvCache& cache, LayerId layer, const DecodeRow& row, MergeState&) {
  const std::int64_t cap = caps_.at(layer);
  require(std::ssize(row.probabilities) == kv_heads_, "SharedEntryMerging: probabilities for every head");
  for (KvHead kv_head{0}; kv_head < kv_heads_; ++kv_head) {
    Head& head = heads_[static_cast<std::size_t>(layer * kv_heads_ + kv_head)];
    follow(cache, layer, kv_head, row.probabilities[static_cast<std::size_t>(kv_head)], head);
    if (cap == kNoCap) continue;
    while (head.unpinned() > window_) close_oldest(cache, layer, kv_head, head, rule_);
    while (cache.slots(layer, kv_head) > cap) merge_least(cache, layer, kv_head, head);
    const std::int64_t direct = std::max(window_, std::ssize(head.window));
    shorten(cache, layer, kv_head, round_half_up(rule_.magnification * static_cast<double>(cap)) - direct, head);
  }
}

FollowedTokens SharedEntryMerging::retained_attention(const KvCache& cache, LayerId layer, KvHead kv_head, std::int32_t before) const {
  const Head& about = head(layer, kv_head);
  FollowedTokens tokens;
  const auto add = [&](std::int32_t original, const TokenScore& score) {
    tokens[original] = {.sum = score.global, .local_past = score.past, .local_current = score.current};
  };
  const SharedEntries* table = cache.shared_entries(layer, kv_head);
  std::size_t at = 0;  // entries of later segments are not among ours
  for (std::size_t i = 0; table != nullptr && i < table->size(); ++i) {
    if (table->original[i] < before) add(table->original[i], about.table.at(at++));
  }
  for (const WindowToken& token : about.window) add(token.original, token.score);
  return tokens;
}

std::int64_t SharedEntryMerging::bytes_metadata() const {
  std::int64_t bytes = 0;
  for (const Head& head : heads_) bytes += static_cast<std::int64_t>((head.table.size() + head.window.size()) * sizeof(TokenScore));
  return bytes;
}

std::unique_ptr<DecodePolicy> next_shared_entry_merging(const DecodePolicy* previous, const SegmentCompressor& compressor, KvCache& cache,
                                                        PerLayer<std::int64_t> caps) {
  const Composition& parts = compressor.recipe().composition();
  const SharingRule& rule = *parts.reducer->sharing();
  const std::int32_t first_new = compressor.segment().first_original;
  const PinnedTokens pinned(compressor.segment().pinned);
  const KvShape& shape = cache.shape();
  std::vector<Head> heads;
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    for (KvHead kv_head{0}; kv_head < shape.kv_heads; ++kv_head) {
      // What earlier turns gave every token that was no candidate now.
      FollowedTokens before;
      const SegmentInfo& candidates = compressor.candidates(layer, kv_head).info;
      const SharedEntries* table = cache.shared_entries(layer, kv_head);
      if (previous != nullptr && !compressor.whole_cache()) before = previous->retained_attention(cache, layer, kv_head, first_new);
      // And this segment's rows: old tokens in the order in which its attention met them, the table's before the direct slots'.
      AccumulatedAttention all, last;
      if (compressor.has_accumulated()) {
        all = compressor.accumulated(layer, kv_head);
        last = compressor.accumulated_locally(layer, kv_head);
      }
      std::size_t met = 0;
      const auto score_of = [&](std::int32_t original) {
        TokenScore score;
        const std::int64_t row = candidates.rows_before(original);
        if (row < candidates.tokens && candidates.original(row) == original) {
          if (all.sums.empty()) return score;
          score.global = all.sums[static_cast<std::size_t>(row)];
          score.past = last.sums[static_cast<std::size_t>(row)];
          return score;
        }
        if (const auto found = before.find(original); found != before.end())
          score = {found->second.sum, found->second.local_past, found->second.local_current};
        if (!all.past_sums.empty()) {
          score.global += all.past_sums[met];
          score.past = last.past_sums[met];
          score.current = 0.0F;
        }
        ++met;
        return score;
      };

      Head head;
      for (std::size_t i = 0; table != nullptr && i < table->size(); ++i) {
        TokenScore score = score_of(table->original[i]);
        if (table->slot[i] == SharedEntries::kZero && table->original[i] < first_new && !compressor.whole_cache()) {
          // A masked token got nothing from this segment, whatever its place in the statistics holds.
          const auto found = before.find(table->original[i]);
          score.global = found != before.end() ? found->second.sum : 0.0F;
          score.past = 0.0F;
        }
        head.table.push_back(score);
      }
      const std::vector<bool> direct = direct_slots(cache, layer, kv_head);
      const std::span<const std::int32_t> original = cache.original(layer, kv_head);
      for (std::size_t slot = 0; slot < direct.size(); ++slot) {
        if (direct[slot]) head.window.push_back({original[slot], score_of(original[slot]), pinned.contains(original[slot])});
      }
      std::sort(head.window.begin(), head.window.end(), [](const auto& a, const auto& b) { return a.original < b.original; });
      if (caps[layer] != DecodePolicy::kNoCap) {
        while (head.unpinned() > parts.protection.window) SharedEntryMerging::close_oldest(cache, layer, kv_head, head, rule);
      }
      heads.push_back(std::move(head));
    }
  }
  return std::make_unique<SharedEntryMerging>(parts.protection.window, rule, std::move(caps).values(), shape.kv_heads, std::move(heads));
}

}  // namespace winnow
