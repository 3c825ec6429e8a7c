#include "engine/compression/statistics/probe_votes.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/base/error.h"
#include "engine/compression/statistics/attention_statistics.h"
#include "engine/layers/rotary.h"

namespace winnow {
namespace {

constexpr double kNone = -std::numeric_limits<double>::infinity();

// One KV head's part of the probe.
struct ProbedHead {
  const PastWindow& window;
  KvHead number;
  at::Tensor queries{};  // fp32 [G, r, d], scaled
  at::Tensor lse{};      // fp32 [G, r, 1], over everything
  at::Tensor before{};   // fp32 [m, d], keys before the context
  at::Tensor judged{};   // fp32 [count, d]
  at::Tensor own{};      // fp32 [r, d]
  at::Tensor span{};     // int64 [r], of rows that see each other the same number, -1 of others; undefined: there are none
};

at::Tensor span_numbers(const LayerView& view) {
  if (view.bidirectional.empty()) return {};
  at::Tensor numbers = at::full({view.key.size(1)}, -1, at::kLong);
  for (std::size_t i = 0; i < view.bidirectional.size(); ++i)
    numbers.narrow(0, view.bidirectional[i].first, view.bidirectional[i].count).fill_(static_cast<std::int64_t>(i));
  return numbers.to(view.key.device());
}

// logits [G, rows, columns]; hidden as PastWindow has it.
void hide(at::Tensor& logits, const at::Tensor& hidden) {
  if (hidden.defined()) logits.masked_fill_(hidden, kNone);
}

// For a head's own rows, [rows, columns]: true where rows from `first` on do not see one of the first columns.
at::Tensor hidden_own(const ProbedHead& head, RowSpan rows, std::int64_t columns) {
  const auto options = at::TensorOptions().dtype(at::kLong).device(head.own.device());
  const at::Tensor row = at::arange(rows.first, rows.end(), options).unsqueeze(1);
  at::Tensor hidden = at::arange(columns, options).unsqueeze(0).gt(row);
  const at::Tensor passed_by = head.window.hidden_columns(rows, {0, columns}, head.own.device());
  if (passed_by.defined()) hidden.logical_or_(passed_by);
  if (!head.span.defined()) return hidden;
  const at::Tensor of_row = head.span.narrow(0, rows.first, rows.count).unsqueeze(1);
  const at::Tensor bidirectional = head.span.narrow(0, 0, columns).unsqueeze(0).eq(of_row).logical_and(of_row.ge(0));
  return hidden.logical_and_(bidirectional.logical_not());
}

// Log-sum-exp of rows [first, first + rows) over the slots before the context, the judged ones and the rows' own: [G, rows, 1].
at::Tensor shared_lse(const ProbedHead& head, const at::Tensor& queries, const at::Tensor& judged_logits, std::int64_t first,
                      std::int64_t rows) {
  const std::int64_t columns = head.span.defined() ? head.own.size(0) : first + rows;
  at::Tensor own = at::matmul(queries, head.own.narrow(0, 0, columns).t());
  hide(own, hidden_own(head, {first, rows}, columns));
  at::Tensor lse = at::logaddexp(at::logsumexp(own, {2}, true), at::logsumexp(judged_logits, {2}, true));
  if (head.before.size(0) > 0) {
    at::Tensor before = at::matmul(queries, head.before.t());
    hide(before, head.window.hidden(head.number, {first, rows}, {0, head.before.size(0)}, before.device()));
    lse = at::logaddexp(lse, at::logsumexp(before, {2}, true));
  }
  return lse;
}

// norm(W_O,q v_j) for the query heads of a group: fp32 [G, count]. weights: W_O's columns for the group, [hidden, G * d].
at::Tensor value_norms(const at::Tensor& values, const at::Tensor& weights, std::int64_t group) {
  const std::int64_t d = values.size(1);
  std::vector<at::Tensor> norms;
  for (std::int64_t q = 0; q < group; ++q) {
    const at::Tensor weight = weights.narrow(1, q * d, d).to(at::kFloat);
    const at::Tensor gram = at::mm(weight.t(), weight);
    norms.push_back(at::mm(values, gram).mul_(values).sum(1).clamp_min_(0.0).sqrt_());
  }
  return at::stack(norms);
}

// weights: as value_norms() has them; undefined unless slots.norms.
at::Tensor votes_of_head(const LayerView& view, KvHead h, const ProbedSlots& slots, const at::Tensor& weights) {
  const std::int64_t kv_heads = view.key.size(0);
  const std::int64_t group = view.query.size(0) / kv_heads;
  const std::int64_t rows = view.query.size(1);
  require(std::ssize(view.past_keys) == kv_heads && slots.first >= 0 && slots.count > 0 && slots.first + slots.count <= slots.context,
          "probe_votes: the judged slots must lie in the cache");
  require(!slots.norms || (view.input_norms.defined() && weights.defined() && std::ssize(view.past_values) == kv_heads),
          "probe_votes: a view without outputs");
  const auto index = static_cast<std::size_t>(h);
  const at::Tensor& past = view.past_keys[index];
  const std::int64_t before = past.size(0) - slots.context;
  require(before >= 0, "probe_votes: a head without the context's slots");
  ProbedHead head{.window = view.window, .number = h};
  head.queries = view.query.narrow(0, h * group, group).to(at::kFloat) * view.scale;
  head.lse = view.log_sum_exp.narrow(0, h * group, group).unsqueeze(2);
  head.before = past.narrow(0, 0, before).to(at::kFloat);
  head.judged = past.narrow(0, before + slots.first, slots.count).to(at::kFloat);
  head.own = view.key.select(0, h).to(at::kFloat);
  head.span = span_numbers(view);
  // If all of the context is judged, the attention's own sum is over the same slots.
  const bool whole = slots.sharing == ProbeSharing::kBesideJudged && slots.count == slots.context;
  const ProbeSharing sharing = whole ? ProbeSharing::kEverything : slots.sharing;

  at::Tensor best = at::full({group, slots.count}, slots.mean ? 0.0 : kNone, head.queries.options());
  for (std::int64_t first = 0; first < rows; first += kStatisticsRowTile) {
    const std::int64_t count = std::min(kStatisticsRowTile, rows - first);
    const at::Tensor queries = head.queries.narrow(1, first, count);
    at::Tensor logits = at::matmul(queries, head.judged.t());
    const at::Tensor hidden = view.window.hidden(h, {first, count}, {before + slots.first, slots.count}, logits.device());
    hide(logits, hidden);
    at::Tensor lse = head.lse.narrow(1, first, count);
    if (sharing == ProbeSharing::kBesideJudged) lse = shared_lse(head, queries, logits, first, count);
    if (sharing == ProbeSharing::kJudgedAlone) lse = at::logsumexp(logits, {2}, true);
    if (sharing == ProbeSharing::kBesideRead) lse = at::logaddexp(lse, at::logsumexp(logits, {2}, true));
    if (slots.norms) lse = lse + view.input_norms.narrow(0, first, count).log().view({1, count, 1});
    logits.sub_(lse);
    hide(logits, hidden);  // also of a row that sees none of what is judged
    if (slots.mean) {
      best.add_(logits.exp_().sum(1).div_(static_cast<double>(rows)));
    } else {
      best = at::maximum(best, logits.amax(1));
    }
  }
  // The largest of the logarithms is that of the largest, and there is one a slot instead of one a row.
  if (!slots.mean) best.exp_();
  if (slots.norms) {
    const at::Tensor values = view.past_values[index].narrow(0, before + slots.first, slots.count).to(at::kFloat);
    best.mul_(value_norms(values, weights, group));
  }
  return slots.mean ? best.mean(0) : best.amax(0);
}

// W_O's columns for `count` KV heads from the given one on; undefined unless slots.norms. Blocks are dequantised whole, whatever is asked
// of them.
at::Tensor output_weights(const LayerView& view, KvHead first, std::int64_t count, const ProbedSlots& slots) {
  if (!slots.norms || view.output_weight == nullptr) return {};
  const std::int64_t wide = view.query.size(0) / view.key.size(0) * view.query.size(2);
  return view.output_weight->columns(first * wide, count * wide);
}

}  // namespace

at::Tensor head_votes(const LayerView& view, KvHead head, const ProbedSlots& slots) {
  return votes_of_head(view, head, slots, output_weights(view, head, 1, slots));
}

at::Tensor probe_votes(const LayerView& view, const ProbedSlots& slots) {
  const std::int64_t kv_heads = view.key.size(0);
  const at::Tensor weights = output_weights(view, KvHead(0), kv_heads, slots);
  std::vector<at::Tensor> votes;
  for (KvHead h{0}; h < kv_heads; ++h) {
    const std::int64_t wide = weights.defined() ? weights.size(1) / kv_heads : 0;
    votes.push_back(votes_of_head(view, h, slots, weights.defined() ? weights.narrow(1, h * wide, wide) : weights));
  }
  return at::stack(votes);
}

at::Tensor votes_as_read(const LayerView& view, const RowsAsRead& rows) {
  LayerView behind;
  behind.layer = view.layer;
  behind.scale = view.scale;
  behind.output_weight = view.output_weight;
  behind.query = view.query.narrow(1, rows.first, rows.count);
  if (view.rotary.theta > 0.0) {
    const at::Tensor queries = behind.query.to(at::kFloat).reshape({-1, behind.query.size(2)});
    const at::Tensor further = at::full({view.rotary.axes(), queries.size(0)}, static_cast<double>(rows.further), queries.options());
    behind.query = rotated_keys(queries, further, view.rotary).view(behind.query.sizes());
  }
  behind.key = view.key.narrow(1, rows.first, rows.count);
  behind.log_sum_exp = view.log_sum_exp.narrow(1, rows.first, rows.count);
  if (rows.norms) behind.input_norms = view.input_norms.narrow(0, rows.first, rows.count);
  std::vector<std::int32_t> originals(view.window.tokens == 0 ? 0 : static_cast<std::size_t>(rows.count));
  std::iota(originals.begin(), originals.end(), 0);
  behind.window.tokens = view.window.tokens;
  behind.window.first_original = static_cast<std::int32_t>(rows.count);
  for (std::int64_t head = 0; head < view.key.size(0); ++head) {
    behind.past_keys.push_back(behind.key.select(0, head));
    behind.past_values.push_back(view.value.select(0, head).narrow(0, rows.first, rows.count));
    behind.window.original.push_back(originals);
  }
  const std::int64_t held = view.window.tokens == 0 ? rows.count : std::min(rows.count, view.window.tokens - 1);
  return probe_votes(behind, {rows.count, rows.count - held, held, ProbeSharing::kBesideRead, rows.norms});
}

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
