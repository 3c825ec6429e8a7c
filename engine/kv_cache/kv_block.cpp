#include "engine/kv_cache/kv_block.h"

#include <cstring>
#include <string>

#include "engine/base/error.h"
#include "engine/kv_cache/int8_rows.h"
#include "engine/kv_cache/stored_rows.h"

namespace winnow {
namespace {

constexpr std::int64_t kSlots = KvCache::kBlockSlots;
constexpr std::int64_t kScaleBytes = sizeof(float);

at::Tensor memory_of(const KvShape& shape, std::int64_t blocks) {
  const std::int64_t bytes = blocks * kSlots * shape.slot_bytes();
  try {
    if (shape.storage == KvStorage::kInt8) return at::empty({bytes}, at::kByte);
    return at::empty({2 * blocks, kSlots, shape.head_dim}, at::TensorOptions(shape.device).dtype(shape.row_type()));
  } catch (const c10::Error&) {
    throw Exception(ErrorCode::kOutOfMemory, "KV cache", "a block of " + std::to_string(bytes) + " bytes could not be allocated");
  }
}

}  // namespace

BlockMemory::BlockMemory(const KvShape& shape, std::int64_t blocks, std::shared_ptr<FreePlaces> free)
    : rows_(memory_of(shape, blocks)), free_(std::move(free)) {}

KvBlock::KvBlock(const KvShape& shape)
    : memory_(memory_of(shape, 1)),
      storage_(shape.storage),
      head_dim_(shape.head_dim),
      row_bytes_(narrow() ? shape.head_dim : shape.slot_bytes() / 2),
      dtype_(shape.dtype),
      row_type_(shape.row_type()) {
  keys_ = static_cast<std::byte*>(memory_.mutable_data_ptr());
  values_ = keys_ + kSlots * shape.slot_bytes() / 2;
}

KvBlock::KvBlock(const KvShape& shape, std::shared_ptr<const BlockMemory> shared, std::int64_t place)
    : memory_(shared->rows()),
      shared_(std::move(shared)),
      place_(place),
      storage_(shape.storage),
      head_dim_(shape.head_dim),
      row_bytes_(shape.slot_bytes() / 2),
      dtype_(shape.dtype),
      row_type_(shape.row_type()) {
  keys_ = static_cast<std::byte*>(memory_.mutable_data_ptr()) + place * kSlots * shape.slot_bytes();
  values_ = keys_ + kSlots * row_bytes_;
}

KvBlock::~KvBlock() {
  if (shared_) shared_->free().push_back({shared_, place_});
}

const std::int8_t* KvBlock::codes(KvPart part, std::int64_t row) const {
  return reinterpret_cast<const std::int8_t*>(begin_of(part) + row * row_bytes_);
}

const float* KvBlock::scales(KvPart part) const { return reinterpret_cast<const float*>(codes(part, kSlots)); }

void KvBlock::copy_slots(std::int64_t to_row, const KvBlock& from, std::int64_t from_row, std::int64_t count) {
  for (const KvPart part : {KvPart::kKeys, KvPart::kValues}) {
    std::memcpy(begin_to_write(part) + to_row * row_bytes_, from.begin_of(part) + from_row * row_bytes_,
                static_cast<std::size_t>(count * row_bytes_));
    if (!narrow()) continue;
    const std::int64_t behind = kSlots * row_bytes_;
    std::memcpy(begin_to_write(part) + behind + to_row * kScaleBytes, from.begin_of(part) + behind + from_row * kScaleBytes,
                static_cast<std::size_t>(count * kScaleBytes));
  }
}

void KvBlock::write(KvPart part, std::int64_t to_row, const at::Tensor& source, std::int64_t first, std::int64_t count) {
  std::byte* const to = begin_to_write(part) + to_row * row_bytes_;
  if (narrow()) {
    float* const scales = reinterpret_cast<float*>(begin_to_write(part) + kSlots * row_bytes_);
    narrow_into(source.narrow(0, first, count), reinterpret_cast<std::int8_t*>(to), scales + to_row);
    return;
  }
  // Without a tensor of its own for a token's row.
  const bool dense = source.stride(1) == 1 && (count == 1 || source.stride(0) == head_dim_);
  if (dense && source.is_cpu() && memory_.is_cpu() && source.scalar_type() == row_type_) {
    const auto* from = static_cast<const std::byte*>(source.const_data_ptr()) + first * source.stride(0) * source.element_size();
    std::memcpy(to, from, static_cast<std::size_t>(count * row_bytes_));
  } else {
    const at::Tensor given = source.narrow(0, first, count);
    floats(part, to_row, count).copy_(storage_ == KvStorage::kHalf ? in_half(given) : given);
  }
}

void KvBlock::write_without(std::int64_t to_row, const at::Tensor& source, const float* offsets, std::uint8_t* taken) {
  std::byte* const codes = begin_to_write(KvPart::kKeys);
  float* const scales = reinterpret_cast<float*>(codes + kSlots * row_bytes_);
  narrow_without(source, offsets, reinterpret_cast<std::int8_t*>(codes + to_row * row_bytes_), scales + to_row, taken);
}

at::Tensor KvBlock::floats(KvPart part, std::int64_t first, std::int64_t count) const {
  return memory_.select(0, 2 * place_ + static_cast<std::int64_t>(part)).narrow(0, first, count);
}

at::Tensor KvBlock::rows(KvPart part, std::int64_t first, std::int64_t count) const {
  if (storage_ == KvStorage::kWide) return floats(part, first, count);
  const at::Tensor wide = at::empty({count, head_dim_}, dtype_);
  upcast(part, first, wide);
  return wide;
}

void KvBlock::upcast_with(std::int64_t first, const float* offsets, const at::Tensor& to) const {
  winnow::upcast_with(codes(KvPart::kKeys, first), scales(KvPart::kKeys) + first, offsets, to);
}

void KvBlock::upcast(KvPart part, std::int64_t first, const at::Tensor& to) const {
  if (narrow()) {
    upcast_into(codes(part, first), scales(part) + first, to);
  } else {
    to.copy_(floats(part, first, to.size(0)));
  }
}

}  // namespace winnow
