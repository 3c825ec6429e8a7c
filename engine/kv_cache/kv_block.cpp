#include "engine/kv_cache/kv_block.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "engine/base/error.h"
#include "engine/kv_cache/narrow_rows.h"
#include "engine/kv_cache/stored_rows.h"

namespace winnow {
namespace {

constexpr std::int64_t kSlots = KvCache::kBlockSlots;

at::Tensor memory_of(const KvShape& shape, std::int64_t blocks) {
  const std::int64_t bytes = blocks * kSlots * shape.slot_bytes();
  try {
    if (shape.row_codes()) return at::empty({bytes}, at::kByte);
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
      form_(shape.row_codes()),
      row_bytes_(form_ ? kernels::code_bytes(*form_, shape.head_dim) : shape.slot_bytes() / 2),
      scale_bytes_(form_ ? kernels::scale_bytes(*form_, shape.head_dim) : 0),
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

NarrowPlace KvBlock::place(KvPart part, std::int64_t row) const {
  std::byte* const begin = part == KvPart::kKeys ? keys_ : values_;
  return {form_.value(), begin + row * row_bytes_, begin + kSlots * row_bytes_ + row * scale_bytes_};
}

void KvBlock::copy_slots(std::int64_t to_row, const KvBlock& from, std::int64_t from_row, std::int64_t count) {
  for (const KvPart part : {KvPart::kKeys, KvPart::kValues}) {
    if (storage_ != from.storage_) {
      write(part, to_row, from.rows(part, from_row, count), 0, count);
      continue;
    }
    std::memcpy(begin_to_write(part) + to_row * row_bytes_, from.begin_of(part) + from_row * row_bytes_,
                static_cast<std::size_t>(count * row_bytes_));
    if (!form_) continue;
    std::memcpy(place(part, to_row).scales, from.place(part, from_row).scales, static_cast<std::size_t>(count * scale_bytes_));
  }
}

void KvBlock::write(KvPart part, std::int64_t to_row, const at::Tensor& source, std::int64_t first, std::int64_t count) {
  if (form_) return narrow_into(source.narrow(0, first, count), place(part, to_row));
  std::byte* const to = begin_to_write(part) + to_row * row_bytes_;
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
  if (form_) return narrow_into(source, place(KvPart::kKeys, to_row), offsets, taken);
  const at::Tensor rest = source.to(at::kFloat) - at::from_blob(const_cast<float*>(offsets), source.sizes(), at::kFloat);
  write(KvPart::kKeys, to_row, rest, 0, rest.size(0));
  std::fill_n(taken, rest.size(0), std::uint8_t{1});
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
  if (form_) return upcast_into(place(KvPart::kKeys, first), to, offsets);
  to.copy_(floats(KvPart::kKeys, first, to.size(0)).to(at::kFloat) + at::from_blob(const_cast<float*>(offsets), to.sizes(), at::kFloat));
}

void KvBlock::upcast(KvPart part, std::int64_t first, const at::Tensor& to) const {
  if (form_) {
    upcast_into(place(part, first), to);
  } else {
    to.copy_(floats(part, first, to.size(0)));
  }
}

}  // namespace winnow
