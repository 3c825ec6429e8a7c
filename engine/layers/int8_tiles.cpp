#include "engine/layers/int8_tiles.h"

#include <algorithm>

#include "engine/base/error.h"
#include "engine/device/work_team.h"
#include "engine/layers/row_elements.h"
#include "kernels/api/int8_gemm.h"

namespace winnow {

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
