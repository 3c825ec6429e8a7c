#include "engine/kv_cache/stored_rows.h"

#include <algorithm>
#include <cstdint>

#include "engine/base/error.h"

namespace winnow {
namespace {

bool all_finite(const at::Tensor& half) {
  constexpr unsigned kExponent = 0x7C00U;
  const at::Tensor dense = half.contiguous();
  const auto* bits = reinterpret_cast<const std::uint16_t*>(dense.const_data_ptr<at::Half>());
  // Counted, not searched for: that takes vectors.
  return std::count_if(bits, bits + dense.numel(), [](unsigned each) { return (each & kExponent) == kExponent; }) == 0;
}

}  // namespace

at::Tensor in_half(const at::Tensor& rows) {
  at::Tensor half = rows.to(at::kHalf);
  if (!all_finite(half) && at::isfinite(rows).all().item<bool>()) {
    throw Exception(ErrorCode::kNumericFailure, "kv",
                    "a key or a value is beyond 65,504, which 16 bits do not hold; a cache in 32 bits does (kv)");
  }
  return half;
}

void round_as_stored(at::Tensor rows, KvStorage storage) {
  switch (storage) {
    case KvStorage::kHalf: rows.copy_(in_half(rows)); return;
    case KvStorage::kWide:
    case KvStorage::kInt8:
    case KvStorage::kInt4: return;
  }
}

}  // namespace winnow
