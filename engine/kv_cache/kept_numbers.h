// Numbers of the host that kernels on a GPU read again and again: in its memory, made only when what they are made of has changed, copied
// there only when they are others than last time.
//
// Used inside engine/kv_cache; copies share what lies there. Engine thread only.
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
  // made_of: the same numbers have the same. Who still reads the numbers of before keeps their tensor.
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
  std::vector<std::int32_t> host_;  // what it holds
  std::vector<std::uint64_t> made_of_;
};

}  // namespace winnow
