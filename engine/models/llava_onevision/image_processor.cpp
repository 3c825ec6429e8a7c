#include "engine/models/llava_onevision/image_processor.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "engine/base/error.h"
#include "engine/models/llava_onevision/visual_grid.h"
#include "engine/vision/picture_limits.h"
#include "engine/vision/pixel_scaling.h"
#include "engine/vision/resize.h"

namespace winnow {
namespace {

constexpr std::int64_t kMaxFrames = 1024;

RgbCanvas plain_canvas(const RgbImage& image, PixelSize size) { return {image.rgb.data(), size, size, {0, 0}, {0, 0, 0}}; }

// Writes the window [top, left) + side x side of a picture that lies at `origin` on black into target [3, side, side].
void write_tile(const std::vector<std::uint8_t>& rgb, PixelSize size, PixelSize origin, std::int64_t top, std::int64_t left,
                std::int64_t side, const ByteTable& table, float* target) {
  for (std::int64_t y = 0; y < side; ++y) {
    const std::int64_t row = top + y - origin.height_px;
    for (std::int64_t x = 0; x < side; ++x) {
      const std::int64_t column = left + x - origin.width_px;
      const bool inside = row >= 0 && row < size.height_px && column >= 0 && column < size.width_px;
      const std::uint8_t* pixel = inside ? rgb.data() + (row * size.width_px + column) * 3 : nullptr;
      for (std::int64_t c = 0; c < 3; ++c) {
        target[(c * side + y) * side + x] = table[static_cast<std::size_t>(c)][pixel == nullptr ? 0 : pixel[c]];
      }
    }
  }
}

PixelValues values_for(std::int64_t count, std::int64_t side, PixelSize source) {
  return {at::empty({count, 3, side, side}, at::TensorOptions().dtype(at::kFloat)), source.height_px, source.width_px};
}

}  // namespace

ImageProcessor::ImageProcessor(ImageProcessorConfig image, FrameProcessorConfig video) : image_(std::move(image)), video_(video) {
  require(image_.size.height_px == image_.size.width_px && video_.size.height_px == video_.size.width_px && image_.size.height_px > 0 &&
              video_.size.height_px > 0,
          "the vision tower takes squares");
}

PixelValues ImageProcessor::image(const RgbImage& image, ImageTiling tiling) const {
  const PixelSize source = checked_size(image);
  const std::int64_t side = image_.size.height_px;
  const std::int64_t tile_floats = 3 * side * side;
  const ByteTable table = pillow_table(image_.scaling);
  if (tiling == ImageTiling::kSingle) {
    const std::int64_t longest = std::max(source.height_px, source.width_px);
    RgbCanvas canvas = plain_canvas(image, source);
    canvas.canvas = {longest, longest};
    canvas.origin = {(longest - source.height_px) / 2, (longest - source.width_px) / 2};
    for (std::size_t c = 0; c < 3; ++c) {
      canvas.colour[c] = static_cast<std::uint8_t>(std::clamp(static_cast<int>(image_.scaling.mean[c] * 255.0), 0, 255));
    }
    PixelValues values = values_for(1, side, source);
    write_tile(resize_rgb8(canvas, image_.size, image_.filter, ResizeArithmetic::kPillow), image_.size, {0, 0}, 0, 0, side, table,
               values.pixels.data_ptr<float>());
    return values;
  }
  const PixelSize best = best_resolution(source, image_.grid_pinpoints);
  if (best.height_px % side != 0 || best.width_px % side != 0) {
    throw Exception(ErrorCode::kUnsupportedModel, "image_grid_pinpoints", "a resolution that is no multiple of the tile's side");
  }
  const std::int64_t tile_rows = best.height_px / side;
  const std::int64_t tile_columns = best.width_px / side;
  PixelValues values = values_for(1 + tile_rows * tile_columns, side, source);
  float* target = values.pixels.data_ptr<float>();
  const RgbCanvas canvas = plain_canvas(image, source);
  write_tile(resize_rgb8(canvas, image_.size, image_.filter, ResizeArithmetic::kPillow), image_.size, {0, 0}, 0, 0, side, table, target);
  const PixelSize fitted = fitted_size(source, best);
  const PixelSize origin{(best.height_px - fitted.height_px) / 2, (best.width_px - fitted.width_px) / 2};
  const std::vector<std::uint8_t> resized = resize_rgb8(canvas, fitted, image_.filter, ResizeArithmetic::kPillow);
  for (std::int64_t row = 0; row < tile_rows; ++row) {
    for (std::int64_t column = 0; column < tile_columns; ++column) {
      target += tile_floats;
      write_tile(resized, fitted, origin, row * side, column * side, side, table, target);
    }
  }
  return values;
}

PixelValues ImageProcessor::frames(std::span<const RgbImage> frames) const {
  if (frames.empty()) throw Exception(ErrorCode::kInvalidArgument, "video", "no frames to prepare");
  if (frames.size() > static_cast<std::size_t>(kMaxFrames))
    throw Exception(ErrorCode::kLimitExceeded, "video", "more than 1,024 frames at a time");
  const std::int64_t side = video_.size.height_px;
  const ByteTable table = torch_table(video_.scaling);
  PixelValues values = values_for(static_cast<std::int64_t>(frames.size()), side, checked_size(frames[0]));
  float* target = values.pixels.data_ptr<float>();
  for (const RgbImage& frame : frames) {
    const RgbCanvas canvas = plain_canvas(frame, checked_size(frame));
    write_tile(resize_rgb8(canvas, video_.size, video_.filter, ResizeArithmetic::kTorch), video_.size, {0, 0}, 0, 0, side, table, target);
    target += 3 * side * side;
  }
  return values;
}

}  // namespace winnow
