// The weights of one model as layers: every tensor with its shape and values checked, and counted.
//
// Used by the files of this folder while a model loads. Wraps ModelWeights with the model's plan and device: here, and only here, matrices
// are joined and packed. A tensor that holds NaN or infinity is refused (kDamagedFile, subject: the tensor's name): it would turn every
// answer into noise. Threads: engine thread.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/layers/linear.h"
#include "engine/layers/norm.h"
#include "engine/models/weight_plan.h"
#include "engine/weights/model_weights.h"

namespace winnow {

class WeightReader {
 public:
  WeightReader(ModelWeights& weights, const WeightPlan& plan, at::Device device)
      : weights_(weights), dtype_(plan.arithmetic.value_or(weights.prevailing_type())), plan_(plan), device_(device) {}

  at::ScalarType dtype() const { return dtype_; }  // of the arithmetic
  // Of what was read so far: the arithmetic, and how matrices are held. Weights that are held otherwise have another one.
  std::string plan_name() const;
  // Of what was read so far: the plan narrows the cache that belongs to it.
  bool narrows_cache() const { return plan_.narrow_cache && dtype_ == at::kFloat && (packed_ || !stored_bytes_.empty()); }
  at::Device device() const { return device_; }
  bool has(const std::string& name) const { return weights_.has(name); }

  at::Tensor tensor(const std::string& name, at::IntArrayRef shape);
  // Numbers in any case: <prefix>.weight [out, in] and, if asked for, <prefix>.bias [out].
  enum class Bias : int { kNone = 1, kRequired = 2 };
  Linear linear(const std::string& prefix, std::int64_t out, std::int64_t in, Bias bias) { return linear({{prefix, out}}, in, bias); }
  // One matrix product instead of several: the outputs of the parts side by side, in order.
  struct Part {
    std::string prefix;
    std::int64_t out = 0;
    std::vector<std::int64_t> row_of{};  // the stored row of each row; empty: in order
  };
  Linear linear(const std::vector<Part>& parts, std::int64_t in, Bias bias);
  // As linear(), in the form that the plan says: for the products that a decode step is made of. Blocks that stay as they are stored are
  // finite numbers (kDamagedFile otherwise).
  Linear packable_linear(const std::vector<Part>& parts, std::int64_t in, Bias bias);
  // The same of towers and projectors, whose packing is the finer one.
  Linear tower_linear(const std::string& prefix, std::int64_t out, std::int64_t in, Bias bias) {
    return tower_linear({{prefix, out}}, in, bias);
  }
  Linear tower_linear(const std::vector<Part>& parts, std::int64_t in, Bias bias);
  // Of <name> [count, out, in] a matrix each, in the form that the plan says; files may have each of them turned over, [count, in, out].
  std::vector<Linear> packable_experts(const std::string& name, std::int64_t count, std::int64_t out, std::int64_t in);
  // The same of parts that are stored one beside the other, each <prefix>.weight [count, out, in].
  std::vector<Linear> packable_experts(const std::vector<Part>& parts, std::int64_t count, std::int64_t in);
  // <prefix>.weight [rows, columns], in the form that the plan says for what rows are looked up in or what logits come from.
  LinearWeight table(const std::string& prefix, std::int64_t rows, std::int64_t columns);
  RmsNorm rms_norm(const std::string& prefix, std::int64_t features, double epsilon);
  // Stored as what is added to one, kept in fp32 (Gemma).
  RmsNorm centred_rms_norm(const std::string& prefix, std::int64_t features, double epsilon);
  LayerNorm layer_norm(const std::string& prefix, std::int64_t features, double epsilon);

  std::int64_t parameter_count() const { return parameter_count_; }  // of what was read so far
  std::int64_t weight_bytes() const { return weight_bytes_; }        // as held

 private:
  ModelWeights& weights_;
  // The parts where they lie, one below the other, if the plan leaves them there; empty otherwise. before: how many such matrices each part
  // has in front of [out, in]; nothing: it is one, and so is what is returned.
  std::vector<LinearWeight> as_stored(const std::vector<Part>& parts, std::int64_t in, std::optional<std::int64_t> before = std::nullopt);
  // In which type the parts are held as numbers, all in one: fp32 of 16 bits stays as stored if the plan says so.
  at::ScalarType held_type(const std::vector<Part>& parts) const;
  at::ScalarType held_type(const std::string& name) const;
  // Read, checked and counted.
  at::Tensor elements(const std::string& name, at::IntArrayRef shape, at::ScalarType type, at::Device device);
  // Where matrices are read that the plan may pack, which is done on the CPU.
  at::Device packed_on() const { return plan_.packing != nullptr ? at::Device(at::kCPU) : device_; }
  Linear joined(const std::vector<Part>& parts, std::int64_t in, Bias bias, at::Device device);
  // matrix: [out, in], of a type that held_type() says.
  LinearWeight as_weight(const at::Tensor& matrix);
  // all: [count, out, in]. A matrix each, which share its numbers where they lie in order; in the form that the plan says.
  std::vector<Linear> packed_each(const at::Tensor& all);
  enum class Packing : int { kPlain, kFine };
  Linear in_form(const std::vector<Part>& parts, std::int64_t in, Bias bias, Packing packing);
  // As the plan's packing has it, where it takes it; numbers: on packed_on().
  LinearWeight packed(const LinearWeight& elements, Packing packing);
  at::Tensor joined_bias(const std::vector<Part>& parts);
  at::Tensor read_part(const Part& part, const std::string& name, at::IntArrayRef shape, at::TensorOptions as);

  at::ScalarType dtype_;
  WeightPlan plan_;
  std::map<StoredType, std::int64_t> stored_bytes_;  // of matrices that stayed as they are stored
  bool packed_ = false;                              // some are as the plan's packing has them
  at::Device device_;
  std::int64_t parameter_count_ = 0;
  std::int64_t weight_bytes_ = 0;
};

}  // namespace winnow
