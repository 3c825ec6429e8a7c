// Unit keys: device code and launch. Tests run both on CPU threads, too (tests/kernels/cuda_on_cpu.h).
//
// A warp for a key, its lanes adjacent elements; the rotated key stays in shared memory until its length is known.
#include "kernels/api/cuda_unit_keys.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/warp.cuh"
#include "kernels/reference/check_slots.h"

namespace winnow::kernels::cuda {

constexpr int kUnitKeyThreads = 32;

// Grid: the keys.
template <class T>
__global__ void __launch_bounds__(kUnitKeyThreads) make_unit_keys(CudaUnitKeysArgs args) {
  __shared__ float rotated[kMaxUnitKeyWidth];
  const UnitKey asked = args.keys[blockIdx.x];
  T* const key = static_cast<T*>(asked.key);
  const int lane = static_cast<int>(threadIdx.x);
  const int width = static_cast<int>(args.head_dim);
  float squares = 0.0F;
  if (args.frequencies != nullptr) {
    const int half = width / 2;
    for (int i = lane; i < half; i += kUnitKeyThreads) {
      float sine = 0.0F;
      float cosine = 1.0F;
      sincosf(__fmul_rn(asked.rotation, args.frequencies[i]), &sine, &cosine);
      const float low = upcast(key[i]);
      const float high = upcast(key[half + i]);
      rotated[i] = fmaf(low, cosine, -(high * sine));
      rotated[half + i] = fmaf(high, cosine, low * sine);
      squares = fmaf(rotated[i], rotated[i], squares);
      squares = fmaf(rotated[half + i], rotated[half + i], squares);
    }
  } else {
    for (int i = lane; i < width; i += kUnitKeyThreads) {
      rotated[i] = upcast(key[i]);
      squares = fmaf(rotated[i], rotated[i], squares);
    }
  }
  const float length = sqrtf(warp_sum(squares));
  __syncwarp();
  if (lane == 0) args.lengths[blockIdx.x] = length;
  for (int i = lane; i < width; i += kUnitKeyThreads) narrow(rotated[i] / fmaxf(length, kLeastKeyLength), key[i]);
}

}  // namespace winnow::kernels::cuda

namespace winnow::kernels {

LaunchStatus cuda_unit_keys(const CudaUnitKeysArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  cuda::for_type(args.type, [&](auto element) {
    cuda::launch_kernel(cuda::make_unit_keys<decltype(element)>, static_cast<unsigned>(args.count), cuda::kUnitKeyThreads, stream, args);
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
