#include "engine/models/lfm2/image_processor.h"

#include <cstdint>
#include <vector>

#include "engine/vision/picture_limits.h"
#include "engine/vision/resize.h"

namespace winnow {
namespace {

std::int64_t patches_of(PixelSize size, std::int64_t patch) { return size.height_px / patch * (size.width_px / patch); }

// Puts the rows of a resized picture in their places: tiles one after the other, of a tile its patches.
struct TiledPatches {
  PixelSize tile;
  std::int64_t tiles_across = 1;
  std::int64_t patch = 0;

  std::int64_t values() const { return 3 * patch * patch; }
  // Offset of a pixel's first colour; the others follow a patch's area apart.
  std::int64_t offset(std::int64_t y, std::int64_t x) const {
    const std::int64_t number = y / tile.height_px * tiles_across + x / tile.width_px;
    const std::int64_t inside = y % tile.height_px / patch * (tile.width_px / patch) + x % tile.width_px / patch;
    return (number * patches_of(tile, patch) + inside) * values() + y % patch * patch + x % patch;
  }
};

// The picture at that size into `target`. Returns what is behind its last value.
float* write_resized(const RgbImage& image, PixelSize size, const TiledPatches& to, const Lfm2PictureRules& rules, float* target) {
  const PixelSize source = checked_size(image);
  const ByteTable table = torch_table(rules.scaling);
  const std::vector<std::uint8_t> rgb =
      resize_rgb8({image.rgb.data(), source, source, {0, 0}, {0, 0, 0}}, size, rules.filter, ResizeArithmetic::kTorch);
  const std::uint8_t* byte = rgb.data();
  for (std::int64_t y = 0; y < size.height_px; ++y) {
    for (std::int64_t x = 0; x < size.width_px; ++x) {
      float* const pixel = target + to.offset(y, x);
      for (std::size_t c = 0; c < 3; ++c) pixel[static_cast<std::int64_t>(c) * to.patch * to.patch] = table[c][*byte++];
    }
  }
  return target + size.height_px * size.width_px * 3;
}

}  // namespace

at::Tensor lfm2_patches(const RgbImage& image, const Lfm2PicturePlan& plan, const Lfm2PictureRules& rules) {
  const std::int64_t patch = rules.patch_px;
  const PixelSize tile{rules.tiles.side_px, rules.tiles.side_px};
  const std::int64_t of_tiles = plan.cut() ? plan.tiles.tiles() * patches_of(tile, patch) : 0;
  const std::int64_t of_whole = plan.has_whole() ? patches_of(plan.whole, patch) : 0;
  at::Tensor rows = at::empty({of_tiles + of_whole, 3, patch, patch}, at::TensorOptions().dtype(at::kFloat));
  float* target = rows.data_ptr<float>();
  if (plan.cut()) {
    const PixelSize stretched{plan.tiles.rows * tile.height_px, plan.tiles.columns * tile.width_px};
    target = write_resized(image, stretched, {tile, plan.tiles.columns, patch}, rules, target);
  }
  if (plan.has_whole()) write_resized(image, plan.whole, {plan.whole, 1, patch}, rules, target);
  return rows;
}

}  // namespace winnow
