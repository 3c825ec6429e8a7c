#include "engine/models/qwen_vl_parts/patch_grid.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace winnow {
namespace {

// Python's round(): halves go to the even neighbour, as the processor's default rounding has it.
std::int64_t nearest_multiple(std::int64_t side, std::int64_t factor) {
  return static_cast<std::int64_t>(std::nearbyint(static_cast<double>(side) / static_cast<double>(factor))) * factor;
}

// Pictures whose pixels count: of the source, and of what it is resized to.
struct Pictures {
  std::int64_t given = 1;
  std::int64_t taken = 1;
};

Pictures counted_pictures(const PatchProcessorConfig& config, std::int64_t frames) {
  const std::int64_t joined = config.patches.joined_frames;
  switch (config.counted) {
    case CountedPixels::kOfPicture:
      return {};
    case CountedPixels::kOfVideo:
      return {frames, (frames + joined - 1) / joined * joined};
    case CountedPixels::kOfSets:
      return {std::max(frames, joined), nearest_multiple(std::max(frames, joined), joined)};
  }
  throw Exception(ErrorCode::kInternal, "", "pixels that are counted in an unknown way");
}

// GLM-4V's: a side that is less than a cell becomes one, before anything else.
PixelSize grown_to_a_cell(PixelSize source, std::int64_t cell_px) {
  if (source.height_px >= cell_px && source.width_px >= cell_px) return source;
  const auto cell = static_cast<double>(cell_px);
  const double scale = std::max(cell / static_cast<double>(source.height_px), cell / static_cast<double>(source.width_px));
  const auto grown = [&](std::int64_t px) { return static_cast<std::int64_t>(static_cast<double>(px) * scale); };
  return {grown(source.height_px), grown(source.width_px)};
}

}  // namespace

PatchProcessorConfig of_at_most(std::int64_t cells, PatchProcessorConfig config, std::int64_t frames) {
  if (cells == 0) return config;
  const std::int64_t most = cells * config.patches.cell_px() * config.patches.cell_px();
  const bool alone = config.counted == CountedPixels::kOfPicture;
  config.max_pixels = alone ? most : std::min(config.max_pixels, most * counted_pictures(config, frames).given);
  config.min_pixels = std::min(config.min_pixels, std::max<std::int64_t>(1, config.max_pixels / 4));
  return config;
}

PixelSize smart_resize(PixelSize source, const PatchProcessorConfig& config, std::int64_t frames) {
  if (source.height_px < 1 || source.width_px < 1) throw Exception(ErrorCode::kInvalidArgument, "image", "it has no area");
  const std::int64_t factor = config.patches.cell_px();
  if (config.counted == CountedPixels::kOfSets) source = grown_to_a_cell(source, factor);
  const auto [counted, padded] = counted_pictures(config, frames);
  const auto side = static_cast<double>(factor);
  const auto height = static_cast<double>(source.height_px);
  const auto width = static_cast<double>(source.width_px);
  const double all = static_cast<double>(counted) * height * width;
  const PixelSize near{nearest_multiple(source.height_px, factor), nearest_multiple(source.width_px, factor)};
  const std::int64_t pixels = padded * near.height_px * near.width_px;
  if (pixels > config.max_pixels) {
    const double shrink = std::sqrt(all / static_cast<double>(config.max_pixels));
    const auto fit = [&](double px) { return std::max(factor, static_cast<std::int64_t>(std::floor(px / shrink / side)) * factor); };
    return {fit(height), fit(width)};
  }
  if (pixels < config.min_pixels) {
    const double grow = std::sqrt(static_cast<double>(config.min_pixels) / all);
    const auto fill = [&](double px) { return static_cast<std::int64_t>(std::ceil(px * grow / side)) * factor; };
    return {fill(height), fill(width)};
  }
  return near;
}

CellGrid cell_grid(PixelSize source, const PatchProcessorConfig& config, std::int64_t frames) {
  const PixelSize size = smart_resize(source, config, frames);
  return {size.height_px / config.patches.cell_px(), size.width_px / config.patches.cell_px()};
}

std::vector<TokenOrigin> cell_origins(const CellGrid& grid, std::int64_t frames, std::int64_t joined_frames) {
  std::vector<TokenOrigin> origins;
  TokenOrigin origin;
  origin.modality = Modality::kVisual;
  for (std::int64_t frame = 0; frame < frames; frame += joined_frames) {
    origin.frame = static_cast<std::int32_t>(frame);
    for (std::int64_t row = 0; row < grid.rows; ++row) {
      origin.row = static_cast<std::int16_t>(row);
      for (std::int64_t column = 0; column < grid.columns; ++column) {
        origin.column = static_cast<std::int16_t>(column);
        origins.push_back(origin);
      }
    }
  }
  return origins;
}

}  // namespace winnow
