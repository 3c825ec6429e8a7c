// Launches of gated activations.
#include "kernels/cuda/gated_activation.cuh"

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/reference/check_products.h"

namespace winnow::kernels {
namespace {

template <class T>
void launch(const GatedActivationArgs& args, void* stream) {
  constexpr int kVector = cuda::kWidest<T>;
  const cuda::GateLaunch gate = cuda::plan_launch(args);
  const auto rows = static_cast<unsigned>(args.rows);
  if (cuda::moves_vectors<T>(args)) {
    cuda::launch_overlapped(cuda::gate_rows<T, kVector>, cuda::Grid(rows, cuda::gate_pieces(args, kVector)), cuda::kGateThreads, stream,
                            gate);
  } else {
    cuda::launch_overlapped(cuda::gate_rows<T, 1>, cuda::Grid(rows, cuda::gate_pieces(args, 1)), cuda::kGateThreads, stream, gate);
  }
}

}  // namespace

LaunchStatus cuda_gated_activation(const GatedActivationArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.rows == 0 || args.columns == 0) return LaunchStatus::kOk;
  cuda::for_type(args.type, [&](auto element) { launch<decltype(element)>(args, stream); });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
