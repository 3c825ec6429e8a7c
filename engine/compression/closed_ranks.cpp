#include "engine/compression/closed_ranks.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/layers/rotary.h"

namespace winnow {

namespace {

at::Tensor moved(const at::Tensor& keys, std::span<const std::int64_t> positions, double rope_theta) {
  const at::Tensor turns = at::tensor(positions, at::kLong).to(keys.options());
  return turned_keys(keys, turns, rope_theta);
}

}  // namespace

void move_keys(KvCache& cache, LayerId layer, KvHead kv_head, std::span<const std::int64_t> positions) {
  // Usually the newest slots, behind the last gap, stay as they are.
  const auto last = std::find_if(positions.rbegin(), positions.rend(), [](std::int64_t p) { return p != 0; });
  const auto count = static_cast<std::int64_t>(positions.rend() - last);
  if (count == 0) return;
  const at::Tensor keys = cache.gather_keys(layer, kv_head, count).to(at::kFloat);
  cache.write(layer, kv_head, 0, moved(keys, positions.first(static_cast<std::size_t>(count)), cache.shape().rope_theta),
              cache.gather_values(layer, kv_head, count));
}

MovingKeys::MovingKeys(const KvCache& cache, LayerId layer, KvHead kv_head, std::vector<std::int64_t> slots)
    : slots_(std::move(slots)), moved_(slots_.size(), 0) {
  const std::span<const std::int32_t> original = cache.original(layer, kv_head);
  std::vector<at::Tensor> keys;
  for (const std::int64_t slot : slots_) {
    original_.push_back(original[static_cast<std::size_t>(slot)]);
    keys.push_back(cache.row_views(layer, kv_head, slot).first.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true));
  }
  if (!keys.empty()) first_ = at::stack(keys);
}

void MovingKeys::after_leaving(KvCache& cache, LayerId layer, KvHead kv_head, std::span<const std::int32_t> tokens) {
  bool any = false;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const auto newer = std::count_if(tokens.begin(), tokens.end(), [&](std::int32_t token) { return token > original_[i]; });
    moved_[i] += newer;
    any = any || newer > 0;
  }
  if (!any) return;
  const at::Tensor keys = moved(first_, moved_, cache.shape().rope_theta);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const at::Tensor value = cache.row_views(layer, kv_head, slots_[i]).second;
    cache.write(layer, kv_head, slots_[i], keys.narrow(0, static_cast<std::int64_t>(i), 1), value.unsqueeze(0).clone());
  }
}

}  // namespace winnow
