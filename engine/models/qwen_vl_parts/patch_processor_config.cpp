#include "engine/models/qwen_vl_parts/patch_processor_config.h"

#include <algorithm>
#include <optional>
#include <string>

#include "engine/models/config_fields.h"
#include "engine/models/picture_config.h"

namespace winnow {
namespace {

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
