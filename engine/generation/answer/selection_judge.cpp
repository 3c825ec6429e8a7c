#include "engine/generation/answer/selection_judge.h"

#include <algorithm>

#include "engine/metrics/selection_quality.h"

namespace winnow {
namespace {

constexpr double kThreshold = 0.01;

// Tokens of the prompt that a head can still attend to: its slots', and those that share one.
std::vector<int> live_columns(const KvCache& cache, LayerId layer, KvHead kv_head, std::int64_t prompt) {
  std::vector<int> columns;
  const auto add = [&](std::int32_t original) {
    if (original < prompt) columns.push_back(original);
  };
  for (const std::int32_t original : cache.original(layer, kv_head)) add(original);
  if (const SharedEntries* table = cache.shared_entries(layer, kv_head)) {
    for (std::size_t i = 0; i < table->original.size(); ++i) {
      if (table->slot[i] != SharedEntries::kZero) add(table->original[i]);
    }
  }
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

// A row over all tokens. The full cache's slots are its tokens in their order, but for those that a layer's window has passed by.
AttentionRow by_token(const KvCache& full, LayerId layer, KvHead kv_head, const std::vector<float>& row) {
  if (full.shape().window(layer) == 0) return AttentionRow(row.begin(), row.end());
  const std::span<const std::int32_t> original = full.original(layer, kv_head);
  AttentionRow all(static_cast<std::size_t>(original.back()) + 1, 0.0);  // the newest token's slot is the last
  for (std::size_t slot = 0; slot < row.size(); ++slot) all[static_cast<std::size_t>(original[slot])] = row[slot];
  return all;
}

}  // namespace

SelectionJudge::SelectionJudge(const Conversation& own, bool own_first_step, const Conversation& full)
    : full_cache_(full.cache), full_(*this) {
  for (const TokenOrigin& origin : full.origins) visual_.push_back(is_attached(origin.modality));
  own_.wanted = full_.wanted = !own_first_step;
  const std::int64_t prompt = std::ssize(visual_);
  if (own.next_original() - (own_first_step ? 1 : 0) != prompt) return;
  const KvShape& shape = own.cache.shape();
  double kept = 0.0;
  kept_ = PerLayer<std::vector<std::vector<int>>>::of(shape.layers);
  for (LayerId layer{0}; layer < shape.layers; ++layer) {
    for (KvHead head{0}; head < shape.kv_heads; ++head) {
      kept_[layer].push_back(live_columns(own.cache, layer, head, prompt));
      kept += static_cast<double>(kept_[layer].back().size());
    }
  }
  kept_share_ = kept / static_cast<double>(shape.layers * shape.kv_heads * prompt);
}

void SelectionJudge::OutputObserver::after_layers(LayerId /*first*/, std::span<const DecodeRow> rows) {
  for (const DecodeRow& row : rows) {
    if (!wanted) return;
    const at::Tensor output = row.output.to(at::kCPU, at::kFloat).contiguous();
    outputs.emplace_back(output.const_data_ptr<float>(), output.const_data_ptr<float>() + output.numel());
  }
}

void SelectionJudge::RowObserver::after_layers(LayerId first, std::span<const DecodeRow> rows) {
  OutputObserver::after_layers(first, rows);
  for (LayerId layer = first; const DecodeRow& row : rows) {
    for (std::size_t head = 0; head < row.probabilities.size(); ++head) {
      judge_.judge_row(layer, KvHead(head), row.probabilities[head]);
    }
    ++layer;
  }
}

void SelectionJudge::judge_row(LayerId layer, KvHead kv_head, const std::vector<float>& row) {
  const std::vector<AttentionRow> rows = {by_token(full_cache_, layer, kv_head, row)};
  sums_.visual_contribution += contribution(rows, visual_, kThreshold);
  sums_.visual_coverage += coverage(rows, visual_, kept_share_);
  sums_.sparsity += sparsity(rows, kThreshold);
  ++rows_;
  if (kept_.empty()) return;
  const std::vector<int>& kept = kept_[layer][static_cast<std::size_t>(kv_head)];
  sums_.kept_attention = sums_.kept_attention.value_or(0.0) + kept_attention(std::span(rows.front()).first(visual_.size()), kept);
  if (tokens_ > 0) return;
  sums_.hit_rate =
      sums_.hit_rate.value_or(0.0) + cache_hit_rate(std::span(rows.front()).first(visual_.size()), kept, static_cast<int>(kept.size()));
  ++first_rows_;
}

void SelectionJudge::token_read() {
  ++tokens_;
  if (full_.wanted && !own_.outputs.empty()) {
    for (std::size_t layer = 0; layer < own_.outputs.size(); ++layer) {
      output_error_.push_back(attention_output_error(full_.outputs.at(layer), own_.outputs[layer]));
    }
    own_.wanted = full_.wanted = false;
  } else if (output_error_.empty()) {
    own_.wanted = full_.wanted = true;  // the token was a first step; the next is read on the compressed cache
  }
}

std::optional<SelectionFigures> SelectionJudge::figures() const {
  if (rows_ == 0) return std::nullopt;
  SelectionFigures figures = sums_;
  if (figures.hit_rate) *figures.hit_rate /= static_cast<double>(first_rows_);
  if (figures.kept_attention) *figures.kept_attention /= static_cast<double>(rows_);
  figures.output_error = output_error_;
  for (double* mean : {&figures.visual_contribution, &figures.visual_coverage, &figures.sparsity}) *mean /= static_cast<double>(rows_);
  return figures;
}

}  // namespace winnow
