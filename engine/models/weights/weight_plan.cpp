#include "engine/models/weights/weight_plan.h"

#include <algorithm>
#include <string_view>

namespace winnow {
namespace {

// True if it is read as a layer's matrix, or as one for each expert; a table of places, a convolution or one product's matrix
// is numbers in any case.
bool of_a_layer(const std::string& name, const StoredTensor& tensor) {
  const bool matrix = tensor.shape.size() == 2 || (tensor.shape.size() == 3 && tensor.shape.front() > 1);
  const auto says = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  return matrix && !says("pos") && !says("mm_input_projection") && !says("conv1d") && !says("conv.conv") && !says("patch_embedding");
}

bool stays_narrow(const std::string& name, const StoredTensor& tensor) {
  return (tensor.type == StoredType::kBF16 || tensor.type == StoredType::kF16) && of_a_layer(name, tensor);
}

// Which tensors of a file go through MatrixPacking says its reader; by their names, the decoder's matrices and its tables.
double bits_of(const MatrixPacking& packing, const std::string& name, const StoredTensor& tensor, double unquantised) {
  const auto says = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  // Routers of experts, and the rates of a gated delta layer.
  const bool stays = name.ends_with(".gate.weight") || says("router.") || says("shared_expert_gate") || says("in_proj_a.") ||
                     says("in_proj_b.") || says("in_proj_ba.");
  if (!of_a_layer(name, tensor) || stays) return unquantised;
  const bool of_decoder = says("layers.") && !says("vis");
  const auto with_rows_of = [&](std::int64_t in) {
    return (of_decoder ? packing.most_bits(in) : packing.most_fine_bits(in)).value_or(unquantised);
  };
  const double upright = with_rows_of(tensor.shape.back());
  // Expert matrices may be stored transposed (WeightReader::packable_experts()), which the name does not tell.
  return tensor.shape.size() == 3 ? std::max(upright, with_rows_of(tensor.shape[1])) : upright;
}

// Few bits become numbers of the type of the rest, which is one of 16 bits where a folder has it as stored.
double unquantised_bits(const WeightPlan& plan, const std::string& name, const StoredTensor& tensor) {
  if (!plan.arithmetic) return in_few_bits(tensor.type) ? 16.0 : 8.0 * static_cast<double>(stored_block(tensor.type).bytes);
  if (plan.matrices_as_stored && stays_narrow(name, tensor)) return 16.0;
  return 8.0 * static_cast<double>(at::elementSize(*plan.arithmetic));
}

}  // namespace

std::string plan_name(at::ScalarType arithmetic, const std::string& packing) {
  const std::string name = arithmetic == at::kBFloat16 ? "bf16" : arithmetic == at::kHalf ? "fp16" : "fp32";
  return packing.empty() ? name : name + ", " + packing;
}

std::uint64_t most_bytes_under(const WeightPlan& plan, const TensorFiles& files) {
  std::uint64_t bytes = 0;
  for (const auto& file : files.files) {
    for (const auto& [name, tensor] : file->tensors()) {
      const bool few = in_few_bits(tensor.type);
      if (few && plan.matrices_as_stored && of_a_layer(name, tensor)) {
        bytes += tensor.bytes();
        continue;
      }
      const double bits = unquantised_bits(plan, name, tensor);
      const double held = plan.packing != nullptr ? bits_of(*plan.packing, name, tensor, bits) : bits;
      bytes += static_cast<std::uint64_t>(static_cast<double>(tensor.elements()) * held / 8.0);
    }
  }
  return bytes;
}

}  // namespace winnow
