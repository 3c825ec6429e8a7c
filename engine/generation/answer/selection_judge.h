// Watches the teacher-forced pass and judges what a method kept by the full cache's attention (figures: metrics/selection_figures.h).
//
// Used by score_answer(). O(layers * heads * prompt) a token, nothing is kept from token to token. Engine thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/base/index.h"
#include "engine/base/per_layer.h"
#include "engine/generation/conversation/conversation.h"
#include "engine/layers/layer_view.h"
#include "engine/metrics/selection_figures.h"

namespace winnow {

class SelectionJudge {
 public:
  // Both right before the answer's first token, but for a first step that `own` holds already (own_first_step). They are only read here.
  SelectionJudge(const Conversation& own, bool own_first_step, const Conversation& full);
  SelectionJudge(const SelectionJudge&) = delete;
  SelectionJudge& operator=(const SelectionJudge&) = delete;

  // To be shown every layer of every answer token but the last.
  DecodeObserver& of_full() { return full_; }
  DecodeObserver& of_own() { return own_; }
  // After a token was read by both, and by the full cache alone where own's is a first step.
  void token_read();

  // Absent if no token was read.
  std::optional<SelectionFigures> figures() const;

 private:
  class OutputObserver : public DecodeObserver {
   public:
    bool wants_probabilities() const override { return false; }
    void after_layer(LayerId layer, const DecodeRow& row) override;
    std::vector<std::vector<float>> outputs;  // per layer, of the last token
    bool wanted = true;
  };
  class RowObserver : public OutputObserver {
   public:
    explicit RowObserver(SelectionJudge& judge) : judge_(judge) {}
    bool wants_probabilities() const override { return true; }
    void after_layer(LayerId layer, const DecodeRow& row) override;

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
