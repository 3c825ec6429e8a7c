#include "engine/models/vision/visual_grid.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>

#include "engine/base/error.h"

namespace winnow {
namespace {

void require_area(PixelSize source) {
  if (source.height_px < 1 || source.width_px < 1 || source.height_px > (1 << 24) || source.width_px > (1 << 24)) {
    throw Exception(ErrorCode::kInvalidArgument, "image", "it has no area or an impossible one");
  }
}

// Python's int(round(value, 7)) for 0 <= value < 10^8: decimal rounding of the exact value, then the whole part.
std::int64_t whole_part_after_rounding(double value) {
  std::array<char, 64> text{};
  const auto written = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, 7);
  std::int64_t whole = 0;
  std::from_chars(text.data(), written.ptr, whole);
  return whole;
}

// Python's int(a // b) for floats, which is not always floor(a / b).
std::int64_t floor_division(double a, double b) {
  const double quotient = (a - std::fmod(a, b)) / b;
  double whole = std::floor(quotient);
  if (quotient - whole > 0.5) whole += 1.0;
  return static_cast<std::int64_t>(whole);
}

// Along one axis: the tile under the centre of packed cell `index`.
std::int64_t tile_of(std::int64_t index, std::int64_t packed, std::int64_t first, std::int64_t unpadded, std::int64_t tiles,
                     std::int64_t side) {
  const double centre =
      static_cast<double>(first) + (static_cast<double>(index) + 0.5) * static_cast<double>(unpadded) / static_cast<double>(packed);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(centre / static_cast<double>(side)), 0, tiles - 1);
}

}  // namespace

PixelSize best_resolution(PixelSize source, std::span<const PixelSize> pinpoints) {
  require_area(source);
  require(!pinpoints.empty(), "a grid needs pinpoints");
  PixelSize best = pinpoints[0];
  std::int64_t most_effective = 0;
  std::int64_t least_wasted = std::numeric_limits<std::int64_t>::max();
  for (const PixelSize& candidate : pinpoints) {
    const double scale = std::min(static_cast<double>(candidate.width_px) / static_cast<double>(source.width_px),
                                  static_cast<double>(candidate.height_px) / static_cast<double>(source.height_px));
    const auto width = static_cast<std::int64_t>(static_cast<double>(source.width_px) * scale);
    const auto height = static_cast<std::int64_t>(static_cast<double>(source.height_px) * scale);
    const std::int64_t effective = std::min(width * height, source.width_px * source.height_px);
    const std::int64_t wasted = candidate.width_px * candidate.height_px - effective;
    if (effective > most_effective || (effective == most_effective && wasted < least_wasted)) {
      most_effective = effective;
      least_wasted = wasted;
      best = candidate;
    }
  }
  return best;
}

PixelSize fitted_size(PixelSize source, PixelSize target) {
  require_area(source);
  const double scale_width = static_cast<double>(target.width_px) / static_cast<double>(source.width_px);
  const double scale_height = static_cast<double>(target.height_px) / static_cast<double>(source.height_px);
  if (scale_width < scale_height) {
    const auto height = static_cast<std::int64_t>(std::ceil(static_cast<double>(source.height_px) * scale_width));
    return {std::min(height, target.height_px), target.width_px};
  }
  const auto width = static_cast<std::int64_t>(std::ceil(static_cast<double>(source.width_px) * scale_height));
  return {target.height_px, std::min(width, target.width_px)};
}

