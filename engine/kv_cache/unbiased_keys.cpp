#include "engine/kv_cache/unbiased_keys.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/kv_cache/int8_rows.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostRows = KvCache::kBlockSlots;

// R(p) b of every row, fp32 [n, head_dim].
std::vector<float> offsets_of(const HeadBias& head, std::span<const std::int32_t> rotations, std::int64_t head_dim) {
  std::vector<float> offsets(rotations.size() * static_cast<std::size_t>(head_dim));
  head.rotations->offsets(head.bias, rotations, offsets.data());
  return offsets;
}

void forget_untaken(std::span<const std::uint8_t> taken, std::span<std::int32_t> rotations) {
  for (std::size_t i = 0; i < rotations.size(); ++i) {
    if (taken[i] == 0) rotations[i] = KeyRotations::kNone;
  }
}

}  // namespace

void write_unbiased_keys(KvBlock& block, std::int64_t row, const at::Tensor& keys, const HeadBias& head,
                         std::span<std::int32_t> rotations) {
  const std::vector<float> offsets = offsets_of(head, rotations, keys.size(1));
  std::array<std::uint8_t, kMostRows> taken{};
  block.write_without(row, keys, offsets.data(), taken.data());
  forget_untaken(taken, rotations);
}

void read_unbiased_keys(const KvBlock& block, std::int64_t row, const HeadBias& head, std::span<const std::int32_t> rotations,
                        const at::Tensor& to) {
  block.upcast_with(row, offsets_of(head, rotations, to.size(1)).data(), to);
}

at::Tensor read_as_written(const at::Tensor& keys, const HeadBias& head, std::span<const std::int32_t> rotations) {
  const std::int64_t head_dim = keys.size(1);
  at::Tensor read = at::empty({keys.size(0), head_dim}, keys.options());
  std::vector<std::int8_t> codes(static_cast<std::size_t>(kMostRows * head_dim));
  std::array<float, kMostRows> scales{};
  std::array<std::uint8_t, kMostRows> taken{};
  for (std::int64_t first = 0; first < keys.size(0); first += kMostRows) {
    const std::int64_t count = std::min(kMostRows, keys.size(0) - first);
    const auto some = rotations.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
    std::vector<std::int32_t> stored(some.begin(), some.end());
    narrow_without(keys.narrow(0, first, count), offsets_of(head, stored, head_dim).data(), codes.data(), scales.data(), taken.data());
    forget_untaken(taken, stored);
    upcast_with(codes.data(), scales.data(), offsets_of(head, stored, head_dim).data(), read.narrow(0, first, count));
  }
  return read;
}

}  // namespace winnow
