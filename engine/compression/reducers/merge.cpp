#include "engine/compression/reducers/merge.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

#include "engine/base/error.h"
#include "engine/recipes/budget.h"
#include "engine/recipes/random_hash.h"

namespace winnow {

namespace {

constexpr std::int64_t kTileRows = 256;

std::vector<std::int32_t> rows_outside(std::int64_t rows, std::span<const std::int32_t> kept) {
  std::vector<std::int32_t> outside;
  std::size_t next = 0;
  for (std::int32_t row = 0; row < rows; ++row) {
    if (next < kept.size() && kept[next] == row) {
      ++next;
    } else {
      outside.push_back(row);
    }
  }
  return outside;
}

at::Tensor rows_of(const at::Tensor& all, std::span<const std::int32_t> rows) {
  const std::vector<std::int64_t> index(rows.begin(), rows.end());
  return all.index_select(0, at::tensor(index, at::kLong).to(all.device()));
}

at::Tensor unit_rows(const at::Tensor& rows) { return rows / at::linalg_vector_norm(rows, 2, at::IntArrayRef{1}, true).clamp_min(1e-12); }

// into += weight * from, rows of d floats.
void add_scaled(float* into, const float* from, double weight, std::int64_t d) {
  for (std::int64_t i = 0; i < d; ++i) into[i] += static_cast<float>(weight) * from[i];
}

// Which leaving slots take part, and with what weight they and their target enter. The target's new row is
// (own * target + sum weight_i * row_i) / divisor.
struct Shares {
  std::vector<double> weight;   // per leaving slot; 0: dropped
  std::vector<double> own;      // per kept slot
  std::vector<double> divisor;  // per kept slot
  std::vector<std::int32_t> count;
};

Shares shares_of(const Reduction& reduction, std::size_t kept, const NearestKept& nearest, double threshold) {
  using Kind = Reduction::Kind;
  const std::size_t leaving = nearest.leaving.size();
  Shares shares{std::vector<double>(leaving, 0.0), std::vector<double>(kept, 1.0), std::vector<double>(kept, 1.0),
                std::vector<std::int32_t>(kept, 0)};
  std::vector<bool> takes_part(leaving, true);
  if (reduction.kind == Kind::kAverage && reduction.merge_fraction < 1.0) {
    std::vector<std::size_t> order(leaving);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return nearest.cosine[a] > nearest.cosine[b]; });
    const auto wanted = static_cast<std::size_t>(round_half_up(reduction.merge_fraction * static_cast<double>(leaving)));
    for (std::size_t i = wanted; i < leaving; ++i) takes_part[order[i]] = false;
  }
  const double gate = reduction.kind == Kind::kGated                             ? threshold
                      : reduction.kind == Kind::kWeighted && reduction.mean_gate ? nearest.mean_cosine()
                                                                                 : -2.0;
  for (std::size_t i = 0; i < leaving; ++i) {
    if (nearest.target[i] < 0) takes_part[i] = false;
    if (reduction.kind != Kind::kNearestIndex && !(nearest.cosine[i] >= gate)) takes_part[i] = false;
    if (takes_part[i]) ++shares.count[static_cast<std::size_t>(nearest.target[i])];
  }

  const bool exponential = reduction.kind == Kind::kGated && !reduction.gated_as_weighted;
  for (std::size_t j = 0; j < kept; ++j) {
    if (shares.count[j] == 0) continue;
    shares.divisor[j] = exponential ? std::exp(1.0) : static_cast<double>(shares.count[j] + 1);
    shares.own[j] = exponential ? std::exp(1.0) : 1.0;
  }
  for (std::size_t i = 0; i < leaving; ++i) {
    if (!takes_part[i]) continue;
    const auto j = static_cast<std::size_t>(nearest.target[i]);
    switch (reduction.kind) {
      case Kind::kPivot:  // averaged with its target first
        shares.weight[i] = 0.5;
        shares.own[j] += 0.5;
        break;
      case Kind::kWeighted:
        shares.weight[i] = nearest.cosine[i];
        break;
      case Kind::kGated:
        shares.weight[i] = exponential ? std::exp(static_cast<double>(nearest.cosine[i])) : nearest.cosine[i];
        if (exponential) shares.divisor[j] += shares.weight[i];
        break;
      default:
        shares.weight[i] = 1.0;
        break;
    }
  }
  return shares;
}

at::Tensor combined(const at::Tensor& all, std::span<const std::int32_t> kept, const NearestKept& nearest, const Shares& shares) {
  const at::Tensor source = all.to(at::kCPU).contiguous();
  const at::Tensor result = rows_of(source, kept).contiguous();
  const std::int64_t d = all.size(1);
  const float* from = source.const_data_ptr<float>();
  float* into = result.data_ptr<float>();
  for (std::size_t j = 0; j < kept.size(); ++j) {
    if (shares.count[j] == 0) continue;
    for (std::int64_t i = 0; i < d; ++i) into[static_cast<std::int64_t>(j) * d + i] *= static_cast<float>(shares.own[j]);
  }
  for (std::size_t i = 0; i < nearest.leaving.size(); ++i) {
    if (shares.weight[i] == 0.0) continue;
    add_scaled(into + nearest.target[i] * d, from + nearest.leaving[i] * d, shares.weight[i], d);
  }
  for (std::size_t j = 0; j < kept.size(); ++j) {
    if (shares.count[j] == 0) continue;
    for (std::int64_t i = 0; i < d; ++i) into[static_cast<std::int64_t>(j) * d + i] /= static_cast<float>(shares.divisor[j]);
  }
  return result.to(all.device());
}

}  // namespace

double NearestKept::mean_cosine() const {
  if (cosine.empty()) return 0.0;
  return std::accumulate(cosine.begin(), cosine.end(), 0.0) / static_cast<double>(cosine.size());
}

