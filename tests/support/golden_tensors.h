// Tensors of a golden .safetensors file, integers included; the weight loader takes floats only.
#pragma once

#include <ATen/ATen.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "engine/weights/safetensors.h"

namespace winnow::test_support {

class GoldenTensors {
 public:
  explicit GoldenTensors(const std::string& path) : file_(path) {}

  bool has(const std::string& name) const { return file_.tensors().contains(name); }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& [name, tensor] : file_.tensors()) names.push_back(name);
    return names;
  }

  at::Tensor load(const std::string& name) const {
    const StoredTensor& stored = file_.tensor(name);
    at::Tensor values = at::empty(stored.shape, at::TensorOptions().dtype(type_of(stored.type)));
    file_.read(stored, 0, {static_cast<std::byte*>(values.data_ptr()), static_cast<std::size_t>(values.nbytes())});
    return values;
  }

 private:
  static at::ScalarType type_of(StoredType type) {
    switch (type) {
      case StoredType::kF32: return at::kFloat;
      case StoredType::kF16: return at::kHalf;
      case StoredType::kBF16: return at::kBFloat16;
      case StoredType::kI64: return at::kLong;
      case StoredType::kI32: return at::kInt;
      case StoredType::kU8: return at::kByte;
      default: throw std::runtime_error("a golden file of another element type");
    }
  }
  SafetensorsFile file_;
};

}  // namespace winnow::test_support
