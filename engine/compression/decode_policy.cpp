#include "engine/compression/decode_policy.h"

namespace winnow {

double& MergeState::threshold(const KvShape& shape, LayerId layer, KvHead kv_head) {
  if (thresholds.empty())
    thresholds.assign(static_cast<std::size_t>(shape.layers * shape.kv_heads), std::numeric_limits<double>::quiet_NaN());
  return thresholds.at(static_cast<std::size_t>(layer * shape.kv_heads + kv_head));
}

std::vector<MergedInto>& MergeState::merged_into(const KvShape& shape, LayerId layer, KvHead kv_head) {
  if (merged.empty()) merged.resize(static_cast<std::size_t>(shape.layers * shape.kv_heads));
  return merged.at(static_cast<std::size_t>(layer * shape.kv_heads + kv_head));
}

}  // namespace winnow
