// A tensor's dtype as kernels name it. Used wherever rows of tensors are handed to kernels. Threads: any.
#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "kernels/api/element_type.h"

namespace winnow {

// Nothing: kernels do not take it.
std::optional<kernels::ElementType> find_element_type(at::ScalarType type);
// Errors: kInternal for what they do not take.
kernels::ElementType element_type(at::ScalarType type);

}  // namespace winnow
