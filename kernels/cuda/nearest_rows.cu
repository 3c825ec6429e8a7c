// Launches of nearest rows: argument rules, element type, tensor cores or not, vector width, split.
#include "kernels/cuda/nearest_rows.cuh"

#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/nearest_rows_matrix.cuh"
#include "kernels/reference/check_slots.h"

namespace winnow::kernels {

namespace {

unsigned blocks_of(std::int64_t rows, std::int64_t share) { return static_cast<unsigned>((rows + share - 1) / share); }

template <class T>
void compare_in_parts(const CudaNearestRowsArgs& args, const cuda::NearestLaunch& launch, void* stream) {
  const auto parts = static_cast<unsigned>(launch.parts);
  if constexpr (sizeof(T) == 2) {
    if (cuda::fits_tensor_cores<T>(args)) {
      const cuda::Grid strips(blocks_of(args.asking_count, cuda::kNearStrips), parts);
      cuda::for_near_chunks(args, [&](auto chunks, auto arrays) {
        cuda::launch_kernel(cuda::compare_by_matrix<T, decltype(chunks)::value, decltype(arrays)::value>, strips, cuda::kNearThreads,
                            stream, launch);
      });
      return;
    }
  }
  const cuda::Grid tiles(blocks_of(args.asking_count, cuda::kNearTile), parts);
  if (cuda::reads_vectors<T>(args)) {
    cuda::launch_kernel(cuda::compare_rows<T, cuda::kWidest<T>>, tiles, cuda::kNearThreads, stream, launch);
  } else {
    cuda::launch_kernel(cuda::compare_rows<T, 1>, tiles, cuda::kNearThreads, stream, launch);
  }
}

}  // namespace

LaunchStatus cuda_nearest_rows(const CudaNearestRowsArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  if (args.asking_count == 0) return LaunchStatus::kOk;
  const cuda::NearestLaunch launch = cuda::plan_launch(args);
  const cuda::Grid measured(blocks_of(args.asking_count + args.among_count, cuda::kNearThreads / 32), args.second != nullptr ? 2 : 1);
  cuda::for_type(args.type, [&](auto element) {
    using T = decltype(element);
    cuda::launch_kernel(cuda::measure_rows<T>, measured, cuda::kNearThreads, stream, launch);
    compare_in_parts<T>(args, launch, stream);
  });
  cuda::launch_kernel(cuda::join_nearest, blocks_of(args.asking_count, cuda::kNearThreads), cuda::kNearThreads, stream, launch);
  return cuda::launch_status();
}

}  // namespace winnow::kernels
