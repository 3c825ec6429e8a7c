#include "engine/models/vision/picture_preparation.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "engine/base/error.h"
#include "engine/models/vision/visual_grid.h"
#include "engine/vision/pixel_size.h"

namespace winnow {
namespace {

constexpr std::size_t kMaxPictures = 1024;
// Before the crop: a narrow picture's longer side grows with its shorter one.
constexpr std::int64_t kMaxResizedPixels = std::int64_t{256} << 20;

struct ResizedPicture {
  std::vector<std::uint8_t> rgb;
  PixelSize size;
};

RgbCanvas plain_canvas(const RgbImage& picture, PixelSize size) { return {picture.rgb.data(), size, size, {0, 0}, {0, 0, 0}}; }

RgbCanvas square_canvas(const RgbImage& picture, PixelSize size, const PixelScaling& scaling) {
  const std::int64_t longest = std::max(size.height_px, size.width_px);
  RgbCanvas canvas = plain_canvas(picture, size);
  canvas.canvas = {longest, longest};
  canvas.origin = {(longest - size.height_px) / 2, (longest - size.width_px) / 2};
  for (std::size_t c = 0; c < 3; ++c) {
    canvas.colour[c] = static_cast<std::uint8_t>(std::clamp(static_cast<int>(scaling.mean[c] * 255.0), 0, 255));
  }
  return canvas;
}

ResizedPicture resized(const RgbCanvas& canvas, PixelSize size, const PictureRules& rules) {
  return {resize_rgb8(canvas, size, rules.filter, rules.arithmetic), size};
}

// The size of the whole canvas before it is cropped.
PixelSize size_before_crop(PixelSize canvas, const PictureRules& rules) {
  if (rules.shortest_edge_px == 0) return rules.size;
  const std::int64_t edge = rules.shortest_edge_px;
  const auto [shorter, longer] = std::minmax(canvas.height_px, canvas.width_px);
  const auto grown = static_cast<std::int64_t>(static_cast<double>(edge * longer) / static_cast<double>(shorter));
  if (edge * grown > kMaxResizedPixels) throw Exception(ErrorCode::kLimitExceeded, "image", "it is too narrow for this model's size");
  return canvas.width_px <= canvas.height_px ? PixelSize{grown, edge} : PixelSize{edge, grown};
}

// The squares of a picture or a video, written one after the other: [count, 3, side, side].
class Squares {
 public:
  Squares(std::int64_t count, const PictureRules& rules, PixelSize source)
      : side_(rules.size.height_px),
        table_(rules.arithmetic == ResizeArithmetic::kPillow ? pillow_table(rules.scaling) : torch_table(rules.scaling)),
        values_{at::empty({count, 3, side_, side_}, at::TensorOptions().dtype(at::kFloat)), source.height_px, source.width_px},
        next_(values_.pixels.data_ptr<float>()) {}

  // The window of the picture that begins at [top, left), which may be negative; outside of the picture there is black.
  void write(const ResizedPicture& picture, std::int64_t top, std::int64_t left) {
    for (std::int64_t y = 0; y < side_; ++y) {
      const std::int64_t row = top + y;
      for (std::int64_t x = 0; x < side_; ++x) {
        const std::int64_t column = left + x;
        const bool inside = row >= 0 && row < picture.size.height_px && column >= 0 && column < picture.size.width_px;
        const std::uint8_t* pixel = inside ? picture.rgb.data() + (row * picture.size.width_px + column) * 3 : nullptr;
        for (std::int64_t c = 0; c < 3; ++c) {
          next_[(c * side_ + y) * side_ + x] = table_[static_cast<std::size_t>(c)][pixel == nullptr ? 0 : pixel[c]];
        }
      }
    }
    next_ += 3 * side_ * side_;
  }
  // Half of what is too much goes on each side, the odd pixel at the end; half of what is missing, the odd one at the end, too.
  void write_centre(const ResizedPicture& picture) {
    const auto first = [this](std::int64_t size) { return size >= side_ ? (size - side_) / 2 : -((side_ - size) / 2); };
    write(picture, first(picture.size.height_px), first(picture.size.width_px));
  }
  PixelValues take() { return std::move(values_); }

 private:
  std::int64_t side_;
  ByteTable table_;
  PixelValues values_;
  float* next_;  // into values_
};

void require_square(const PictureRules& rules) {
  require(rules.size.height_px == rules.size.width_px && rules.size.height_px > 0, "the vision tower takes squares");
}

}  // namespace

PixelValues whole_pictures(std::span<const RgbImage> pictures, const PictureRules& rules) {
  require_square(rules);
  if (pictures.empty()) throw Exception(ErrorCode::kInvalidArgument, "video", "no frames to prepare");
  if (pictures.size() > kMaxPictures) throw Exception(ErrorCode::kLimitExceeded, "video", "more than 1,024 frames at a time");
  Squares squares(std::ssize(pictures), rules, checked_size(pictures.front()));
  for (const RgbImage& picture : pictures) {
    const PixelSize source = checked_size(picture);
    const RgbCanvas canvas = rules.pad_to_square ? square_canvas(picture, source, rules.scaling) : plain_canvas(picture, source);
    squares.write_centre(resized(canvas, size_before_crop(canvas.canvas, rules), rules));
  }
  return squares.take();
}

PixelValues tiled_picture(const RgbImage& picture, const PictureRules& rules, std::span<const PixelSize> pinpoints) {
  require_square(rules);
  const PixelSize source = checked_size(picture);
  const std::int64_t side = rules.size.height_px;
  const PixelSize best = best_resolution(source, pinpoints);
  if (best.height_px % side != 0 || best.width_px % side != 0) {
    throw Exception(ErrorCode::kUnsupportedModel, "image_grid_pinpoints", "a resolution that is no multiple of the tile's side");
  }
  Squares squares(1 + (best.height_px / side) * (best.width_px / side), rules, source);
  const RgbCanvas canvas = plain_canvas(picture, source);
  squares.write(resized(canvas, rules.size, rules), 0, 0);
  const PixelSize fitted = fitted_size(source, best);
  const ResizedPicture inner = resized(canvas, fitted, rules);
  for (std::int64_t top = 0; top < best.height_px; top += side) {
    for (std::int64_t left = 0; left < best.width_px; left += side) {
      squares.write(inner, top - (best.height_px - fitted.height_px) / 2, left - (best.width_px - fitted.width_px) / 2);
    }
  }
  return squares.take();
}

PixelValues stretched_tiles(const RgbImage& picture, const PictureRules& rules, const TileGridRules& grid) {
  require_square(rules);
  require(grid.rows > 0 && grid.columns > 0, "a picture has tiles");
  const PixelSize source = checked_size(picture);
  const std::int64_t side = rules.size.height_px;
  Squares squares(grid.rows * grid.columns + (grid.thumbnail ? 1 : 0), rules, source);
  const RgbCanvas canvas = plain_canvas(picture, source);
  const ResizedPicture whole = resized(canvas, {grid.rows * side, grid.columns * side}, rules);
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) squares.write(whole, row * side, column * side);
  }
  if (grid.thumbnail) squares.write(resized(canvas, rules.size, rules), 0, 0);
  return squares.take();
}

}  // namespace winnow
