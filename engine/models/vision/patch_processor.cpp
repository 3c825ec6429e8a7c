#include "engine/models/vision/patch_processor.h"

#include <algorithm>
#include <vector>

#include "engine/base/error.h"
#include "engine/vision/resize.h"

namespace winnow {
namespace {

// The order of a resized picture's patches.
struct PatchLayout {
  std::int64_t columns_px;
  std::int64_t patch;
  std::int64_t merge;
  std::int64_t joined;

  std::int64_t cell_px() const { return patch * merge; }
  std::int64_t patch_floats() const { return 3 * joined * patch * patch; }
  // Offset of a pixel's first colour, as frame `place` of its set.
  std::int64_t offset(std::int64_t y, std::int64_t x, std::int64_t place) const {
    const std::int64_t cell = y / cell_px() * (columns_px / cell_px()) + x / cell_px();
    const std::int64_t inside = y % cell_px() / patch * merge + x % cell_px() / patch;
    return (cell * merge * merge + inside) * patch_floats() + place * patch * patch + y % patch * patch + x % patch;
  }
};

}  // namespace

at::Tensor patch_rows(std::span<const RgbImage> pictures, PixelSize target, const PatchProcessorConfig& config) {
  require(!pictures.empty(), "patches are made of pictures");
  const auto [patch, merge, joined] = config.patches;
  const PatchLayout layout{target.width_px, patch, merge, joined};
  const std::int64_t patches = target.height_px * target.width_px / (patch * patch);
  const std::int64_t sets = (std::ssize(pictures) + joined - 1) / joined;
  const ByteTable table = torch_table(config.scaling);
  at::Tensor rows = at::empty({sets * patches, layout.patch_floats()}, at::TensorOptions().dtype(at::kFloat));
  const std::int64_t colour_stride = joined * patch * patch;
  std::vector<std::uint8_t> rgb;
  for (std::int64_t frame = 0; frame < sets * joined; ++frame) {
    if (frame < std::ssize(pictures)) {
      const RgbImage& picture = pictures[static_cast<std::size_t>(frame)];
      const PixelSize size = checked_size(picture);
      rgb = resize_rgb8({picture.rgb.data(), size, size, {0, 0}, {0, 0, 0}}, target, config.filter, ResizeArithmetic::kTorch);
    }
    float* const set = rows.data_ptr<float>() + frame / joined * patches * layout.patch_floats();
    const std::uint8_t* byte = rgb.data();
    for (std::int64_t y = 0; y < target.height_px; ++y) {
      for (std::int64_t x = 0; x < target.width_px; ++x) {
        float* const pixel = set + layout.offset(y, x, frame % joined);
        for (std::size_t c = 0; c < 3; ++c) pixel[static_cast<std::int64_t>(c) * colour_stride] = table[c][*byte++];
      }
    }
  }
  return rows;
}

PixelValues patch_values(std::span<const RgbImage> pictures, PixelSize target, const PatchProcessorConfig& config, PictureSize source) {
  const PatchGeometry& patches = config.patches;
  const std::int64_t colour = patches.joined_frames * patches.patch_px * patches.patch_px;
  PixelCells cells{
      target.height_px / patches.cell_px(), target.width_px / patches.cell_px(), 3 * colour * patches.cell_patches(), colour, {1, 1, 1}};
  if (config.scaling.normalize) cells.deviation = config.scaling.standard_deviation;
  return {patch_rows(pictures, target, config), source.height_px, source.width_px, cells};
}

}  // namespace winnow
