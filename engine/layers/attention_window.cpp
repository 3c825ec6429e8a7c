#include "engine/layers/attention_window.h"

#include <algorithm>
#include <span>

#include "engine/device/host_numbers.h"

namespace winnow {

at::Tensor PastWindow::hidden(KvHead head, RowSpan rows, RowSpan slots, at::Device device) const {
  if (tokens == 0 || rows.count == 0 || slots.count == 0) return {};
  const auto seen = std::span(original.at(static_cast<std::size_t>(head)))
                        .subspan(static_cast<std::size_t>(slots.first), static_cast<std::size_t>(slots.count));
  const std::int64_t last_row = first_original + rows.first + rows.count - 1;
  if (last_row - *std::ranges::min_element(seen) < tokens) return {};
  const auto options = at::TensorOptions().dtype(at::kLong).device(device);
  const at::Tensor row = at::arange(first_original + rows.first, last_row + 1, options).unsqueeze(1);
  const at::Tensor slot = index_on(device, seen).unsqueeze(0);
  return (row - slot).ge(tokens);
}

at::Tensor PastWindow::hidden_columns(RowSpan rows, RowSpan columns, at::Device device) const {
  if (tokens == 0 || rows.first + rows.count - 1 - columns.first < tokens) return {};
  const auto options = at::TensorOptions().dtype(at::kLong).device(device);
  const at::Tensor row = at::arange(rows.first, rows.first + rows.count, options).unsqueeze(1);
  return (row - at::arange(columns.first, columns.first + columns.count, options).unsqueeze(0)).ge(tokens);
}

std::vector<std::int64_t> PastWindow::slots_from(KvHead head, std::int32_t first) const {
  const std::vector<std::int32_t>& all = original.at(static_cast<std::size_t>(head));
  std::vector<std::int64_t> slots;
  for (std::size_t slot = 0; slot < all.size(); ++slot) {
    if (all[slot] >= first) slots.push_back(static_cast<std::int64_t>(slot));
  }
  return slots;
}

}  // namespace winnow
