// Rows of a decode step as numbers of 32 bits, and memory for them that is taken once.
//
// Used by the layers' ways for few rows, of which a decode step makes a hundred and more: a tensor of libtorch takes as long to make as
// some of them take. CPU only. Threads: any; scratch is the calling thread's own.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace winnow {

// Numbers of a matrix below which a second thread is not worth waking.
inline constexpr std::int64_t kGrainNumbers = std::int64_t{1} << 15;

// Of at least so many floats, at a line of the cache; valid until the thread asks again. Kept until the thread ends.
float* row_scratch(std::int64_t floats);

// `count` elements of `type`, one of those that kernels take (kv_cache/element_type.h), as floats.
void upcast_row(const void* from, at::ScalarType type, std::int64_t count, float* to);
// Rounded to nearest and even, to elements [first, first + count) of an array of `type`.
void narrow_row(const float* from, std::int64_t count, at::ScalarType type, void* to, std::int64_t first);

}  // namespace winnow
