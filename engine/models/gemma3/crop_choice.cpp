#include "engine/models/gemma3/crop_choice.h"

#include <algorithm>
#include <cmath>

namespace winnow {
namespace {

std::int64_t divided_up(std::int64_t length, std::int64_t parts) { return (length + parts - 1) / parts; }

// Along the longer side; 0: none.
std::int64_t crops_along(std::int64_t longer, std::int64_t shorter, const CropRules& rules) {
  const double ratio = static_cast<double>(longer) / static_cast<double>(shorter);
  if (ratio < rules.least_ratio) return 0;
  const auto shaped = static_cast<std::int64_t>(std::floor(ratio + 0.5));
  const std::int64_t count = std::min(std::max<std::int64_t>(2, std::min(longer / rules.least_px, shaped)), rules.most);
  const std::int64_t length = divided_up(longer, count);
  if (std::min(length, shorter) < rules.least_px) return 0;
  return divided_up(longer, length);  // of crops of a few pixels the last ones can be empty, where transformers fails
}

}  // namespace

CropGrid crops_of(PixelSize picture, const CropRules& rules) {
  CropGrid grid;
  if (!rules.wanted || picture.height_px <= 0 || picture.width_px <= 0) return grid;
  const bool lies = picture.width_px >= picture.height_px;
  const std::int64_t count =
      lies ? crops_along(picture.width_px, picture.height_px, rules) : crops_along(picture.height_px, picture.width_px, rules);
  if (count == 0) return grid;
  grid.rows = lies ? 1 : count;
  grid.columns = lies ? count : 1;
  grid.crop = {divided_up(picture.height_px, grid.rows), divided_up(picture.width_px, grid.columns)};
  return grid;
}

}  // namespace winnow
