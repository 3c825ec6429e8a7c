// Merging on a GPU by our own kernels (kernels/api/cuda_nearest_rows.h, cuda_merge_rows.h): nearest rows without a similarity matrix, and
// kept rows with their merges in order.
//
// Used by merge.h and shared_entries.h for rows in GPU memory. [n, d] with contiguous rows; fp32 unless stated otherwise. Needs the CUDA
// plug-in to be open. Engine thread. Errors: kDeviceFailed if a launch fails.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

struct NearestRow {
  std::int32_t index = 0;  // into `among`
  float similarity = 0.0F;
};

// The rows of one KV head that are compared.
struct ComparedRows {
  at::Tensor keys;
  at::Tensor values;                     // undefined: keys only
  std::span<const std::int32_t> asking;  // rows
  std::span<const std::int32_t> among;   // rows; not empty
};

// For every head and row of `asking` the nearest one of `among` (the smaller index wins a tie): by the cosine of keys, times that of values
// if these are defined. Both fp32, bf16 or fp16; 16-bit rows are compared many times as fast, with fp32 sums. One copy to the device and
// one back: the host waits once for all heads.
std::vector<std::vector<NearestRow>> nearest_on_device(std::span<const ComparedRows> heads);

// Kept rows: (own * row + the sum of weight * row `from`) / divisor.
struct StayingRows {
  struct Flow {
    std::int32_t from = 0;   // a row
    std::int32_t place = 0;  // index in `rows` of the row that it merges into
    float weight = 1.0F;
  };
  std::vector<std::int32_t> rows;
  std::vector<float> own;      // of each of them
  std::vector<float> divisor;  // likewise
  std::vector<Flow> flows;     // in the order of addition
};

// Those of several KV heads, copied to the device in one copy. Nothing waits.
class DeviceFlows {
 public:
  DeviceFlows(std::span<const StayingRows> heads, at::Device device);
  // fp32 [kept rows of the head, d].
  at::Tensor merged(std::size_t head, const at::Tensor& rows) const;

 private:
  struct Head {
    std::int64_t first = 0;  // of its words: rows, begins, own, divisors, merged rows, weights
    std::int64_t rows = 0;
    std::int64_t flows = 0;
    std::int64_t words() const { return 4 * rows + 1 + 2 * flows; }
  };

  std::vector<Head> heads_;
  at::Tensor words_;  // int32
};

}  // namespace winnow
