// The draft head of a decoder: one layer that attends over a cache of its own, and guesses the token after next (multi-token prediction;
// Qwen3-Next's and Qwen3.5's mtp, GLM-4.5's layer behind the last; Gloeckle et al., arXiv 2404.19737; DeepSeek-V3, arXiv 2412.19437, 2.2).
#include <numeric>
#include <vector>

#include "engine/base/error.h"
#include "engine/layers/row_elements.h"
#include "engine/models/decoder/transformer_decoder.h"

namespace winnow {
namespace {

// Names of its tensors; a whole name follows the prefix of the decoder's.
struct DraftHeadNames {
  std::string embedding_norm;
  std::string hidden_norm;
  std::string joined;
  std::string layer;
  std::string norm;
};

}  // namespace

// A file without the head's first product has none, whatever else of it was left there. A head's own copies of the embedding and the
// output matrix, as GLM-4.5 stores them, are not read: they are the model's.
std::optional<TransformerDecoder::DraftHead> TransformerDecoder::read_draft_head(WeightReader& weights, const std::string& prefix) const {
  const std::string behind = prefix + std::string(config_.names.layers) + std::to_string(config_.layers) + ".";
  const DraftHeadNames apart{prefix + "mtp.pre_fc_norm_embedding", prefix + "mtp.pre_fc_norm_hidden", prefix + "mtp.fc",
                             prefix + "mtp.layers.0.", prefix + "mtp.norm"};
  const DraftHeadNames glm{behind + "enorm", behind + "hnorm", behind + "eh_proj", behind, behind + "shared_head.norm"};
  const bool plain = config_.rotated_otherwise.empty() && config_.borrowing_layers == 0 && !config_.layer_inputs && !config_.query_growth &&
                     config_.windows.empty();
  if (!device_.is_cpu() || !plain) return std::nullopt;
  for (const DraftHeadNames& names : {apart, glm}) {
    if (!weights.has(names.joined + ".weight")) continue;
    DraftHead head{read_norm(weights, names.embedding_norm), read_norm(weights, names.hidden_norm)};
    head.joined = weights.packable_linear({{names.joined, config_.hidden_size}}, 2 * config_.hidden_size, WeightReader::Bias::kNone);
    head.layer = read_layer(weights, names.layer, config_.layers - 1);
    head.norm = weights.has(names.norm + ".weight") ? read_norm(weights, names.norm) : final_norm_;  // some files leave it to the model's
    return head;
  }
  return std::nullopt;
}

std::optional<KvShape> TransformerDecoder::draft_shape() const {
  if (!draft_head_) return std::nullopt;
  return KvShape{1, config_.kv_heads, config_.head_dim, dtype_, device_, config_.rotary, {}, storage_};
}

HeadGuess TransformerDecoder::guess(std::span<const DraftRow> rows, KvCache& cache) const {
  const auto count = std::ssize(rows);
  require(draft_head_ && count > 0 && count <= kFewRows, "draft: a few rows for a draft head");
  const std::int64_t heads = config_.heads;
  const std::int64_t kv_heads = config_.kv_heads;
  const Layer& layer = draft_head_->layer;
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> positions;
  std::vector<at::Tensor> left;
  std::vector<StepRow> own;
  for (const DraftRow& row : rows) {
    ids.push_back(row.next_token);
    positions.push_back(row.position);
    left.push_back(row.hidden);
    own.push_back({.cache = &cache});
  }
  const at::Tensor after = draft_head_->embedding_norm(scaled_rows(at::tensor(ids, at::kLong)));
  at::Tensor hidden = draft_head_->joined(at::cat({after, draft_head_->hidden_norm(at::cat(left))}, 1));
  const at::Tensor input = layer.input_norm(hidden);
  const auto [gate, qkv] = split_heads(layer, layer.qkv(input));
  const RotaryAngles angles = rotary_.angles(at::tensor(positions, at::kLong).expand({config_.rotary.axes(), count}));
  at::Tensor rotated = at::empty({count, heads + kv_heads, config_.head_dim}, dtype_);
  apply_rotary(qkv.narrow(1, 0, heads + kv_heads), angles, rotated);
  std::vector<std::int32_t> originals(rows.size());
  std::iota(originals.begin(), originals.end(), static_cast<std::int32_t>(cache.slots(LayerId(0), KvHead(0))));
  cache.append(LayerId(0), rotated.narrow(1, heads, kv_heads).transpose(0, 1), qkv.narrow(1, heads + kv_heads, kv_heads).transpose(0, 1),
               originals);
  const at::Tensor attention = attention_over_slots(rotated.narrow(1, 0, heads), own, LayerId(0), Slots::kOwn);
  finish_rows(layer, input, layer.attended(attention, gate), hidden, {});
  const at::Tensor last = hidden.narrow(0, count - 1, 1);
  return {logits_of(draft_head_->norm(last)).select(0, 0), last};
}

}  // namespace winnow
