#include "engine/compression/statistics/elite_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"

namespace winnow {

namespace {

constexpr double kNoVote = -std::numeric_limits<double>::infinity();

// Rows of the instruction, ascending.
std::vector<std::int64_t> instruction_rows(const SegmentInfo& segment, const EliteNeed& need, bool& fallback) {
  constexpr std::int64_t kFallbackRows = 32;
  const std::int64_t last_visual = segment.last_visual();
  std::vector<std::int64_t> text, instruction;
  for (std::int64_t row = segment.first_row; row < segment.tokens; ++row) {
    const Modality modality = segment.modality[static_cast<std::size_t>(row)];
    if (is_attached(modality)) continue;
    text.push_back(row);
    if (modality == Modality::kText && (need.all_instruction || row > last_visual)) instruction.push_back(row);
  }
  fallback = instruction.empty();
  if (fallback) instruction.assign(text.end() - std::min<std::ptrdiff_t>(kFallbackRows, std::ssize(text)), text.end());
  return instruction;
}

// Scaled queries of some rows as [Hkv, G * rows, d]. Retained rows come first and have none.
at::Tensor queries_of(const LayerView& view, const at::Tensor& rows) {
  return (view.query.index_select(1, rows - (view.key.size(1) - view.query.size(1))).to(at::kFloat) * view.scale)
      .reshape({view.key.size(0), -1, view.query.size(2)});
}

at::Tensor keys_of(const LayerView& view, const at::Tensor& rows) { return view.key.index_select(1, rows).to(at::kFloat).transpose(1, 2); }

// Which rows of the instruction one row of attention to them makes elite: indices, ascending.
std::vector<std::int64_t> elite_of(std::span<const float> attention, const EliteNeed& need) {
  const auto count = std::ssize(attention);
  std::vector<std::int64_t> elite;
  if (need.rule == EliteNeed::Rule::kShare) {
    std::vector<std::int64_t> order(attention.size());
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto value = [&](std::int64_t i) -> double {
      const float share = attention[static_cast<std::size_t>(i)];
      return std::isnan(share) ? kNoVote : share;
    };
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) { return value(a) > value(b); });
    const double wanted = std::ceil((1.0 - need.alpha) * static_cast<double>(count) - 1e-9);
    elite.assign(order.begin(), order.begin() + std::max<std::int64_t>(1, static_cast<std::int64_t>(wanted)));
    std::sort(elite.begin(), elite.end());
    return elite;
  }
  const double threshold = need.alpha * *std::max_element(attention.begin(), attention.end());
  for (std::int64_t i = 0; i < count; ++i) {
    if (attention[static_cast<std::size_t>(i)] >= threshold) elite.push_back(i);
  }
  // Only numbers that do not compare (NaN) leave nobody: the last token then judges alone.
  if (elite.empty()) elite.push_back(count - 1);
  return elite;
}

// Per query head, as indices into the instruction.
std::vector<std::vector<std::int64_t>> elite_sets(const LayerView& view, const std::vector<std::int64_t>& instruction,
                                                  const EliteNeed& need) {
  const at::Tensor rows = numbers_on(view.query.device(), instruction);
  const std::int64_t heads = view.query.size(0);
  const at::Tensor logits = at::bmm(queries_of(view, rows.narrow(0, rows.size(0) - 1, 1)), keys_of(view, rows));
  at::Tensor attention = at::softmax(logits.reshape({heads, rows.size(0)}), 1);
  const bool each = need.heads == EliteNeed::Heads::kEach;
  if (!each) attention = attention.mean(0, true);
  attention = attention.to(at::kCPU).contiguous();
  std::vector<std::vector<std::int64_t>> sets;
  for (std::int64_t set = 0; set < attention.size(0); ++set) {
    sets.push_back(elite_of({attention.const_data_ptr<float>() + set * rows.size(0), instruction.size()}, need));
  }
  if (!each) sets.resize(static_cast<std::size_t>(heads), sets.front());
  return sets;
}

// judges: ascending.
at::Tensor strangers(const std::vector<std::vector<std::int64_t>>& elite, const std::vector<std::int64_t>& judges) {
  at::Tensor stranger = at::ones({std::ssize(elite), std::ssize(judges)}, at::kBool);
  for (std::size_t head = 0; head < elite.size(); ++head) {
    bool* const of_head = stranger.data_ptr<bool>() + head * judges.size();
    for (const std::int64_t row : elite[head]) of_head[std::ranges::lower_bound(judges, row) - judges.begin()] = false;
  }
  return stranger;
}

