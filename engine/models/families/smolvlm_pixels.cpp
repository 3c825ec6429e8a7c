#include "engine/models/families/smolvlm_pixels.h"

#include <cstdint>
#include <vector>

#include "engine/base/error.h"
#include "engine/vision/pixel_size.h"
#include "engine/vision/resize.h"

namespace winnow {
namespace {

constexpr std::size_t kMostFrames = 1024;

// [height, width, 3], packed; borrowed.
struct PictureView {
  const std::uint8_t* rgb = nullptr;
  PixelSize size;
};

struct Picture {
  std::vector<std::uint8_t> rgb;
  PixelSize size;
  PictureView view() const { return {rgb.data(), size}; }
};

// torchvision.transforms.functional.resize of a byte tensor: bicubic or bilinear in floats, clamped, rounded to even. Channel by channel,
// which is the same and takes a third of the memory.
std::vector<std::uint8_t> resize_in_floats(PictureView source, PixelSize target, ResampleFilter filter) {
  const at::Tensor picture = at::from_blob(const_cast<std::uint8_t*>(source.rgb),  // read only
                                           {source.size.height_px, source.size.width_px, 3}, at::TensorOptions().dtype(at::kByte));
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(target.height_px * target.width_px * 3));
  at::Tensor result = at::from_blob(bytes.data(), {target.height_px, target.width_px, 3}, at::TensorOptions().dtype(at::kByte));
  for (std::int64_t channel = 0; channel < 3; ++channel) {
    const at::Tensor plane = picture.select(2, channel).to(at::kFloat).contiguous().unsqueeze(0).unsqueeze(0);
    const at::Tensor resized_tile = filter == ResampleFilter::kBicubic
                                        ? at::_upsample_bicubic2d_aa(plane, {target.height_px, target.width_px}, false)
                                        : at::_upsample_bilinear2d_aa(plane, {target.height_px, target.width_px}, false);
    result.select(2, channel).copy_(resized_tile[0][0].clamp(0, 255).round());
  }
  return bytes;
}

std::vector<std::uint8_t> resize_bytes(PictureView source, PixelSize target, ResampleFilter filter, ResizeArithmetic arithmetic) {
  return resize_rgb8({source.rgb, source.size, source.size, {0, 0}, {0, 0, 0}}, target, filter, arithmetic);
}

// Resizes an image; a picture of the target size does not change.
Picture resized_tile(PictureView source, PixelSize target, const SmolVlmPixels& pixels) {
  if (pixels.library == PixelLibrary::kTorchvision && source.size != target)
    return {resize_in_floats(source, target, pixels.filter), target};
  return {resize_bytes(source, target, pixels.filter, ResizeArithmetic::kPillow), target};
}

// The square at (top, left) into target [3, side, side].
void write_square(const Picture& picture, PixelSize corner, std::int64_t side, const ByteTable& table, float* target) {
  for (std::int64_t y = 0; y < side; ++y) {
    const std::uint8_t* pixel = picture.rgb.data() + ((corner.height_px + y) * picture.size.width_px + corner.width_px) * 3;
    for (std::int64_t x = 0; x < side; ++x, pixel += 3) {
      for (std::size_t c = 0; c < 3; ++c) target[(static_cast<std::int64_t>(c) * side + y) * side + x] = table[c][pixel[c]];
    }
  }
}

PixelValues values_for(std::int64_t count, std::int64_t side, PixelSize source) {
  return {at::empty({count, 3, side, side}, at::TensorOptions().dtype(at::kFloat)), source.height_px, source.width_px};
}

}  // namespace

PixelValues SmolVlmImageProcessor::image(const RgbImage& image, const TileRules& rules) const {
  const PixelSize source = checked_size(image);
  const SmolVlmPixels& pixels = config_.image;
  const TileGrid grid = tile_grid(source, rules);
  const std::int64_t side = rules.side_px;
  const ByteTable table = pixels.library == PixelLibrary::kPillow ? pillow_table(pixels.scaling) : torch_table(pixels.scaling);
  const Picture first = resized_tile({image.rgb.data(), source}, grid.first, pixels);
  const Picture whole = resized_tile(first.view(), grid.whole, pixels);
  PixelValues values = values_for(grid.rows * grid.columns + 1, side, source);
  float* target = values.pixels.data_ptr<float>();
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      write_square(whole, {row * side, column * side}, side, table, target);
      target += 3 * side * side;
    }
  }
  write_square(resized_tile(whole.view(), {side, side}, pixels), {0, 0}, side, table, target);
  return values;
}

PixelValues SmolVlmImageProcessor::frames(std::span<const RgbImage> frames) const {
  if (frames.empty()) throw Exception(ErrorCode::kInvalidArgument, "video", "no frames to prepare");
  if (frames.size() > kMostFrames) throw Exception(ErrorCode::kLimitExceeded, "video", "more than 1,024 frames at a time");
  const SmolVlmPixels& pixels = config_.video;
  const std::int64_t side = pixels.tiles.side_px;
  const ByteTable table = torch_table(pixels.scaling);
  PixelValues values = values_for(std::ssize(frames), side, checked_size(frames[0]));
  float* target = values.pixels.data_ptr<float>();
  for (const RgbImage& frame : frames) {
    const PixelSize source = checked_size(frame);
    const PixelSize first = size_of_longest_edge(source, pixels.tiles.longest_edge_px);
    Picture picture{resize_bytes({frame.rgb.data(), source}, first, pixels.filter, ResizeArithmetic::kTorch), first};
    picture = {resize_bytes(picture.view(), {side, side}, pixels.filter, ResizeArithmetic::kTorch), {side, side}};
    write_square(picture, {0, 0}, side, table, target);
    target += 3 * side * side;
  }
  return values;
}

}  // namespace winnow
