#include "engine/layers/row_elements.h"

#include <algorithm>
#include <memory>

#include "engine/base/error.h"

namespace winnow {
namespace {

template <class Visit>
void with_type(at::ScalarType type, const Visit& visit) {
  switch (type) {
    case at::kFloat: return visit(float{});
    case at::kBFloat16: return visit(at::BFloat16{});
    case at::kHalf: return visit(at::Half{});
    default: throw Exception(ErrorCode::kInternal, "", "a row of numbers of another type");
  }
}

}  // namespace

float* row_scratch(std::int64_t floats) {
  constexpr std::int64_t kLine = 64;
  thread_local std::unique_ptr<float[]> memory;
  thread_local std::int64_t held = 0;
  if (held < floats) {
    held = std::max(floats, 2 * held);
    memory = std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(held + kLine));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
  return memory.get() + (kLine - address % kLine) % kLine / sizeof(float);
}

void upcast_row(const void* from, at::ScalarType type, std::int64_t count, float* to) {
  with_type(type, [&](auto element) {
    const auto* const elements = static_cast<const decltype(element)*>(from);
    for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(elements[i]);
  });
}

void narrow_row(const float* from, std::int64_t count, at::ScalarType type, void* to, std::int64_t first) {
  with_type(type, [&](auto element) {
    auto* const elements = static_cast<decltype(element)*>(to) + first;
    for (std::int64_t i = 0; i < count; ++i) elements[i] = static_cast<decltype(element)>(from[i]);
  });
}

}  // namespace winnow
