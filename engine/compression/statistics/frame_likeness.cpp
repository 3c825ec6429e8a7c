#include "engine/compression/statistics/frame_likeness.h"

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"

namespace winnow {
namespace {

constexpr double kLeastFrameNorm = 1e-12;

}  // namespace

std::vector<float> frame_likeness(const at::Tensor& queries, const at::Tensor& keys, std::span<const std::int64_t> frames, bool cosine) {
  require(keys.size(1) == std::ssize(frames) && !frames.empty() && queries.size(0) % keys.size(0) == 0,
          "frame_likeness: a frame for every slot");
  const std::int64_t kv_heads = keys.size(0);
  const std::int64_t group = queries.size(0) / kv_heads;
  const std::int64_t count = frames.back() + 1;
  const at::Tensor frame_of = index_on(keys.device(), frames);
  const at::Tensor sizes = at::zeros({count}, keys.options().dtype(at::kFloat))
                               .index_add_(0, frame_of, at::ones({keys.size(1)}, keys.options().dtype(at::kFloat)));
  at::Tensor means = at::zeros({kv_heads, count, keys.size(2)}, keys.options().dtype(at::kFloat));
  means.index_add_(1, frame_of, keys.to(at::kFloat)).div_(sizes.view({1, count, 1}));
  const at::Tensor asked = queries.to(at::kFloat).mean(1);  // [H, d]
  const at::Tensor of_group = asked.view({kv_heads, group, -1}).sum(1).unsqueeze(2);
  at::Tensor likeness = at::bmm(means, of_group).squeeze(2).sum(0);
  if (cosine) {
    const at::Tensor length = means.square().sum(2).sum(0).mul_(static_cast<double>(group)).sqrt_();
    likeness = likeness / (length * asked.norm()).clamp_min_(kLeastFrameNorm);
  }
  const at::Tensor host = likeness.to(at::kCPU).contiguous();
  return {host.const_data_ptr<float>(), host.const_data_ptr<float>() + host.numel()};
}

}  // namespace winnow
