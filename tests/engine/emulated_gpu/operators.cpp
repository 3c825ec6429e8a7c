// libtorch's operators on the emulated device: the CPU's, over the device's memory.
//
// A boxed fallback serves all that libtorch implements for each device apart. What only makes a view, moves between devices or gives a
// number to the host is written out. As on CUDA, a tensor of the CPU among a device's is refused, but for single numbers.
#include <ATen/ATen.h>
#include <ATen/EmptyTensor.h>
#include <ATen/NativeFunctions.h>
#include <torch/library.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/engine/emulated_gpu/device_fault.h"
#include "tests/engine/emulated_gpu/device_memory.h"

namespace winnow::emulated_gpu {
namespace {

const c10::DispatchKeySet kKeys(c10::DispatchKey::CUDA);

at::Tensor empty(at::IntArrayRef sizes, std::optional<at::ScalarType> type, std::optional<at::Layout> /*layout*/,
                 std::optional<at::Device> /*device*/, std::optional<bool> /*pinned*/, std::optional<at::MemoryFormat> format) {
  return at::detail::empty_generic(sizes, memory(), kKeys, type.value_or(at::kFloat), format);
}

at::Tensor empty_strided(at::IntArrayRef sizes, at::IntArrayRef strides, std::optional<at::ScalarType> type,
                         std::optional<at::Layout> /*layout*/, std::optional<at::Device> /*device*/, std::optional<bool> /*pinned*/) {
  return at::detail::empty_strided_generic(sizes, strides, memory(), kKeys, type.value_or(at::kFloat));
}

bool is_here(const at::Tensor& tensor) { return tensor.device() == kDevice; }

// The same numbers as a tensor of the CPU. Writing to it writes to the device, until it is resized.
at::Tensor seen_by_cpu(const at::Tensor& tensor) {
  const std::size_t bytes = at::detail::computeStorageNbytes(tensor.sizes(), tensor.strides(), tensor.element_size());
  c10::Storage storage(c10::Storage::use_byte_size_t(), bytes, c10::DataPtr(behind(tensor.const_data_ptr()), at::kCPU),
                       c10::GetAllocator(at::kCPU), /*resizable=*/true);
  at::Tensor seen =
      at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(c10::DispatchKey::CPU), tensor.dtype());
  seen.unsafeGetTensorImpl()->set_sizes_and_strides(tensor.sizes(), tensor.strides());
  return seen;
}

at::Tensor brought_here(const at::Tensor& result) {
  at::Tensor here =
      result.is_non_overlapping_and_dense()
          ? at::Tensor(at::detail::empty_strided_generic(result.sizes(), result.strides(), memory(), kKeys, result.scalar_type()))
          : at::Tensor(at::detail::empty_generic(result.sizes(), memory(), kKeys, result.scalar_type(), std::nullopt));
  seen_by_cpu(here).copy_(result);
  return here;
}

const at::Tensor& resize_(const at::Tensor& self, at::IntArrayRef sizes, std::optional<at::MemoryFormat> /*format*/) {
  c10::TensorImpl* const impl = self.unsafeGetTensorImpl();
  TORCH_CHECK(impl->storage_offset() == 0, "emulated GPU: a view is resized");
  const std::size_t needed = at::detail::computeStorageNbytesContiguous(sizes, self.element_size());
  const c10::Storage& storage = impl->storage();
  if (needed > storage.nbytes()) {
    c10::DataPtr more = memory()->allocate(needed);
    if (storage.nbytes() > 0) memory()->copy_data(more.get(), storage.data(), storage.nbytes());
    storage.set_data_ptr(std::move(more));
    storage.set_nbytes(needed);
  }
  impl->set_sizes_contiguous(sizes);
  return self;
}

at::Tensor& copy_(at::Tensor& self, const at::Tensor& source, bool non_blocking) {
  const auto bytes = [](const at::Tensor& tensor) { return tensor.numel() * static_cast<std::int64_t>(tensor.element_size()); };
  require_sound();
  EmulatedGpuCounts& count = counts();
  if (is_here(self) && !is_here(source)) {
    ++count.copies_to_device;
    count.bytes_to_device += bytes(source);
    if (!non_blocking) ++count.waits;  // else the driver keeps a copy of the host's bytes and goes on
  } else if (!is_here(self) && is_here(source)) {
    ++count.copies_to_host;
    count.bytes_to_host += bytes(self);
    ++count.waits;
  } else if (is_here(self)) {
    ++count.launches;
  }
  at::Tensor to = is_here(self) ? seen_by_cpu(self) : self;
  to.copy_(is_here(source) ? seen_by_cpu(source) : source);
  return self;
}

at::Scalar number_for_host(const at::Tensor& self) {
  require_sound();
  EmulatedGpuCounts& count = counts();
  ++count.waits;
  ++count.copies_to_host;
  count.bytes_to_host += static_cast<std::int64_t>(self.element_size());
  return at::_local_scalar_dense(seen_by_cpu(self));
}

// The CPU's has another name.
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt, at::Tensor, at::Tensor, at::Tensor> flash_attention(
    const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, double dropout, bool causal, bool /*debug*/,
    std::optional<double> scale) {
  TORCH_CHECK(is_here(query) && is_here(key) && is_here(value), "emulated GPU: flash attention of tensors of two devices");
  ++counts().launches;
  const auto [output, log_sum_exp] = at::_scaled_dot_product_flash_attention_for_cpu(
      seen_by_cpu(query), seen_by_cpu(key), seen_by_cpu(value), dropout, causal, std::nullopt, scale);
  return {
      brought_here(output), brought_here(log_sum_exp), at::Tensor(), at::Tensor(), query.size(2), key.size(2), at::Tensor(), at::Tensor(),
      at::Tensor()};
}

// The size of what they return depends on numbers that only the device knows.
bool waits_for_its_size(const std::string& name) {
  static const std::set<std::string> kNames = {"aten::nonzero",  "aten::masked_select",     "aten::_unique",
                                               "aten::_unique2", "aten::unique_dim",        "aten::bincount",
                                               "aten::equal",    "aten::repeat_interleave", "aten::unique_consecutive"};
  return kNames.contains(name);
}

// One call of an operator: its arguments for the CPU, and what they stand for.
class Call {
 public:
  Call(const c10::OperatorHandle& op, const torch::jit::Stack& stack) : schema_(op.schema()) {
    const auto& arguments = schema_.arguments();
    const auto first = stack.end() - static_cast<std::ptrdiff_t>(arguments.size());
    given_.assign(first, stack.end());
    for (std::size_t i = 0; i < arguments.size(); ++i) seen_.push_back(seen(given_[i], written(arguments[i])));
  }

