// Fields that all families' processor files share: scaling of pixel values, resize filter, and which document is for images or videos.
//
// Used by the families' processor configurations. Errors: as config_fields.h. No torch. Threads: plain functions.
#pragma once

#include <optional>

#include "engine/base/json_document.h"
#include "engine/model_files/model_package.h"
#include "engine/vision/pixel_scaling.h"
#include "engine/vision/pixel_size.h"

namespace winnow {

// do_rescale, rescale_factor, do_normalize, image_mean, image_std. defaults: mean and standard deviation of the processor's class.
PixelScaling read_pixel_scaling(const JsonObject& object, const PixelScaling& defaults = {});

// resample; other filters than bicubic and bilinear are refused.
ResampleFilter read_resample_filter(const JsonObject& object);

// In the order in which transformers 5 takes them: `image_processor` and `video_processor` nested in processor_config.json, then
// preprocessor_config.json and video_preprocessor_config.json. Without a video document the images' is used. Borrows the package.
struct ProcessorDocuments {
  std::optional<JsonObject> image;
  std::optional<JsonObject> video;
};
ProcessorDocuments processor_documents(const ModelPackage& package);

// The images' document. Errors: kFileNotFound where there is none.
const JsonObject& required_image(const std::optional<JsonObject>& image, const ModelPackage& package);

}  // namespace winnow
