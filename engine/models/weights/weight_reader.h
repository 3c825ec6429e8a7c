// Reads a model's weights as layers: checks shape and values of every tensor, and counts them.
//
// Used by the files of this folder while a model loads. Wraps ModelWeights with the model's plan and device; only here are matrices joined
// and quantised. Tensors with NaN or infinity are refused (kDamagedFile, subject: the tensor's name). Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/models/weights/weight_plan.h"
#include "engine/weights/model_weights.h"

namespace winnow {

class WeightReader {
 public:
  WeightReader(ModelWeights& weights, const WeightPlan& plan, at::Device device)
      : weights_(weights), dtype_(plan.arithmetic.value_or(weights.prevailing_type())), plan_(plan), device_(device) {}

  at::ScalarType dtype() const { return dtype_; }  // of the arithmetic
  // The arithmetic dtype and how the matrices read so far are held. Identifies the form of the weights.
  std::string plan_name() const;
  // True if the plan narrows the KV cache, given what was read so far.
  bool narrows_cache() const { return plan_.narrow_cache && dtype_ == at::kFloat && (packed_ || !stored_bytes_.empty()); }
  at::Device device() const { return device_; }
  bool has(const std::string& name) const { return weights_.has(name); }

  at::Tensor tensor(const std::string& name, at::IntArrayRef shape);
  // The same in fp32, whatever the arithmetic is.
  at::Tensor fp32_tensor(const std::string& name, at::IntArrayRef shape) { return elements(name, shape, at::kFloat, device_); }
  // A number without dimensions, which may be infinite.
  double bound(const std::string& name);
  // Never quantised: <prefix>.weight [out, in] and, if required, <prefix>.bias [out].
  enum class Bias : int { kNone = 1, kRequired = 2 };
  Linear linear(const std::string& prefix, std::int64_t out, std::int64_t in, Bias bias) { return linear({{prefix, out}}, in, bias); }
  // A fused matrix: the outputs of the parts side by side, in order.
  struct Part {
    std::string prefix;
    std::int64_t out = 0;
    std::vector<std::int64_t> row_of{};  // the stored row of each row; empty: in order
  };
  Linear linear(const std::vector<Part>& parts, std::int64_t in, Bias bias);
  // Like linear(), quantised as the plan says: for the matrices of a decode step. Blocks kept as stored are checked for finite values, too
  // (kDamagedFile).
  Linear packable_linear(const std::vector<Part>& parts, std::int64_t in, Bias bias);
  // The same for vision encoders and projectors, with the plan's packing for them if they are large, else with the finer packing.
  Linear tower_linear(const std::string& prefix, std::int64_t out, std::int64_t in, Bias bias) {
    return tower_linear({{prefix, out}}, in, bias);
  }
  Linear tower_linear(const std::vector<Part>& parts, std::int64_t in, Bias bias);
  // The matrices of <name> [count, out, in], quantised as the plan says; files may store them transposed, [count, in, out].
  std::vector<Linear> packable_experts(const std::string& name, std::int64_t count, std::int64_t out, std::int64_t in);
  // The same for parts in tensors of their own, each <prefix>.weight [count, out, in].
  std::vector<Linear> packable_experts(const std::vector<Part>& parts, std::int64_t count, std::int64_t in);
  // <prefix>.weight [rows, columns], quantised as the plan says for embedding tables and heads.
  LinearWeight table(const std::string& prefix, std::int64_t rows, std::int64_t columns);
  RmsNorm rms_norm(const std::string& prefix, std::int64_t features, double epsilon);
  RmsNorm wide_rms_norm(const std::string& prefix, std::int64_t features, double epsilon);  // kept in fp32
  // Stored as w - 1, kept in fp32 (Gemma).
  RmsNorm centred_rms_norm(const std::string& prefix, std::int64_t features, double epsilon);
  LayerNorm layer_norm(const std::string& prefix, std::int64_t features, double epsilon);

  std::int64_t parameter_count() const { return parameter_count_; }  // of what was read so far
  std::int64_t weight_bytes() const { return weight_bytes_; }        // as held
  std::int64_t vision_products() const { return vision_products_; }  // numbers in what tower_linear() read

 private:
  ModelWeights& weights_;
  // The stacked parts as stored in the file, if the plan keeps them there; else empty. before: the leading dimension of each part before
  // [out, in], if it has one; the result has as many matrices, else one.
  std::vector<LinearWeight> as_stored(const std::vector<Part>& parts, std::int64_t in, std::optional<std::int64_t> before = std::nullopt);
  // The dtype in which unquantised parts are held, the same for all; under fp32 stored 16-bit types are kept if the plan says so.
  at::ScalarType held_type(const std::vector<Part>& parts) const;
  at::ScalarType held_type(const std::string& name) const;
  // Read, checked and counted.
  at::Tensor elements(const std::string& name, at::IntArrayRef shape, at::ScalarType type, at::Device device);
  enum class Packing : int { kPlain, kFine, kVision };
  // Null: such matrices are not quantised.
  const MatrixPacking* packing_of(Packing packing, std::int64_t elements) const;
  // Matrices that the plan may quantise are read on the CPU.
  at::Device packed_on(const MatrixPacking* packing) const { return packing != nullptr ? at::Device(at::kCPU) : device_; }
  Linear joined(const std::vector<Part>& parts, std::int64_t in, Bias bias, at::Device device);
  // matrix: [out, in], of a type that held_type() says.
  LinearWeight as_weight(const at::Tensor& matrix);
  // all: [count, out, in]. Its matrices, quantised as the plan says; views of `all` where rows are in order.
  std::vector<Linear> packed_each(const at::Tensor& all);
  Linear in_form(const std::vector<Part>& parts, std::int64_t in, Bias bias, Packing packing);
  // Quantised if the plan's packing accepts the matrix. elements: on packed_on() its packing.
  LinearWeight packed(const LinearWeight& elements, Packing packing);
  at::Tensor joined_bias(const std::vector<Part>& parts);
  at::Tensor read_part(const Part& part, const std::string& name, at::IntArrayRef shape, at::TensorOptions as);

  at::ScalarType dtype_;
  WeightPlan plan_;
  std::map<StoredType, std::int64_t> stored_bytes_;  // of matrices kept as stored
  bool packed_ = false;                              // some were quantised by the plan
  bool vision_packed_ = false;                       // likewise, by its packing for vision encoders
  at::Device device_;
  std::int64_t parameter_count_ = 0;
  std::int64_t weight_bytes_ = 0;
  std::int64_t vision_products_ = 0;
};

}  // namespace winnow
