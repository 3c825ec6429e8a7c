#include "kernels/api/pack_codes.h"

#include <cstring>

#include "kernels/reference/half.h"

namespace winnow::kernels {
namespace {

constexpr std::int64_t kElements = 32;

// Elements i and i + 16 share a byte, the earlier one in its low half.
void pack_nibbles(const std::uint8_t* codes, std::uint8_t* bytes) {
  for (std::int64_t i = 0; i < kElements / 2; ++i)
    bytes[i] = static_cast<std::uint8_t>((codes[i] & 15) | (codes[i + kElements / 2] & 15) << 4);
}

}  // namespace

LaunchStatus pack_codes(const PackCodesArgs& args) {
  const bool four = args.type == BlockType::kQ4_0 || args.type == BlockType::kU4Z;
  const bool zeros = args.type == BlockType::kU4Z || args.type == BlockType::kU8Z;
  if (!four && !zeros && args.type != BlockType::kQ8_0) return LaunchStatus::kUnsupported;
  if (args.codes == nullptr || args.scales == nullptr || args.blocks == nullptr || (zeros && args.zeros == nullptr) || args.elements < 0 ||
      args.elements % kElements != 0)
    return LaunchStatus::kBadArgument;
  const std::int64_t bytes = block_bytes(args.type);
  for (std::int64_t i = 0; i < args.elements / kElements; ++i) {
    auto* block = static_cast<std::uint8_t*>(args.blocks) + i * bytes;
    const std::uint8_t* codes = args.codes + i * kElements;
    const std::uint16_t scale = float_to_fp16(args.scales[i]);
    std::memcpy(block, &scale, sizeof scale);
    block += sizeof scale;
    if (zeros) {
      *block++ = args.zeros[i];
      *block++ = 0;
    }
    if (four) {
      pack_nibbles(codes, block);
    } else {
      // Q8_0 counts from the middle: 128 is 0, as a signed byte.
      const auto middle = static_cast<std::uint8_t>(zeros ? 0 : 128);
      for (std::int64_t element = 0; element < kElements; ++element) block[element] = codes[element] ^ middle;
    }
  }
  return LaunchStatus::kOk;
}

}  // namespace winnow::kernels
