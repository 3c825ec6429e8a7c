// Launches of rotary positions.
#include "kernels/cuda/rotary.cuh"

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_rows.h"

namespace winnow::kernels {
namespace {

template <class T>
void launch(const RotaryArgs& args, void* stream) {
  const auto rows = static_cast<unsigned>(args.rows);
  if (cuda::moves_vectors<T>(args)) {
    constexpr int kVector = cuda::kWidest<T>;
    cuda::launch_overlapped(cuda::turn_heads<T, kVector>, cuda::Grid(rows, cuda::rotary_pieces(args, kVector)), cuda::kRotaryThreads,
                            stream, args);
  } else {
    cuda::launch_overlapped(cuda::turn_heads<T, 1>, cuda::Grid(rows, cuda::rotary_pieces(args, 1)), cuda::kRotaryThreads, stream, args);
  }
}

}  // namespace

LaunchStatus cuda_rotary(const RotaryArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.rows == 0 || args.heads == 0 || args.half == 0) return LaunchStatus::kOk;
  cuda::for_type(args.type, [&](auto element) { launch<decltype(element)>(args, stream); });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
