#include "engine/compression/reducers/merge.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/compression/reducers/device_merge.h"
#include "engine/device/host_numbers.h"
#include "engine/device/work_team.h"

namespace winnow {

namespace {

constexpr std::int64_t kTileRows = 256;

at::Tensor rows_of(const at::Tensor& all, std::span<const std::int32_t> rows) { return all.index_select(0, index_on(all.device(), rows)); }

at::Tensor unit_rows(const at::Tensor& rows) { return rows / at::linalg_vector_norm(rows, 2, at::IntArrayRef{1}, true).clamp_min(1e-12); }

// True if a row goes on that has received or is scaled: then the order of all flows matters, and they take place on the host.
bool goes_on(const Merging& merging, std::int64_t rows) {
  std::vector<bool> changed(static_cast<std::size_t>(rows), false);
  for (const Merging::Flow& flow : merging.flows) changed[static_cast<std::size_t>(flow.into)] = true;
  for (const Merging::Scaled& scaled : merging.scaled) changed[static_cast<std::size_t>(scaled.row)] = true;
  return std::ranges::any_of(merging.flows, [&](const Merging::Flow& flow) { return changed[static_cast<std::size_t>(flow.from)]; });
}

// The rows that stay, for flows of which none goes on: on a GPU nobody waits, nothing is copied to the host. n: rows there are.
StayingRows staying_rows(const Merging& merging, std::int64_t n, std::span<const std::int32_t> kept) {
  StayingRows staying{{kept.begin(), kept.end()}, std::vector<float>(kept.size(), 1.0F), std::vector<float>(kept.size(), 1.0F), {}};
  std::vector<std::int32_t> place(static_cast<std::size_t>(n), -1);
  for (std::size_t i = 0; i < kept.size(); ++i) place[static_cast<std::size_t>(kept[i])] = static_cast<std::int32_t>(i);
  for (const Merging::Scaled& scaled : merging.scaled) {
    const std::int32_t at = place[static_cast<std::size_t>(scaled.row)];
    if (at < 0) continue;
    staying.own[static_cast<std::size_t>(at)] = static_cast<float>(scaled.scale.own);
    staying.divisor[static_cast<std::size_t>(at)] = static_cast<float>(scaled.scale.divisor);
  }
  staying.flows.reserve(merging.flows.size());
  for (const Merging::Flow& flow : merging.flows) {
    const std::int32_t at = place[static_cast<std::size_t>(flow.into)];
    if (at >= 0 && flow.weight != 0.0) staying.flows.push_back({flow.from, at, static_cast<float>(flow.weight)});
  }
  return staying;
}

// The rows after all flows, on their device.
at::Tensor flowed(const Merging& merging, const at::Tensor& rows) {
  const at::Tensor working = rows.to(at::kCPU, at::kFloat, /*non_blocking=*/false, /*copy=*/true).contiguous();
  const std::int64_t d = rows.size(1);
  float* const data = working.data_ptr<float>();
  for (const Merging::Scaled& scaled : merging.scaled) {
    float* const row = data + scaled.row * d;
    for (std::int64_t i = 0; i < d; ++i) row[i] *= static_cast<float>(scaled.scale.own);
  }
  for (const Merging::Flow& flow : merging.flows) {
    if (flow.weight == 0.0) continue;
    const float* const from = data + flow.from * d;
    float* const into = data + flow.into * d;
    for (std::int64_t i = 0; i < d; ++i) into[i] += static_cast<float>(flow.weight) * from[i];
  }
  for (const Merging::Scaled& scaled : merging.scaled) {
    float* const row = data + scaled.row * d;
    for (std::int64_t i = 0; i < d; ++i) row[i] /= static_cast<float>(scaled.scale.divisor);
  }
  return working.to(rows.device());
}

std::vector<MergePair> nearest_on_cpu(const LeavingRows& head) {
  std::vector<MergePair> nearest;
  nearest.reserve(head.leaving.size());
  const at::Tensor upcast = head.keys.to(at::kFloat);
  const at::Tensor targets = unit_rows(rows_of(upcast, head.kept)).t();
  for (std::int64_t first = 0; first < std::ssize(head.leaving); first += kTileRows) {
    const auto rows = head.leaving.subspan(static_cast<std::size_t>(first),
                                           static_cast<std::size_t>(std::min(kTileRows, std::ssize(head.leaving) - first)));
    const auto [cosine, index] = at::mm(unit_rows(rows_of(upcast, rows)), targets).max(1);
    const at::Tensor cosine_host = cosine.contiguous();
    const at::Tensor index_host = index.contiguous();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto target = static_cast<std::size_t>(index_host.const_data_ptr<std::int64_t>()[i]);
      nearest.push_back({rows[i], head.kept[target], cosine_host.const_data_ptr<float>()[i]});
    }
  }
  return nearest;
}

// Per kept row how many rows flow into it.
std::vector<std::int32_t> inflows(const Merging& merging, std::int64_t n, std::span<const std::int32_t> kept) {
  std::vector<std::int32_t> received(static_cast<std::size_t>(n), 0);
  for (const Merging::Flow& flow : merging.flows) ++received[static_cast<std::size_t>(flow.into)];
  std::vector<std::int32_t> of_kept;
  of_kept.reserve(kept.size());
  for (const std::int32_t row : kept) of_kept.push_back(received[static_cast<std::size_t>(row)]);
  return of_kept;
}

}  // namespace

