#include "app/engine/process/engine_protocol.h"

#include "engine/api/engine.h"
#include "engine/messages/wire.h"

namespace winnow::app {
namespace {

constexpr std::size_t kIdBytes = 8;

// Least significant first.
void appendNumber(std::uint64_t value, std::vector<std::uint8_t>& bytes) {
  for (std::size_t i = 0; i < kIdBytes; ++i) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint64_t numberAt(std::span<const std::uint8_t> bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < kIdBytes; ++i) value |= std::uint64_t{bytes[i]} << (8 * i);
  return value;
}

}  // namespace

std::string engineHello() {
  return "wire " + std::to_string(kWireVersion) + ", winnow " + WINNOW_VERSION + ", libtorch " + libtorch_version();
}

std::vector<std::uint8_t> bytesOf(const InterruptMessage& interrupt) {
  std::vector<std::uint8_t> bytes = bytesOf(interrupt.id);
  bytes.push_back(static_cast<std::uint8_t>(interrupt.kind));
  return bytes;
}

std::optional<InterruptMessage> interruptOf(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != kIdBytes + 1) return std::nullopt;
  const auto kind = static_cast<Interrupt>(bytes[kIdBytes]);
  if (kind != Interrupt::kStop && kind != Interrupt::kCancel) return std::nullopt;
  return InterruptMessage{numberAt(bytes), kind};
}

std::vector<std::uint8_t> bytesOf(RequestId id) {
  std::vector<std::uint8_t> bytes;
  appendNumber(id, bytes);
  return bytes;
}

std::optional<RequestId> requestIdOf(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != kIdBytes) return std::nullopt;
  return numberAt(bytes);
}

}  // namespace winnow::app