  const std::vector<c10::IValue>& arguments() const { return seen_; }

  // What the operator's result is here.
  c10::IValue result(std::size_t index, const c10::IValue& value) const {
    const c10::AliasInfo* const alias = schema_.returns()[index].alias_info();
    if (alias != nullptr) return written_argument(*alias);
    if (value.isTensor()) return value.toTensor().defined() ? c10::IValue(brought_here(value.toTensor())) : value;
    if (!value.isTensorList()) return value;
    c10::List<at::Tensor> here;
    for (const at::Tensor& each : value.toTensorVector()) here.push_back(brought_here(each));
    return here;
  }

  // Outputs that had no size yet, or another one.
  void adopt_sizes() const {
    for (std::size_t i = 0; i < given_.size(); ++i) {
      if (!written(schema_.arguments()[i]) || !given_[i].isTensor()) continue;
      const at::Tensor& output = given_[i].toTensor();
      const at::Tensor& computed = seen_[i].toTensor();
      if (output.sizes() == computed.sizes()) continue;
      resize_(output, computed.sizes(), std::nullopt);
      seen_by_cpu(output).copy_(computed);
    }
  }

 private:
  static bool written(const c10::Argument& argument) { return argument.alias_info() != nullptr && argument.alias_info()->isWrite(); }

