// Host values that GPU kernels read repeatedly: kept in GPU memory, recomputed only when their inputs change and copied only when they
// differ.
//
// Used inside engine/kv_cache; copies share the GPU memory. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/device/host_numbers.h"
#include "engine/kv_cache/kv_cache.h"

namespace winnow {

class KeptNumbers {
 public:
  // made_of: identifies the inputs; equal keys mean equal values. A reader of earlier values keeps their tensor.
  template <class Make>
  DeviceNumbers of(std::vector<std::uint64_t> made_of, const Make& make, at::Device device) {
    if (!there_.defined() || made_of != made_of_) {
      std::vector<std::int32_t> numbers = make();
      if (!there_.defined() || numbers != host_) {
        there_ = numbers_on(device, numbers);
        host_ = std::move(numbers);
      }
      made_of_ = std::move(made_of);
    }
    return {there_, host_};
  }

 private:
  at::Tensor there_;
  std::vector<std::int32_t> host_;  // the current values
  std::vector<std::uint64_t> made_of_;
};

}  // namespace winnow
