// The data of an export, collected while a turn runs. Tensors are copies on the CPU.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <vector>

namespace winnow {

enum class TraceLogits : int { kLastPosition = 1, kAllPositions = 2 };

struct TurnTrace {
  TraceLogits wanted = TraceLogits::kLastPosition;
  std::vector<at::Tensor> image_pixels{};     // per image [tiles, 3, side, side], fp32
  std::vector<at::Tensor> video_pixels{};     // per batch of frames [frames, 3, side, side], fp32
  std::vector<at::Tensor> visual_features{};  // per media item [tokens, hidden], fp32, in prompt order
  at::Tensor input_ids{};                     // int64 [n]
  at::Tensor position_ids{};                  // int64 [axes, n]
  at::Tensor logits{};                        // fp32 [1, vocabulary] or [n, vocabulary]
  std::vector<std::int64_t> generated{};
  std::vector<std::vector<std::vector<std::int32_t>>> kept{};  // [layer][kv head], original indices
};

}  // namespace winnow
