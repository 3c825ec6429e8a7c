#include "engine/compression/decode/unit_keys.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"
#include "engine/kv_cache/element_type.h"
#include "engine/layers/rotary.h"

namespace winnow {
namespace {

float make_unit_key(KvCache& cache, const OwnSlotOf& one, bool rotated_back) {
  const auto [key_row, value_row] = cache.row_views(one.layer, one.head, one.slot);
  at::Tensor key = key_row.to(at::kFloat, /*non_blocking=*/false, /*copy=*/true).unsqueeze(0);
  const at::Tensor value = value_row.clone().unsqueeze(0);
  if (rotated_back) key = rotated_keys(key, at::full({1, 1}, -static_cast<double>(one.original), key.options()), cache.shape().rotary);
  const float length = at::linalg_vector_norm(key).item<float>();
  cache.write(one.layer, one.head, one.slot, key / std::max(length, kernels::kLeastKeyLength), value);
  return length;
}

at::Tensor unit_keys_on_device(KvCache& cache, std::span<const OwnSlotOf> slots, bool rotated_back) {
  const KvShape& shape = cache.shape();
  static_assert(sizeof(kernels::UnitKey) % sizeof(std::int64_t) == 0);
  constexpr std::size_t kKeyWords = sizeof(kernels::UnitKey) / sizeof(std::int64_t);
  const auto pairs = static_cast<std::size_t>(rotated_back ? shape.head_dim / 2 : 0);
  // The keys, and behind them the frequencies, in one copy.
  std::vector<std::int64_t> words(slots.size() * kKeyWords + (pairs + 1) / 2, 0);
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const OwnSlotOf& one = slots[i];
    kernels::UnitKey key;
    key.key = DeviceSide::key_to_write(cache, one.layer, one.head, one.slot);
    key.rotation = -static_cast<float>(one.original);
    std::memcpy(words.data() + i * kKeyWords, &key, sizeof key);
  }
  if (rotated_back) {
    require_turn(shape.rotary);
    require(shape.rotary.axes() == 1, "shared slots: keys that are rotated have one axis");
    const at::Tensor frequencies = turn_frequencies(shape.head_dim, shape.rotary);
    std::memcpy(words.data() + slots.size() * kKeyWords, frequencies.const_data_ptr<float>(), pairs * sizeof(float));
  }
  const at::Tensor there = numbers_on(shape.device, words);
  at::Tensor lengths = at::empty({std::ssize(slots)}, there.options().dtype(at::kFloat));

  const auto* const first = there.const_data_ptr<std::int64_t>();
  kernels::CudaUnitKeysArgs args;
  args.type = element_type(shape.row_type());
  args.head_dim = shape.head_dim;
  args.count = std::ssize(slots);
  args.keys = reinterpret_cast<const kernels::UnitKey*>(first);
  if (rotated_back) args.frequencies = reinterpret_cast<const float*>(first + slots.size() * kKeyWords);
  args.lengths = lengths.mutable_data_ptr<float>();
  require_launched(cuda_plugin().unit_keys(&args), "keys at length 1");
  return lengths;
}

}  // namespace

at::Tensor make_unit_keys(KvCache& cache, std::span<const OwnSlotOf> slots, bool rotated_back) {
  if (!slots.empty() && !cache.shape().device.is_cpu()) return unit_keys_on_device(cache, slots, rotated_back);
  std::vector<float> lengths;
  for (const OwnSlotOf& one : slots) lengths.push_back(make_unit_key(cache, one, rotated_back));
  return numbers_on(at::kCPU, lengths);
}

}  // namespace winnow
