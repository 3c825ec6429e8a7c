#include "engine/models/vision/patch_grid.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>

#include "engine/base/error.h"
#include "engine/models/config/config_fields.h"
#include "engine/models/config/picture_config.h"

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
    case CountedPixels::kOfPicture: return {};
    case CountedPixels::kOfVideo: return {frames, (frames + joined - 1) / joined * joined};
    case CountedPixels::kOfSets: return {std::max(frames, joined), nearest_multiple(std::max(frames, joined), joined)};
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

constexpr std::int64_t kMaxPixels = std::int64_t{64} << 20;
constexpr std::int64_t kMaxCells = std::int64_t{1} << 18;  // of one picture

void read_bounds(const JsonObject& object, PatchProcessorConfig& config) {
  const bool sized = config.counted != CountedPixels::kOfPicture;  // those classes know `size` alone
  const bool least = !sized && object.has("min_pixels");
  const bool most = !sized && object.has("max_pixels");
  if (object.has("size") && !(least && most)) {
    const JsonObject size = object.object("size");
    for (const char* edge : {"shortest_edge", "longest_edge"}) {
      const bool instead = edge == std::string("shortest_edge") ? least : most;
      if (!size.has(edge) && !instead) unsupported(size, edge, "pictures of native size need a smallest and a largest number of pixels");
    }
    if (!least) config.min_pixels = size.integer("shortest_edge", 1, kMaxPixels);
    if (!most) config.max_pixels = size.integer("longest_edge", 1, kMaxPixels);
  }
  if (least) config.min_pixels = object.integer("min_pixels", 1, kMaxPixels);
  if (most) config.max_pixels = object.integer("max_pixels", 1, kMaxPixels);
}

PatchProcessorConfig read_for(const std::optional<JsonObject>& object, const PatchProcessorConfig& defaults, const PatchGeometry& tower,
                              const std::string& file) {
  const PatchProcessorConfig config = object ? parse_patch_processor(*object, defaults) : defaults;
  const auto require_same = [&](std::int64_t found, std::int64_t wanted, const char* key) {
    if (found == wanted) return;
    throw Exception(ErrorCode::kDamagedFile, object ? object->subject(key) : file + ": " + key,
                    "it is " + std::to_string(found) + " here and " + std::to_string(wanted) + " in config.json");
  };
  require_same(config.patches.patch_px, tower.patch_px, "patch_size");
  require_same(config.patches.merge, tower.merge, "merge_size");
  require_same(config.patches.joined_frames, tower.joined_frames, "temporal_patch_size");
  return config;
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
  TokenOrigin origin{.modality = Modality::kVisual};
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

PatchProcessorConfig parse_patch_processor(const JsonObject& object, PatchProcessorConfig config) {
  if (!object.boolean("do_resize", true)) unsupported(object, "do_resize", "pictures that are not resized need not be whole patches");
  PatchGeometry& patches = config.patches;
  patches.patch_px = object.integer("patch_size", 1, kMaxPatchPx, patches.patch_px);
  patches.merge = object.integer("merge_size", 1, kMaxMerge, patches.merge);
  patches.joined_frames = object.integer("temporal_patch_size", 1, kMaxJoinedFrames, patches.joined_frames);
  read_bounds(object, config);
  const std::int64_t cell = patches.cell_px() * patches.cell_px();
  if (std::max(config.min_pixels, config.max_pixels) / cell > kMaxCells) {
    object.refuse(ErrorCode::kLimitExceeded, "patch_size", "a picture may become more than " + std::to_string(kMaxCells) + " tokens");
  }
  config.filter = read_resample_filter(object);
  config.scaling = read_pixel_scaling(object, config.scaling);
  return config;
}

QwenVlProcessors read_patch_processors(const ModelPackage& package, const PatchGeometry& tower, const QwenVlProcessors& defaults) {
  QwenVlProcessors read = defaults;
  const ProcessorDocuments documents = processor_documents(package);
  read.image = read_for(documents.image, read.image, tower, package.subject(ModelPart::kImageProcessor));
  read.video = read_for(documents.video, read.video, tower, package.subject(ModelPart::kVideoProcessor));
  return read;
}

}  // namespace winnow
