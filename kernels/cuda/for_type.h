// Which of a kernel's versions is launched: that of the arguments' element type. Host code; used by the launches of this folder.
#pragma once

#include "kernels/cuda/element.cuh"

namespace winnow::kernels::cuda {

// Calls launch(element), whose argument's type is the one that device memory has of `type`.
template <class Launch>
void for_type(ElementType type, const Launch& launch) {
  switch (type) {
    case ElementType::kFp32:
      return launch(float{});
    case ElementType::kBf16:
      return launch(Bf16{});
    case ElementType::kFp16:
      return launch(Fp16{});
  }
}

}  // namespace winnow::kernels::cuda