PackedGrid packed_grid(PixelSize source, const GridRules& rules) {
  require(rules.side_px > 0 && rules.patches_per_side > 0 && rules.max_tiles.value_or(1) > 0, "grid rules need positive sizes");
  if (rules.drop_first_feature) {
    throw Exception(ErrorCode::kUnsupportedModel, "vision_feature_select_strategy",
                    "\"default\" leaves no square of features to stitch tiles");
  }
  const PixelSize best = best_resolution(source, rules.pinpoints);
  if (best.height_px % rules.side_px != 0 || best.width_px % rules.side_px != 0) {
    throw Exception(ErrorCode::kUnsupportedModel, "image_grid_pinpoints", "a resolution that is no multiple of the tile's side");
  }
  PackedGrid grid{.tile_rows = best.height_px / rules.side_px, .tile_columns = best.width_px / rules.side_px};
  if (grid.tile_rows * grid.tile_columns > kMostTilesOfAGrid) {
    throw Exception(ErrorCode::kLimitExceeded, "image_grid_pinpoints",
                    "more than " + std::to_string(kMostTilesOfAGrid) + " tiles for one image");
  }
  grid.unpadded_rows = grid.tile_rows * rules.patches_per_side;
  grid.unpadded_columns = grid.tile_columns * rules.patches_per_side;
  const auto rows = static_cast<double>(grid.unpadded_rows);
  const auto columns = static_cast<double>(grid.unpadded_columns);
  const auto height = static_cast<double>(source.height_px);
  const auto width = static_cast<double>(source.width_px);
  if (width / height > columns / rows) {
    const std::int64_t used = whole_part_after_rounding(height * (columns / width));
    grid.first_row = (grid.unpadded_rows - used) / 2;
    grid.unpadded_rows -= 2 * grid.first_row;
  } else {
    const std::int64_t used = whole_part_after_rounding(width * (rows / height));
    grid.first_column = (grid.unpadded_columns - used) / 2;
    grid.unpadded_columns -= 2 * grid.first_column;
  }
  grid.rows = grid.unpadded_rows;
  grid.columns = grid.unpadded_columns;
  if (!rules.max_tiles) return grid;
  const double ratio = std::sqrt(static_cast<double>(grid.rows * grid.columns) /
                                 static_cast<double>(*rules.max_tiles * rules.patches_per_side * rules.patches_per_side));
  if (ratio > 1.1) {
    grid.rows = floor_division(static_cast<double>(grid.rows), ratio);
    grid.columns = floor_division(static_cast<double>(grid.columns), ratio);
  }
  // transformers fails here in the middle of the model. Without scaling a grid without cells is fine: the base tile is all there is.
  if (grid.scaled() && (grid.rows < 1 || grid.columns < 1)) {
    throw Exception(ErrorCode::kInvalidArgument, "image", "it is too narrow for this model's grid");
  }
  return grid;
}

std::int64_t most_tokens_at(PixelSize pinpoint, const GridRules& rules) {
  const std::int64_t tile = rules.patches_per_side * rules.patches_per_side;
  const std::int64_t rows = pinpoint.height_px / rules.side_px * rules.patches_per_side;
  std::int64_t grid = pinpoint.width_px / rules.side_px * rules.patches_per_side * rows;
  // A grid that is no more than 1.1 times as large a side is not reduced (packed_grid()).
  if (rules.max_tiles) grid = std::min(grid, static_cast<std::int64_t>(1.21 * static_cast<double>(*rules.max_tiles * tile)));
  return tile + grid + rows;
}

GridRules of_at_most(std::int64_t tokens, GridRules rules) {
  if (tokens == 0) return rules;
  std::erase_if(rules.pinpoints, [&](const PixelSize& pinpoint) { return most_tokens_at(pinpoint, rules) > tokens; });
  if (rules.pinpoints.empty()) rules.pinpoints.push_back({rules.side_px, rules.side_px});
  return rules;
}

std::int64_t most_tokens_of_tiles(std::int64_t tiles, const GridRules& rules) {
  std::int64_t most = most_tokens_at({rules.side_px, rules.side_px}, rules);
  for (const PixelSize& pinpoint : rules.pinpoints) {
    if (pinpoint.height_px / rules.side_px * (pinpoint.width_px / rules.side_px) <= tiles)
      most = std::max(most, most_tokens_at(pinpoint, rules));
  }
  return most;
}

TokenOrigin visual_origin(std::int64_t frame, std::int64_t row, std::int64_t column) {
  return {.modality = Modality::kVisual,
          .frame = static_cast<std::int32_t>(frame),
          .row = static_cast<std::int16_t>(row),
          .column = static_cast<std::int16_t>(column)};
}

std::vector<TokenOrigin> frame_origins(std::int64_t frames, std::int64_t side) {
  std::vector<TokenOrigin> origins;
  for (std::int64_t frame = 0; frame < frames; ++frame) {
    for (std::int64_t row = 0; row < side; ++row) {
      for (std::int64_t column = 0; column < side; ++column) origins.push_back(visual_origin(frame, row, column));
    }
  }
  return origins;
}

TokenOrigin origin_beside_patches(std::int64_t frame) { return visual_origin(frame, -1, -1); }

std::vector<TokenOrigin> anyres_image_origins(PixelSize source, const GridRules& rules) {
  const PackedGrid grid = packed_grid(source, rules);
  std::vector<TokenOrigin> origins = frame_origins(1, rules.patches_per_side);
  for (std::int64_t row = 0; row < grid.rows; ++row) {
    const std::int64_t tile_row = tile_of(row, grid.rows, grid.first_row, grid.unpadded_rows, grid.tile_rows, rules.patches_per_side);
    std::int64_t tile = 0;
    for (std::int64_t column = 0; column < grid.columns; ++column) {
      const std::int64_t tile_column =
          tile_of(column, grid.columns, grid.first_column, grid.unpadded_columns, grid.tile_columns, rules.patches_per_side);
      tile = 1 + tile_row * grid.tile_columns + tile_column;
      origins.push_back(visual_origin(tile, row, column));
    }
    origins.push_back(origin_beside_patches(tile));
  }
  return origins;
}

}  // namespace winnow
