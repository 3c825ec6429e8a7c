// Look-up table of a head with shared slots (EMS, arXiv 2412.08521): a shared slot holds one direction and value for all of its tokens;
// each token adds the length of its key.
//
// Owned by KvCache per layer and KV head, filled by engine/compression, read by engine/layers. Slots that no token names are direct: they
// hold one token's K and V as usual. Plain data, no torch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace winnow {

struct SharedEntries {
  static constexpr std::int32_t kZero = -1;  // no slot: the token is masked, and only its scores are kept

  // The source of a shared key's rotation.
  enum class Rotation : int {
    kStored = 1,      // directions of rotated keys; no rotation at use
    kByRank = 2,      // of unrotated keys; rotated at use to the token's rank, counted back from the newest token
    kByOriginal = 3,  // of unrotated keys; rotated at use to the token's original position
  };

  // Per token, ascending by original index; all three have the same length.
  std::vector<std::int32_t> original{};
  std::vector<std::int32_t> slot{};  // or kZero
  std::vector<float> norm{};         // length of the token's key
  Rotation rotation = Rotation::kStored;
  bool zero_counts = false;  // kZero tokens take part in the softmax with key and value 0, the paper's text read literally

  std::size_t size() const { return original.size(); }
  // Counting instead of searching, and writing every element, both vectorise.
  bool names(std::int32_t wanted) const { return std::ranges::count(slot, wanted) != 0; }
  void rename(std::int32_t from, std::int32_t to) {
    for (std::int32_t& each : slot) each = each == from ? to : each;
  }
};

}  // namespace winnow
