#include "engine/models/weights/block_packing.h"

#include <atomic>
#include <span>
#include <utility>

#include "engine/device/work_team.h"
#include "engine/layers/device_block_matrix.h"
#include "engine/layers/padded_matrix.h"
#include "kernels/api/quantise.h"

namespace winnow {
namespace {

// The length to which rows of `in` numbers are padded; nothing: it would be more than a third of them.
std::optional<std::int64_t> whole_blocks(std::int64_t in, std::int64_t elements) {
  const std::int64_t whole = (in + elements - 1) / elements * elements;
  return in > 0 && 3 * (whole - in) <= in ? std::optional(whole) : std::nullopt;
}

std::optional<double> bits_of_a_number(std::int64_t in, kernels::BlockType type) {
  const std::int64_t elements = kernels::block_elements(type);
  const std::optional<std::int64_t> columns = whole_blocks(in, elements);
  if (!columns) return std::nullopt;
  return 8.0 * static_cast<double>(*columns / elements * kernels::block_bytes(type)) / static_cast<double>(in);
}

kernels::BlockType coarse(PackedBits bits) { return bits == PackedBits::kEight ? kernels::BlockType::kQ8_0 : kernels::BlockType::kQ4_1; }

constexpr kernels::BlockType kFineBlocks = kernels::BlockType::kQ8_0;

}  // namespace

std::shared_ptr<const PackedMatrix> BlockPacking::in_blocks(const at::Tensor& dense, kernels::BlockType type) const {
  const std::int64_t rows = dense.size(0);
  const std::int64_t elements = kernels::block_elements(type);
  const std::optional<std::int64_t> columns = whole_blocks(dense.size(1), elements);
  if (rows == 0 || !columns) return nullptr;
  const std::int64_t padding = *columns - dense.size(1);
  const std::int64_t row_bytes = *columns / elements * kernels::block_bytes(type);
  // A tensor's memory: large ones lie in huge pages.
  const auto blocks = std::make_shared<at::Tensor>(at::empty({rows * row_bytes}, at::kByte));
  auto* const to = blocks->mutable_data_ptr<std::uint8_t>();
  std::atomic<bool> fits{true};
  share_work(rows, 64, [&](std::int64_t begin, std::int64_t end) {
    constexpr std::int64_t kRowsAtATime = 16;
    for (std::int64_t row = begin; row < end; row += kRowsAtATime) {
      const std::int64_t count = std::min(kRowsAtATime, end - row);
      at::Tensor numbers = dense.narrow(0, row, count).to(at::kFloat);
      numbers = padding == 0 ? numbers.contiguous() : at::constant_pad_nd(numbers, {0, padding});
      if (kernels::quantise({type, numbers.const_data_ptr<float>(), numbers.numel(), to + row * row_bytes}) != kernels::LaunchStatus::kOk)
        fits = false;
    }
  });
  if (!fits) return nullptr;
  const std::span<const std::byte> bytes(reinterpret_cast<const std::byte*>(to), static_cast<std::size_t>(blocks->numel()));
  auto packed = matrix_of_blocks({{type, bytes, rows}}, *columns, dense.scalar_type(), {blocks}, device_);
  if (padding == 0) return packed;
  return std::make_shared<PaddedMatrix>(std::move(packed), dense.size(1));
}

std::shared_ptr<const PackedMatrix> BlockPacking::pack(const at::Tensor& dense) const { return in_blocks(dense, coarse(bits_)); }

std::shared_ptr<const PackedMatrix> BlockPacking::pack_finely(const at::Tensor& dense) const { return in_blocks(dense, kFineBlocks); }

std::optional<double> BlockPacking::most_bits(std::int64_t in) const { return bits_of_a_number(in, coarse(bits_)); }

std::optional<double> BlockPacking::most_fine_bits(std::int64_t in) const { return bits_of_a_number(in, kFineBlocks); }

}  // namespace winnow
