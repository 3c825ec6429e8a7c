#include "engine/models/weights/weight_reader.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/base/error.h"
#include "engine/layers/device_block_matrix.h"
#include "engine/layers/upcast_matrix.h"

namespace winnow {
namespace {

// Which stored row is each of `wanted`, which are rows of the whole matrix; empty: all of them, or those where they lie.
std::vector<std::int32_t> in_order(const std::vector<std::int64_t>& wanted, std::vector<std::int32_t> stored) {
  if (wanted.empty()) return stored;
  std::vector<std::int32_t> order;
  for (const std::int64_t row : wanted)
    order.push_back(stored.empty() ? static_cast<std::int32_t>(row) : stored[static_cast<std::size_t>(row)]);
  return order;
}

}  // namespace

at::Tensor WeightReader::tensor(const std::string& name, at::IntArrayRef shape) { return elements(name, shape, dtype_, device_); }

double WeightReader::bound(const std::string& name) {
  const bool listed = weights_.has(name) && weights_.shape(name) == std::vector<std::int64_t>{1};  // as GGUF has numbers
  const std::vector<std::int64_t> shape(listed ? 1 : 0, 1);
  const double value = weights_.load(name, shape, at::kFloat, at::kCPU).item<double>();
  if (std::isnan(value)) throw Exception(ErrorCode::kDamagedFile, name, "a bound is not a number");
  return value;
}

at::Tensor WeightReader::elements(const std::string& name, at::IntArrayRef shape, at::ScalarType type, at::Device device) {
  at::Tensor values = weights_.load(name, shape, type, device);
  // Smallest and largest carry NaN along: one pass, no mask of the tensor's size.
  const auto [smallest, largest] = at::aminmax(values);
  if (!std::isfinite(smallest.item<float>()) || !std::isfinite(largest.item<float>())) {
    throw Exception(ErrorCode::kDamagedFile, name, "the tensor holds values that are not finite numbers");
  }
  parameter_count_ += values.numel();
  weight_bytes_ += values.numel() * static_cast<std::int64_t>(values.element_size());
  return values;
}

std::string WeightReader::plan_name() const {
  // Few bits name a model, whatever else is in it.
  const auto weighs = [](const auto& entry) { return std::pair(in_few_bits(entry.first), entry.second); };
  const auto most = std::ranges::max_element(stored_bytes_, {}, weighs);
  const bool few = most != stored_bytes_.end() && in_few_bits(most->first);
  std::string held = few || (!packed_ && most != stored_bytes_.end()) ? std::string(stored_type_name(most->first)) : "";
  if (packed_) held.append(held.empty() ? "" : " + ").append(plan_.packing->name());
  if (vision_packed_) held.append(held.empty() ? "vision " : ", vision ").append(plan_.vision_packing->name());
  return winnow::plan_name(dtype_, held);
}

at::ScalarType WeightReader::held_type(const std::string& name) const {
  if (!plan_.matrices_as_stored || dtype_ != at::kFloat || !device_.is_cpu() || !weights_.has(name)) return dtype_;
  const StoredType stored = weights_.stored_type(name);
  return stored == StoredType::kBF16 ? at::kBFloat16 : stored == StoredType::kF16 ? at::kHalf : dtype_;
}

at::ScalarType WeightReader::held_type(const std::vector<Part>& parts) const {
  const at::ScalarType first = held_type(parts.front().prefix + ".weight");
  const auto alike = [&](const Part& part) { return held_type(part.prefix + ".weight") == first; };
  return std::ranges::all_of(parts, alike) ? first : dtype_;
}

LinearWeight WeightReader::as_weight(const at::Tensor& matrix) {
  if (matrix.scalar_type() == dtype_) return matrix;
  stored_bytes_[matrix.scalar_type() == at::kHalf ? StoredType::kF16 : StoredType::kBF16] += static_cast<std::int64_t>(matrix.nbytes());
  return LinearWeight(std::make_shared<UpcastMatrix>(matrix));
}

at::Tensor WeightReader::read_part(const Part& part, const std::string& name, at::IntArrayRef shape, at::TensorOptions as) {
  at::Tensor values = elements(name, shape, at::typeMetaToScalarType(as.dtype()), as.device());
  if (part.row_of.empty()) return values;
  return values.index_select(0, at::tensor(part.row_of, as.dtype(at::kLong)));
}

at::Tensor WeightReader::joined_bias(const std::vector<Part>& parts) {
  std::vector<at::Tensor> biases;
  for (const Part& each : parts)
    biases.push_back(read_part(each, each.prefix + ".bias", {each.out}, at::TensorOptions(device_).dtype(dtype_)));
  return biases.size() == 1 ? biases.front() : at::cat(biases, 0);
}

Linear WeightReader::linear(const std::vector<Part>& parts, std::int64_t in, Bias bias) { return joined(parts, in, bias, device_); }

Linear WeightReader::joined(const std::vector<Part>& parts, std::int64_t in, Bias bias, at::Device device) {
  require(!parts.empty(), "a linear layer has a part");
  const at::TensorOptions as = at::TensorOptions(device).dtype(held_type(parts));
  const auto read = [&](const Part& each) { return read_part(each, each.prefix + ".weight", {each.out, in}, as); };
  Linear layer;
  if (parts.size() == 1) {
    layer.weight = as_weight(read(parts.front()));
  } else {
    // Part by part into its rows, so that one part at a time is held twice; the first is found as configured before all are allocated.
    std::int64_t rows = 0;
    for (const Part& each : parts) rows += each.out;
    at::Tensor joined;
    std::int64_t row = 0;
    for (const Part& each : parts) {
      const at::Tensor part = read(each);
      if (!joined.defined()) joined = at::empty({rows, in}, part.options());
      joined.narrow(0, std::exchange(row, row + each.out), each.out).copy_(part);
    }
    layer.weight = as_weight(joined);
  }
  if (bias == Bias::kRequired) layer.bias = joined_bias(parts);
  return layer;
}

std::vector<LinearWeight> WeightReader::as_stored(const std::vector<Part>& parts, std::int64_t in, std::optional<std::int64_t> before) {
  const auto in_blocks = [&](const Part& part) {
    return weights_.has(part.prefix + ".weight") && in_few_bits(weights_.stored_type(part.prefix + ".weight"));
  };
  if (!plan_.matrices_as_stored || !std::ranges::any_of(parts, in_blocks)) return {};
  const auto readable = [&](const Part& part) { return block_type(weights_.stored_type(part.prefix + ".weight")).has_value(); };
  if (!std::ranges::all_of(parts, readable)) return {};
  const auto matrices = static_cast<std::size_t>(before.value_or(1));
  std::vector<std::vector<BlockRows>> rows(matrices);
  std::vector<std::shared_ptr<const void>> owners;
  std::map<StoredType, std::int64_t> bytes;
  for (const Part& part : parts) {
    const std::string name = part.prefix + ".weight";
    std::vector<std::int64_t> shape = {part.out, in};
    if (before) shape.insert(shape.begin(), *before);
    StoredMatrix stored = weights_.stored(name, shape);
    const kernels::BlockType type = *block_type(stored.type);
    if (!kernels::finite_blocks(type, stored.bytes.data(), std::ssize(stored.bytes) / kernels::block_bytes(type)))
      throw Exception(ErrorCode::kDamagedFile, name, "the tensor holds values that are not finite numbers");
    bytes[stored.type] += std::ssize(stored.bytes);
    const std::vector<std::int32_t> order = in_order(part.row_of, stored.row_of);
    const std::size_t each = stored.bytes.size() / matrices;
    for (std::size_t i = 0; i < matrices; ++i)
      rows[i].push_back({type, stored.bytes.subspan(i * each, each), part.out, order, stored.column_of});
    owners.push_back(std::move(stored.owner));
    parameter_count_ += std::ssize(rows) * part.out * in;
  }
  for (const auto& [type, count] : bytes) {
    stored_bytes_[type] += count;
    weight_bytes_ += count;
  }
  std::vector<LinearWeight> left;
  for (std::vector<BlockRows>& each : rows) left.emplace_back(matrix_of_blocks(std::move(each), in, dtype_, owners, device_));
  return left;
}

Linear WeightReader::packable_linear(const std::vector<Part>& parts, std::int64_t in, Bias bias) {
  return in_form(parts, in, bias, Packing::kPlain);
}

Linear WeightReader::tower_linear(const std::vector<Part>& parts, std::int64_t in, Bias bias) {
  for (const Part& each : parts) vision_products_ += each.out * in;
  return in_form(parts, in, bias, Packing::kVision);
}

const MatrixPacking* WeightReader::packing_of(Packing packing, std::int64_t elements) const {
  // Below it the product of a picture takes less than packing the matrix saves.
  constexpr std::int64_t kLargeMatrix = std::int64_t{1} << 19;
  const bool vision = packing == Packing::kVision && elements >= kLargeMatrix && plan_.vision_packing != nullptr;
  return vision ? plan_.vision_packing.get() : plan_.packing.get();
}

Linear WeightReader::in_form(const std::vector<Part>& parts, std::int64_t in, Bias bias, Packing packing) {
  if (std::vector<LinearWeight> stored = as_stored(parts, in); !stored.empty()) {
    Linear layer{.weight = std::move(stored.front())};
    if (bias == Bias::kRequired) layer.bias = joined_bias(parts);
    return layer;
  }
  std::int64_t out = 0;
  for (const Part& each : parts) out += each.out;
  Linear layer = joined(parts, in, bias, packed_on(packing_of(packing, out * in)));
  layer.weight = packed(layer.weight, packing);
  return layer;
}

LinearWeight WeightReader::packed(const LinearWeight& elements, Packing packing) {
  const MatrixPacking* const packer = packing_of(packing, elements.out() * elements.in());
  if (packer == nullptr) return elements;
  const at::Tensor dense = elements.columns(0, elements.in());
  auto packed = packing == Packing::kPlain ? packer->pack(dense) : packer->pack_finely(dense);
  if (packed == nullptr) return device_ == packed_on(packer) ? elements : LinearWeight(dense.to(device_));
  weight_bytes_ += packed->bytes() - elements.bytes();
  (packer == plan_.packing.get() ? packed_ : vision_packed_) = true;
  return packed;
}

std::vector<Linear> WeightReader::packable_experts(const std::string& name, std::int64_t count, std::int64_t out, std::int64_t in) {
  const std::vector<std::int64_t> upright = {count, out, in};
  // Both have the same shape where a matrix is a square: it is taken as upright then, as transformers does.
  const bool transposed = weights_.has(name) && weights_.shape(name) != upright;
  const std::vector<std::int64_t> stored = transposed ? std::vector<std::int64_t>{count, in, out} : upright;
  const at::Tensor all = elements(name, stored, held_type(name), packed_on(plan_.packing.get()));
  return packed_each(transposed ? all.transpose(1, 2) : all);
}

std::vector<Linear> WeightReader::packable_experts(const std::vector<Part>& parts, std::int64_t count, std::int64_t in) {
  std::vector<Linear> experts;
  for (LinearWeight& stored : as_stored(parts, in, count)) experts.emplace_back().weight = std::move(stored);
  if (!experts.empty()) return experts;
  std::vector<at::Tensor> whole;
  const at::ScalarType type = held_type(parts);
  for (const Part& each : parts)
    whole.push_back(elements(each.prefix + ".weight", {count, each.out, in}, type, packed_on(plan_.packing.get())));
  return packed_each(whole.size() == 1 ? whole.front() : at::cat(whole, 1));
}

std::vector<Linear> WeightReader::packed_each(const at::Tensor& all) {
  std::vector<Linear> matrices;
  for (std::int64_t i = 0; i < all.size(0); ++i) {
    matrices.emplace_back().weight = packed(as_weight(all.select(0, i).contiguous()), Packing::kPlain);
  }
  return matrices;
}

LinearWeight WeightReader::table(const std::string& prefix, std::int64_t rows, std::int64_t columns) {
  if (const std::vector<LinearWeight> stored = as_stored({{prefix, rows}}, columns); !stored.empty()) return stored.front();
  const std::string name = prefix + ".weight";
  return packed(as_weight(elements(name, {rows, columns}, held_type(name), packed_on(plan_.packing.get()))), Packing::kFine);
}

RmsNorm WeightReader::rms_norm(const std::string& prefix, std::int64_t features, double epsilon) {
  return {tensor(prefix + ".weight", {features}), epsilon};
}

RmsNorm WeightReader::wide_rms_norm(const std::string& prefix, std::int64_t features, double epsilon) {
  return {tensor(prefix + ".weight", {features}).to(at::kFloat), epsilon};
}

RmsNorm WeightReader::centred_rms_norm(const std::string& prefix, std::int64_t features, double epsilon) {
  return {tensor(prefix + ".weight", {features}).to(at::kFloat).add(1.0), epsilon};
}

LayerNorm WeightReader::layer_norm(const std::string& prefix, std::int64_t features, double epsilon) {
  return {.weight = tensor(prefix + ".weight", {features}), .bias = tensor(prefix + ".bias", {features}), .epsilon = epsilon};
}

}  // namespace winnow
