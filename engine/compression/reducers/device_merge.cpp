#include "engine/compression/reducers/device_merge.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "engine/base/error.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"
#include "engine/kv_cache/element_type.h"

namespace winnow {

namespace {

void require_rows(const at::Tensor& rows, at::ScalarType type) {
  require(rows.dim() == 2 && rows.scalar_type() == type && rows.stride(1) == 1 && rows.size(1) > 0, "merging: rows are [n, d] of one type");
}

// Writes a head's words. By the rows that they flow into, each one's flows in their order.
void write_words(const StayingRows& staying, std::int32_t* words) {
  const std::size_t rows = staying.rows.size();
  std::int32_t* const begin = std::ranges::copy(staying.rows, words).out;
  std::int32_t* const own = begin + rows + 1;
  std::int32_t* const divisor = own + rows;
  std::int32_t* const from = divisor + rows;
  std::int32_t* const weight = from + staying.flows.size();
  std::fill(begin, own, 0);
  for (const StayingRows::Flow& flow : staying.flows) ++begin[flow.place + 1];
  for (std::size_t i = 0; i < rows; ++i) begin[i + 1] += begin[i];
  std::vector<std::int32_t> next(begin, begin + rows);
  for (const StayingRows::Flow& flow : staying.flows) {
    const std::int32_t at = next[static_cast<std::size_t>(flow.place)]++;
    from[at] = flow.from;
    weight[at] = std::bit_cast<std::int32_t>(flow.weight);
  }
  const auto bits = [](float number) { return std::bit_cast<std::int32_t>(number); };
  std::ranges::transform(staying.own, own, bits);
  std::ranges::transform(staying.divisor, divisor, bits);
}

}  // namespace

std::vector<std::vector<NearestRow>> nearest_on_device(std::span<const ComparedRows> heads) {
  std::vector<std::vector<NearestRow>> nearest(heads.size());
  std::vector<std::int32_t> numbers;  // of each head who asks, and among whom
  std::int64_t asking = 0;
  for (const ComparedRows& head : heads) {
    require_rows(head.keys, head.keys.scalar_type());
    if (head.values.defined()) require_rows(head.values, head.keys.scalar_type());
    require(!head.values.defined() || head.values.size(1) == head.keys.size(1), "merging: keys and values are of one size");
    asking += std::ssize(head.asking);
    numbers.insert(numbers.end(), head.asking.begin(), head.asking.end());
    numbers.insert(numbers.end(), head.among.begin(), head.among.end());
  }
  if (asking == 0) return nearest;
  const at::Tensor rows = numbers_on(heads.front().keys.device(), numbers);
  const at::Tensor found = at::empty({2, asking}, rows.options());

  kernels::CudaNearestRowsArgs args;
  args.nearest = found.mutable_data_ptr<std::int32_t>();
  args.similarity = reinterpret_cast<float*>(args.nearest + asking);
  const auto* next = rows.const_data_ptr<std::int32_t>();
  for (const ComparedRows& head : heads) {
    args.type = element_type(head.keys.scalar_type());
    args.first = head.keys.const_data_ptr();
    args.first_stride = head.keys.stride(0);
    args.second = head.values.defined() ? head.values.const_data_ptr() : nullptr;
    args.second_stride = head.values.defined() ? head.values.stride(0) : 0;
    args.width = head.keys.size(1);
    args.asking = next;
    args.asking_count = std::ssize(head.asking);
    args.among = args.asking + args.asking_count;
    args.among_count = std::ssize(head.among);
    next = args.among + args.among_count;
    if (args.asking_count == 0) continue;
    args.parts = kernels::cuda_nearest_rows_parts(args.asking_count, args.among_count, open_cuda().multiprocessors);
    const at::Tensor workspace = at::empty({kernels::cuda_nearest_rows_workspace(args)}, head.keys.options().dtype(at::kFloat));
    args.workspace = workspace.mutable_data_ptr<float>();
    require_launched(cuda_plugin().nearest_rows(&args), "the similarity of slots");
    args.nearest += args.asking_count;
    args.similarity += args.asking_count;
  }

  const at::Tensor host = found.to(at::kCPU);
  const auto* words = host.const_data_ptr<std::int32_t>();
  for (std::size_t head = 0; head < heads.size(); ++head) {
    nearest[head].reserve(heads[head].asking.size());
    for (std::size_t i = 0; i < heads[head].asking.size(); ++i, ++words)
      nearest[head].push_back({words[0], std::bit_cast<float>(words[asking])});
  }
  return nearest;
}

DeviceFlows::DeviceFlows(std::span<const StayingRows> heads, at::Device device) {
  std::int64_t count = 0;
  for (const StayingRows& staying : heads) {
    require(staying.own.size() == staying.rows.size() && staying.divisor.size() == staying.rows.size(), "merging: a scale for every row");
    heads_.push_back({count, std::ssize(staying.rows), std::ssize(staying.flows)});
    count += heads_.back().words();
  }
  std::vector<std::int32_t> words(static_cast<std::size_t>(count));
  for (std::size_t head = 0; head < heads.size(); ++head) write_words(heads[head], words.data() + heads_[head].first);
  words_ = numbers_on(device, words);
}

at::Tensor DeviceFlows::merged(std::size_t head, const at::Tensor& rows) const {
  require_rows(rows, at::kFloat);
  const Head& of = heads_.at(head);
  const at::Tensor output = at::empty({of.rows, rows.size(1)}, rows.options());
  if (of.rows == 0) return output;
  kernels::CudaMergeRowsArgs args;
  args.rows = rows.const_data_ptr<float>();
  args.row_stride = rows.stride(0);
  args.width = rows.size(1);
  args.stay = words_.const_data_ptr<std::int32_t>() + of.first;
  args.count = of.rows;
  args.begin = args.stay + of.rows;
  args.own = reinterpret_cast<const float*>(args.begin + of.rows + 1);
  args.divisor = args.own + of.rows;
  args.from = reinterpret_cast<const std::int32_t*>(args.divisor + of.rows);
  args.weight = reinterpret_cast<const float*>(args.from + of.flows);
  args.output = output.mutable_data_ptr<float>();
  require_launched(cuda_plugin().merge_rows(&args), "merging slots");
  return output;
}

}  // namespace winnow
