// What merging asks of a GPU's own kernels (kernels/api/cuda_nearest_rows.h, cuda_merge_rows.h): whom rows resemble, without their matrix,
// and rows with what flows into them, in the order of the flows.
//
// Used by merge.h and shared_entries.h for rows that lie there. [n, d], elements of a row side by side; fp32 where nothing else is said.
// Needs the CUDA plug-in to be open. Engine thread. Errors: kDeviceFailed where a launch fails.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <span>
#include <vector>

namespace winnow {

struct NearestRow {
  std::int32_t index = 0;  // among those that were compared
  float similarity = 0.0F;
};

// The rows of one KV head that are compared.
struct ComparedRows {
  at::Tensor keys;
  at::Tensor values;                     // undefined: keys alone
  std::span<const std::int32_t> asking;  // rows
  std::span<const std::int32_t> among;   // rows; not empty
};

// For every head and row of `asking` the most similar one of `among`, ties to the smaller index: by the cosine of keys, times that of
// values where these are defined. Both fp32, bf16 or fp16: rows as a cache of 16 bits stores them are compared many times as fast as fp32
// ones, their sums are fp32 all the same. What is asked goes to the device by one copy and comes back by one: the host waits once for all
// heads.
std::vector<std::vector<NearestRow>> nearest_on_device(std::span<const ComparedRows> heads);

// Rows that stay, (own * row + the sum of weight * row `from`) / divisor.
struct StayingRows {
  struct Flow {
    std::int32_t from = 0;   // a row
    std::int32_t place = 0;  // of the row that it flows into, in `rows`
    float weight = 1.0F;
  };
  std::vector<std::int32_t> rows;
  std::vector<float> own;      // of each of them
  std::vector<float> divisor;  // likewise
  std::vector<Flow> flows;     // in the order in which a row adds them
};

// Those of several KV heads, which are copied to the device by one copy. Nobody waits.
class DeviceFlows {
 public:
  DeviceFlows(std::span<const StayingRows> heads, at::Device device);
  // fp32 [rows of the head that stay, d].
  at::Tensor merged(std::size_t head, const at::Tensor& rows) const;

 private:
  struct Head {
    std::int64_t first = 0;  // of its words: rows, begins, own, divisors, where flows come from, weights
    std::int64_t rows = 0;
    std::int64_t flows = 0;
    std::int64_t words() const { return 4 * rows + 1 + 2 * flows; }
  };

  std::vector<Head> heads_;
  at::Tensor words_;  // int32
};

}  // namespace winnow
