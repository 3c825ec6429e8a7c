// Rotary positions of a conversation's tokens by original index: those by which cached keys are rotated.
//
// Part of Conversation; used by methods that re-rotate keys, and saved with the cache. 4 bytes per token and axis, on the host. Engine
// thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

#include "engine/base/error.h"

namespace winnow {

class PositionList {
 public:
  explicit PositionList(std::int64_t axes) : axes_(axes) {}

  std::int64_t axes() const { return axes_; }
  std::int64_t size() const { return std::ssize(values_) / axes_; }

  // [axes, n], of the next n tokens.
  void append(const at::Tensor& positions) {
    require(positions.dim() == 2 && positions.size(0) == axes_, "PositionList: positions with other axes");
    const at::Tensor rows = positions.to(at::kCPU).to(at::kInt).t().contiguous();
    const auto* first = rows.const_data_ptr<std::int32_t>();
    values_.insert(values_.end(), first, first + rows.numel());
  }
  // A text token's position is the same on every axis.
  void append_text(std::int64_t position) {
    values_.insert(values_.end(), static_cast<std::size_t>(axes_), static_cast<std::int32_t>(position));
  }
  // Keeps the first `tokens`.
  void cut(std::int64_t tokens) { values_.resize(static_cast<std::size_t>(tokens * axes_)); }

  // int64 [axes, count] of tokens [first, first + count), on the host.
  at::Tensor slice(std::int64_t first, std::int64_t count) const {
    require(first >= 0 && count >= 0 && first + count <= size(), "PositionList: no such tokens");
    const auto from = values_.begin() + static_cast<std::ptrdiff_t>(first * axes_);
    const std::vector<std::int64_t> part(from, from + static_cast<std::ptrdiff_t>(count * axes_));
    return at::tensor(part, at::kLong).view({count, axes_}).t().contiguous();
  }

 private:
  std::int64_t axes_;
  std::vector<std::int32_t> values_;  // token by token
};

}  // namespace winnow
