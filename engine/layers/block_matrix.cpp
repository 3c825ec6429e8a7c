#include "engine/layers/block_matrix.h"

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/device/processor.h"
#include "engine/device/work_team.h"
#include "engine/kv_cache/element_type.h"
#include "engine/layers/dequantised_product.h"
#include "engine/layers/row_elements.h"
#include "kernels/api/block_gemv.h"
#include "kernels/api/int8_gemm.h"
#include "kernels/api/int8_gemv.h"

namespace winnow {
namespace {

std::int64_t row_bytes(const BlockRows& part, std::int64_t in) {
  return in / kernels::block_elements(part.type) * kernels::block_bytes(part.type);
}

void check(kernels::LaunchStatus status) {
  require(status == kernels::LaunchStatus::kOk, "block matrix: the kernel refused its arguments");
}

// A few rows of input in fp32 and, where a part needs them, in int8, in each column order that a part needs, with
// room for the products behind them; in the thread's scratch, for a decode step makes a hundred of these.
class FewRows {
 public:
  using Order = std::shared_ptr<const std::vector<std::int32_t>>;

  // orders: input order[i] is the i-th; null: as they are.
  FewRows(const at::Tensor& input, bool rounds, std::span<const Order> orders, std::int64_t products)
      : in_(input.size(1)),
        inputs_(input.size(0)),
        floats_(in_ + (rounds ? in_ / 4 + in_ / 4 + in_ / 16 + in_ / 16 : 0)),
        memory_(row_scratch(inputs_ * (std::ssize(orders) * floats_ + products) + in_)),
        products_(memory_ + inputs_ * std::ssize(orders) * floats_) {
    float* const as_given = products_ + inputs_ * products;
    const auto* const from = static_cast<const std::byte*>(input.const_data_ptr());
    for (std::size_t order = 0; order < orders.size(); ++order) {
      for (std::int64_t i = 0; i < inputs_; ++i) {
        float* const to = numbers(order, i);
        upcast_row(from + i * in_ * input.element_size(), input.scalar_type(), in_, orders[order] == nullptr ? to : as_given);
        if (orders[order] != nullptr) std::ranges::transform(*orders[order], to, [&](std::int32_t column) { return as_given[column]; });
        if (rounds)
          check(kernels::round_input_cpu({to, in_, codes(order, i), scales(order, i), half_sums(order, i), codes(order, i) + in_}));
      }
    }
  }
  // The first row; the others lie stride() floats behind each other.
  const float* first(std::size_t order) const { return numbers(order, 0); }
  kernels::QuantisedInput first_rounded(std::size_t order) const {
    return {codes(order, 0), scales(order, 0), half_sums(order, 0), codes(order, 0) + in_};
  }
  std::int64_t stride() const { return floats_; }
  float* products() const { return products_; }

 private:
  // Numbers, scales, sums, codes and codes in pairs of a row, in this order.
  float* numbers(std::size_t order, std::int64_t i) const { return memory_ + (static_cast<std::int64_t>(order) * inputs_ + i) * floats_; }
  kernels::QuantisedScale* scales(std::size_t order, std::int64_t i) const {
    return reinterpret_cast<kernels::QuantisedScale*>(numbers(order, i) + in_);
  }
  float* half_sums(std::size_t order, std::int64_t i) const { return numbers(order, i) + in_ + in_ / 16; }
  std::int8_t* codes(std::size_t order, std::int64_t i) const { return reinterpret_cast<std::int8_t*>(numbers(order, i) + in_ + in_ / 8); }

