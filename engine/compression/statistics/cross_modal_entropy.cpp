#include "engine/compression/statistics/cross_modal_entropy.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "engine/base/error.h"
#include "engine/compression/statistics/device_logits.h"
#include "engine/device/cuda_plugin.h"
#include "engine/device/host_numbers.h"
#include "kernels/api/cuda_cross_modal_entropy.h"

namespace winnow {

namespace {

// Elements of a tile of logits: bounds memory whatever the number of keys.
constexpr std::int64_t kTileElements = 1 << 21;

// -sum p ln p over the last axis, 0 ln 0 = 0.
at::Tensor entropy_of(const at::Tensor& p) { return -at::xlogy(p, p).sum(-1); }

double mean_of(double total, std::int64_t count) { return count > 0 ? total / static_cast<double>(count) : 0.0; }

// Mean over the rows of the entropy of their softmax over `keys`.
double restricted_entropy(const LayerView& view, const at::Tensor& rows, const at::Tensor& keys, const CrossModalNeed& need) {
  const std::int64_t heads = view.query.size(0);
  const std::int64_t kv_heads = view.key.size(0);
  const std::int64_t head_dim = view.query.size(2);
  const std::int64_t columns = keys.size(0);
  const std::int64_t without_query = view.key.size(1) - view.query.size(1);              // retained rows come first
  const at::Tensor key = view.key.index_select(1, keys).to(at::kFloat).transpose(1, 2);  // [Hkv, d, columns]
  const std::int64_t tile = std::clamp<std::int64_t>(kTileElements / (heads * columns), 1, 64);

  double total = 0.0;
  std::int64_t counted = 0;
  for (std::int64_t first = 0; first < rows.size(0); first += tile) {
    at::Tensor index = rows.narrow(0, first, std::min(tile, rows.size(0) - first));
    at::Tensor hidden_keys;
    if (need.causal) {
      const at::Tensor later = keys.unsqueeze(0).ge(index.unsqueeze(1));  // a row's own token is of the other modality
      const at::Tensor sees_some = later.logical_not().any(1);
      index = index.masked_select(sees_some);
      if (index.size(0) == 0) continue;
      hidden_keys = keys.unsqueeze(0).ge(index.unsqueeze(1));
    }
    const std::int64_t count = index.size(0);
    const at::Tensor query =
        (view.query.index_select(1, index - without_query).to(at::kFloat) * view.scale).reshape({kv_heads, -1, head_dim});
    at::Tensor logits = at::bmm(query, key).reshape({heads, count, columns});
    if (hidden_keys.defined()) logits.masked_fill_(hidden_keys, -std::numeric_limits<double>::infinity());
    const at::Tensor probabilities = at::softmax(logits, 2);
    const at::Tensor entropies =
        need.heads == CrossModalNeed::Heads::kMeanFirst ? entropy_of(probabilities.mean(0)) : entropy_of(probabilities).mean(0);
    total += entropies.sum(at::kDouble).item<double>();
    counted += count;
  }
  return mean_of(total, counted);
}

// Adds to `total`, a double on the view's GPU, the entropies of the rows that see some of the keys; how many these are. rows, keys:
// ascending tokens of the segment.
std::int64_t add_entropies(const LayerView& view, const std::vector<std::int64_t>& rows, const std::vector<std::int64_t>& keys,
                           const CrossModalNeed& need, const at::Tensor& total) {
  const std::int64_t without_query = view.key.size(1) - view.query.size(1);  // retained rows come first
  std::vector<std::int32_t> table;                                           // rows, keys, how many keys each row sees
  std::vector<std::int32_t> seen;
  for (const std::int64_t row : rows) {
    const auto end = need.causal ? std::ranges::lower_bound(keys, row) : keys.end();  // a row's own token is of the other modality
    if (end == keys.begin()) continue;
    table.push_back(static_cast<std::int32_t>(row - without_query));
    seen.push_back(static_cast<std::int32_t>(end - keys.begin()));
  }
  if (seen.empty()) return 0;
  for (const std::int64_t key : keys) table.push_back(static_cast<std::int32_t>(key));
  table.insert(table.end(), seen.begin(), seen.end());

  const at::Tensor query = with_packed_rows(view.query);
  const at::Tensor key = with_packed_rows(view.key);
  const at::Tensor numbers = numbers_on(query.device(), table);
  kernels::CudaCrossModalArgs args;
  set_logits(args, query, key, view.scale);
  args.rows = std::ssize(seen);
  args.columns = std::ssize(keys);
  args.row_of = numbers.const_data_ptr<std::int32_t>();
  args.column_of = args.row_of + args.rows;
  args.seen = args.column_of + args.columns;
  args.mean_first = need.heads == CrossModalNeed::Heads::kMeanFirst;
  args.entropy = total.mutable_data_ptr<double>();
  args.parts = kernels::cuda_logit_parts(args.columns, args.rows, 1, open_cuda().multiprocessors);
  const at::Tensor workspace = at::empty({kernels::cuda_cross_modal_workspace(args)}, query.options().dtype(at::kByte));
  args.workspace = workspace.mutable_data_ptr();
  require_launched(cuda_plugin().cross_modal_entropy(&args), "cross-modal entropy");
  return args.rows;
}

}  // namespace

CrossModalEntropy cross_modal_entropy(const LayerView& view, const SegmentInfo& segment, const CrossModalNeed& need) {
  require(view.query.size(1) + segment.first_row == segment.tokens, "cross_modal_entropy: the view is not of this segment");
  std::vector<std::int64_t> text, visual, asking_text, asking_visual;
  for (std::int64_t row = 0; row < segment.tokens; ++row) {
    const bool is_visual = is_attached(segment.modality[static_cast<std::size_t>(row)]);
    (is_visual ? visual : text).push_back(row);
    if (row >= segment.first_row) (is_visual ? asking_visual : asking_text).push_back(row);
  }
  CrossModalEntropy entropy;
  if (text.empty() || visual.empty()) return entropy;
  entropy.defined = true;
  const at::Device device = view.query.device();
  if (device.is_cuda() && fits_kernels(view)) {
    const at::Tensor totals = at::zeros({2}, view.query.options().dtype(at::kDouble));
    const std::int64_t text_rows = add_entropies(view, asking_text, visual, need, totals.select(0, 0));
    const std::int64_t visual_rows = add_entropies(view, asking_visual, text, need, totals.select(0, 1));
    const at::Tensor found = totals.to(at::kCPU);
    entropy.text_to_visual = mean_of(found.const_data_ptr<double>()[0], text_rows);
    entropy.visual_to_text = mean_of(found.const_data_ptr<double>()[1], visual_rows);
    return entropy;
  }
  const at::Tensor text_keys = numbers_on(device, text);
  const at::Tensor visual_keys = numbers_on(device, visual);
  entropy.text_to_visual = restricted_entropy(view, numbers_on(device, asking_text), visual_keys, need);
  entropy.visual_to_text = restricted_entropy(view, numbers_on(device, asking_visual), text_keys, need);
  return entropy;
}

}  // namespace winnow
