#include "engine/models/gemma4/image_processor.h"

#include <vector>

#include "engine/base/error.h"
#include "engine/vision/picture_limits.h"
#include "engine/vision/resize.h"

namespace winnow {

at::Tensor soft_token_patches(std::span<const RgbImage> pictures, const TokenGrid& grid, const SoftTokenRules& rules) {
  require(!pictures.empty(), "patches are made of pictures");
  const PixelSize target{grid.rows * rules.token_px(), grid.columns * rules.token_px()};
  const std::int64_t patch = rules.patch_px;
  const std::int64_t across = target.width_px / patch;
  const std::int64_t values = 3 * patch * patch;
  const std::int64_t patches = target.height_px / patch * across;
  const ByteTable table = torch_table(rules.scaling);
  at::Tensor rows = at::empty({std::ssize(pictures) * patches, values}, at::TensorOptions().dtype(at::kFloat));
  auto* of_picture = rows.data_ptr<float>();
  for (const RgbImage& picture : pictures) {
    const PixelSize size = checked_size(picture);
    const std::vector<std::uint8_t> rgb =
        resize_rgb8({picture.rgb.data(), size, size, {0, 0}, {0, 0, 0}}, target, rules.filter, ResizeArithmetic::kTorch);
    const std::uint8_t* byte = rgb.data();
    for (std::int64_t y = 0; y < target.height_px; ++y) {
      for (std::int64_t x = 0; x < target.width_px; ++x) {
        float* const pixel = of_picture + (y / patch * across + x / patch) * values + (y % patch * patch + x % patch) * 3;
        for (std::size_t c = 0; c < 3; ++c) pixel[c] = table[c][*byte++];
      }
    }
    of_picture += patches * values;
  }
  return rows;
}

}  // namespace winnow
