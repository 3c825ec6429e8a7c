#include "engine/compression/closed_ranks.h"

#include <algorithm>

#include "engine/layers/rotary.h"

namespace winnow {

void move_keys(KvCache& cache, LayerId layer, KvHead kv_head, const at::Tensor& turns) {
  // Usually the newest slots, behind the last gap, stay as they are.
  const at::Tensor moving = turns.ne(0).any(0).nonzero();
  if (moving.numel() == 0) return;
  const std::int64_t count = moving.max().item<std::int64_t>() + 1;
  const at::Tensor keys = cache.gather_keys(layer, kv_head, count).to(at::kFloat);
  cache.write(layer, kv_head, 0, turned_keys(keys, turns.narrow(1, 0, count).to(keys.options()), cache.shape().rotary),
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
  const at::Tensor turns = at::tensor(moved_, at::kLong).to(first_.options()).unsqueeze(0);
  const at::Tensor keys = turned_keys(first_, turns, cache.shape().rotary);
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const at::Tensor value = cache.row_views(layer, kv_head, slots_[i]).second;
    cache.write(layer, kv_head, slots_[i], keys.narrow(0, static_cast<std::int64_t>(i), 1), value.unsqueeze(0).clone());
  }
}

}  // namespace winnow
