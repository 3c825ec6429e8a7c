#include "engine/layers/device_block_matrix.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"
#include "engine/device/work_team.h"
#include "engine/kv_cache/element_type.h"
#include "engine/layers/dequantised_product.h"
#include "engine/layers/row_elements.h"
#include "kernels/api/cuda_block_layout.h"

namespace winnow {
namespace {

// Numbers of a prompt's matrix that are dequantised at a time: enough for all multiprocessors to multiply with a few hundred rows, several
// times over, and 128 MiB.
constexpr std::int64_t kDequantisedTogether = std::int64_t{1} << 26;
constexpr std::int64_t kStagedBytes = std::int64_t{1} << 23;  // of a matrix that are laid out at a time on their way to the device
constexpr std::int64_t kInterleavedRows = 16;                 // that a thread lays out before it takes others

at::Tensor memory_on(at::Device device, std::int64_t bytes) {
  try {
    return at::empty({bytes}, at::TensorOptions(device).dtype(at::kByte));
  } catch (const c10::OutOfMemoryError&) {
    throw Exception(ErrorCode::kOutOfMemory, "weights", "the GPU has no memory for " + std::to_string(bytes) + " bytes of packed weights");
  }
}

// Copies the rows as kernels read them: one after the other from an aligned address on.
at::Tensor aligned(const at::Tensor& rows) {
  const at::Tensor together = rows.contiguous();
  const auto address = reinterpret_cast<std::uintptr_t>(together.const_data_ptr());
  return address % kernels::kCudaAlignment == 0 ? together : together.clone();
}

const std::int32_t* pointer(const at::Tensor& order) { return order.defined() ? order.const_data_ptr<std::int32_t>() : nullptr; }

bool same_order(const BlockRows& one, const BlockRows& other) {
  if (one.column_of == other.column_of) return true;
  return one.column_of != nullptr && other.column_of != nullptr && *one.column_of == *other.column_of;
}

}  // namespace

DeviceBlockMatrix::DeviceBlockMatrix(const std::vector<BlockRows>& parts, std::int64_t in, at::ScalarType dtype, at::Device device)
    : in_(in), dtype_(dtype) {
  require_fit(parts, in);
  require(in % kernels::kCudaPieceElements == 0, "device block matrix: a row is whole pieces");
  for (std::size_t first = 0; first < parts.size();) {
    std::size_t end = first + 1;
    while (end < parts.size() && parts[end].type == parts[first].type && same_order(parts[end], parts[first])) ++end;
    parts_.push_back(on_device(parts, first, end, device));
    out_ += parts_.back().rows;
    first = end;
  }
}

DeviceBlockMatrix::Part DeviceBlockMatrix::on_device(const std::vector<BlockRows>& parts, std::size_t first, std::size_t end,
                                                     at::Device device) const {
  Part part{.type = parts[first].type, .first = out_};
  std::int64_t bytes = 0;
  bool ordered = false;
  for (std::size_t i = first; i < end; ++i) {
    bytes += std::ssize(parts[i].bytes);
    ordered = ordered || !parts[i].row_of.empty();
  }
  part.bytes = memory_on(device, bytes);
  std::vector<std::int32_t> row_of;
  std::int64_t above = 0;
  for (std::size_t i = first; i < end; ++i) {
    for (std::int64_t row = 0; ordered && row < parts[i].rows; ++row) {
      const std::int64_t stored_row = parts[i].row_of.empty() ? row : parts[i].row_of[static_cast<std::size_t>(row)];
      row_of.push_back(static_cast<std::int32_t>(above + stored_row));
    }
    above += parts[i].rows;
  }
  part.rows = above;
  above = 0;
  for (std::size_t i = first; i < end; ++i) {
    lay_out(parts[i], above, part);
    above += parts[i].rows;
  }
  if (ordered) part.row_of = numbers_on(device, row_of);
  if (parts[first].column_of != nullptr) part.column_of = numbers_on(device, *parts[first].column_of);
  return part;
}

void DeviceBlockMatrix::lay_out(const BlockRows& from, std::int64_t above, const Part& part) const {
  const auto plane_bytes = kernels::cuda_plane_bytes(from.type, in_);
  const std::int64_t row_bytes = std::accumulate(plane_bytes.begin(), plane_bytes.end(), std::int64_t{0});
  const std::int64_t together = std::min(from.rows, std::max<std::int64_t>(1, kStagedBytes / row_bytes));
  const at::Tensor staged = at::empty({together * row_bytes}, at::TensorOptions().dtype(at::kByte));
  for (std::int64_t first = 0; first < from.rows; first += together) {
    const std::int64_t count = std::min(together, from.rows - first);
    share_work(count, kInterleavedRows, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t row = begin; row < end; ++row)
        kernels::lay_out_row(from.type, from.bytes.data() + (first + row) * row_bytes, in_,
                             kernels::cuda_row_planes<void*>(staged.mutable_data_ptr(), from.type, count, in_, row));
    });
    std::int64_t here = 0;
    std::int64_t there = 0;
    for (const std::int64_t bytes : plane_bytes) {
      part.bytes.narrow(0, there + (above + first) * bytes, count * bytes).copy_(staged.narrow(0, here, count * bytes));
      here += count * bytes;
      there += part.rows * bytes;
    }
  }
}

