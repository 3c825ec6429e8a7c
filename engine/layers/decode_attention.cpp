#include "engine/layers/decode_attention.h"

#include <ATen/Parallel.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/error.h"
#include "engine/device/work_team.h"
#include "engine/kv_cache/element_type.h"
#include "engine/layers/row_elements.h"
#include "engine/layers/shared_entry_attention.h"
#include "kernels/api/decode_attention.h"

namespace winnow {
namespace {

// Below this many elements of K (slots x head size, all heads) waking the other threads costs more than the work.
constexpr std::int64_t kParallelElements = std::int64_t{64} * 1024;
// A part of a head that is worth a thread of its own.
constexpr std::int64_t kPartBlocks = 16;

// One kernel call: blocks [first_block, first_block + blocks) of one KV head of a row's cache.
struct Part {
  std::size_t row = 0;
  KvHead kv_head;
  std::int64_t first_block = 0;
  std::int64_t slots = 0;
  bool wide = false;  // floats among codes
};

using Parts = c10::SmallVector<Part, 16>;

// Blocks from `block` on that are stored alike, up to `blocks`. Only the first and the newest may be wide.
std::int64_t end_of_run(const KvCache& cache, LayerId layer, KvHead head, std::int64_t block, std::int64_t blocks) {
  if (!cache.shape().wide_ends) return blocks;
  const std::int64_t newest = std::ssize(cache.key_blocks(layer, head)) - KvShape::kNewestWide;
  const bool wide = StoredSlots::is_wide(cache, layer, head, block);
  std::int64_t end = block + 1;
  while (end < blocks && StoredSlots::is_wide(cache, layer, head, end) == wide) end = std::clamp(newest, end + 1, blocks);
  return end;
}

// Adds the parts of a row, the same as if it were alone: the rounding of its sums depends on them.
void add_parts(const AttendedRow& attended, LayerId layer, std::size_t row, Parts& parts) {
  const KvCache& cache = *attended.cache;
  const std::int64_t kv_heads = cache.shape().kv_heads;
  std::int64_t elements = 0;
  for (KvHead head{0}; head < kv_heads; ++head) elements += (cache.slots(layer, head) - attended.unseen) * cache.shape().head_dim;
  const std::int64_t threads = elements < kParallelElements ? 1 : at::get_num_threads();
  const std::int64_t wanted = (threads + kv_heads - 1) / kv_heads;
  for (KvHead head{0}; head < kv_heads; ++head) {
    const std::int64_t slots = cache.slots(layer, head) - attended.unseen;
    require(slots > 0, "decode attention needs the token's own slot in every head");
    const std::int64_t blocks = KvCache::blocks_for(slots);
    const std::int64_t count = std::clamp<std::int64_t>(blocks / kPartBlocks, 1, wanted);
    const std::int64_t stride = (blocks + count - 1) / count;
    for (std::int64_t block = 0, end = 0; block < blocks; block = end) {
      end = std::min(block + stride, end_of_run(cache, layer, head, block, blocks));
      const std::int64_t first_slot = block * KvCache::kBlockSlots;
      parts.push_back(
          {row, head, block, std::min(slots, end * KvCache::kBlockSlots) - first_slot, StoredSlots::is_wide(cache, layer, head, block)});
    }
  }
}

// Combines the parts of each head: weights e^(lse_part - max), which cannot overflow.
void merge_parts(std::span<const Part> parts, const float* outputs, const float* log_sum_exps, std::int64_t group, std::int64_t head_dim,
                 float* merged) {
  for (std::size_t begin = 0; begin < parts.size();) {
    std::size_t end = begin;
    while (end < parts.size() && parts[end].kv_head == parts[begin].kv_head) ++end;
    for (std::int64_t query = 0; query < group; ++query) {
      float largest = -std::numeric_limits<float>::infinity();
      for (std::size_t part = begin; part < end; ++part) {
        largest = std::max(largest, log_sum_exps[static_cast<std::int64_t>(part) * group + query]);
      }
      float* const out = merged + (parts[begin].kv_head * group + query) * head_dim;
      std::fill(out, out + head_dim, 0.0F);
      float total = 0.0F;
      for (std::size_t part = begin; part < end; ++part) {
        const std::int64_t row = static_cast<std::int64_t>(part) * group + query;
        const float weight = std::exp(log_sum_exps[row] - largest);
        total += weight;
        for (std::int64_t i = 0; i < head_dim; ++i) out[i] += weight * outputs[row * head_dim + i];
      }
      for (std::int64_t i = 0; i < head_dim; ++i) out[i] /= total;
    }
    begin = end;
  }
}

// Probabilities of each part sum to 1; together they weigh e^(lse_part - lse). Mean over the group, in slot order per KV head.
DecodeRow join_rows(std::span<const Part> parts, std::span<const std::vector<float>> probabilities, const float* log_sum_exps,
                    std::int64_t group, std::int64_t kv_heads) {
  DecodeRow row;
  row.probabilities.resize(static_cast<std::size_t>(kv_heads));
  for (std::size_t begin = 0; begin < parts.size();) {
    std::size_t end = begin;
    while (end < parts.size() && parts[end].kv_head == parts[begin].kv_head) ++end;
    std::vector<float>& joined = row.probabilities[static_cast<std::size_t>(parts[begin].kv_head)];
    for (std::size_t part = begin; part < end; ++part) {
      const auto slots = static_cast<std::size_t>(parts[part].slots);
      const std::size_t first = joined.size();
      joined.resize(first + slots, 0.0F);
      for (std::int64_t query = 0; query < group; ++query) {
        float total = 0.0F;  // of the head relative to this part
        const float own = log_sum_exps[static_cast<std::int64_t>(part) * group + query];
        for (std::size_t other = begin; other < end; ++other) {
          total += std::exp(log_sum_exps[static_cast<std::int64_t>(other) * group + query] - own);
        }
        const float weight = 1.0F / (total * static_cast<float>(group));
        const float* from = probabilities[part].data() + query * parts[part].slots;
        for (std::size_t slot = 0; slot < slots; ++slot) joined[first + slot] += weight * from[slot];
      }
    }
    begin = end;
  }
  return row;
}

// Products of a KV head's queries with its bias, as DecodeKeyBias wants them.
struct BiasProducts {
  UnstoredBias unstored;
  const float* products = nullptr;
  c10::SmallVector<std::int32_t, 16> units{};  // empty: no key lacks anything

