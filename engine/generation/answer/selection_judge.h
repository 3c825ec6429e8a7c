// Scores the slots that a method kept by the full cache's attention during the teacher-forced pass (metrics/selection_figures.h).
//
// Used by score_answer(). O(layers * heads * prompt) per token; attention is not stored between tokens. Engine thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/layers/layer_view.h"
#include "engine/metrics/selection_figures.h"

namespace winnow {

class SelectionJudge {
 public:
  // Both states right before the answer's first token; `own` may already hold the first step (own_first_step). Not modified.
  SelectionJudge(const Conversation& own, bool own_first_step, const Conversation& full);
  SelectionJudge(const SelectionJudge&) = delete;
  SelectionJudge& operator=(const SelectionJudge&) = delete;

  // Observers for every layer of every answer token except the last.
  DecodeObserver& of_full() { return full_; }
  DecodeObserver& of_own() { return own_; }
  // Call after both have decoded a token; for own's first step, after the full cache alone has.
  void token_read();

  // Absent if no token was read.
  std::optional<SelectionFigures> figures() const;

 private:
  class OutputObserver : public DecodeObserver {
   public:
    bool wants_probabilities() const override { return false; }
    void after_layers(LayerId first, std::span<const DecodeRow> rows) override;
    std::vector<std::vector<float>> outputs;  // per layer, of the last token
    bool wanted = true;
  };
  class RowObserver : public OutputObserver {
   public:
    explicit RowObserver(SelectionJudge& judge) : judge_(judge) {}
    bool wants_probabilities() const override { return true; }
    void after_layers(LayerId first, std::span<const DecodeRow> rows) override;

   private:
    SelectionJudge& judge_;
  };

  void judge_row(LayerId layer, KvHead kv_head, const std::vector<float>& row);

  const KvCache& full_cache_;
  std::vector<bool> visual_;                      // of the prompt's columns
  PerLayer<std::vector<std::vector<int>>> kept_;  // per kv head: columns, ascending; empty: not comparable
  double kept_share_ = 1.0;
  RowObserver full_;
  OutputObserver own_;
  std::vector<double> output_error_;
  std::int64_t tokens_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t first_rows_ = 0;
  SelectionFigures sums_;  // over rows
};

}  // namespace winnow
