#include "engine/compression/decode/shared_entry_merging.h"

#include "engine/base/error.h"
#include "engine/compression/decode/nearest_slots.h"
#include "engine/compression/decode/unit_keys.h"
#include "engine/layers/for_heads.h"
#include "engine/layers/runtime_tokens.h"
#include "engine/recipes/budget.h"
#include "engine/recipes/scorers/global_local.h"

namespace winnow {

namespace {

using Head = SharedEntryMerging::Head;
using TokenScore = SharedEntryMerging::TokenScore;

// Global-local score of every token of the table, judged among all tokens, the window's included.
std::vector<float> table_scores(const Head& head) {
  std::vector<float> global(head.table.size() + head.window.size());
  std::vector<float> local(global.size());
  std::size_t at = 0;
  const auto add = [&](const TokenScore& score) {
    global[at] = score.global;
    local[at] = score.local();
    ++at;
  };
  for (const TokenScore& score : head.table) add(score);
  for (const SharedEntryMerging::WindowToken& token : head.window) add(token.score);
  std::vector<float> scores = global_local(global, local);
  scores.resize(head.table.size());
  return scores;
}

// Tokens that leave the windows of some heads: their slots are the tables' from then on, and hold directions.
class LeavingWindow {
 public:
  LeavingWindow(KvCache& cache, std::int64_t window, const SharingRule& rule) : cache_(cache), window_(window), rule_(rule) {}

  // The oldest tokens that are not pinned, while more than `window` are in it.
  void file_oldest(LayerId layer, KvHead kv_head, Head& head) {
    for (std::int64_t leaving = head.unpinned() - window_; leaving > 0; --leaving) {
      const auto leaves = std::ranges::find(head.window, false, &SharedEntryMerging::WindowToken::pinned);
      const SharedEntryMerging::WindowToken oldest = *leaves;
      head.window.erase(leaves);
      const std::span<const std::int32_t> original = cache_.original(layer, kv_head);
      const auto slot = std::ranges::find(original, oldest.original) - original.begin();
      require(slot < std::ssize(original), "SharedEntryMerging: a token of the window has no slot");
      filed_.push_back({layer, kv_head, slot, oldest.original});

      SharedEntries& table = table_of(layer, kv_head);
      // Tokens leave the window in their order, but an event of a later segment may have filed younger ones already.
      const auto place = std::ranges::lower_bound(table.original, oldest.original) - table.original.begin();
      table.original.insert(table.original.begin() + place, oldest.original);
      table.slot.insert(table.slot.begin() + place, static_cast<std::int32_t>(slot));
      table.norm.insert(table.norm.begin() + place, 0.0F);
      head.table.insert(head.table.begin() + place, oldest.score);
    }
  }

  bool empty() const { return filed_.empty(); }
  // Once. Lengths of the filed tokens' keys, on a GPU there, for which nobody waits; note_lengths() takes them when they are on the host.
  at::Tensor make_directions() { return make_unit_keys(cache_, filed_, rule_.rotation != SharedEntries::Rotation::kStored); }
  void note_lengths(const at::Tensor& lengths) {
    const float* length = lengths.const_data_ptr<float>();
    for (const OwnSlotOf& one : filed_) {
      SharedEntries& table = *cache_.shared_entries(one.layer, one.head);
      const auto place = std::ranges::lower_bound(table.original, one.original) - table.original.begin();
      table.norm[static_cast<std::size_t>(place)] = *length++;
    }
  }

 private:
  SharedEntries& table_of(LayerId layer, KvHead kv_head) {
    if (cache_.shared_entries(layer, kv_head) == nullptr) {
      SharedEntries fresh{.rotation = rule_.rotation, .zero_counts = rule_.zero_counts};
      cache_.set_shared_entries(layer, kv_head, std::move(fresh));
    }
    return *cache_.shared_entries(layer, kv_head);
  }

