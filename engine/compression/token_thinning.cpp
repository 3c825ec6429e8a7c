#include "engine/compression/token_thinning.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include "engine/base/error.h"
#include "engine/device/host_numbers.h"
#include "engine/recipes/random_hash.h"
#include "engine/recipes/select.h"

namespace winnow {
namespace {

at::Tensor of_length_one(const at::Tensor& rows) { return rows / rows.norm(2, -1, true).clamp_min(1e-12); }

// Sum of Gaussian similarities of each token to a centre, over five widths. tokens: [frames, n, d]. Returns [frames, n].
at::Tensor likeness(const at::Tensor& tokens, const at::Tensor& centre) {
  const at::Tensor distance = (tokens - centre).square().sum(-1);
  at::Tensor sum = at::zeros_like(distance);
  for (const double width : {0.125, 0.25, 0.5, 1.0, 2.0}) sum.add_(distance.div(-2.0 * width).exp_());
  return sum;
}

std::vector<bool> kept_by_vidcom2(const PatchesToThin& patches, double share) {
  const at::Tensor all = patches.features.to(at::kFloat);
  const std::int64_t frames = all.size(0);
  const std::int64_t each = all.size(1);
  const at::Tensor steadiest =
      at::argsort(all.flatten(0, 1).var(0), /*stable=*/true, /*dim=*/0).slice(0, 0, std::max<std::int64_t>(1, all.size(2) / 2));
  const at::Tensor tokens = of_length_one(all.index_select(2, steadiest));
  const at::Tensor to_video = likeness(tokens, tokens.flatten(0, 1).mean(0));
  const at::Tensor to_frame = likeness(tokens, tokens.mean(1, true));
  constexpr double kTemperature = 0.01;
  const at::Tensor unlike = to_video.mean(1).neg().to(at::kDouble);
  const at::Tensor weight = ((unlike - unlike.max()) / kTemperature).softmax(0);
  const std::vector<double> shares = numbers_of<double>((weight + (1.0 - weight.mean())).mul(share).clamp_max(1.0));
  std::vector<float> common = numbers_of(to_video + to_frame);
  for (float& score : common) score = -score;
  std::vector<bool> stays(common.size(), false);
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    const auto first = static_cast<std::size_t>(frame * each);
    const auto count = static_cast<std::int64_t>(std::nearbyint(shares[static_cast<std::size_t>(frame)] * static_cast<double>(each)));
    const auto own = std::span(common).subspan(first, static_cast<std::size_t>(each));
    for (const std::int32_t token : select_rows(own, std::max<std::int64_t>(1, count), {}))
      stays[first + static_cast<std::size_t>(token)] = true;
  }
  return stays;
}

// One minus the cosine to the same patch of the frame before; of the first frame more than any.
std::vector<float> changes(const at::Tensor& features) {
  constexpr double kAboveAll = 3.0;
  const at::Tensor tokens = of_length_one(features.to(at::kFloat));
  at::Tensor change = at::full({tokens.size(0), tokens.size(1)}, kAboveAll, tokens.options());
  const std::int64_t later = tokens.size(0) - 1;
  change.narrow(0, 1, later).copy_(1.0 - (tokens.narrow(0, 1, later) * tokens.narrow(0, 0, later)).sum(-1));
  return numbers_of(change);
}

// The first is the one that is farthest from its nearest; each next one the farthest from all that were chosen.
std::vector<bool> kept_by_distance(const PatchesToThin& patches, std::int64_t count, const InterruptToken& interrupt) {
  constexpr std::int64_t kRows = 1024;
  constexpr float kChosen = -2.0F;  // below every distance
  const at::Tensor tokens = of_length_one(patches.features.to(at::kFloat).flatten(0, 1));
  const std::int64_t all = tokens.size(0);
  std::vector<bool> stays(static_cast<std::size_t>(all), false);
  std::int64_t chosen = 0;
  at::Tensor nearest = at::full({all}, 3.0, tokens.options());
  const auto choose = [&](std::int64_t token) {
    nearest = at::minimum(nearest, 1.0 - at::mv(tokens, tokens[token]));
    stays[static_cast<std::size_t>(token)] = true;
    ++chosen;
  };
  for (std::int64_t token = 0; token < std::ssize(patches.pinned); ++token) {
    if (patches.pinned[static_cast<std::size_t>(token)]) choose(token);
  }
  if (chosen == 0 && all > 1) {
    std::vector<at::Tensor> apart;
    for (std::int64_t first = 0; first < all; first += kRows) {
      interrupt.throw_if_requested();
      at::Tensor distance = 1.0 - at::mm(tokens.narrow(0, first, std::min(kRows, all - first)), tokens.t());
      distance.diagonal(first).fill_(3.0);
      apart.push_back(distance.amin(1));
    }
    choose(at::cat(apart).argmax().item<std::int64_t>());
  }
  while (chosen < count) {
    interrupt.throw_if_requested();
    std::vector<float> distance = numbers_of(nearest);
    for (std::size_t token = 0; token < distance.size(); ++token) {
      if (stays[token]) distance[token] = kChosen;
    }
    choose(std::ranges::max_element(distance) - distance.begin());
  }
  return stays;
}

std::vector<float> drawn(std::size_t count, std::uint64_t seed) {
  std::vector<float> numbers;
  for (std::size_t token = 0; token < count; ++token)
    numbers.push_back(random_hash_uniform(seed, LayerId(0), KvHead(0), static_cast<std::int64_t>(token)));
  return numbers;
}

}  // namespace

std::vector<bool> patches_kept(const PatchesToThin& patches, const BeforeDecoder& before, std::uint64_t seed,
                               const InterruptToken& interrupt) {
  const PatchCount count{patches.features.size(0) * patches.features.size(1), patches.features.size(0),
                         std::ranges::count(patches.pinned, true)};
  const auto all = static_cast<std::size_t>(count.patches);
  const std::int64_t wanted = patches_that_stay(before, count).patches;
  std::vector<float> scores;
  std::vector<bool> stays(all, false);
  switch (before.method) {
    case BeforeMethod::kVidCom2:
      stays = kept_by_vidcom2(patches, before.amount);
      for (std::size_t token = 0; token < patches.pinned.size(); ++token) stays[token] = stays[token] || patches.pinned[token];
      return stays;
    case BeforeMethod::kDivPruned: return kept_by_distance(patches, wanted, interrupt);
    case BeforeMethod::kEvs: scores = changes(patches.features); break;
    case BeforeMethod::kRandom: scores = drawn(all, seed); break;
    default: throw Exception(ErrorCode::kInternal, text_of(before), "no choice by features");
  }
  std::vector<std::int32_t> forced;
  for (std::size_t token = 0; token < patches.pinned.size(); ++token) {
    if (patches.pinned[token]) forced.push_back(static_cast<std::int32_t>(token));
  }
  for (const std::int32_t token : select_rows(scores, wanted, forced)) stays[static_cast<std::size_t>(token)] = true;
  return stays;
}

}  // namespace winnow
