#include "engine/models/config/picture_config.h"

#include <array>
#include <vector>

#include "engine/models/config/config_fields.h"

namespace winnow {
namespace {

// A list of three, or one number for all channels.
std::array<double, 3> read_channels(const JsonObject& object, const char* key, double min, std::array<double, 3> fallback) {
  if (!object.has(key)) return fallback;
  if (object.value(key).is_number()) {
    const double value = object.real(key, min, 1000.0);
    return {value, value, value};
  }
  const std::vector<double> values = object.reals(key, min, 1000.0, 3);
  if (values.size() != 3) object.refuse(ErrorCode::kDamagedFile, key, "it must have three entries, one per colour");
  return {values[0], values[1], values[2]};
}

}  // namespace

PixelScaling read_pixel_scaling(const JsonObject& object, const PixelScaling& defaults) {
  return {.rescale = object.boolean("do_rescale", true),
          .rescale_factor = object.real("rescale_factor", 1e-6, 1e6, 1.0 / 255.0),
          .normalize = object.boolean("do_normalize", true),
          .mean = read_channels(object, "image_mean", -1000.0, defaults.mean),
          .standard_deviation = read_channels(object, "image_std", 1e-6, defaults.standard_deviation)};
}

ResampleFilter read_resample_filter(const JsonObject& object) {
  const std::int64_t filter = object.integer("resample", 0, 5, static_cast<int>(ResampleFilter::kBicubic));
  if (filter != static_cast<int>(ResampleFilter::kBicubic) && filter != static_cast<int>(ResampleFilter::kBilinear)) {
    unsupported(object, "resample", "only bicubic (3) and bilinear (2) resizing are implemented");
  }
  return static_cast<ResampleFilter>(filter);
}

const JsonObject& required_image(const std::optional<JsonObject>& image, const ModelPackage& package) {
  if (image) return *image;
  throw Exception(ErrorCode::kFileNotFound, package.subject(ModelPart::kImageProcessor), "the folder does not say how images are prepared");
}

ProcessorDocuments processor_documents(const ModelPackage& package) {
  ProcessorDocuments found;
  if (const ModelDocument* processor = package.document(ModelPart::kProcessor)) {
    found.image = processor->root().optional_object("image_processor");
    found.video = processor->root().optional_object("video_processor");
  }
  const ModelDocument* image = package.document(ModelPart::kImageProcessor);
  const ModelDocument* video = package.document(ModelPart::kVideoProcessor);
  if (!found.image && image != nullptr) found.image = image->root();
  if (!found.video && video != nullptr) found.video = video->root();
  if (!found.video && image != nullptr) found.video = image->root();
  return found;
}

}  // namespace winnow
