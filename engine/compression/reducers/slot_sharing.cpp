#include "engine/compression/reducers/slot_sharing.h"

#include <algorithm>

#include "engine/layers/rotary.h"
#include "engine/recipes/scorers/global_local.h"

namespace winnow {

namespace {

std::vector<std::int32_t> centers_of(const std::vector<std::int32_t>& kept, std::int64_t window, const std::vector<std::int32_t>& pinned) {
  std::vector<std::int32_t> centres;
  for (std::int64_t j = 0; j < std::ssize(kept) - window; ++j) {
    if (!std::binary_search(pinned.begin(), pinned.end(), kept[static_cast<std::size_t>(j)]))
      centres.push_back(static_cast<std::int32_t>(j));
  }
  return centres;
}

std::vector<std::int32_t> originals_of(const Candidates& set) {
  std::vector<std::int32_t> originals;
  for (std::int64_t row = 0; row < set.info.tokens; ++row) originals.push_back(set.info.original(row));
  return originals;
}

// Centres that lie one after the other are written together.
void write_centers(KvCache& cache, LayerId layer, KvHead head, std::int64_t start, const std::vector<std::int32_t>& centres,
                   const SharedRows& rows) {
  for (std::size_t first = 0, run = 0; first < centres.size(); first += run) {
    run = 1;
    while (first + run < centres.size() && centres[first + run] == centres[first] + static_cast<std::int32_t>(run)) ++run;
    const auto at = static_cast<std::int64_t>(first);
    const auto count = static_cast<std::int64_t>(run);
    cache.write(layer, head, start + centres[first], rows.directions.narrow(0, at, count), rows.values.narrow(0, at, count));
  }
}

}  // namespace

SharedLayer share_layer(const KvCache& cache, const SegmentCompressor& compressor, LayerId layer, const LayerPlan& plan) {
  const Composition& parts = compressor.recipe().composition();
  const SharingRule& rule = *parts.reducer->sharing();
  const KvShape& shape = cache.shape();
  SharedLayer shared;
  for (KvHead head{0}; head < shape.kv_heads; ++head) {
    const Candidates& set = compressor.candidates(layer, head);
    const std::int64_t n = set.info.tokens;
    const std::int64_t start = cache.slots(layer, head) - n;
    at::Tensor keys = cache.gather_keys(layer, head).narrow(0, start, n);
    at::Tensor values = cache.gather_values(layer, head).narrow(0, start, n);
    if (rule.rotation != SharedEntries::Rotation::kStored) {
      keys = keys.to(at::kFloat);
      keys = rotated_keys(keys, at::tensor(originals_of(set)).to(keys.options()).neg().unsqueeze(0), shape.rotary);
      values = values.to(at::kFloat);
    }
    const std::vector<float> weight =
        global_local(compressor.accumulated(layer, head).sums, compressor.accumulated_locally(layer, head).sums);
    const std::vector<std::int32_t>& kept = plan.kept[static_cast<std::size_t>(head)];
    shared.centres.push_back(centers_of(kept, parts.protection.window, set.pinned));
    shared.rows.push_back(share_rows(rule, keys, values, kept, shared.centres.back(), compressor.scores(layer, head), weight));
  }
  return shared;
}

std::vector<std::vector<std::int32_t>> write_shared(KvCache& cache, const SegmentCompressor& compressor, LayerId layer,
                                                    const LayerPlan& plan, const SharedLayer& shared) {
  const SharingRule& rule = *compressor.recipe().composition().reducer->sharing();
  std::vector<std::vector<std::int32_t>> counts;
  for (KvHead head{0}; head < cache.shape().kv_heads; ++head) {
    const SharedRows& rows = shared.rows[static_cast<std::size_t>(head)];
    const std::vector<std::int32_t>& kept = plan.kept[static_cast<std::size_t>(head)];
    const std::int64_t start = cache.slots(layer, head) - std::ssize(kept);
    write_centers(cache, layer, head, start, shared.centres[static_cast<std::size_t>(head)], rows);
    const SharedEntries* earlier = cache.shared_entries(layer, head);
    SharedEntries table = earlier != nullptr ? *earlier : SharedEntries{};
    table.rotation = rule.rotation;
    table.zero_counts = rule.zero_counts;
    std::vector<std::int32_t> count(kept.size(), 0);
    for (std::size_t i = 0; i < rows.row.size(); ++i) {
      table.original.push_back(compressor.candidates(layer, head).info.original(rows.row[i]));
      table.slot.push_back(rows.target[i] == SharedEntries::kZero ? SharedEntries::kZero
                                                                  : static_cast<std::int32_t>(start) + rows.target[i]);
      table.norm.push_back(rows.norm[i]);
      if (rows.target[i] != SharedEntries::kZero && kept[static_cast<std::size_t>(rows.target[i])] != rows.row[i]) {
        ++count[static_cast<std::size_t>(rows.target[i])];
      }
    }
    cache.set_shared_entries(layer, head, std::move(table));
    counts.push_back(std::move(count));
  }
  return counts;
}

}  // namespace winnow
