// Numbers of the host that kernels on a GPU read again and again: in its memory, copied there only when they are others than last time.
//
// Used inside engine/kv_cache; copies share what lies there. Engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "engine/device/host_numbers.h"

namespace winnow {

class KeptNumbers {
 public:
  // int32 [n]. Who still reads the numbers of before keeps their tensor.
  const at::Tensor& of(std::vector<std::int32_t> numbers, at::Device device) {
    if (!there_.defined() || numbers != host_) {
      there_ = numbers_on(device, numbers);
      host_ = std::move(numbers);
    }
    return there_;
  }

 private:
  at::Tensor there_;
  std::vector<std::int32_t> host_;  // what it holds
};

}  // namespace winnow
