#include "engine/metrics/selection_quality.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/base/error.h"

namespace winnow {

std::vector<int> top_columns(std::span<const double> row, int k) {
  std::vector<int> order(row.size());
  std::iota(order.begin(), order.end(), 0);
  const auto count = std::clamp<std::ptrdiff_t>(k, 0, static_cast<std::ptrdiff_t>(order.size()));
  std::nth_element(order.begin(), order.begin() + count, order.end(), [&](int a, int b) {
    const double left = row[static_cast<std::size_t>(a)];
    const double right = row[static_cast<std::size_t>(b)];
    return left != right ? left > right : a < b;
  });
  order.resize(static_cast<std::size_t>(count));
  std::sort(order.begin(), order.end());
  return order;
}

double cache_hit_rate(std::span<const double> row, std::span<const int> kept, int k) {
  const std::vector<int> best = top_columns(row, k);
  if (best.empty()) return 0.0;
  const auto hits =
      std::count_if(best.begin(), best.end(), [&](int column) { return std::binary_search(kept.begin(), kept.end(), column); });
  return static_cast<double>(hits) / static_cast<double>(best.size());
}

double kept_attention(std::span<const double> row, std::span<const int> kept) {
  double own = 0.0;
  for (const int column : kept) {
    require(column >= 0 && static_cast<std::size_t>(column) < row.size(), "a kept column outside the row");
    own += row[static_cast<std::size_t>(column)];
  }
  const double all = std::accumulate(row.begin(), row.end(), 0.0);
  return all > 0.0 ? own / all : 0.0;
}

AttentionRow threshold_filter(std::span<const double> row, double p) {
  const double highest = row.empty() ? 0.0 : *std::max_element(row.begin(), row.end());
  AttentionRow filtered(row.begin(), row.end());
  for (double& value : filtered) {
    if (value < p * highest) value = 0.0;
  }
  return filtered;
}

double sparsity(std::span<const AttentionRow> rows, double p) {
  std::size_t zeros = 0;
  std::size_t entries = 0;
  for (const AttentionRow& row : rows) {
    const AttentionRow filtered = threshold_filter(row, p);
    zeros += static_cast<std::size_t>(std::count(filtered.begin(), filtered.end(), 0.0));
    entries += row.size();
  }
  return entries == 0 ? 0.0 : static_cast<double>(zeros) / static_cast<double>(entries);
}

double contribution(std::span<const AttentionRow> rows, const std::vector<bool>& members, double p) {
  if (rows.empty()) return 0.0;
  double sum = 0.0;
  for (const AttentionRow& row : rows) {
    require(row.size() >= members.size(), "an attention row is shorter than the prompt");
    const AttentionRow filtered = threshold_filter(row, p);
    double own = 0.0;
    double all = 0.0;
    for (std::size_t column = 0; column < members.size(); ++column) {
      all += filtered[column];
      if (members[column]) own += filtered[column];
    }
    if (all > 0.0) sum += own / all;
  }
  return sum / static_cast<double>(rows.size());
}

double coverage(std::span<const AttentionRow> rows, const std::vector<bool>& members, double rho) {
  if (rows.empty()) return 0.0;
  double sum = 0.0;
  for (const AttentionRow& row : rows) {
    require(row.size() >= members.size(), "an attention row is shorter than the prompt");
    int own = 0;
    int all = 0;
    for (const int column : top_columns(row, static_cast<int>(std::floor(rho * static_cast<double>(row.size()))))) {
      if (static_cast<std::size_t>(column) >= members.size()) continue;
      ++all;
      if (members[static_cast<std::size_t>(column)]) ++own;
    }
    if (all > 0) sum += static_cast<double>(own) / all;
  }
  return sum / static_cast<double>(rows.size());
}

double attention_output_error(std::span<const float> full, std::span<const float> compressed) {
  require(full.size() == compressed.size(), "attention outputs of unequal length");
  double difference = 0.0;
  double whole = 0.0;
  for (std::size_t i = 0; i < full.size(); ++i) {
    const double gap = static_cast<double>(full[i]) - compressed[i];
    difference += gap * gap;
    whole += static_cast<double>(full[i]) * full[i];
  }
  if (difference == 0.0) return 0.0;
  return whole == 0.0 ? std::numeric_limits<double>::infinity() : std::sqrt(difference / whole);
}

}  // namespace winnow
