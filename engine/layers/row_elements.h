// Rows of a decode step as fp32 arrays, and reusable scratch memory for them.
//
// Used by the layers' GEMVs, of which a decode step runs a hundred and more: making a libtorch tensor takes as long as some of them. CPU
// only. Threads: any; scratch is the calling thread's own.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace winnow {

// Elements of a matrix below which a second thread is not worth waking.
inline constexpr std::int64_t kGrainNumbers = std::int64_t{1} << 15;

// At least `floats` of them, aligned to a cache line; valid until the thread's next call. Kept until the thread ends.
float* row_scratch(std::int64_t floats);

// Upcasts `count` elements of `type`, a kernel element type (kv_cache/element_type.h).
void upcast_row(const void* from, at::ScalarType type, std::int64_t count, float* to);
// Rounds (to nearest, ties to even) to elements [first, first + count) of an array of `type`.
void narrow_row(const float* from, std::int64_t count, at::ScalarType type, void* to, std::int64_t first);

}  // namespace winnow
