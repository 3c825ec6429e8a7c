#include "engine/compression/reducers/shared_entries.h"

#include <algorithm>

#include "engine/compression/reducers/device_merge.h"
#include "engine/device/host_numbers.h"
#include "engine/layers/rotary.h"
#include "engine/recipes/budget.h"
#include "engine/recipes/scorers/global_local.h"
#include "engine/recipes/select.h"

namespace winnow {

namespace {

constexpr std::int64_t kEntryRows = 256;

at::Tensor unit(const at::Tensor& vectors) {
  return vectors / at::linalg_vector_norm(vectors, 2, at::IntArrayRef{1}, true).clamp_min(1e-12);
}

// Calls aim(index, similarity) with the most similar centre of every row. CPU.
template <class Aim>
void compare_in_tiles(const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> merged,
                      const std::vector<std::int32_t>& centre_rows, const Aim& aim) {
  const at::Tensor centre_index = index_on(keys.device(), centre_rows);
  const at::Tensor centre_keys = unit(keys.index_select(0, centre_index));
  const at::Tensor centre_values = unit(values.index_select(0, centre_index));
  for (std::int64_t first = 0; first < std::ssize(merged); first += kEntryRows) {
    const auto tile =
        merged.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(kEntryRows, std::ssize(merged) - first)));
    const at::Tensor rows = index_on(keys.device(), tile);
    const at::Tensor similarity =
        at::mm(unit(keys.index_select(0, rows)), centre_keys.t()).mul_(at::mm(unit(values.index_select(0, rows)), centre_values.t()));
    auto [best, target] = similarity.max(1);
    best = best.contiguous();
    target = target.contiguous();
    for (std::int64_t i = 0; i < best.numel(); ++i) aim(target.const_data_ptr<std::int64_t>()[i], best.const_data_ptr<float>()[i]);
  }
}

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

SharedRows share_rows(const SharingRule& rule, const at::Tensor& stored_keys, const at::Tensor& stored_values,
                      std::span<const std::int32_t> kept, std::span<const std::int32_t> centres, std::span<const float> rank,
                      std::span<const float> weight) {
  const at::Tensor keys = stored_keys.to(at::kFloat);
  const at::Tensor values = stored_values.to(at::kFloat);
  const std::int64_t n = keys.size(0);
  std::vector<std::int32_t> centre_rows;
  for (const std::int32_t index : centres) centre_rows.push_back(kept[static_cast<std::size_t>(index)]);

  // The next best of the rest, by one selection among the rows that are not kept.
  std::vector<bool> stays(static_cast<std::size_t>(n), false);
  for (const std::int32_t row : kept) stays[static_cast<std::size_t>(row)] = true;
  std::vector<std::int32_t> others;
  std::vector<float> competing;
  for (std::int32_t row = 0; row < n; ++row) {
    if (stays[static_cast<std::size_t>(row)]) continue;
    others.push_back(row);
    competing.push_back(rank[static_cast<std::size_t>(row)]);
  }
  const std::int64_t sharing =
      std::min<std::int64_t>(round_half_up((rule.magnification - 1.0) * static_cast<double>(kept.size())), std::ssize(others));
  std::vector<std::int32_t> merged;
  for (const std::int32_t index : select_rows(competing, sharing, {})) merged.push_back(others[static_cast<std::size_t>(index)]);

  std::vector<std::int32_t> targets;  // per merged row: number of its centre
  const auto aim = [&](std::int64_t index, float similarity) {
    targets.push_back(similarity >= static_cast<float>(rule.least_similarity) ? static_cast<std::int32_t>(index) : SharedEntries::kZero);
  };
  if (centres.empty()) {
    targets.assign(merged.size(), SharedEntries::kZero);
  } else if (!keys.is_cpu()) {
    const ComparedRows compared{stored_keys, stored_values, merged, centre_rows};
    const std::vector<std::vector<NearestRow>> found = nearest_on_device({&compared, 1});
    for (const NearestRow& nearest : found.front()) aim(nearest.index, nearest.similarity);
  } else {
    compare_in_tiles(keys, values, merged, centre_rows, aim);
  }
  const at::Tensor lengths = at::linalg_vector_norm(keys, 2, at::IntArrayRef{1}).to(at::kCPU).contiguous();
  const float* const length = lengths.const_data_ptr<float>();
  SharedRows shared;
  std::vector<std::int32_t> number;  // of the centre, parallel to the rows
  const auto add = [&](std::int32_t row, std::int32_t target) {
    shared.row.push_back(row);
    shared.target.push_back(target == SharedEntries::kZero ? target : centres[static_cast<std::size_t>(target)]);
    shared.norm.push_back(length[row]);
    number.push_back(target);
  };
  std::size_t centre = 0;
  std::size_t other = 0;
  while (centre < centres.size() || other < merged.size()) {
    if (other == merged.size() || (centre < centres.size() && centre_rows[centre] < merged[other])) {
      add(centre_rows[centre], static_cast<std::int32_t>(centre));
      ++centre;
    } else {
      add(merged[other], targets[other]);
      ++other;
    }
  }

  // Weighed means over the tokens of every centre. A centre without any weight keeps its own direction and value.
  std::vector<std::int64_t> members;
  std::vector<std::int64_t> of;
  std::vector<float> weights;
  std::vector<double> totals(centres.size(), 0.0);
  for (std::size_t i = 0; i < shared.row.size(); ++i) {
    if (number[i] == SharedEntries::kZero) continue;
    members.push_back(shared.row[i]);
    of.push_back(number[i]);
    weights.push_back(std::max(0.0F, weight[static_cast<std::size_t>(shared.row[i])]));
    totals[static_cast<std::size_t>(number[i])] += weights.back();
  }
  for (std::size_t i = 0; i < members.size(); ++i) {
    const double total = totals[static_cast<std::size_t>(of[i])];
    const bool is_center = centre_rows[static_cast<std::size_t>(of[i])] == members[i];
    weights[i] = total > 0.0 ? static_cast<float>(weights[i] / total) : (is_center ? 1.0F : 0.0F);
  }
  const auto count = static_cast<std::int64_t>(centres.size());
  if (!keys.is_cpu()) {
    StayingRows means{centre_rows, std::vector<float>(centres.size(), 0.0F), std::vector<float>(centres.size(), 1.0F), {}};
    for (std::size_t i = 0; i < members.size(); ++i) {
      means.flows.push_back({static_cast<std::int32_t>(members[i]), static_cast<std::int32_t>(of[i]), weights[i]});
    }
    const DeviceFlows flows({&means, 1}, keys.device());
    shared.directions = flows.merged(0, unit(keys));
    shared.values = flows.merged(0, values);
    return shared;
  }
  const at::Tensor rows = numbers_on(keys.device(), members);
  const at::Tensor into = numbers_on(keys.device(), of);
  const at::Tensor share = numbers_on(keys.device(), weights).unsqueeze(1);
  shared.directions = at::zeros({count, keys.size(1)}, keys.options());
  shared.values = at::zeros({count, values.size(1)}, values.options());
  if (!members.empty()) {
    shared.directions.index_add_(0, into, unit(keys.index_select(0, rows)) * share);
    shared.values.index_add_(0, into, values.index_select(0, rows) * share);
  }
  return shared;
}

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
