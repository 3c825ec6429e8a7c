#include "engine/compression/candidates.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "engine/device/host_numbers.h"

namespace winnow {

namespace {

Candidates candidates(const SegmentInfo& segment, LayerId layer, KvHead first_head, std::int64_t kv_heads) {
  Candidates set;
  set.layer = layer;
  set.retained = segment.retained;
  set.info = segment;
  // Rows that a layer's window has passed by are gone; no later row sees them, and statistics are about the rows that are left.
  set.first_seen = segment.first_seen(layer);
  const std::int64_t hidden = segment.rows_before(set.first_seen);
  set.info.tokens = segment.tokens - hidden;
  set.info.first_original = segment.original(0) + static_cast<std::int32_t>(hidden);
  set.info.modality = segment.modality.subspan(static_cast<std::size_t>(hidden));
  set.info.windows = nullptr;
  if (segment.retained != nullptr) {
    const RetainedHead& before = segment.retained->at(layer, first_head);
    set.originals = before.original;
    set.modality = before.modality;
    for (std::int64_t row = 0; row < set.info.tokens; ++row) set.originals.push_back(set.info.original(row));
    set.modality.insert(set.modality.end(), set.info.modality.begin(), set.info.modality.end());
    set.info.first_row = std::ssize(before.original);
    set.info.tokens += set.info.first_row;
    set.info.first_original = set.originals.empty() ? 0 : set.originals.front();
    set.info.modality = set.modality;
    set.info.originals = set.originals;
    set.info.earlier_rows = before.rows;
    set.info.first_head = first_head;
    set.info.heads = segment.heads / segment.kv_heads * kv_heads;
    set.info.kv_heads = kv_heads;
  }
  set.bidirectional = cut_spans(segment.bidirectional, hidden, segment.tokens - hidden);
  for (RowSpan& span : set.bidirectional) span.first += set.info.first_row;
  set.info.bidirectional = set.bidirectional;
  set.find_rows();
  return set;
}

}  // namespace

// The rows and keys of a layer with a window that the next token still sees. Among these rows and keys the window hides nothing. Of a
// picture that its edge goes through, the rows before the edge did see later ones: they are gone, and what they saw is left out with them.
LayerView Candidates::seen_of(const LayerView& view) const {
  if (view.window.tokens == 0) return view;
  LayerView seen = view;
  const std::int64_t rows = info.tokens - info.first_row;
  const std::int64_t first = view.query.size(1) - rows;
  seen.query = view.query.narrow(1, first, rows);
  seen.key = view.key.narrow(1, first, rows);
  seen.value = view.value.narrow(1, first, rows);
  seen.log_sum_exp = view.log_sum_exp.narrow(1, first, rows);
  seen.positions = view.positions.narrow(1, first, rows);
  seen.received = {};
  seen.past_values.clear();
  seen.input_norms.reset();
  for (KvHead head{0}; head < std::ssize(view.past_keys); ++head) {
    at::Tensor& past = seen.past_keys[static_cast<std::size_t>(head)];
    past = past.index_select(0, numbers_on(past.device(), view.window.slots_from(head, first_seen)));
  }
  seen.window = {};
  return seen;
}

LayerView Candidates::view_of(const LayerView& whole) const {
  LayerView view = seen_of(whole);
  view.bidirectional = bidirectional;
  if (retained == nullptr) return view;
  const std::int64_t group = view.query.size(0) / view.key.size(0);
  LayerView extended;
  extended.layer = view.layer;
  extended.scale = view.scale;
  extended.query = view.query.narrow(0, info.first_head * group, info.heads);
  extended.log_sum_exp = view.log_sum_exp.narrow(0, info.first_head * group, info.heads);
  extended.value = view.value.narrow(0, info.first_head, info.kv_heads);
  std::vector<at::Tensor> keys;
  for (KvHead head{info.first_head}; head < info.first_head + info.kv_heads; ++head) {
    const at::Tensor segment = view.key.select(0, head);
    keys.push_back(view.past_keys.empty() ? segment
                                          : at::cat({view.past_keys[static_cast<std::size_t>(head)].to(segment.scalar_type()), segment}));
  }
  extended.key = at::stack(keys);
  extended.bidirectional = bidirectional;
  return extended;
}

void Candidates::add_earlier(RowStatistics& statistics, std::int64_t local_rows) const {
  if (retained == nullptr) return;
  const bool all = statistics.rows == RowRule::all();
  // The last rows of the new segment alone speak for a full window; before that, the earlier ones still count.
  if (!all && !(statistics.rows == RowRule::last(local_rows) && info.tokens - info.first_row < local_rows)) return;
  for (KvHead head{0}; head < info.kv_heads; ++head) {
    const RetainedHead& before = retained->at(layer, KvHead(info.first_head + head));
    const std::vector<float>& sums = all ? before.sums : before.local;
    const auto add = [&](HeadScores& to, const std::vector<float>& earlier) {
      if (!to.empty()) std::transform(earlier.begin(), earlier.end(), to.row(head).begin(), to.row(head).begin(), std::plus<>());
    };
    add(statistics.column_sums, sums);
    if (all) add(statistics.column_squares, before.squares);
  }
}

CandidateSets::CandidateSets(const SegmentInfo& segment) {
  if (segment.retained == nullptr) {
    for (LayerId layer{0}; layer < (segment.slides() ? segment.layers : 1); ++layer) {
      std::vector<Candidates> sets;
      sets.push_back(candidates(segment, layer, KvHead(0), segment.kv_heads));
      layers_.push_back(std::move(sets));
    }
    return;
  }
  for (LayerId layer{0}; layer < segment.layers; ++layer) {
    bool same = true;
    for (KvHead head{1}; head < segment.kv_heads; ++head) {
      same = same && segment.retained->at(layer, head).original == segment.retained->at(layer, KvHead(0)).original;
    }
    std::vector<Candidates> sets;
    for (KvHead head{0}; head < (same ? 1 : segment.kv_heads); ++head)
      sets.push_back(candidates(segment, layer, head, same ? segment.kv_heads : 1));
    layers_.push_back(std::move(sets));
  }
}

std::span<const Candidates> CandidateSets::of_layer(LayerId layer) const {
  return layers_.layers() == 1 ? layers_.front() : layers_.at(layer);
}

}  // namespace winnow
