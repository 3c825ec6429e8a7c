#include "engine/layers/device_probabilities.h"

namespace winnow {

std::vector<std::vector<std::vector<float>>> on_host(std::span<const DeviceProbabilities> layers) {
  std::vector<std::vector<std::vector<float>>> rows;
  if (layers.empty()) return rows;
  std::vector<at::Tensor> flat;
  for (const DeviceProbabilities& layer : layers) flat.push_back(layer.numbers.flatten());
  const at::Tensor host = (flat.size() == 1 ? flat.front() : at::cat(flat)).to(at::kCPU).contiguous();
  const float* numbers = host.const_data_ptr<float>();
  for (const DeviceProbabilities& layer : layers) {
    std::vector<std::vector<float>>& row = rows.emplace_back();
    for (const std::int32_t count : layer.counts) {
      row.emplace_back(numbers, numbers + count);
      numbers += layer.numbers.size(1);
    }
  }
  return rows;
}

}  // namespace winnow