std::int64_t DeviceBlockMatrix::bytes() const {
  std::int64_t bytes = 0;
  for (const Part& part : parts_) bytes += part.bytes.numel();
  return bytes;
}

at::Tensor DeviceBlockMatrix::times(const at::Tensor& input) const {
  require(input.device() == parts_.front().bytes.device(), "device block matrix: input and matrix lie on different devices");
  const at::Tensor flat = input.reshape({-1, in_});
  at::DimVector shape(input.sizes());
  shape.back() = out_;
  if (flat.size(0) <= std::min(kFewRows, kernels::kMaxCudaProductInputs)) return times_few(flat).view(shape);
  const auto some = [&](std::int64_t first, std::int64_t count) { return dequantised(first, count, flat.scalar_type()); };
  return dequantised_product(flat, out_, some, kDequantisedTogether).view(shape);
}

at::Tensor DeviceBlockMatrix::times_few(const at::Tensor& input) const {
  at::Tensor output = at::empty({input.size(0), out_}, input.options());
  if (input.size(0) == 0) return output;
  for (const Part& part : parts_) {
    const at::Tensor rows = aligned(part.column_of.defined() ? input.index_select(1, part.column_of) : input);
    kernels::CudaBlockGemvArgs args;
    args.type = part.type;
    args.matrix = part.bytes.const_data_ptr();
    args.columns = in_;
    args.rows = part.rows;
    args.row_of = pointer(part.row_of);
    args.input = rows.const_data_ptr();
    args.inputs = rows.size(0);
    args.element = element_type(input.scalar_type());
    args.output = output.narrow(1, part.first, part.rows).mutable_data_ptr();
    args.output_stride = out_;
    require_launched(cuda_plugin().block_gemv(&args), "a product with packed weights");
  }
  return output;
}

void DeviceBlockMatrix::dequantise(const Part& part, std::int64_t first, std::int64_t count, const at::Tensor& ids,
                                   const at::Tensor& numbers) const {
  kernels::CudaDequantiseRowsArgs args;
  args.type = part.type;
  args.matrix = part.bytes.const_data_ptr();
  args.columns = in_;
  args.rows = part.rows;
  args.row_of = pointer(part.row_of);
  args.column_of = pointer(part.column_of);
  args.first = first;
  args.count = count;
  args.ids = ids.defined() ? ids.const_data_ptr<std::int64_t>() : nullptr;
  args.element = element_type(numbers.scalar_type());
  args.output = numbers.mutable_data_ptr();
  require_launched(cuda_plugin().dequantise_rows(&args), "dequantising packed weights");
}

at::Tensor DeviceBlockMatrix::dequantised(std::int64_t first, std::int64_t count, at::ScalarType type) const {
  at::Tensor numbers = at::empty({count, in_}, parts_.front().bytes.options().dtype(type));
  for (const Part& part : parts_) {
    const std::int64_t begin = std::max(first, part.first);
    const std::int64_t end = std::min(first + count, part.first + part.rows);
    if (begin < end) dequantise(part, begin - part.first, end - begin, {}, numbers.narrow(0, begin - first, end - begin));
  }
  return numbers;
}

at::Tensor DeviceBlockMatrix::columns(std::int64_t first, std::int64_t count) const {
  return dequantised(0, out_, dtype_).narrow(1, first, count).contiguous();
}

at::Tensor DeviceBlockMatrix::rows(const at::Tensor& ids) const {
  at::Tensor numbers = at::empty({ids.size(0), in_}, parts_.front().bytes.options().dtype(dtype_));
  if (ids.size(0) == 0) return numbers;
  // Those that lie on the device would have to be waited for.
  require(!ids.is_cpu() || (ids.min().item<std::int64_t>() >= 0 && ids.max().item<std::int64_t>() < out_),
          "device block matrix: no such row");
  const at::Tensor here = ids.to(numbers.device()).contiguous();
  for (const Part& part : parts_) dequantise(part, part.first, ids.size(0), here, numbers);
  return numbers;
}

std::shared_ptr<const PackedMatrix> matrix_of_blocks(std::vector<BlockRows> parts, std::int64_t in, at::ScalarType dtype,
                                                     std::vector<std::shared_ptr<const void>> owners, at::Device device) {
  if (!device.is_cpu()) return std::make_shared<DeviceBlockMatrix>(parts, in, dtype, device);
  return std::make_shared<BlockMatrix>(std::move(parts), in, dtype, std::move(owners));
}

}  // namespace winnow