  std::int64_t in_;
  std::int64_t inputs_;
  std::int64_t floats_;  // of a row
  float* memory_;
  float* products_;  // [inputs, products]
};

}  // namespace

void require_fit(std::span<const BlockRows> parts, std::int64_t in) {
  require(!parts.empty() && in > 0, "block matrix: it has rows and columns");
  for (const BlockRows& part : parts) {
    require(in % kernels::block_elements(part.type) == 0, "block matrix: a row is whole blocks");
    require(part.rows > 0 && std::ssize(part.bytes) == part.rows * row_bytes(part, in), "block matrix: bytes and rows differ");
    require(part.row_of.empty() || std::ssize(part.row_of) == part.rows, "block matrix: an order names every row");
    require(part.column_of == nullptr || std::ssize(*part.column_of) == in, "block matrix: an order names every column");
  }
}

BlockMatrix::BlockMatrix(std::vector<BlockRows> parts, std::int64_t in, at::ScalarType dtype,
                         std::vector<std::shared_ptr<const void>> owners)
    : parts_(std::move(parts)), first_row_{0}, in_(in), dtype_(dtype), owners_(std::move(owners)) {
  require_fit(parts_, in);
  for (const BlockRows& part : parts_) {
    first_row_.push_back(first_row_.back() + part.rows);
    const auto known = std::ranges::find_if(orders_, [&](const auto& order) {
      return order == part.column_of || (order != nullptr && part.column_of != nullptr && *order == *part.column_of);
    });
    order_of_.push_back(static_cast<std::size_t>(known - orders_.begin()));
    if (known == orders_.end()) orders_.push_back(part.column_of);
    rounds_ = rounds_ || kernels::has_int8_gemv(part.type);
    rounds_many_ = rounds_many_ && kernels::int8_gemm_is_fast(part.type);
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

void BlockMatrix::dequantise(std::int64_t row, float* values) const {
  const Place at = place(row);
  const std::int64_t stored = at.part->row_of.empty() ? at.row : at.part->row_of[static_cast<std::size_t>(at.row)];
  const std::byte* const blocks = at.part->bytes.data() + stored * row_bytes(*at.part, in_);
  if (at.part->column_of == nullptr) {
    kernels::dequantise(at.part->type, blocks, in_, values);
    return;
  }
  std::vector<float> as_stored(static_cast<std::size_t>(in_));
  kernels::dequantise(at.part->type, blocks, in_, as_stored.data());
  for (std::size_t column = 0; column < as_stored.size(); ++column) values[(*at.part->column_of)[column]] = as_stored[column];
}

at::Tensor BlockMatrix::dequantised(std::int64_t first, std::int64_t count, at::ScalarType type) const {
  const bool narrow = type == at::kBFloat16;
  at::Tensor numbers = at::empty({count, in_}, narrow ? at::kBFloat16 : at::kFloat);
  share_work(count, std::max<std::int64_t>(1, kGrainNumbers / in_), [&](std::int64_t begin, std::int64_t end) {
    if (!narrow) {
      for (std::int64_t row = begin; row < end; ++row) dequantise(first + row, numbers.mutable_data_ptr<float>() + row * in_);
      return;
    }
    std::vector<float> wide(static_cast<std::size_t>(in_));
    for (std::int64_t row = begin; row < end; ++row) {
      dequantise(first + row, wide.data());
      std::copy(wide.begin(), wide.end(), numbers.mutable_data_ptr<at::BFloat16>() + row * in_);
    }
  });
  return numbers.to(type);
}

at::Tensor BlockMatrix::times(const at::Tensor& input) const {
  const at::Tensor flat = input.reshape({-1, in_});
  at::DimVector shape(input.sizes());
  shape.back() = out();
  if (flat.size(0) <= kFewRows) return times_few(flat).view(shape);
  const bool in_tiles_of_bf16 = flat.scalar_type() == at::kBFloat16 && has_amx();
  return (rounds_many_ && !in_tiles_of_bf16 ? times_rounded(flat) : times_upcast(flat)).view(shape);
}

at::Tensor BlockMatrix::times_few(const at::Tensor& input) const {
  const std::int64_t inputs = input.size(0);
  const at::Tensor known = (find_element_type(input.scalar_type()) ? input : input.to(at::kFloat)).contiguous();
  const FewRows rows(known, rounds_, orders_, out());
  float* const to = rows.products();
  at::Tensor output = at::empty({inputs, out()}, known.options());
  void* const result = output.mutable_data_ptr();
  const at::ScalarType type = known.scalar_type();
  share_work(out(), std::max<std::int64_t>(1, kGrainNumbers / in_), [&](std::int64_t begin, std::int64_t end) {
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      const std::int64_t first = std::clamp<std::int64_t>(begin - first_row_[p], 0, parts_[p].rows);
      const std::int64_t last = std::clamp<std::int64_t>(end - first_row_[p], 0, parts_[p].rows);
      const std::int32_t* const row_of = parts_[p].row_of.empty() ? nullptr : parts_[p].row_of.data();
      const bool rounds = kernels::has_int8_gemv(parts_[p].type);
      const std::size_t order = order_of_[p];
      float* const products = to + first_row_[p];
      const std::int64_t stride_bytes = rows.stride() * static_cast<std::int64_t>(sizeof(float));
      check(rounds ? kernels::int8_gemv_cpu({parts_[p].type, parts_[p].bytes.data(), in_, row_of, first, last, rows.first_rounded(order),
                                             products, inputs, stride_bytes, out()})
                   : kernels::block_gemv_cpu({parts_[p].type, parts_[p].bytes.data(), in_, row_of, first, last, rows.first(order), products,
                                              inputs, rows.stride(), out()}));
    }
    for (std::int64_t row = 0; row < inputs; ++row) narrow_row(to + row * out() + begin, end - begin, type, result, row * out() + begin);
  });
  return output.to(input.scalar_type());
}

at::Tensor BlockMatrix::times_rounded(const at::Tensor& input) const {
  const at::Tensor known = (find_element_type(input.scalar_type()) ? input : input.to(at::kFloat)).contiguous();
  constexpr std::int64_t kRows = kernels::kMatrixRows;  // handed out together
  at::Tensor output = at::empty({known.size(0), out()}, known.options());
  for (std::int64_t input_row = 0; input_row < known.size(0); input_row += Int8Tiles::kMostInputs) {
    const Int8Tiles tiles(known.narrow(0, input_row, std::min(Int8Tiles::kMostInputs, known.size(0) - input_row)), orders_);
    auto* const to = static_cast<std::byte*>(output.mutable_data_ptr()) + input_row * out() * output.element_size();
    share_work((out() + kRows - 1) / kRows, 1, [&](std::int64_t begin, std::int64_t end) {
      float* const sums = row_scratch(kernels::int8_gemm_sums(tiles.inputs()));
      for (std::size_t p = 0; p < parts_.size(); ++p) {
        const std::int64_t first = std::clamp<std::int64_t>(begin * kRows - first_row_[p], 0, parts_[p].rows);
        const std::int64_t last = std::clamp<std::int64_t>(end * kRows - first_row_[p], 0, parts_[p].rows);
        const std::int32_t* const row_of = parts_[p].row_of.empty() ? nullptr : parts_[p].row_of.data();
        check(kernels::int8_gemm_cpu({parts_[p].type, parts_[p].bytes.data(), in_, row_of, first, last, tiles.tiles(order_of_[p]),
                                      tiles.inputs(), to + first_row_[p] * output.element_size(), out(), element_type(output.scalar_type()),
                                      sums}));
      }
    });
  }
  return output.to(input.scalar_type());
}

at::Tensor BlockMatrix::times_upcast(const at::Tensor& input) const {
  return dequantised_product(input, out(),
                             [&](std::int64_t first, std::int64_t count) { return dequantised(first, count, input.scalar_type()); });
}

at::Tensor BlockMatrix::columns(std::int64_t first, std::int64_t count) const {
  return dequantised(0, out(), dtype_).narrow(1, first, count).contiguous();
}

at::Tensor BlockMatrix::rows(const at::Tensor& ids) const {
  const at::Tensor here = ids.to(at::kCPU);
  at::Tensor numbers = at::empty({here.size(0), in_}, at::kFloat);
  const auto chosen = here.accessor<std::int64_t, 1>();
  for (std::int64_t i = 0; i < here.size(0); ++i) {
    require(chosen[i] >= 0 && chosen[i] < out(), "block matrix: no such row");
    dequantise(chosen[i], numbers.mutable_data_ptr<float>() + i * in_);
  }
  return numbers.to(dtype_);
}

Int8Tiles::Int8Tiles(const at::Tensor& input, std::span<const Order> orders) : inputs_(input.size(0)) {
  require(inputs_ > 0 && inputs_ <= kMostInputs && input.stride(1) == 1, "rounded tiles: too many rows, or apart");
  const std::int64_t in = input.size(1);
  const std::int64_t tile_bytes = kernels::int8_tile_bytes(in);
  const std::int64_t tiles = (inputs_ + kernels::kTileRows - 1) / kernels::kTileRows;
  bytes_ = tiles * tile_bytes;
  memory_ = at::empty({std::ssize(orders) * bytes_}, at::kByte);
  auto* const memory = static_cast<std::byte*>(memory_.mutable_data_ptr());
  const auto* const from = static_cast<const std::byte*>(input.const_data_ptr());
  share_work(tiles, 1, [&](std::int64_t begin, std::int64_t end) {
    float* const as_given = row_scratch(2 * kernels::kTileRows * in);
    float* const ordered = as_given + kernels::kTileRows * in;
    for (std::int64_t tile = begin; tile < end; ++tile) {
      const std::int64_t first = tile * kernels::kTileRows;
      const std::int64_t rows = std::min(kernels::kTileRows, inputs_ - first);
      for (std::int64_t row = 0; row < rows; ++row) {
        upcast_row(from + (first + row) * input.stride(0) * input.element_size(), input.scalar_type(), in, as_given + row * in);
      }
      for (std::size_t o = 0; o < orders.size(); ++o) {
        const float* numbers = as_given;
        if (orders[o] != nullptr) {
          for (std::int64_t row = 0; row < rows; ++row) {
            std::ranges::transform(*orders[o], ordered + row * in, [&](std::int32_t column) { return as_given[row * in + column]; });
          }
          numbers = ordered;
        }
        std::byte* const to = memory + static_cast<std::int64_t>(o) * bytes_ + tile * tile_bytes;
        require(kernels::round_tile_cpu({numbers, rows, in, to}) == kernels::LaunchStatus::kOk, "rounded tiles: the kernel refused them");
      }
    }
  });
}

const std::byte* Int8Tiles::tiles(std::size_t order) const {
  return static_cast<const std::byte*>(memory_.const_data_ptr()) + static_cast<std::int64_t>(order) * bytes_;
}

}  // namespace winnow
