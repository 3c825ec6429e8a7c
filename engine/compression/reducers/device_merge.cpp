#include "engine/compression/reducers/device_merge.h"

#include <bit>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"
#include "engine/kv_cache/element_type.h"

namespace winnow {

namespace {

void require_rows(const at::Tensor& rows, at::ScalarType type) {
  require(rows.dim() == 2 && rows.scalar_type() == type && rows.stride(1) == 1 && rows.size(1) > 0, "merging: rows are [n, d] of one type");
}

}  // namespace

std::vector<NearestRow> nearest_on_device(const at::Tensor& keys, const at::Tensor& values, std::span<const std::int32_t> asking,
                                          std::span<const std::int32_t> among) {
  require_rows(keys, keys.scalar_type());
  if (values.defined()) require_rows(values, keys.scalar_type());
  require(!values.defined() || values.size(1) == keys.size(1), "merging: keys and values are of one size");
  const auto count = static_cast<std::int64_t>(asking.size());
  std::vector<NearestRow> nearest(asking.size());
  if (nearest.empty()) return nearest;
  std::vector<std::int32_t> numbers(asking.begin(), asking.end());
  numbers.insert(numbers.end(), among.begin(), among.end());
  const at::Tensor rows = numbers_on(keys.device(), numbers);
  const at::Tensor found = at::empty({2, count}, rows.options());

  kernels::CudaNearestRowsArgs args;
  args.type = element_type(keys.scalar_type());
  args.first = keys.const_data_ptr();
  args.first_stride = keys.stride(0);
  if (values.defined()) {
    args.second = values.const_data_ptr();
    args.second_stride = values.stride(0);
  }
  args.width = keys.size(1);
  args.asking = rows.const_data_ptr<std::int32_t>();
  args.asking_count = count;
  args.among = args.asking + count;
  args.among_count = static_cast<std::int64_t>(among.size());
  args.nearest = found.mutable_data_ptr<std::int32_t>();
  args.similarity = reinterpret_cast<float*>(args.nearest + count);
  args.parts = kernels::cuda_nearest_rows_parts(args.asking_count, args.among_count, open_cuda().multiprocessors);
  const at::Tensor workspace = at::empty({kernels::cuda_nearest_rows_workspace(args)}, keys.options().dtype(at::kFloat));
  args.workspace = workspace.mutable_data_ptr<float>();
  require_launched(cuda_plugin().nearest_rows(&args), "the similarity of slots");

  const at::Tensor host = found.to(at::kCPU);
  const auto* const words = host.const_data_ptr<std::int32_t>();
  for (std::int64_t i = 0; i < count; ++i) nearest[static_cast<std::size_t>(i)] = {words[i], std::bit_cast<float>(words[count + i])};
  return nearest;
}

DeviceFlows::DeviceFlows(const StayingRows& staying, at::Device device)
    : count_(static_cast<std::int64_t>(staying.rows.size())), flows_(static_cast<std::int64_t>(staying.flows.size())) {
  require(staying.own.size() == staying.rows.size() && staying.divisor.size() == staying.rows.size(), "merging: a scale for every row");
  // By the rows that they flow into, each one's in their order.
  std::vector<std::int32_t> begin(staying.rows.size() + 1, 0);
  for (const StayingRows::Flow& flow : staying.flows) ++begin[static_cast<std::size_t>(flow.place) + 1];
  for (std::size_t i = 1; i < begin.size(); ++i) begin[i] += begin[i - 1];
  std::vector<std::int32_t> next(begin.begin(), begin.end() - 1);
  std::vector<std::int32_t> from(staying.flows.size());
  std::vector<std::int32_t> weight(staying.flows.size());
  for (const StayingRows::Flow& flow : staying.flows) {
    const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(flow.place)]++);
    from[at] = flow.from;
    weight[at] = std::bit_cast<std::int32_t>(flow.weight);
  }
  std::vector<std::int32_t> words = staying.rows;
  words.insert(words.end(), begin.begin(), begin.end());
  for (const float own : staying.own) words.push_back(std::bit_cast<std::int32_t>(own));
  for (const float divisor : staying.divisor) words.push_back(std::bit_cast<std::int32_t>(divisor));
  words.insert(words.end(), from.begin(), from.end());
  words.insert(words.end(), weight.begin(), weight.end());
  words_ = numbers_on(device, words);
}

at::Tensor DeviceFlows::merged(const at::Tensor& rows) const {
  require_rows(rows, at::kFloat);
  const at::Tensor output = at::empty({count_, rows.size(1)}, rows.options());
  if (count_ == 0) return output;
  kernels::CudaMergeRowsArgs args;
  args.rows = rows.const_data_ptr<float>();
  args.row_stride = rows.stride(0);
  args.width = rows.size(1);
  args.stay = words_.const_data_ptr<std::int32_t>();
  args.count = count_;
  args.begin = args.stay + count_;
  args.own = reinterpret_cast<const float*>(args.begin + count_ + 1);
  args.divisor = args.own + count_;
  args.from = reinterpret_cast<const std::int32_t*>(args.divisor + count_);
  args.weight = reinterpret_cast<const float*>(args.from + flows_);
  args.output = output.mutable_data_ptr<float>();
  require_launched(cuda_plugin().merge_rows(&args), "merging slots");
  return output;
}

}  // namespace winnow
