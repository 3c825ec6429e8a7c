#include "engine/device/model_room.h"

#include "engine/base/error.h"

namespace winnow {

ModelRoom room_for_model(std::uint64_t needed, std::uint64_t free, std::uint64_t held, const std::string& subject) {
  if (free == 0 || needed <= free) return ModelRoom::kBoth;
  if (needed - free <= held) return ModelRoom::kAfterFreeing;
  const auto mib = [](std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  const std::string freed = held > 0 ? " with the " + mib(held) + " of the model that is loaded" : "";
  throw Exception(ErrorCode::kOutOfMemory, subject, "its weights need " + mib(needed) + " and " + mib(free + held) + " are free" + freed);
}

}  // namespace winnow
