#include "engine/models/llava_parts/tile_packing.h"

#include "engine/base/error.h"

namespace winnow {
namespace {

// tiles: [tiles, patches, channels]; newline: [channels].
at::Tensor stitched(const at::Tensor& tiles, const at::Tensor& newline, const PackedGrid& grid, std::int64_t side) {
  const std::int64_t channels = tiles.size(2);
  at::Tensor map = tiles.reshape({grid.tile_rows, grid.tile_columns, side, side, channels})
                       .permute({0, 2, 1, 3, 4})
                       .reshape({grid.tile_rows * side, grid.tile_columns * side, channels})
                       .narrow(0, grid.first_row, grid.unpadded_rows)
                       .narrow(1, grid.first_column, grid.unpadded_columns);
  if (grid.scaled()) map = resized_maps(map.unsqueeze(0), grid.rows, grid.columns).squeeze(0);
  return at::cat({map, newline.expand({grid.rows, 1, channels})}, 1).flatten(0, 1);
}

}  // namespace

at::Tensor resized_maps(const at::Tensor& maps, std::int64_t rows, std::int64_t columns) {
  return at::upsample_bilinear2d(maps.permute({0, 3, 1, 2}).contiguous(), {rows, columns}, /*align_corners=*/false).permute({0, 2, 3, 1});
}

MediaFeatures packed_tiles(PixelSize source, const GridRules& rules, const EncodedParts& tiles, const at::Tensor& newline) {
  const PackedGrid grid = packed_grid(source, rules);
  const std::int64_t count = tiles.features.size(0);
  require(count == 1 + grid.tile_rows * grid.tile_columns, "the image's tiles do not fit its size");
  const auto pack = [&](const at::Tensor& all, const at::Tensor& row_end) {
    return at::cat({all.select(0, 0), stitched(all.narrow(0, 1, count - 1), row_end, grid, rules.patches_per_side)}, 0);
  };
  MediaFeatures media;
  media.features = pack(tiles.features, newline);
  if (tiles.importance.defined())
    media.importance = pack(tiles.importance.unsqueeze(2), at::zeros({1}, tiles.importance.options())).squeeze(1);
  media.origins = anyres_image_origins(source, rules);
  return media;
}

}  // namespace winnow