std::vector<std::vector<MergePair>> nearest_by_cosine(std::span<const LeavingRows> heads) {
  std::vector<std::vector<MergePair>> nearest(heads.size());
  std::vector<ComparedRows> compared;  // of a GPU
  std::vector<std::size_t> asked;      // their heads
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (heads[i].kept.empty()) continue;
    if (heads[i].keys.is_cpu()) {
      nearest[i] = nearest_on_cpu(heads[i]);
    } else {
      compared.push_back({heads[i].keys, {}, heads[i].leaving, heads[i].kept});
      asked.push_back(i);
    }
  }
  const std::vector<std::vector<NearestRow>> found = nearest_on_device(compared);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const LeavingRows& head = heads[asked[i]];
    nearest[asked[i]].reserve(found[i].size());
    for (std::size_t row = 0; row < found[i].size(); ++row) {
      nearest[asked[i]].push_back({head.leaving[row], head.kept[static_cast<std::size_t>(found[i][row].index)], found[i][row].similarity});
    }
  }
  return nearest;
}

std::vector<MergedSlots> carry_out(std::span<const HeadFlows> heads) {
  std::vector<MergedSlots> merged(heads.size());
  std::vector<StayingRows> staying(heads.size());
  std::vector<char> on_device(heads.size(), 0);  // flows there; bytes, because heads are written side by side
  share_work(std::ssize(heads), 1, [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      const auto& [merging, keys, values, kept] = heads[i];
      merged[i].merged = inflows(merging, keys.size(0), kept);
      on_device[i] = !keys.is_cpu() && !goes_on(merging, keys.size(0)) ? 1 : 0;
      if (on_device[i] != 0) staying[i] = staying_rows(merging, keys.size(0), kept);
    }
  });
  std::optional<DeviceFlows> flows;
  if (std::ranges::any_of(on_device, [](char there) { return there != 0; })) flows.emplace(staying, heads.front().keys.device());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    const auto& [merging, keys, values, kept] = heads[i];
    const auto after_flows = [&](const at::Tensor& rows) {
      return on_device[i] != 0 ? flows->merged(i, rows.to(at::kFloat)) : rows_of(flowed(merging, rows), kept);
    };
    merged[i].keys = merging.values_only ? rows_of(keys, kept).to(at::kFloat) : after_flows(keys);
    merged[i].values = after_flows(values);
  }
  return merged;
}

MergedSlots carry_out(const Merging& merging, const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> kept) {
  const HeadFlows one{merging, keys, values, kept};
  return std::move(carry_out({&one, 1}).front());
}

}  // namespace winnow