NearestKept nearest_by_cosine(const at::Tensor& keys, std::span<const std::int32_t> kept) {
  NearestKept nearest;
  nearest.leaving = rows_outside(keys.size(0), kept);
  if (kept.empty()) {
    nearest.target.assign(nearest.leaving.size(), -1);
    nearest.cosine.assign(nearest.leaving.size(), 0.0F);
    return nearest;
  }
  const at::Tensor targets = unit_rows(rows_of(keys, kept)).t();
  const auto count = static_cast<std::int64_t>(nearest.leaving.size());
  for (std::int64_t first = 0; first < count; first += kTileRows) {
    const std::int64_t rows = std::min(kTileRows, count - first);
    const at::Tensor tile =
        unit_rows(rows_of(keys, std::span(nearest.leaving).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(rows))));
    const auto [cosine, index] = at::mm(tile, targets).max(1);
    const at::Tensor cosine_host = cosine.to(at::kCPU).contiguous();
    const at::Tensor index_host = index.to(at::kCPU).contiguous();
    for (std::int64_t i = 0; i < rows; ++i) {
      nearest.cosine.push_back(cosine_host.const_data_ptr<float>()[i]);
      nearest.target.push_back(static_cast<std::int32_t>(index_host.const_data_ptr<std::int64_t>()[i]));
    }
  }
  return nearest;
}

NearestKept nearest_by_index(std::span<const std::int32_t> original, std::span<const std::int32_t> kept,
                             std::span<const std::int32_t> anchors) {
  NearestKept nearest;
  nearest.leaving = rows_outside(std::ssize(original), kept);
  const auto token_of = [&](std::int32_t anchor) { return original[static_cast<std::size_t>(kept[static_cast<std::size_t>(anchor)])]; };
  std::size_t at = 0;  // the first anchor at or after the leaving row
  for (const std::int32_t row : nearest.leaving) {
    const std::int32_t token = original[static_cast<std::size_t>(row)];
    while (at < anchors.size() && token_of(anchors[at]) < token) ++at;
    std::int32_t target = -1;
    if (at < anchors.size()) target = anchors[at];
    if (at > 0) {
      const std::int32_t before = anchors[at - 1];
      // Ties go to the smaller row.
      if (target < 0 || token - token_of(before) <= token_of(target) - token) target = before;
    }
    nearest.target.push_back(target);
    nearest.cosine.push_back(0.0F);
  }
  return nearest;
}

MergedSlots merge_into_targets(const Reduction& reduction, const at::Tensor& keys, const at::Tensor& values,
                               std::span<const std::int32_t> kept, const NearestKept& nearest, double threshold) {
  Shares shares = shares_of(reduction, kept.size(), nearest, threshold);
  MergedSlots merged{combined(keys, kept, nearest, shares), combined(values, kept, nearest, shares), {}};
  merged.merged = std::move(shares.count);
  return merged;
}

double push_probability(const Reduction& reduction, float attention, std::span<const float> others) {
  double reference = 0.0;
  for (const float value : others) {
    if (reduction.push_reference == Reduction::PushReference::kMaximum) {
      reference = std::max(reference, static_cast<double>(value));
    } else {
      reference += static_cast<double>(value) / static_cast<double>(others.size());
    }
  }
  if (!(reference > 0.0)) return attention > 0.0F ? 1.0 : 0.0;
  return std::clamp(static_cast<double>(attention) / reference, 0.0, 1.0);
}

double push_factor(const Reduction& reduction, double probability, std::int64_t layer, std::int64_t kv_head, std::int32_t original) {
  if (reduction.push_expected) return probability;
  const float draw = random_hash_uniform(reduction.seed, static_cast<std::uint64_t>(layer), static_cast<std::uint64_t>(kv_head),
                                         static_cast<std::uint64_t>(original));
  return draw < probability ? 1.0 : 0.0;
}

MergedSlots push_values(const Reduction& reduction, const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> kept,
                        const PushContext& context) {
  const at::Tensor working = values.to(at::kCPU, values.scalar_type(), /*non_blocking=*/false, /*copy=*/true).contiguous();
  const std::int64_t n = values.size(0);
  const std::int64_t d = values.size(1);
  float* rows = working.data_ptr<float>();
  const bool against_kept = reduction.push_reference == Reduction::PushReference::kMaximum;
  std::vector<float> attention_of_kept;
  for (const std::int32_t row : kept) attention_of_kept.push_back(context.attention[static_cast<std::size_t>(row)]);
  std::vector<std::int32_t> received(static_cast<std::size_t>(n), 0);
  for (const std::int32_t row : rows_outside(n, kept)) {
    const std::int64_t receivers = std::min<std::int64_t>(n - 1 - row, reduction.push_window);
    if (receivers == 0) continue;
    const auto at = static_cast<std::size_t>(row);
    const double probability =
        push_probability(reduction, context.attention[at],
                         against_kept ? attention_of_kept : context.attention.subspan(at + 1, static_cast<std::size_t>(receivers)));
    const double factor = push_factor(reduction, probability, context.layer, context.kv_head, context.original[at]);
    if (factor == 0.0) continue;
    for (std::int64_t next = row + 1; next <= row + receivers; ++next) {
      add_scaled(rows + next * d, rows + row * d, factor / static_cast<double>(receivers), d);
      ++received[static_cast<std::size_t>(next)];
    }
  }
  MergedSlots merged{rows_of(keys, kept), rows_of(working, kept).to(values.device()), {}};
  for (const std::int32_t row : kept) merged.merged.push_back(received[static_cast<std::size_t>(row)]);
  return merged;
}

}  // namespace winnow