double adjusted_skewness(const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  if (values.size() < 3) return 0.0;
  double mean = 0.0;
  for (const double value : values) mean += value / count;
  double squares = 0.0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / (count - 1.0));
  if (!(deviation > 0.0)) return 0.0;
  double cubes = 0.0;
  for (const double value : values) cubes += std::pow((value - mean) / deviation, 3.0);
  return count / ((count - 1.0) * (count - 2.0)) * cubes;
}

}  // namespace

EliteAttention elite_attention(const LayerView& view, const SegmentInfo& segment, const EliteNeed& need) {
  require(view.query.size(1) + segment.first_row == segment.tokens, "elite_attention: the view is not of this segment");
  const std::int64_t kv_heads = view.key.size(0);
  EliteAttention result;
  result.importance = {kv_heads, segment.tokens, std::vector<float>(static_cast<std::size_t>(kv_heads * segment.tokens), 0.0F)};
  for (std::int64_t row = 0; row < segment.tokens; ++row) {
    if (is_attached(segment.modality[static_cast<std::size_t>(row)])) result.visual.push_back(row);
  }
  const std::vector<std::int64_t> instruction = instruction_rows(segment, need, result.fallback);
  const auto visual_count = static_cast<std::int64_t>(result.visual.size());
  if (visual_count == 0 || instruction.empty()) return result;
  const std::vector<std::vector<std::int64_t>> sets = elite_sets(view, instruction, need);
  std::vector<std::int64_t> judges;  // rows that are elite in some head
  for (const std::vector<std::int64_t>& set : sets) {
    std::vector<std::int64_t>& rows = result.elite.emplace_back();
    for (const std::int64_t i : set) rows.push_back(instruction[static_cast<std::size_t>(i)]);
    judges.insert(judges.end(), rows.begin(), rows.end());
  }
  std::ranges::sort(judges);
  judges.erase(std::ranges::unique(judges).begin(), judges.end());

  const at::Device device = view.query.device();
  const at::Tensor elite = numbers_on(device, judges);
  const at::Tensor visual = numbers_on(device, result.visual);
  const std::int64_t heads = view.query.size(0);
  const at::Tensor stranger = strangers(result.elite, judges).to(device);  // [heads, judges]: not of this head's elite
  const at::Tensor keys = keys_of(view, at::cat({visual, elite}));
  const std::int64_t columns = keys.size(2);
  at::Tensor importance = at::zeros({heads, visual_count}, at::TensorOptions().dtype(at::kFloat).device(device));
  // On a GPU a tile's launches take longer than its numbers, while these are few.
  constexpr std::int64_t kTileRows = 16;
  constexpr std::int64_t kGpuTileNumbers = std::int64_t{1} << 24;
  const std::int64_t tile_rows =
      device.is_cpu() ? kTileRows : std::clamp<std::int64_t>(kGpuTileNumbers / (heads * columns), kTileRows, 128);
  for (std::int64_t first = 0; first < elite.size(0); first += tile_rows) {
    const at::Tensor rows = elite.narrow(0, first, std::min(tile_rows, elite.size(0) - first));
    at::Tensor logits = at::bmm(queries_of(view, rows), keys).reshape({heads, rows.size(0), columns});
    at::Tensor among = logits.narrow(2, visual_count, elite.size(0));
    among.masked_fill_(elite.unsqueeze(0).gt(rows.unsqueeze(1)), kNoVote);
    among.masked_fill_(stranger.unsqueeze(1), kNoVote);
    // Only text before an image (option all_instruction) comes before a visual token, which it then does not see.
    logits.narrow(2, 0, visual_count).masked_fill_(visual.unsqueeze(0).gt(rows.unsqueeze(1)), kNoVote);
    at::Tensor seen = at::softmax(logits, 2).narrow(2, 0, visual_count);
    seen.masked_fill_(stranger.narrow(1, first, rows.size(0)).unsqueeze(2), 0.0);
    importance.add_(seen.sum(1));
  }
  importance.div_(stranger.logical_not().sum(1, true));

  const at::Tensor per_kv = importance.reshape({kv_heads, -1, visual_count}).mean(1).to(at::kCPU).contiguous();
  const float* values = per_kv.const_data_ptr<float>();
  std::vector<double> mean(static_cast<std::size_t>(visual_count), 0.0);
  for (KvHead head{0}; head < kv_heads; ++head) {
    for (std::int64_t v = 0; v < visual_count; ++v) {
      const float value = values[head * visual_count + v];
      result.importance.row(head)[static_cast<std::size_t>(result.visual[static_cast<std::size_t>(v)])] = value;
      mean[static_cast<std::size_t>(v)] += value / static_cast<double>(kv_heads);
    }
  }
  for (const double value : mean) result.strength += value;
  result.skew = adjusted_skewness(mean);
  return result;
}

}  // namespace winnow