  KvCache& cache_;
  std::int64_t window_;
  const SharingRule& rule_;
  std::vector<OwnSlotOf> filed_;
};

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
  std::size_t at = head.table.size();
  for (const std::int32_t slot : direct_slots(cache, layer, kv_head)) {
    const std::int32_t wanted = original[static_cast<std::size_t>(slot)];
    const auto token = std::ranges::lower_bound(head.window, wanted, {}, &WindowToken::original);
    require(token != head.window.end() && token->original == wanted, "SharedEntryMerging: a direct slot is not in the window");
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

std::vector<SharedEntryMerging::Full> SharedEntryMerging::full_heads(LayerId first, std::int64_t layers) const {
  std::vector<Full> heads;
  for (LayerId layer = first; layer < first + layers; ++layer) {
    for (KvHead kv_head{0}; caps_.at(layer) != kNoCap && kv_head < kv_heads_; ++kv_head) heads.push_back({layer, kv_head});
  }
  return heads;
}

// Nothing but the table's length changes them within a step.
const std::vector<float>& SharedEntryMerging::scores_of(Full& full) const {
  const Head& about = head(full.layer, full.kv_head);
  if (full.scores.size() != about.table.size()) full.scores = table_scores(about);
  return full.scores;
}

// The least slot of every head that holds too many.
std::vector<SharedEntryMerging::Least> SharedEntryMerging::least_slots(const KvCache& cache, std::vector<Full>& heads) const {
  std::vector<Full*> too_long;
  for (Full& full : heads) {
    if (cache.slots(full.layer, full.kv_head) > caps_.at(full.layer)) too_long.push_back(&full);
  }
  std::vector<Least> all(too_long.size());
  if (all.empty()) return all;
  for_heads(std::ssize(all), std::ssize(head(heads.front().layer, KvHead(0)).table), [&](std::int64_t i) {
    Full& full = *too_long[static_cast<std::size_t>(i)];
    Least& least = all[static_cast<std::size_t>(i)];
    const SharedEntries& table = *cache.shared_entries(full.layer, full.kv_head);
    const std::vector<float>& scores = scores_of(full);
    const auto slots = static_cast<std::size_t>(cache.slots(full.layer, full.kv_head));
    least.head = &full;
    least.total.resize(slots, 0.0);
    least.oldest.resize(slots, -1);
    for (std::size_t token = table.size(); token-- > 0;) {
      if (table.slot[token] == SharedEntries::kZero) continue;
      least.total[static_cast<std::size_t>(table.slot[token])] += scores[token];
      least.oldest[static_cast<std::size_t>(table.slot[token])] = static_cast<std::int32_t>(token);
    }
    least.slot = slots;
    for (std::size_t slot = 0; slot < slots; ++slot) {
      if (least.oldest[slot] < 0) continue;
      const bool is_less = least.slot == slots || least.total[slot] < least.total[least.slot] ||
                           (least.total[slot] == least.total[least.slot] && least.oldest[slot] < least.oldest[least.slot]);
      if (is_less) least.slot = slot;
    }
    require(least.slot < slots, "SharedEntryMerging: the cap must leave room beside window and pins");
  });
  return all;
}

// The least slot's tokens move into the most similar slot, or are masked where none is similar enough.
void SharedEntryMerging::merge(KvCache& cache, const Least& least, const MergePair& similar) const {
  const LayerId layer = least.head->layer;
  const KvHead kv_head = least.head->kv_head;
  const std::int32_t from = similar.row;
  const bool flows = similar.into >= 0 && similar.cosine >= static_cast<float>(rule_.least_similarity);
  if (flows) {
    const double leaving = least.total[least.slot];
    const double sum = leaving + least.total[static_cast<std::size_t>(similar.into)];
    const double share = sum > 0.0 ? leaving / sum : 0.5;
    if (cache.shape().device.is_cpu()) {
      const auto [key, value] = cache.row_views(layer, kv_head, from);
      const auto [into_key, into_value] = cache.row_views(layer, kv_head, similar.into);
      const auto mean = [&](const at::Tensor& own, const at::Tensor& other) {
        return (own.to(at::kFloat) * share + other.to(at::kFloat) * (1.0 - share)).unsqueeze(0);
      };
      cache.write(layer, kv_head, similar.into, mean(key, into_key), mean(value, into_value));
    } else {
      const auto weight = static_cast<float>(share);
      DeviceSide::receive(cache, layer, kv_head,
                          {.from = from, .into = similar.into, .own = static_cast<float>(1.0 - share), .weight = weight});
    }
  }
  cache.shared_entries(layer, kv_head)->rename(from, flows ? similar.into : SharedEntries::kZero);
  cache.evict(layer, kv_head, from);
}

std::int64_t SharedEntryMerging::longest_table(const Full& full) const {
  const std::int64_t direct = std::max(window_, std::ssize(head(full.layer, full.kv_head).window));
  return round_half_up(rule_.magnification * static_cast<double>(caps_.at(full.layer))) - direct;
}

// A token leaves the table, masked ones first. The slot that has lost its last one, if any.
std::optional<std::int32_t> SharedEntryMerging::take_out(KvCache& cache, Full& full) {
  SharedEntries& table = *cache.shared_entries(full.layer, full.kv_head);
  const std::vector<float>& scores = scores_of(full);
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
  head_of(full).table.erase(head_of(full).table.begin() + at);
  const bool is_empty = slot != SharedEntries::kZero && !table.names(slot);
  return is_empty ? std::optional(slot) : std::nullopt;
}

// Tables down to their limits; a slot that loses its last token is freed.
void SharedEntryMerging::shorten(KvCache& cache, std::vector<Full>& heads) {
  for (;;) {
    std::vector<Full*> too_long;
    for (Full& full : heads) {
      if (std::ssize(head_of(full).table) > longest_table(full)) too_long.push_back(&full);
    }
    if (too_long.empty()) return;
    std::vector<std::optional<std::int32_t>> freed(too_long.size());
    for_heads(std::ssize(too_long), std::ssize(head_of(*too_long.front()).table),
              [&](std::int64_t i) { freed[static_cast<std::size_t>(i)] = take_out(cache, *too_long[static_cast<std::size_t>(i)]); });
    for (std::size_t i = 0; i < freed.size(); ++i) {
      if (freed[i]) cache.evict(too_long[i]->layer, too_long[i]->kv_head, *freed[i]);
    }
  }
}

void SharedEntryMerging::after_layers(KvCache& cache, LayerId first, std::span<const DecodeRow> rows, MergeState&) {
  for (const DecodeRow& row : rows) require(std::ssize(row.probabilities) == kv_heads_, "SharedEntryMerging: probabilities for every head");
  for_heads(std::ssize(rows) * kv_heads_, std::ssize(head(first, KvHead(0)).table), [&](std::int64_t i) {
    const Full of{LayerId(first + i / kv_heads_), KvHead(i % kv_heads_)};
    follow(cache, of.layer, of.kv_head, rows[static_cast<std::size_t>(i / kv_heads_)].probabilities[static_cast<std::size_t>(of.kv_head)],
           head_of(of));
  });
  std::vector<Full> heads = full_heads(first, std::ssize(rows));
  LeavingWindow leaving_window(cache, window_, rule_);
  for (const Full& full : heads) leaving_window.file_oldest(full.layer, full.kv_head, head_of(full));
  at::Tensor lengths = leaving_window.make_directions();
  for (bool are_noted = leaving_window.empty();;) {
    const std::vector<Least> least = least_slots(cache, heads);
    std::vector<LeavingSlotOf> leaving;
    leaving.reserve(least.size());
    for (const Least& one : least) leaving.push_back({one.head->layer, one.head->kv_head, static_cast<std::int64_t>(one.slot), one.oldest});
    const std::vector<MergePair> similar = most_similar(cache, leaving, SlotLikeness::kKeysAndValues, are_noted ? nullptr : &lengths);
    if (!are_noted) leaving_window.note_lengths(lengths);
    are_noted = true;
    for (std::size_t i = 0; i < least.size(); ++i) merge(cache, least[i], similar[i]);
    if (least.empty()) break;
  }
  shorten(cache, heads);
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
  LeavingWindow leaving(cache, parts.protection.window, rule);
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    for (KvHead kv_head{0}; kv_head < shape.kv_heads; ++kv_head) {
      // The attention that earlier turns gave every token that was no candidate now.
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
      const std::span<const std::int32_t> original = cache.original(layer, kv_head);
      for (const std::int32_t slot : direct_slots(cache, layer, kv_head)) {
        const std::int32_t token = original[static_cast<std::size_t>(slot)];
        head.window.push_back({token, score_of(token), pinned.contains(token)});
      }
      std::sort(head.window.begin(), head.window.end(), [](const auto& a, const auto& b) { return a.original < b.original; });
      if (caps[layer] != DecodePolicy::kNoCap) leaving.file_oldest(layer, kv_head, head);
      heads.push_back(std::move(head));
    }
  }
  leaving.note_lengths(leaving.make_directions().to(at::kCPU));
  return std::make_unique<SharedEntryMerging>(parts.protection.window, rule, std::move(caps).values(), shape.kv_heads, std::move(heads));
}

}  // namespace winnow
