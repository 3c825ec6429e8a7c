// Slot changes: device code and launch. Tests run both on CPU threads, too (tests/kernels/cuda_on_cpu.h).
//
// A thread block each for a list's K rows and V rows; a thread a column carries out the list's changes in order, so no thread waits for
// another.
#include "kernels/api/cuda_change_slots.h"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_slots.h"

namespace winnow::kernels::cuda {

constexpr int kChangeThreads = 128;

// Grid: the lists; blockIdx.y: K or V.
template <class T>
__global__ void __launch_bounds__(kChangeThreads) change_slots(CudaChangeSlotsArgs args) {
  const bool values = blockIdx.y == 1;
  const int end = args.begin[blockIdx.x + 1];
  for (int i = args.begin[blockIdx.x]; i < end; ++i) {
    const SlotChange change = args.changes[i];
    if (!values && change.kind == SlotChange::kReceivesValue) continue;
    const T* const from = static_cast<const T*>(values ? change.from_value : change.from_key);
    T* const to = static_cast<T*>(values ? change.to_value : change.to_key);
    for (std::int64_t column = threadIdx.x; column < args.head_dim; column += kChangeThreads) {
      if (change.kind == SlotChange::kMoves) {
        to[column] = from[column];
        continue;
      }
      const float sum = __fadd_rn(__fmul_rn(change.own, upcast(to[column])), __fmul_rn(change.weight, upcast(from[column])));
      narrow(sum / change.divisor, to[column]);
    }
  }
}

}  // namespace winnow::kernels::cuda

namespace winnow::kernels {

LaunchStatus cuda_change_slots(const CudaChangeSlotsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::Grid grid(static_cast<unsigned>(args.lists), 2);
  cuda::for_type(args.type, [&](auto element) {
    cuda::launch_kernel(cuda::change_slots<decltype(element)>, grid, cuda::kChangeThreads, stream, args);
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
