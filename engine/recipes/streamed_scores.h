// The scores of one layer's slots while media come clip by clip: judged anew after every clip, gathered when slots leave.
//
// Used by engine/generation/reading/clip_stream.h. One list per kv head, in slot order. No torch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace winnow {

class StreamedScores {
 public:
  explicit StreamedScores(std::size_t heads) : heads_(heads) {}

  // Scores the slots that are left and, after them, the clip's. best_of_all: a slot keeps its best score so far.
  void judge(std::vector<std::vector<float>> scores, bool best_of_all) {
    for (std::size_t head = 0; head < scores.size() && best_of_all; ++head) {
      const std::vector<float>& earlier = heads_[head];
      for (std::size_t slot = 0; slot < earlier.size(); ++slot) scores[head][slot] = std::max(scores[head][slot], earlier[slot]);
    }
    heads_ = std::move(scores);
  }
  // These slots of a head stay, ascending.
  void keep(std::size_t head, std::span<const std::int32_t> slots) {
    std::vector<float> kept;
    for (const std::int32_t slot : slots) kept.push_back(heads_[head][static_cast<std::size_t>(slot)]);
    heads_[head] = std::move(kept);
  }
  const std::vector<std::vector<float>>& heads() const { return heads_; }

 private:
  std::vector<std::vector<float>> heads_;
};

}  // namespace winnow
