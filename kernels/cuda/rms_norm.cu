// Launches of RMS norms.
#include "kernels/cuda/rms_norm.cuh"

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_rows.h"

namespace winnow::kernels {
namespace {

template <class T, int kVector>
void launch(const RmsNormArgs& args, void* stream) {
  const cuda::NormLaunch norm = cuda::plan_launch(args);
  if (args.features <= cuda::kWarpFeatures) {
    cuda::launch_overlapped(cuda::normalise_rows<T, kVector, 32>, cuda::norm_blocks(args, 32), cuda::kNormThreads, stream, norm);
  } else {
    cuda::launch_overlapped(cuda::normalise_rows<T, kVector, cuda::kNormThreads>, cuda::norm_blocks(args, cuda::kNormThreads),
                            cuda::kNormThreads, stream, norm);
  }
}

template <class T, class Weight>
void launch_holding(const RmsNormArgs& args, void* stream) {
  const int warps = cuda::holding_warps<T>(args);
  cuda::launch_overlapped(cuda::normalise_held_row<T, Weight>, static_cast<unsigned>(args.rows), 32 * warps, stream,
                          cuda::plan_launch(args), warps);
}

template <class T>
void launch_as_it_lies(const RmsNormArgs& args, void* stream) {
  if (cuda::holds_rows<T>(args))
    return args.weight_type == args.type ? launch_holding<T, T>(args, stream) : launch_holding<T, float>(args, stream);
  cuda::moves_vectors<T>(args) ? launch<T, cuda::kWidest<T>>(args, stream) : launch<T, 1>(args, stream);
}

}  // namespace

LaunchStatus cuda_rms_norm(const RmsNormArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.rows == 0 || args.groups == 0) return LaunchStatus::kOk;
  cuda::for_type(args.type, [&](auto element) { launch_as_it_lies<decltype(element)>(args, stream); });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
