// Small host arrays as tensors on a device, and back: row indices, token positions, weights, addresses.
//
// Used by kv_cache, layers, models, compression and generation. The driver has copied the values when a call returns; nothing waits for the
// device. Threads: any.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <ranges>
#include <vector>

namespace winnow {

// [n], of the array's type.
template <class Number>
at::Tensor numbers_on(at::Device device, const std::vector<Number>& numbers) {
  if (device.is_cpu() || numbers.empty()) return at::tensor(numbers).to(device);
  const at::TensorOptions type(c10::CppTypeToScalarType<Number>::value);
  void* const here = const_cast<Number*>(numbers.data());  // only read
  return at::from_blob(here, {static_cast<std::int64_t>(numbers.size())}, type).to(device, /*non_blocking=*/true);
}

// A tensor's values in order, as that type, wherever it lies.
template <class Number = float>
std::vector<Number> numbers_of(const at::Tensor& values) {
  const at::Tensor host = values.to(at::kCPU, c10::CppTypeToScalarType<Number>::value).contiguous();
  const Number* const first = host.const_data_ptr<Number>();
  return {first, first + host.numel()};
}

// int64 [n], for indexing tensors. numbers: integers of any type.
template <std::ranges::input_range Numbers>
at::Tensor index_on(at::Device device, const Numbers& numbers) {
  return numbers_on(device, std::vector<std::int64_t>(std::ranges::begin(numbers), std::ranges::end(numbers)));
}

}  // namespace winnow
