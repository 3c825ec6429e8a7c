// The user's choices for loading a model: the device and the format of its weights.
//
// Part of LoadModel (engine/messages/requests.h); weights_as() and choose_device() read them. Plain values: no torch.
#pragma once

namespace winnow {

enum class Device : int { kAuto = 1, kCpu = 2, kCuda = 3 };

// auto: as stored on a GPU; bf16 on a CPU with bf16 instructions, else fp32; quantised weights stay as stored. int8, int4: as auto, but
// the decoder's unquantised matrices are quantised to so many bits.
enum class WeightFormat : int { kAuto = 1, kFp32 = 2, kBf16 = 3, kInt8 = 4, kInt4 = 5 };

// How the large matrices of the vision encoder and the projector are held. auto: like the decoder's. int8: a quarter less wait on a CPU and
// half the memory, for features whose cosine to those of fp32 is 0.9993 to 0.9999.
enum class VisionFormat : int { kAuto = 1, kInt8 = 2 };

}  // namespace winnow
