// Rows of a decode step as fp32 arrays, and reusable scratch memory for them.
//
// Used by the layers' GEMVs, of which a decode step runs a hundred and more: making a libtorch tensor takes as long as some of them. CPU
// only. Threads: any; scratch is the calling thread's own.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>

namespace winnow {

// Up to this many input rows go through GEMVs, all together while the matrix is read once, and each gets the bits that it gets alone: the
// rows of a decode step that several conversations share. More rows go through GEMMs; dequantising a matrix costs about as much.
inline constexpr std::int64_t kFewRows = 8;

// Elements of a matrix below which a second thread is not worth waking.
inline constexpr std::int64_t kGrainNumbers = std::int64_t{1} << 15;

// At least `floats` of them, aligned to a cache line; valid until the thread's next call. Kept until the thread ends.
float* row_scratch(std::int64_t floats);

// True for rows [n, ...] on the CPU that a step may share (kFewRows).
inline bool are_few_rows(const at::Tensor& rows) { return rows.is_cpu() && rows.dim() > 1 && rows.size(0) > 1 && rows.size(0) <= kFewRows; }

// Calls change(row) for each [1, ...] of a few rows, else once for all: libtorch's functions round elements that fill no vector otherwise
// than others, and so a row by itself otherwise than among others.
template <class Change>
void change_rows(at::Tensor& rows, const Change& change) {
  if (!are_few_rows(rows)) return change(rows);
  for (std::int64_t i = 0; i < rows.size(0); ++i) {
    at::Tensor row = rows.narrow(0, i, 1);
    change(row);
  }
}

// Upcasts `count` elements of `type`, a kernel element type (kv_cache/element_type.h).
void upcast_row(const void* from, at::ScalarType type, std::int64_t count, float* to);
// Rounds (to nearest, ties to even) to elements [first, first + count) of an array of `type`.
void narrow_row(const float* from, std::int64_t count, at::ScalarType type, void* to, std::int64_t first);

}  // namespace winnow
