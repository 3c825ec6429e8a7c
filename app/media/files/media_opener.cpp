#include "app/media/files/media_opener.h"

#include <limits>
#include <new>
#include <string_view>
#include <utility>

#include "app/media/files/av_handles.h"
#include "app/media/files/content_type.h"
#include "app/media/files/document_source.h"
#include "app/media/files/document_text.h"
#include "app/media/files/image_frame_source.h"
#include "app/media/files/media_endings.h"
#include "app/media/files/subtitles.h"
#include "app/media/files/thumbnails.h"
#include "app/media/files/video_frame_source.h"
#include "engine/base/error.h"

namespace winnow::app {

namespace {

constexpr std::int64_t kTextHeadBytes = 4096;

// A text with such a name is not what somebody meant to attach.
bool isNamedAsPicture(const std::string& name) { return isNamedAs({EndingOf::kImage, EndingOf::kVideo, EndingOf::kUnread}, name); }

}  // namespace

std::string ffmpegVersion() { return av_version_info(); }

std::unique_ptr<MediaSource> FfmpegMediaOpener::openSource(const MediaRequest& request, const InterruptToken& interrupt) const {
  interrupt.throw_if_requested();
  try {
    std::unique_ptr<MediaFile> file = m_files(request.path);
    if (request.kind == MediaKind::kDocument) return m_documents->open(*file, request.encoding, interrupt);
    const ContentType type = detectContent(*file);
    if (kindOf(type) != request.kind) {
      throw Exception(ErrorCode::kUnsupportedFormat, request.path,
                      request.kind == MediaKind::kImage ? "this is a video (" + nameOf(type) + "), not an image"
                                                        : "this is an image (" + nameOf(type) + "), not a video");
    }
    if (request.kind == MediaKind::kImage) return std::make_unique<ImageFrameSource>(std::move(file), type, m_limits);
    auto video = std::make_unique<VideoFrameSource>(std::move(file), type, request.plan, m_limits, interrupt);
    if (!request.subtitles.empty()) {
      Subtitles subtitles = readSubtitles(request.subtitles, request.encoding, interrupt);
      const double toS = request.plan.to_s;
      leaveOutBehind(subtitles, video->info().playsS, toS < 0.0 ? std::numeric_limits<double>::infinity() : toS);
      video->setSubtitles(std::move(subtitles));
    }
    return video;
  } catch (const std::bad_alloc&) {
    throw Exception(ErrorCode::kOutOfMemory, request.path, "there is not enough memory to open the file");
  }
}

MediaKind FfmpegMediaOpener::detectKind(const std::string& path, const InterruptToken& /*interrupt*/) const {
  const std::unique_ptr<MediaFile> file = m_files(path);
  try {
    return kindOf(detectContent(*file));
  } catch (const Exception& exception) {
    // Whatever is no picture and no video may still be a text. A PDF may begin like one.
    const std::vector<std::uint8_t> head = file->readRange(0, kTextHeadBytes);
    const bool pdf = std::string_view(reinterpret_cast<const char*>(head.data()), head.size()).starts_with("%PDF");
    const bool text = looksLikeText(head) && !pdf && !isNamedAsPicture(path);
    if (exception.error().code != ErrorCode::kUnsupportedFormat || !text) throw;
    return MediaKind::kDocument;
  }
}

Subtitles FfmpegMediaOpener::readSubtitles(const std::string& path, const std::string& encoding, const InterruptToken& interrupt) const {
  return app::readSubtitles(*m_files(path), encoding, m_limits, interrupt);
}

std::vector<SampledFrame> FfmpegMediaOpener::readThumbnails(const MediaRequest& request, int maxSidePx,
                                                            const InterruptToken& interrupt) const {
  const auto source = openSource(request, interrupt);
  std::vector<SampledFrame> thumbnails;
  thumbnails.reserve(static_cast<std::size_t>(source->frame_count()));
  for (int i = 0; i < source->frame_count(); ++i) {
    auto frames = source->read(i, 1, interrupt);
    frames.front().image = makeThumbnail(frames.front().image, maxSidePx);
    thumbnails.push_back(std::move(frames.front()));
  }
  return thumbnails;
}

}  // namespace winnow::app
