// What tensor cores and 16-bit pairs do, one instruction each. Used by tile_product.cuh; tests have the same in
// tests/kernels/cuda_on_cpu.h.
#pragma once

#ifdef __CUDACC__

namespace winnow::kernels::cuda {

// Sums of two pairs of 16-bit numbers.
__device__ inline unsigned sum_of_fp16_pairs(unsigned a, unsigned b) {
  unsigned sum;
  asm("add.f16x2 %0, %1, %2;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
__device__ inline unsigned sum_of_bf16_pairs(unsigned a, unsigned b) {
  unsigned sum;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(0x3F803F80U), "r"(b));
  return sum;
}

// sums += a x b, with 16 x 16 numbers in a, 16 x 8 in b and fp32 in sums, dealt out to the threads of a warp. Of thread t, with row = t / 4
// and first = 2 x (t % 4): a[0] is columns first and first + 1 of `row`, a[1] of row + 8, a[2] and a[3] are those eight columns on; b0 is
// rows first and first + 1 of column `row`, b1 those eight rows on; sums[0] and sums[1] are columns first and first + 1 of `row`, sums[2]
// and sums[3] of row + 8. All threads of the warp come here together: volatile, so that none of it is moved under a condition.
__device__ inline void multiply_fp16_tiles(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void multiply_bf16_tiles(float (&sums)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
               : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace winnow::kernels::cuda

#endif
