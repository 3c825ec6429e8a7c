// Launches of GEMVs with quantised matrices: argument rules, block type, 16-bit or 32-bit elements, one input or some.
#include "kernels/cuda/block_gemv.cuh"

#include "kernels/cuda/launch.h"
#include "kernels/cuda/tile_product.cuh"
#include "kernels/reference/check_products.h"

namespace winnow::kernels {

LaunchStatus cuda_block_gemv(const CudaBlockGemvArgs& args, void* stream) {
  if (const LaunchStatus status = check_arguments(args); status != LaunchStatus::kOk) return status;
  const cuda::ProductLaunch launch = cuda::plan_launch(args);
  const unsigned blocks = cuda::product_blocks(args);
  cuda::with_block_type(args.type, [&](auto type) {
    using Type = decltype(type);
    if constexpr (cuda::kIsInterleaved<Type>) {
      const unsigned tiles = cuda::tile_blocks(args);
      if (args.element == ElementType::kBf16)
        return cuda::launch_overlapped(cuda::multiply_tiles<Type, cuda::Bf16>, tiles, 32 * cuda::kTileWarps, stream, launch);
      if (args.element == ElementType::kFp16)
        return cuda::launch_overlapped(cuda::multiply_tiles<Type, cuda::Fp16>, tiles, 32 * cuda::kTileWarps, stream, launch);
    }
    if (args.inputs == 1) {
      cuda::launch_overlapped(cuda::multiply_rows<Type, 1>, blocks, 32 * cuda::kProductWarps, stream, launch);
    } else {
      cuda::launch_overlapped(cuda::multiply_rows<Type, cuda::kManyInputs>, blocks, 32 * cuda::kProductWarps, stream, launch);
    }
  });
  return cuda::launch_status();
}

}  // namespace winnow::kernels