  at::Tensor seen_tensor(const at::Tensor& tensor, bool is_written) const {
    if (!tensor.defined()) return tensor;
    if (is_here(tensor)) return seen_by_cpu(tensor);
    TORCH_CHECK(tensor.dim() == 0 && !is_written, "emulated GPU: ", schema_.name(), " is given tensors of two devices");
    return tensor;
  }

  c10::IValue seen(const c10::IValue& value, bool is_written) const {
    if (value.isTensor()) return seen_tensor(value.toTensor(), is_written);
    if (value.isDevice()) return c10::IValue(c10::Device(at::kCPU));
    if (value.isTensorList()) {
      TORCH_CHECK(!is_written, "emulated GPU: ", schema_.name(), " writes a list of tensors");
      c10::List<at::Tensor> all;
      for (const at::Tensor& each : value.toTensorVector()) all.push_back(seen_tensor(each, false));
      return all;
    }
    if (value.isOptionalTensorList()) {
      c10::List<std::optional<at::Tensor>> all;
      for (const std::optional<at::Tensor>& each : value.toOptionalTensorVector())
        all.push_back(each ? std::optional(seen_tensor(*each, false)) : std::nullopt);
      return all;
    }
    return value;
  }

  c10::IValue written_argument(const c10::AliasInfo& alias) const {
    TORCH_CHECK(alias.isWrite(), "emulated GPU: ", schema_.name(), " makes a view and has to be written out");
    for (std::size_t i = 0; i < given_.size(); ++i) {
      const c10::AliasInfo* const own = schema_.arguments()[i].alias_info();
      if (own != nullptr && own->beforeSets() == alias.beforeSets()) return given_[i];
    }
    TORCH_CHECK(false, "emulated GPU: ", schema_.name(), " writes what it was not given");
  }

  const c10::FunctionSchema& schema_;
  std::vector<c10::IValue> given_;
  std::vector<c10::IValue> seen_;
};

void on_the_cpu(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  const Call call(op, *stack);
  require_sound();
  ++counts().launches;
  if (waits_for_its_size(op.schema().name())) ++counts().waits;
  torch::jit::Stack results = call.arguments();
  {
    const at::AutoDispatchBelowADInplaceOrView below;
    op.callBoxed(results);
  }
  call.adopt_sizes();
  torch::jit::drop(*stack, call.arguments().size());
  for (std::size_t i = 0; i < results.size(); ++i) stack->push_back(call.result(i, results[i]));
}

TORCH_LIBRARY_IMPL(_, CUDA, library) { library.fallback(torch::CppFunction::makeFromBoxedFunction<&on_the_cpu>()); }

TORCH_LIBRARY_IMPL(aten, CUDA, library) {
  library.impl("empty.memory_format", TORCH_FN(empty));
  library.impl("empty_strided", TORCH_FN(empty_strided));
  library.impl("resize_", TORCH_FN(resize_));
  library.impl("copy_", TORCH_FN(copy_));
  library.impl("_local_scalar_dense", TORCH_FN(number_for_host));
  library.impl("as_strided", TORCH_FN(at::native::as_strided_tensorimpl));
  library.impl("view", TORCH_FN(at::native::view));
  library.impl("_reshape_alias", TORCH_FN(at::native::_reshape_alias));
  library.impl("unfold", TORCH_FN(at::native::unfold));
  library.impl("_scaled_dot_product_flash_attention", TORCH_FN(flash_attention));
  // What libtorch composes of operators that choose by the kind of device.
  library.impl("convolution", torch::CppFunction::makeFromBoxedFunction<&on_the_cpu>());
  library.impl("native_layer_norm", torch::CppFunction::makeFromBoxedFunction<&on_the_cpu>());
}

}  // namespace
}  // namespace winnow::emulated_gpu