  // The bias of slots from `first` on.
  kernels::DecodeKeyBias of_slots(std::int64_t first) const {
    if (units.empty()) return {};
    const KeyRotations& rotations = *unstored.rotations;
    return {products, units.data(), std::ssize(units), rotations.rows(), rotations.units(), unstored.of_slots.data() + first};
  }
};

// queries: [group, head_dim]; products: room for [units, group, kUnit].
BiasProducts multiply_bias(std::span<const float> queries, const UnstoredBias& unstored, std::int64_t head_dim, float* products) {
  constexpr std::int64_t kPairs = KeyRotations::kPairs;
  BiasProducts all{unstored, products};
  if (unstored.bias == nullptr) return all;
  const std::int64_t half = head_dim / 2;
  const float step = unstored.rotations->step();
  for (std::int64_t first = 0; first < half; first += kPairs) {
    const std::int64_t pairs = std::min(kPairs, half - first);
    const float* const x = unstored.bias + first;
    const float* const y = x + half;
    const auto is_zero = [](float number) { return number == 0.0F; };
    if (std::all_of(x, x + pairs, is_zero) && std::all_of(y, y + pairs, is_zero)) continue;
    all.units.push_back(static_cast<std::int32_t>(first / kPairs));
    for (const float* u = queries.data() + first; u < queries.data() + queries.size(); u += head_dim, products += KeyRotations::kUnit) {
      const float* const v = u + half;
      std::fill_n(products, KeyRotations::kUnit, 0.0F);
      for (std::int64_t i = 0; i < pairs; ++i) {
        products[i] = step * (u[i] * x[i] + v[i] * y[i]);
        products[kPairs + i] = step * (v[i] * x[i] - u[i] * y[i]);
      }
    }
  }
  return all;
}

// Rows in 4 bits are rotated (kernels/api/narrow_rows.h): queries are rotated to meet them, and outputs back.
bool is_rotated(const KvCache& cache) { return cache.shape().storage == KvStorage::kInt4; }

void rotate_rows(float* rows, std::int64_t count, std::int64_t length) {
  for (std::int64_t row = 0; row < count; ++row) kernels::rotate_row(rows + row * length, length);
}

// A layer with shared slots, head by head.
at::Tensor shared_decode_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, double scale, DecodeRow* row) {
  const std::int64_t kv_heads = cache.shape().kv_heads;
  const std::int64_t group = query.size(0) / kv_heads;
  std::vector<at::Tensor> outputs;
  if (row != nullptr) row->probabilities.assign(static_cast<std::size_t>(kv_heads), {});
  for (KvHead head{0}; head < kv_heads; ++head) {
    const SharedEntryAttention attention =
        shared_entry_attention(query.narrow(0, head * group, group), cache, layer, head, scale, row != nullptr);
    outputs.push_back(attention.output);
    if (row == nullptr) continue;
    const at::Tensor mean = attention.probabilities.mean(0).contiguous();
    row->probabilities[static_cast<std::size_t>(head)].assign(mean.const_data_ptr<float>(), mean.const_data_ptr<float>() + mean.numel());
  }
  return at::cat(outputs).to(query.scalar_type());
}

}  // namespace

