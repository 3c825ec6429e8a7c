#include "engine/kv_cache/unbiased_keys.h"

#include <array>
#include <vector>

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

}  // namespace winnow
