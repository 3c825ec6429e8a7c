#include "engine/compression/reducers/merge.h"

#include <algorithm>

#include "engine/compression/reducers/device_merge.h"
#include "engine/device/host_numbers.h"

namespace winnow {

namespace {

constexpr std::int64_t kTileRows = 256;

at::Tensor rows_of(const at::Tensor& all, std::span<const std::int32_t> rows) { return all.index_select(0, index_on(all.device(), rows)); }

at::Tensor unit_rows(const at::Tensor& rows) { return rows / at::linalg_vector_norm(rows, 2, at::IntArrayRef{1}, true).clamp_min(1e-12); }

// Whether a row goes on that has received or is scaled: then the order of all flows matters, and they take place on the host.
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

}  // namespace

std::vector<MergePair> nearest_by_cosine(const at::Tensor& keys, std::span<const std::int32_t> kept,
                                         std::span<const std::int32_t> leaving) {
  std::vector<MergePair> nearest;
  if (kept.empty()) return nearest;
  nearest.reserve(leaving.size());
  if (!keys.is_cpu()) {
    const std::vector<NearestRow> found = nearest_on_device(keys, {}, leaving, kept);
    for (std::size_t i = 0; i < found.size(); ++i) {
      nearest.push_back({leaving[i], kept[static_cast<std::size_t>(found[i].index)], found[i].similarity});
    }
    return nearest;
  }
  const at::Tensor widened = keys.to(at::kFloat);
  const at::Tensor targets = unit_rows(rows_of(widened, kept)).t();
  for (std::int64_t first = 0; first < std::ssize(leaving); first += kTileRows) {
    const auto rows =
        leaving.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(kTileRows, std::ssize(leaving) - first)));
    const auto [cosine, index] = at::mm(unit_rows(rows_of(widened, rows)), targets).max(1);
    const at::Tensor cosine_host = cosine.contiguous();
    const at::Tensor index_host = index.contiguous();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto target = static_cast<std::size_t>(index_host.const_data_ptr<std::int64_t>()[i]);
      nearest.push_back({rows[i], kept[target], cosine_host.const_data_ptr<float>()[i]});
    }
  }
  return nearest;
}

MergedSlots carry_out(const Merging& merging, const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> kept) {
  MergedSlots merged;
  if (!keys.is_cpu() && !goes_on(merging, keys.size(0))) {
    const DeviceFlows flows(staying_rows(merging, keys.size(0), kept), keys.device());
    merged.keys = merging.values_only ? rows_of(keys, kept) : flows.merged(keys);
    merged.values = flows.merged(values);
  } else {
    merged.keys = merging.values_only ? rows_of(keys, kept) : rows_of(flowed(merging, keys), kept);
    merged.values = rows_of(flowed(merging, values), kept);
  }
  std::vector<std::int32_t> received(static_cast<std::size_t>(keys.size(0)), 0);
  for (const Merging::Flow& flow : merging.flows) ++received[static_cast<std::size_t>(flow.into)];
  for (const std::int32_t row : kept) merged.merged.push_back(received[static_cast<std::size_t>(row)]);
  return merged;
}

}  // namespace winnow
