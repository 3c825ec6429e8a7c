// Copies device results to the host in one copy, so that the host waits once for all of them.
//
// Used by compression/statistics. Threads: engine thread only.
#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace winnow {

class HostCopies {
 public:
  // fetch() fills `to` with the tensor's elements, in order; it must not move until then. Number: the tensor's type, of 4 or 8 bytes. All
  // tensors are on one device.
  template <class Number>
  void add(const at::Tensor& tensor, std::vector<Number>& to) {
    to.resize(static_cast<std::size_t>(tensor.numel()));
    add(tensor, c10::CppTypeToScalarType<Number>::value, to.data());
  }
  // Waits for the device.
  void fetch();

 private:
  struct Copy {
    at::Tensor from;
    void* to = nullptr;
  };

  void add(const at::Tensor& tensor, at::ScalarType type, void* to);

  std::vector<Copy> copies_;
};

}  // namespace winnow
