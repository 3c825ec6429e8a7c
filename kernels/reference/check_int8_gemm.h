// The argument rules of int8 tiles and int8 GEMMs, the same for every implementation, and a tile's layout.
#pragma once

#include "kernels/api/int8_gemm.h"

namespace winnow::kernels {

inline LaunchStatus check_arguments(const RoundTileArgs& args) {
  const bool good = args.input != nullptr && args.tile != nullptr && args.rows > 0 && args.rows <= kTileRows && args.columns >= 0 &&
                    args.columns % kQuantisedElements == 0;
  return good ? LaunchStatus::kOk : LaunchStatus::kBadArgument;
}

inline LaunchStatus check_arguments(const Int8GemmArgs& args) {
  const bool good = args.matrix != nullptr && args.tiles != nullptr && args.output != nullptr && args.columns >= 0 && args.begin >= 0 &&
                    args.end >= args.begin && args.inputs >= 0 && args.stride >= args.end && args.sums != nullptr &&
                    is_known(args.output_type) && has_int8_gemv(args.type) && args.columns % block_elements(args.type) == 0;
  return good ? LaunchStatus::kOk : LaunchStatus::kBadArgument;
}

inline std::int8_t* tile_codes(std::byte* tile) { return reinterpret_cast<std::int8_t*>(tile); }
inline const std::int8_t* tile_codes(const std::byte* tile) { return reinterpret_cast<const std::int8_t*>(tile); }
inline QuantisedScale* tile_scales(std::byte* tile, std::int64_t columns) {
  return reinterpret_cast<QuantisedScale*>(tile + kTileRows * columns);
}
inline const QuantisedScale* tile_scales(const std::byte* tile, std::int64_t columns) {
  return reinterpret_cast<const QuantisedScale*>(tile + kTileRows * columns);
}
inline std::int32_t* tile_half_sums(std::byte* tile, std::int64_t columns) { return reinterpret_cast<std::int32_t*>(tile + 5 * columns); }
inline const std::int32_t* tile_half_sums(const std::byte* tile, std::int64_t columns) {
  return reinterpret_cast<const std::int32_t*>(tile + 5 * columns);
}
static_assert(kTileRows * (32 + sizeof(QuantisedScale) + 2 * sizeof(std::int32_t)) == int8_tile_bytes(32));

}  // namespace winnow::kernels
