#include "engine/models/lfm2/picture_plan.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace winnow {
namespace {

// Python's round(length / unit): halves go to the even number.
std::int64_t nearest_units(std::int64_t length, std::int64_t unit) {
  return std::llrint(static_cast<double>(length) / static_cast<double>(unit));
}

std::int64_t floor_units(double length, std::int64_t unit) {
  return static_cast<std::int64_t>(std::floor(length / static_cast<double>(unit)));
}

PixelSize native_size(PixelSize source, const Lfm2PictureRules& rules) {
  const std::int64_t cell = rules.cell_px();
  const auto height = static_cast<double>(source.height_px);
  const auto width = static_cast<double>(source.width_px);
  const auto at_least_one = [&](std::int64_t cells) { return std::max<std::int64_t>(1, cells) * cell; };
  const std::int64_t least_px = rules.least_tokens * cell * cell;
  const std::int64_t most_px = rules.most_tokens * cell * cell;
  const PixelSize size{at_least_one(nearest_units(source.height_px, cell)), at_least_one(nearest_units(source.width_px, cell))};
  if (size.height_px * size.width_px > most_px) {
    const double beta = std::sqrt(height * width / static_cast<double>(most_px));
    return {at_least_one(floor_units(height / beta, cell)), at_least_one(floor_units(width / beta, cell))};
  }
  if (size.height_px * size.width_px < least_px) {
    const double beta = std::sqrt(static_cast<double>(least_px) / (height * width));
    const auto up = [&](double length) { return static_cast<std::int64_t>(std::ceil(length * beta / static_cast<double>(cell))) * cell; };
    return {up(height), up(width)};
  }
  return size;
}

bool too_large(PixelSize source, const Lfm2PictureRules& rules) {
  const auto side = [&](std::int64_t length) { return std::max(rules.patch_px, nearest_units(length, rules.cell_px()) * rules.cell_px()); };
  const std::int64_t most_px = rules.most_tokens * rules.cell_px() * rules.cell_px();
  return static_cast<double>(side(source.height_px) * side(source.width_px)) > static_cast<double>(most_px) * rules.tolerance;
}

}  // namespace

Lfm2PicturePlan lfm2_picture_plan(PixelSize source, const Lfm2PictureRules& rules) {
  require(source.height_px > 0 && source.width_px > 0 && rules.cell_px() > 0 && rules.least_tokens > 0 &&
              rules.least_tokens <= rules.most_tokens,
          "a picture needs bounds");
  Lfm2PicturePlan plan{native_size(source, rules), {}, rules.tiles.thumbnail};
  if (rules.cuts() && too_large(source, rules)) plan.tiles = closest_tiles(source, rules.tiles);
  return plan;
}

std::int64_t tokens_of_plan(const Lfm2PicturePlan& plan, const Lfm2PictureRules& rules) {
  constexpr std::int64_t kName = Lfm2PictureRules::kName;
  const std::int64_t cell_px = rules.cell_px();
  const std::int64_t whole = plan.has_whole() ? plan.whole.height_px / cell_px * (plan.whole.width_px / cell_px) : 0;
  const std::int64_t cut = plan.cut() ? plan.tiles.tiles() * (rules.tile_tokens() + kName) + (plan.thumbnail ? kName : 0) : 0;
  return Lfm2PictureRules::kMarks + cut + whole;
}

std::int64_t most_tokens_of_tiles(std::int64_t tiles, const Lfm2PictureRules& rules) {
  constexpr std::int64_t kName = Lfm2PictureRules::kName;
  const std::int64_t thumbnail = rules.tiles.thumbnail ? rules.most_tokens + kName : 0;
  return Lfm2PictureRules::kMarks + tiles * (rules.tile_tokens() + kName) + thumbnail;
}

Lfm2PictureRules of_at_most(std::int64_t tokens, PixelSize source, Lfm2PictureRules rules) {
  if (tokens == 0) return rules;
  const auto fits = [&] { return tokens_of_plan(lfm2_picture_plan(source, rules), rules) <= tokens; };
  const std::int64_t inside = tokens - Lfm2PictureRules::kMarks;
  while (rules.cuts() && most_tokens_of_tiles(rules.tiles.most, rules) > tokens) --rules.tiles.most;
  rules.tiles.least = std::min(rules.tiles.least, rules.tiles.most);
  if (rules.cuts() && inside >= rules.most_tokens && fits()) return rules;
  rules.tiles.least = rules.tiles.most = 1;
  // A strip takes more cells than its bound until that is small enough.
  for (std::int64_t most = std::clamp<std::int64_t>(inside, 1, rules.most_tokens); most >= 1; --most) {
    if (most < rules.most_tokens) rules.least_tokens = std::min(rules.least_tokens, std::max<std::int64_t>(1, most / 4));
    rules.most_tokens = most;
    if (fits()) break;
  }
  return rules;
}

}  // namespace winnow
