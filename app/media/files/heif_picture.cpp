#include "app/media/files/heif_picture.h"

#include <libheif/heif.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

struct HeifDeleter {
  void operator()(heif_context* context) const { heif_context_free(context); }
  void operator()(heif_image_handle* handle) const { heif_image_handle_release(handle); }
  void operator()(heif_image* image) const { heif_image_release(image); }
  void operator()(heif_decoding_options* options) const { heif_decoding_options_free(options); }
};
template <class Thing>
using Heif = std::unique_ptr<Thing, HeifDeleter>;

struct OpenedHeif {
  Heif<heif_context> context;
  Heif<heif_image_handle> picture;  // the main one
};

void requireOk(const heif_error& error, ContentType type, const std::string& subject) {
  if (error.code == heif_error_Ok) return;
  const std::string name = type == ContentType::kAvif ? "AVIF" : "HEIC";
  const std::string words = error.message != nullptr ? error.message : "no reason given";
  if (error.code == heif_error_Memory_allocation_error)
    throw Exception(ErrorCode::kOutOfMemory, subject, "there is no memory for the picture");
  const bool lacking = error.code == heif_error_Unsupported_feature || error.code == heif_error_Unsupported_filetype ||
                       error.code == heif_error_Plugin_loading_error;
  if (lacking)
    throw Exception(ErrorCode::kUnsupportedFormat, subject,
                    "this kind of " + name + " picture is not read (" + words + "); " + kConvertPicture);
  throw Exception(
      ErrorCode::kDamagedFile, subject,
      "the " + name + " picture is damaged and cannot be decoded (" + words + "): copy it again, or save it as JPEG where it opens");
}

OpenedHeif opened(ContentType type, std::span<const std::uint8_t> file, const std::string& subject) {
  OpenedHeif heif{Heif<heif_context>(heif_context_alloc()), nullptr};
  if (!heif.context) throw Exception(ErrorCode::kOutOfMemory, subject, "there is no memory for the picture");
  requireOk(heif_context_read_from_memory_without_copy(heif.context.get(), file.data(), file.size(), nullptr), type, subject);
  heif_image_handle* picture = nullptr;
  requireOk(heif_context_get_primary_image_handle(heif.context.get(), &picture), type, subject);
  heif.picture.reset(picture);
  return heif;
}

// Puts a row of RGBA over white. premultiplied: the colours are already weighed by their alpha.
void flattenHeifRow(const std::uint8_t* rgba, bool premultiplied, std::span<std::uint8_t> rgb) {
  for (std::size_t at = 0; at < rgb.size(); at += 3, rgba += 4) {
    const int alpha = rgba[3];
    for (int channel = 0; channel < 3; ++channel) {
      const int value = premultiplied ? rgba[channel] + 255 - alpha : 255 - ((255 - rgba[channel]) * alpha + 127) / 255;
      rgb[at + static_cast<std::size_t>(channel)] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
    }
  }
}

}  // namespace

void prepareHeif() { heif_init(nullptr); }

PictureSize heifSize(ContentType type, std::span<const std::uint8_t> file, const std::string& subject) {
  const OpenedHeif heif = opened(type, file, subject);
  return {heif_image_handle_get_width(heif.picture.get()), heif_image_handle_get_height(heif.picture.get())};
}

bool isHeifSequence(std::span<const std::uint8_t> file) {
  const std::string_view brand(reinterpret_cast<const char*>(file.data()) + 8, 4);
  return brand == "msf1" || brand == "hevc" || brand == "hevx" || brand == "avis";
}

RgbImage decodeHeif(const StillHeader& header, const std::string& subject) {
  const OpenedHeif heif = opened(header.type, header.decodable, subject);
  const bool transparent = heif_image_handle_has_alpha_channel(heif.picture.get()) != 0;
  const Heif<heif_decoding_options> options(heif_decoding_options_alloc());
  if (!options) throw Exception(ErrorCode::kOutOfMemory, subject, "there is no memory for the picture");
  options->convert_hdr_to_8bit = 1;
  options->strict_decoding = 1;
  heif_image* decoded = nullptr;
  requireOk(heif_decode_image(heif.picture.get(), &decoded, heif_colorspace_RGB,
                              transparent ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB, options.get()),
            header.type, subject);
  const Heif<heif_image> image(decoded);
  int strideBytes = 0;
  const std::uint8_t* row = heif_image_get_plane_readonly(image.get(), heif_channel_interleaved, &strideBytes);
  const PictureSize size{heif_image_get_width(image.get(), heif_channel_interleaved),
                         heif_image_get_height(image.get(), heif_channel_interleaved)};
  if (row == nullptr || size.width_px != header.widthPx || size.height_px != header.heightPx)
    throw Exception(ErrorCode::kDamagedFile, subject, "the picture has another size than its header says");
  const bool premultiplied = heif_image_handle_is_premultiplied_alpha(heif.picture.get()) != 0;
  RgbImage rgb{size.width_px, size.height_px, {}};
  const std::size_t rowBytes = static_cast<std::size_t>(size.width_px) * 3;
  rgb.rgb.resize(rowBytes * static_cast<std::size_t>(size.height_px));
  for (std::size_t y = 0; y < static_cast<std::size_t>(size.height_px); ++y, row += strideBytes) {
    const std::span<std::uint8_t> to(rgb.rgb.data() + y * rowBytes, rowBytes);
    if (transparent) {
      flattenHeifRow(row, premultiplied, to);
    } else {
      std::memcpy(to.data(), row, rowBytes);
    }
  }
  return rgb;
}

}  // namespace winnow::app
