#include "engine/layers/block_matrix.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "kernels/api/block_product.h"

namespace winnow {
namespace {

// Up to so many rows of input go through the blocks one by one: widening the matrix first costs about as much as this many.
constexpr std::int64_t kFewRows = 8;
// Numbers that are widened at a time: they stay in the second-level cache until they are multiplied.
constexpr std::int64_t kWidenedNumbers = std::int64_t{1} << 19;
// Numbers of the matrix below which a second thread is not worth waking.
constexpr std::int64_t kGrainNumbers = std::int64_t{1} << 15;

std::int64_t row_bytes(const BlockRows& part, std::int64_t in) {
  return in / kernels::block_elements(part.type) * kernels::block_bytes(part.type);
}

void check(kernels::LaunchStatus status) {
  require(status == kernels::LaunchStatus::kOk, "block matrix: the kernel refused its arguments");
}

}  // namespace

BlockMatrix::BlockMatrix(std::vector<BlockRows> parts, std::int64_t in, at::ScalarType dtype,
                         std::vector<std::shared_ptr<const void>> owners)
    : parts_(std::move(parts)), first_row_{0}, in_(in), dtype_(dtype), owners_(std::move(owners)) {
  require(!parts_.empty() && in > 0, "block matrix: it has rows and columns");
  for (const BlockRows& part : parts_) {
    require(in % kernels::block_elements(part.type) == 0, "block matrix: a row is whole blocks");
    require(part.rows > 0 && std::ssize(part.bytes) == part.rows * row_bytes(part, in), "block matrix: bytes and rows differ");
    require(part.row_of.empty() || std::ssize(part.row_of) == part.rows, "block matrix: an order names every row");
    first_row_.push_back(first_row_.back() + part.rows);
  }
}

std::int64_t BlockMatrix::bytes() const {
  std::int64_t bytes = 0;
  for (const BlockRows& part : parts_) bytes += std::ssize(part.bytes);
  return bytes;
}

BlockMatrix::Place BlockMatrix::place(std::int64_t row) const {
  const auto after = std::upper_bound(first_row_.begin(), first_row_.end(), row);
  const auto part = static_cast<std::size_t>(after - first_row_.begin()) - 1;
  return {&parts_[part], row - first_row_[part]};
}

void BlockMatrix::widen(std::int64_t row, float* values) const {
  const Place at = place(row);
  const std::int64_t stored = at.part->row_of.empty() ? at.row : at.part->row_of[static_cast<std::size_t>(at.row)];
  kernels::dequantize(at.part->type, at.part->bytes.data() + stored * row_bytes(*at.part, in_), in_, values);
}

at::Tensor BlockMatrix::widened(std::int64_t first, std::int64_t count, at::ScalarType type) const {
  at::Tensor numbers = at::empty({count, in_}, at::kFloat);
  float* const to = numbers.mutable_data_ptr<float>();
  at::parallel_for(0, count, std::max<std::int64_t>(1, kGrainNumbers / in_), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) widen(first + row, to + row * in_);
  });
  return numbers.to(type);
}

at::Tensor BlockMatrix::times(const at::Tensor& input) const {
  const at::Tensor flat = input.reshape({-1, in_});
  std::vector<std::int64_t> shape = input.sizes().vec();
  shape.back() = out();
  return (flat.size(0) <= kFewRows ? times_few(flat) : times_many(flat)).view(shape);
}

at::Tensor BlockMatrix::times_few(const at::Tensor& input) const {
  const at::Tensor wide = input.to(at::kFloat).contiguous();
  at::Tensor output = at::empty({wide.size(0), out()}, at::kFloat);
  const float* const from = wide.const_data_ptr<float>();
  float* const to = output.mutable_data_ptr<float>();
  at::parallel_for(0, out(), std::max<std::int64_t>(1, kGrainNumbers / in_), [&](std::int64_t begin, std::int64_t end) {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      kernels::BlockProductArgs args;
      args.type = parts_[p].type;
      args.matrix = parts_[p].bytes.data();
      args.columns = in_;
      args.row_of = parts_[p].row_of.empty() ? nullptr : parts_[p].row_of.data();
      args.begin = std::clamp<std::int64_t>(begin - first_row_[p], 0, parts_[p].rows);
      args.end = std::clamp<std::int64_t>(end - first_row_[p], 0, parts_[p].rows);
      for (std::int64_t row = 0; row < wide.size(0); ++row) {
        args.input = from + row * in_;
        args.output = to + row * out() + first_row_[p];
        check(kernels::block_product_cpu(args));
      }
    }
  });
  return output.to(input.scalar_type());
}

at::Tensor BlockMatrix::times_many(const at::Tensor& input) const {
  at::Tensor output = at::empty({input.size(0), out()}, input.options());
  const std::int64_t tile = std::clamp<std::int64_t>(kWidenedNumbers / in_, 1, out());
  for (std::int64_t first = 0; first < out(); first += tile) {
    const std::int64_t count = std::min(tile, out() - first);
    at::Tensor part = output.narrow(1, first, count);
    at::mm_out(part, input, widened(first, count, input.scalar_type()).t());
  }
  return output;
}

at::Tensor BlockMatrix::columns(std::int64_t first, std::int64_t count) const {
  return widened(0, out(), dtype_).narrow(1, first, count).contiguous();
}

at::Tensor BlockMatrix::rows(const at::Tensor& ids) const {
  at::Tensor numbers = at::empty({ids.size(0), in_}, at::kFloat);
  const auto chosen = ids.accessor<std::int64_t, 1>();
  for (std::int64_t i = 0; i < ids.size(0); ++i) {
    require(chosen[i] >= 0 && chosen[i] < out(), "block matrix: no such row");
    widen(chosen[i], numbers.mutable_data_ptr<float>() + i * in_);
  }
  return numbers.to(dtype_);
}

}  // namespace winnow
