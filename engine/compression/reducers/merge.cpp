#include "engine/compression/reducers/merge.h"

#include <algorithm>
#include <set>

#include "engine/device/host_numbers.h"

namespace winnow {

namespace {

constexpr std::int64_t kTileRows = 256;

at::Tensor rows_of(const at::Tensor& all, std::span<const std::int32_t> rows) { return all.index_select(0, index_on(all.device(), rows)); }

at::Tensor unit_rows(const at::Tensor& rows) { return rows / at::linalg_vector_norm(rows, 2, at::IntArrayRef{1}, true).clamp_min(1e-12); }

// Whether a row that has received goes on: then the order matters.
bool goes_on(const Merging& merging) {
  std::set<std::int32_t> receivers;
  for (const Merging::Flow& flow : merging.flows) receivers.insert(flow.into);
  return std::ranges::any_of(merging.flows, [&](const Merging::Flow& flow) { return receivers.contains(flow.from); });
}

// The rows after flows of which none goes on, in the memory of their device: nobody waits, nothing is copied to the host.
at::Tensor flowed_at_once(const Merging& merging, const at::Tensor& rows) {
  std::vector<float> own(static_cast<std::size_t>(rows.size(0)), 1.0F);
  std::vector<float> divisor = own;
  for (const Merging::Scaled& scaled : merging.scaled) {
    own[static_cast<std::size_t>(scaled.row)] = static_cast<float>(scaled.scale.own);
    divisor[static_cast<std::size_t>(scaled.row)] = static_cast<float>(scaled.scale.divisor);
  }
  std::vector<std::int64_t> from, into;
  std::vector<float> weight;
  for (const Merging::Flow& flow : merging.flows) {
    if (flow.weight == 0.0) continue;
    from.push_back(flow.from);
    into.push_back(flow.into);
    weight.push_back(static_cast<float>(flow.weight));
  }
  const auto there = [&](const auto& numbers) { return numbers_on(rows.device(), numbers); };
  at::Tensor working = rows.to(at::kFloat) * there(own).unsqueeze(1);
  working.index_add_(0, there(into), working.index_select(0, there(from)).mul_(there(weight).unsqueeze(1)));
  return working.div_(there(divisor).unsqueeze(1));
}

// The rows after all flows, on their device.
at::Tensor flowed(const Merging& merging, const at::Tensor& rows) {
  if (!rows.is_cpu() && !goes_on(merging)) return flowed_at_once(merging, rows);
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
  const at::Tensor targets = unit_rows(rows_of(keys, kept)).t();
  for (std::int64_t first = 0; first < std::ssize(leaving); first += kTileRows) {
    const auto rows =
        leaving.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(std::min(kTileRows, std::ssize(leaving) - first)));
    const auto [cosine, index] = at::mm(unit_rows(rows_of(keys, rows)), targets).max(1);
    const at::Tensor cosine_host = cosine.to(at::kCPU).contiguous();
    const at::Tensor index_host = index.to(at::kCPU).contiguous();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const auto target = static_cast<std::size_t>(index_host.const_data_ptr<std::int64_t>()[i]);
      nearest.push_back({rows[i], kept[target], cosine_host.const_data_ptr<float>()[i]});
    }
  }
  return nearest;
}

MergedSlots carry_out(const Merging& merging, const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> kept) {
  MergedSlots merged;
  merged.keys = merging.values_only ? rows_of(keys, kept) : rows_of(flowed(merging, keys), kept);
  merged.values = rows_of(flowed(merging, values), kept);
  std::vector<std::int32_t> received(static_cast<std::size_t>(keys.size(0)), 0);
  for (const Merging::Flow& flow : merging.flows) ++received[static_cast<std::size_t>(flow.into)];
  for (const std::int32_t row : kept) merged.merged.push_back(received[static_cast<std::size_t>(row)]);
  return merged;
}

}  // namespace winnow