at::Tensor decode_attention(const at::Tensor& query, const KvCache& cache, LayerId layer, double scale, DecodeRow* row) {
  const AttendedRow only{&cache, row};
  return decode_attention(query.contiguous().unsqueeze(0), {&only, 1}, layer, scale).squeeze(0);
}

at::Tensor decode_attention(const at::Tensor& query, std::span<const AttendedRow> rows, LayerId layer, double scale) {
  const auto there = std::ranges::find_if(rows, [](const AttendedRow& row) { return row.cache != nullptr; });
  if (there == rows.end()) return at::zeros(query.sizes(), query.options());
  const std::int64_t heads = query.size(1);
  const std::int64_t head_dim = query.size(2);
  const std::int64_t kv_heads = there->cache->shape().kv_heads;
  require(query.size(0) == std::ssize(rows) && head_dim == there->cache->shape().head_dim && heads % kv_heads == 0 &&
              query.stride(2) == 1 && query.stride(1) == head_dim,
          "decode attention: query heads do not fit the cache");
  const std::int64_t group = heads / kv_heads;
  at::Tensor result = at::empty(query.sizes(), query.options());
  Parts parts;
  c10::SmallVector<std::size_t, 9> first_part = {0};  // of each row, then their count
  std::int64_t slots = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto i = static_cast<std::int64_t>(row);
    if (rows[row].cache == nullptr) {
      result.select(0, i).zero_();
    } else if (rows[row].cache->has_shared_entries(layer)) {
      result.select(0, i).copy_(shared_decode_attention(query.select(0, i), *rows[row].cache, layer, scale, rows[row].shown));
    } else {
      add_parts(rows[row], layer, row, parts);
    }
    first_part.push_back(parts.size());
  }
  for (const Part& part : parts) slots += part.slots;
  const auto count = static_cast<std::int64_t>(parts.size());
  const std::int64_t all_heads = query.size(0) * heads;
  const std::int64_t outputs = count * group;

  const std::int64_t bias_row = (head_dim + KeyRotations::kUnit - 1) / KeyRotations::kUnit * KeyRotations::kUnit;
  float* const query_data = row_scratch(all_heads * bias_row + (3 * all_heads + outputs) * head_dim + outputs * (KvCache::kBlockSlots + 1));
  float* const rotated_query = query_data + all_heads * head_dim;
  float* const bias_query = rotated_query + all_heads * head_dim;
  float* const merged = bias_query + all_heads * bias_row;
  float* const output_data = merged + all_heads * head_dim;
  float* const lse_data = output_data + outputs * head_dim;
  float* const workspace_data = lse_data + outputs;

  std::vector<std::vector<float>> probabilities;
  c10::SmallVector<BiasProducts, 16> biases;  // of each row and KV head, if some row's keys may lack them
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const auto i = static_cast<std::int64_t>(row);
    const auto* const from = static_cast<const std::byte*>(query.const_data_ptr()) + i * query.stride(0) * query.element_size();
    upcast_row(from, query.scalar_type(), heads * head_dim, query_data + i * heads * head_dim);
    if (first_part[row] == first_part[row + 1]) continue;
    if (rows[row].shown != nullptr) probabilities.resize(parts.size());
    if (!rows[row].cache->shape().row_codes()) continue;
    biases.resize(rows.size() * static_cast<std::size_t>(kv_heads));
    for (KvHead head{0}; head < kv_heads; ++head) {
      const std::int64_t first_head = i * heads + head * group;
      const std::span queries(query_data + first_head * head_dim, static_cast<std::size_t>(group * head_dim));
      biases[static_cast<std::size_t>(i * kv_heads + head)] =
          multiply_bias(queries, StoredSlots::bias(*rows[row].cache, layer, head), head_dim, bias_query + first_head * bias_row);
    }
    if (!is_rotated(*rows[row].cache)) continue;
    std::copy_n(query_data + i * heads * head_dim, heads * head_dim, rotated_query + i * heads * head_dim);
    rotate_rows(rotated_query + i * heads * head_dim, heads, head_dim);
  }

  std::atomic<kernels::LaunchStatus> status{kernels::LaunchStatus::kOk};
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t index = begin; index < end; ++index) {
      const Part& part = parts[static_cast<std::size_t>(index)];
      const auto row = static_cast<std::int64_t>(part.row);
      const KvCache& cache = *rows[part.row].cache;
      kernels::DecodeAttentionArgs args;
      const bool rotated = is_rotated(cache) && !part.wide;
      args.query = (rotated ? rotated_query : query_data) + (row * heads + part.kv_head * group) * head_dim;
      args.group = group;
      args.head_dim = head_dim;
      args.kv_type = element_type(part.wide ? cache.shape().wide_type() : cache.shape().row_type());
      if (const auto codes = cache.shape().row_codes()) {
        args.narrow = !part.wide;
        args.codes = *codes;
        args.key_bias = biases[static_cast<std::size_t>(row * kv_heads + part.kv_head)].of_slots(part.first_block * KvCache::kBlockSlots);
      }
      args.key_blocks = cache.key_blocks(layer, part.kv_head).data() + part.first_block;
      args.value_blocks = cache.value_blocks(layer, part.kv_head).data() + part.first_block;
      args.slots = part.slots;
      args.block_slots = KvCache::kBlockSlots;
      args.scale = static_cast<float>(scale);
      args.output = output_data + index * group * head_dim;
      args.log_sum_exp = lse_data + index * group;
      if (rows[part.row].shown != nullptr) {
        std::vector<float>& shown = probabilities[static_cast<std::size_t>(index)];
        shown.resize(static_cast<std::size_t>(group * part.slots));
        args.probabilities = shown.data();
      }
      args.workspace = workspace_data + index * group * KvCache::kBlockSlots;
      const kernels::LaunchStatus launched = kernels::decode_attention_cpu(args);
      if (launched != kernels::LaunchStatus::kOk) status = launched;
      if (rotated) rotate_rows(args.output, group, head_dim);
    }
  };
  if (count > 1 && slots * head_dim >= kParallelElements) {
    share_work(count, 1, run);
  } else {
    run(0, count);
  }
  require(status.load() == kernels::LaunchStatus::kOk, "the decode attention kernel refused its arguments");

  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::size_t first = first_part[row];
    const std::size_t own = first_part[row + 1] - first;
    if (own == 0) continue;
    const std::span<const Part> of_row(parts.data() + first, own);
    const auto i = static_cast<std::int64_t>(row);
    const float* outputs_of_row = output_data + static_cast<std::int64_t>(first) * group * head_dim;
    const float* const lse = lse_data + static_cast<std::int64_t>(first) * group;
    if (rows[row].shown != nullptr)
      *rows[row].shown = join_rows(of_row, std::span(probabilities).subspan(first, own), lse, group, kv_heads);
    if (std::ssize(of_row) != kv_heads) {
      merge_parts(of_row, outputs_of_row, lse, group, head_dim, merged + i * heads * head_dim);
      outputs_of_row = merged + i * heads * head_dim;
    }
    narrow_row(outputs_of_row, heads * head_dim, query.scalar_type(), result.mutable_data_ptr(), i * heads * head_dim);
  }
  return result;
}

}  // namespace winnow
