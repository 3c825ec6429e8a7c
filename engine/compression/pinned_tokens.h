// The tokens that a decode-phase method must not evict, with a fast test per slot.
//
// Copied into every DecodePolicy from SegmentInfo::pinned. Immutable. No torch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace winnow {

class PinnedTokens {
 public:
  PinnedTokens() = default;
  // Original indices, ascending, each once.
  explicit PinnedTokens(std::span<const std::int32_t> tokens) : count_(std::ssize(tokens)) {
    if (tokens.empty()) return;
    first_ = tokens.front();
    auto marks = std::make_shared<std::vector<bool>>(static_cast<std::size_t>(tokens.back() - first_ + 1), false);
    for (const std::int32_t token : tokens) (*marks)[static_cast<std::size_t>(token - first_)] = true;
    marks_ = std::move(marks);
  }

  bool contains(std::int32_t original) const {
    return marks_ && original >= first_ && original - first_ < std::ssize(*marks_) &&
           (*marks_)[static_cast<std::size_t>(original - first_)];
  }
  std::int64_t count() const { return count_; }
  // Those after the first `sinks` tokens of the conversation.
  std::int64_t count_from(std::int64_t sinks) const {
    std::int64_t before = 0;
    for (std::int32_t token = first_; token < sinks; ++token) before += contains(token) ? 1 : 0;
    return count_ - before;
  }

 private:
  std::int32_t first_ = 0;
  std::int64_t count_ = 0;
  std::shared_ptr<const std::vector<bool>> marks_;  // from first_ on; null: no pins. Shared by a policy's copies
};

}  // namespace winnow
