// Pictures of one size through a vision encoder, some at a time, so that what lies between its layers stays small.
//
// Used by the encoders (vit_tower.h, qwen_vl_tower.h, gemma4_tower.h, minicpmv_tower.h). Threads: engine
// thread; callers hold c10::InferenceMode. Errors: those of `encode`.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace winnow {

// pictures: [pictures, ...], at least one. encode: of a block of at most `at_once` of them, gives {features, importance}, tensors with a
// picture in each row; importance may be undefined, then for all.
template <typename Encode>
auto encoded_in_blocks(const at::Tensor& pictures, std::int64_t at_once, const Encode& encode) -> decltype(encode(pictures)) {
  std::vector<at::Tensor> features, importance;
  for (std::int64_t first = 0; first < pictures.size(0); first += at_once) {
    auto block = encode(pictures.narrow(0, first, std::min(at_once, pictures.size(0) - first)));
    features.push_back(std::move(block.features));
    if (block.importance.defined()) importance.push_back(std::move(block.importance));
  }
  return {features.size() == 1 ? features.front() : at::cat(features, 0), importance.empty() ? at::Tensor() : at::cat(importance, 0)};
}

}  // namespace winnow
