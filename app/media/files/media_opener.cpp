#include "app/media/files/media_opener.h"

#include <limits>
#include <new>
#include <optional>
#include <utility>

#include "app/media/files/av_handles.h"
#include "app/media/files/content_type.h"
#include "app/media/files/document_text.h"
#include "app/media/files/heif_picture.h"
#include "app/media/files/media_endings.h"
#include "app/media/files/picture_source.h"
#include "app/media/files/scanned_text.h"
#include "app/media/files/sound_file.h"
#include "app/media/files/still_image.h"
#include "app/media/files/subtitles.h"
#include "app/media/files/text_encoding.h"
#include "app/media/files/thumbnails.h"
#include "app/media/files/video_frame_source.h"
#include "engine/base/error.h"

extern "C" {
#include <libavutil/cpu.h>
}

namespace winnow::app {

namespace {

StillHeader readHeader(const MediaFile& file, ContentType type, const MediaLimits& limits) {
  if (file.sizeBytes() > limits.imageFileBytes) {
    throw Exception(ErrorCode::kLimitExceeded, file.path(),
                    "the picture file is larger than the limit of " + std::to_string(limits.imageFileBytes >> 20) + " MiB");
  }
  return readStillHeader(type, file.readRange(0, file.sizeBytes()), file.path(), limits);
}

std::unique_ptr<MediaSource> openImage(std::unique_ptr<MediaFile> file, ContentType type, const MediaLimits& limits) {
  const StillHeader header = readHeader(*file, type, limits);
  const int width = header.canvasWidthPx > 0 ? header.canvasWidthPx : header.widthPx;
  const int height = header.canvasWidthPx > 0 ? header.canvasHeightPx : header.heightPx;
  MediaInfo info{.container = nameOf(type), .codec = nameOf(type)};
  const PictureSize upright = swapsSides(header.orientation) ? PictureSize{height, width} : PictureSize{width, height};
  const PictureSize delivered = deliveredSize(header, limits);
  info.widthPx = delivered.width_px;
  info.heightPx = delivered.height_px;
  if (delivered.width_px != upright.width_px) add_notice(info.notices, {NoticeCode::kScaledDown, upright.width_px, upright.height_px});
  if (header.endMissing) decodeStill(header, file->path(), limits);  // which tells whether the rest is there
  info.rotationDegrees = clockwiseDegrees(header.orientation);
  if (header.animated) add_notice(info.notices, {NoticeCode::kAnimated});
  const auto decode = [type, limits](const MediaFile& of, MediaInfo& told, const InterruptToken& interrupt) {
    const StillHeader again = readHeader(of, type, limits);
    interrupt.throw_if_requested();
    DecodedStill still = decodeStill(again, of.path(), limits);
    interrupt.throw_if_requested();
    told.colourRange = still.colourRange;
    told.colourMatrix = still.colourMatrix;
    return std::move(still.image);
  };
  return std::make_unique<PictureSource>(std::move(file), std::move(info), decode);
}

constexpr std::int64_t kTextHeadBytes = 4096;

// A text with such a name is not what somebody meant to attach.
bool isNamedAsPicture(const std::string& name) {
  return isNamedAs({EndingOf::kImage, EndingOf::kVideo, EndingOf::kUnread, EndingOf::kSound}, name);
}

}  // namespace

FfmpegMediaOpener::FfmpegMediaOpener(const MediaLimits& limits, MediaFiles files, const PaperReader* papers)
    : m_limits(limits),
      m_files(std::move(files)),
      m_papers_view(papers),
      m_documents(
          std::make_unique<ReadDocuments>([this](const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt) {
            return readDocument(file, request, interrupt);
          })) {}

DocumentText FfmpegMediaOpener::readDocument(const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt) const {
  if (!request.subtitles.empty()) {
    DocumentText text = readTextFile(*m_files(request.subtitles), {}, "what was heard");
    if (request.subtitles.ends_with(kScannedText)) notePages(text);
    return text;
  }
  const std::optional<PaperType> type = paperType(file);
  const bool text = !type || ((*type == PaperType::kWebPage || *type == PaperType::kMail) && m_papers_view == nullptr);
  if (!text) return requirePapers(request.path).readText(file, request, interrupt);
  if (request.pages != PageRange()) throw Exception(ErrorCode::kInvalidArgument, request.path, "this document has no pages");
  return readTextFile(file, request.encoding, "documents");
}

const PaperReader& FfmpegMediaOpener::requirePapers(const std::string& path) const {
  if (m_papers_view != nullptr) return *m_papers_view;
  throw Exception(ErrorCode::kUnsupportedFormat, path,
                  "PDF and office files are read in a process of their own alone: start without --in-process");
}

std::string ffmpegVersion() { return av_version_info(); }

std::unique_ptr<MediaSource> FfmpegMediaOpener::openSource(const MediaRequest& request, const InterruptToken& interrupt) const {
  interrupt.throw_if_requested();
  try {
    std::unique_ptr<MediaFile> file = m_files(request.path);
    if (request.kind == MediaKind::kDocument) return m_documents->open(*file, request, interrupt);
    if (request.kind == MediaKind::kImage && request.pages.first > 0) return requirePapers(request.path).openPage(std::move(file), request);
    const ContentType type = detectContent(*file);
    if (kindOf(type) != request.kind) {
      throw Exception(ErrorCode::kUnsupportedFormat, request.path,
                      request.kind == MediaKind::kImage ? "this is a video (" + nameOf(type) + "), not an image"
                                                        : "this is an image (" + nameOf(type) + "), not a video");
    }
    if (request.kind == MediaKind::kImage) return openImage(std::move(file), type, m_limits);
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

std::unique_ptr<SoundSource> FfmpegMediaOpener::openSound(const SoundRequest& request, const InterruptToken& interrupt) const {
  interrupt.throw_if_requested();
  return std::make_unique<SoundFile>(m_files(request.path), m_limits, interrupt);
}

MediaKind FfmpegMediaOpener::detectKind(const std::string& path, const InterruptToken& /*interrupt*/) const {
  const std::unique_ptr<MediaFile> file = m_files(path);
  try {
    return kindOf(detectContent(*file));
  } catch (const Exception& exception) {
    // Whatever is no picture and no video may still be a document.
    const std::optional<PaperType> paper = paperType(*file);
    const bool whole = paper == PaperType::kPdf || paper == PaperType::kArchive;
    const bool document = whole ? m_papers_view != nullptr : looksLikeText(file->readRange(0, kTextHeadBytes)) && !isNamedAsPicture(path);
    if (exception.error().code != ErrorCode::kUnsupportedFormat || !document) throw;
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

void prepareReading() {
  prepareFfmpeg();
  av_cpu_count();
  keepConverters();
  prepareHeif();
  makeThumbnail({2, 2, std::vector<std::uint8_t>(12)}, 1);
}

}  // namespace winnow::app
