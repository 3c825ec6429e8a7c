#include "engine/models/llava_parts/pooled_frames.h"

namespace winnow {
namespace {

// maps: [frames, width, side, side]
at::Tensor pooled_maps(const at::Tensor& maps, std::int64_t side, FramePoolingRules rules) {
  const std::int64_t pooled = rules.side(side);
  switch (rules.mode) {
    case FramePooling::kAverage:
      return at::avg_pool2d(maps, {rules.stride, rules.stride});
    case FramePooling::kMaximum:
      return at::max_pool2d(maps, {rules.stride, rules.stride});
    case FramePooling::kBilinear:
      break;
  }
  return at::upsample_bilinear2d(maps, {pooled, pooled}, /*align_corners=*/false);
}

}  // namespace

at::Tensor pooled_frames(const at::Tensor& patches, std::int64_t side, FramePoolingRules rules) {
  const at::Tensor maps = patches.reshape({patches.size(0), side, side, patches.size(2)}).permute({0, 3, 1, 2}).contiguous();
  return pooled_maps(maps, side, rules).flatten(2).transpose(1, 2).contiguous();
}

}  // namespace winnow
