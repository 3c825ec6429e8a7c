// The weights of one model as layers: every tensor with its shape and values checked, and counted.
//
// Used by the files of this folder while a model loads. Wraps ModelWeights with the model's dtype and device. A tensor that holds NaN or
// infinity is refused (kDamagedFile, subject: the tensor's name): it would turn every answer into noise. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <string>

#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/weights/model_weights.h"

namespace winnow {

class WeightReader {
 public:
  WeightReader(ModelWeights& weights, at::ScalarType dtype, at::Device device) : weights_(weights), dtype_(dtype), device_(device) {}

  at::ScalarType dtype() const { return dtype_; }
  at::Device device() const { return device_; }
  bool has(const std::string& name) const { return weights_.has(name); }

  at::Tensor tensor(const std::string& name, at::IntArrayRef shape);
  // <prefix>.weight [out, in] and, if asked for, <prefix>.bias [out].
  enum class Bias : int { kNone = 1, kRequired = 2 };
  Linear linear(const std::string& prefix, std::int64_t out, std::int64_t in, Bias bias);
  RmsNorm rms_norm(const std::string& prefix, std::int64_t features, double epsilon);
  LayerNorm layer_norm(const std::string& prefix, std::int64_t features, double epsilon);

  std::int64_t parameter_count() const { return parameter_count_; }  // of what was read so far
  std::int64_t weight_bytes() const { return parameter_count_ * static_cast<std::int64_t>(at::elementSize(dtype_)); }

 private:
  ModelWeights& weights_;
  at::ScalarType dtype_;
  at::Device device_;
  std::int64_t parameter_count_ = 0;
};

}  // namespace winnow
