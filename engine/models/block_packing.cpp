#include "engine/models/block_packing.h"

#include <atomic>
#include <span>
#include <vector>

#include "engine/device/work_team.h"
#include "engine/layers/device_block_matrix.h"
#include "kernels/api/quantize.h"

namespace winnow {

std::shared_ptr<const PackedMatrix> BlockPacking::in_blocks(const at::Tensor& dense, kernels::BlockType type) const {
  const std::int64_t rows = dense.size(0);
  const std::int64_t columns = dense.size(1);
  const std::int64_t elements = kernels::block_elements(type);
  if (rows == 0 || columns == 0 || columns % elements != 0) return nullptr;
  const std::int64_t row_bytes = columns / elements * kernels::block_bytes(type);
  // A tensor's memory: large ones lie in huge pages.
  const auto blocks = std::make_shared<at::Tensor>(at::empty({rows * row_bytes}, at::kByte));
  auto* const to = blocks->mutable_data_ptr<std::uint8_t>();
  std::atomic<bool> fits{true};
  share_work(rows, 64, [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t kRowsAtATime = 16;
    for (std::int64_t row = begin; row < end; row += kRowsAtATime) {
      const std::int64_t count = std::min(kRowsAtATime, end - row);
      const at::Tensor numbers = dense.narrow(0, row, count).to(at::kFloat).contiguous();
      if (kernels::quantize({type, numbers.const_data_ptr<float>(), numbers.numel(), to + row * row_bytes}) != kernels::LaunchStatus::kOk)
        fits = false;
    }
  });
  if (!fits) return nullptr;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(to), static_cast<std::size_t>(blocks->numel()));
  return matrix_of_blocks({{type, bytes, rows}}, columns, dense.scalar_type(), {blocks}, device_);
}

std::shared_ptr<const PackedMatrix> BlockPacking::pack(const at::Tensor& dense) const {
  return in_blocks(dense, bits_ == PackedBits::kEight ? kernels::BlockType::kQ8_0 : kernels::BlockType::kQ4_1);
}

std::shared_ptr<const PackedMatrix> BlockPacking::pack_finely(const at::Tensor& dense) const {
  return in_blocks(dense, kernels::BlockType::kQ8_0);
}

}  // namespace winnow
