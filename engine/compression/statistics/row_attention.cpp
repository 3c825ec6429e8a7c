#include "engine/compression/statistics/row_attention.h"

#include <iterator>
#include <limits>

#include "engine/base/error.h"
#include "engine/base/index.h"

namespace winnow {

at::Tensor row_attention(const LayerView& view, std::int64_t slots) {
  const RowSpan rows{0, view.query.size(1)};
  const std::int64_t heads = view.query.size(0);
  const std::int64_t kv_heads = view.key.size(0);
  const std::int64_t group = heads / kv_heads;
  require(std::ssize(view.past_keys) == kv_heads, "row_attention: the slots must lie in the cache");
  at::Tensor sum = at::zeros({view.query.size(1), slots}, view.log_sum_exp.options());
  for (std::int64_t head = 0; head < heads; ++head) {
    const at::Tensor& past = view.past_keys[static_cast<std::size_t>(head / group)];
    require(past.size(0) >= slots, "row_attention: a head without these slots");
    const at::Tensor keys = past.narrow(0, past.size(0) - slots, slots).to(at::kFloat);
    at::Tensor logits = at::matmul(view.query.select(0, head).to(at::kFloat) * view.scale, keys.t());
    const at::Tensor hidden = view.window.hidden(KvHead(head / group), rows, {past.size(0) - slots, slots}, keys.device());
    if (hidden.defined()) logits.masked_fill_(hidden, -std::numeric_limits<double>::infinity());
    sum.add_(logits.sub_(view.log_sum_exp.select(0, head).unsqueeze(1)).exp_());
  }
  return sum.div_(static_cast<double>(heads));
}

}  // namespace winnow
