// A tensor's dtype as a kernel element type. Used wherever rows of tensors are passed to kernels. Threads: any.
#pragma once

#include <ATen/ATen.h>

#include <optional>

#include "kernels/api/element_type.h"

namespace winnow {

// nullopt if kernels do not support the dtype.
std::optional<kernels::ElementType> find_element_type(at::ScalarType type);
// Errors: kInternal if they do not.
kernels::ElementType element_type(at::ScalarType type);

}  // namespace winnow
