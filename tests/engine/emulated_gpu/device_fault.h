// A fault of the emulated device, which tests cause: a file of the name in EMULATED_GPU_FAULT is taken away by the next launch or copy,
// which fails; and from then on, as on CUDA, everything else does. Text in the file is what the first failure says, as an error of no type
// of its own (cuBLAS).
#pragma once

namespace winnow::emulated_gpu {

// Throws what libtorch's operators would.
void require_sound();
// Null: it is sound.
const char* fault();

}  // namespace winnow::emulated_gpu
