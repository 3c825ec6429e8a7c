// What benchmarks of the engine on a GPU share: the device, the time of calls on it, what it reads at most, and the one number that they
// may be given.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "engine/device/cuda_plugin.h"

namespace winnow::testing {

const at::Device kGpu(at::kCUDA, 0);

// Of `call`, of which `calls` are under way at once, as in a decode step.
template <class Call>
double seconds(int calls, Call call) {
  synchronize_device();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i) call();
  synchronize_device();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / calls;
}

inline double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

// What the device reads at most: a sum over a tensor of so many bytes, the median of some rounds.
inline double bytes_read_a_second(std::int64_t bytes, int rounds) {
  const at::Tensor numbers = at::zeros({bytes / 4}, at::TensorOptions(kGpu).dtype(at::kFloat));
  std::vector<double> times;
  for (int i = 0; i < rounds; ++i) times.push_back(seconds(3, [&] { numbers.sum(); }));
  return static_cast<double>(bytes) / median(times);
}

// The only argument, at least `least`; `otherwise` where there is none; nothing for anything else.
inline std::optional<std::int64_t> only_number(int argc, char** argv, std::int64_t otherwise, std::int64_t least) {
  if (argc < 2) return otherwise;
  std::int64_t number = 0;
  const char* const end = argv[1] + std::strlen(argv[1]);
  const auto [stop, error] = std::from_chars(argv[1], end, number);
  if (argc > 2 || error != std::errc() || stop != end || number < least) return std::nullopt;
  return number;
}

}  // namespace winnow::testing
