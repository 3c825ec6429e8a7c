#include "engine/kv_cache/element_type.h"

#include "engine/base/error.h"

namespace winnow {

std::optional<kernels::ElementType> find_element_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat: return kernels::ElementType::kFp32;
    case at::kBFloat16: return kernels::ElementType::kBf16;
    case at::kHalf: return kernels::ElementType::kFp16;
    default: return std::nullopt;
  }
}

kernels::ElementType element_type(at::ScalarType type) {
  const std::optional<kernels::ElementType> found = find_element_type(type);
  if (!found) throw Exception(ErrorCode::kInternal, "", "the cache's element type has no attention kernel");
  return *found;
}

}  // namespace winnow
