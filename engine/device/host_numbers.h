// Small numbers of the host as a tensor where they are wanted: rows to take, places of tokens, weights, addresses.
//
// Used by kv_cache, layers, models, compression and generation. The driver has the numbers when a call returns, and nobody waits for the
// device. Threads: any.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <ranges>
#include <vector>

namespace winnow {

// [n], of the numbers' own type.
template <class Number>
at::Tensor numbers_on(at::Device device, const std::vector<Number>& numbers) {
  if (device.is_cpu() || numbers.empty()) return at::tensor(numbers).to(device);
  const at::TensorOptions type(c10::CppTypeToScalarType<Number>::value);
  void* const here = const_cast<Number*>(numbers.data());  // only read
  return at::from_blob(here, {static_cast<std::int64_t>(numbers.size())}, type).to(device, /*non_blocking=*/true);
}

// int64 [n], which is what tensors are indexed by. numbers: whole ones of any type.
template <std::ranges::input_range Numbers>
at::Tensor index_on(at::Device device, const Numbers& numbers) {
  return numbers_on(device, std::vector<std::int64_t>(std::ranges::begin(numbers), std::ranges::end(numbers)));
}

}  // namespace winnow
