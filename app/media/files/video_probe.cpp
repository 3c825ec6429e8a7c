#include "app/media/files/video_probe.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string_view>

#include "app/media/files/picture_geometry.h"
#include "app/media/files/pixel_conversion.h"
#include "app/media/files/sound_file.h"
#include "app/media/files/subtitles.h"
#include "app/media/files/video_length.h"

namespace winnow::app {
namespace {

constexpr std::int64_t kAsfHeaderBytes = 64 << 10;

std::string containerName(const MediaFile& file, ContentType type) {
  const auto head = file.readRange(0, 64);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (type == ContentType::kMatroska && text.find("webm") != std::string_view::npos) return "webm";
  if (type == ContentType::kMov && text.substr(0, 12).ends_with("ftypqt  ")) return "mov";
  return nameOf(type);
}

// Windows Media whose header says that its contents are encrypted; FFmpeg would decode noise.
bool isProtectedAsf(const MediaFile& file) {
  using namespace std::string_view_literals;
  constexpr std::string_view kMarks[] = {"\xFB\xB3\x11\x22\x23\xBD\xD2\x11\xB4\xB7\x00\xA0\xC9\x55\xFC\x6E"sv,
                                         "\x14\xE6\x8A\x29\x22\x26\x17\x4C\xB9\x35\xDA\xE0\x7E\xE9\x28\x9C"sv};
  const auto head = file.readRange(0, kAsfHeaderBytes);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  return std::ranges::any_of(kMarks, [&](std::string_view mark) { return text.find(mark) != text.npos; });
}

void describeGeometry(VideoContainer& container, VideoFacts& facts) {
  AVStream& stream = container.stream();
  const AVCodecParameters& parameters = *stream.codecpar;
  facts.storedHeightPx = parameters.height;
  const AVRational pixelShape = av_guess_sample_aspect_ratio(&container.format(), &stream, nullptr);
  facts.storedWidthPx = squarePixelWidth(parameters.width, pixelShape).value_or(parameters.width);
  facts.orientation = streamOrientation(stream).orientation;
  add_notices(facts.info.notices, descriptionNotices(stream, pixelShape));
  const bool swapped = swapsSides(facts.orientation);
  facts.info.widthPx = swapped ? facts.storedHeightPx : facts.storedWidthPx;
  facts.info.heightPx = swapped ? facts.storedWidthPx : facts.storedHeightPx;
  facts.info.rotationDegrees = clockwiseDegrees(facts.orientation);
}

void describeColour(const AVCodecParameters& parameters, MediaInfo& info) {
  if (parameters.format >= 0) {
    const ColourReading colour = readColour(parameters.format, parameters.color_range, parameters.color_space,
                                            {parameters.width, parameters.height}, ColourHint::kVideo);
    info.colourRange = nameOf(colour.range);
    info.colourMatrix = nameOf(colour.matrix);
  }
}

// Other videos beside the one that is shown: of a broadcast's other programmes, further tracks. MP4 says which of them are not meant to be.
std::int64_t otherVideos(const VideoContainer& container) {
  constexpr int kNoVideo = AV_DISPOSITION_ATTACHED_PIC | AV_DISPOSITION_TIMED_THUMBNAILS;
  const AVFormatContext& format = container.format();
  return std::ranges::count_if(std::span<AVStream* const>(format.streams, format.nb_streams), [&](const AVStream* stream) {
    if (stream == &container.stream() || stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO) return false;
    const bool off = container.type() == ContentType::kMov && (stream->disposition & AV_DISPOSITION_DEFAULT) == 0;
    return (stream->disposition & kNoVideo) == 0 && stream->codecpar->width > 0 && !off;
  });
}

}  // namespace

void requirePlayable(const MediaFile& file, ContentType type, const ContainerExtent& extent) {
  if (type == ContentType::kAsf && isProtectedAsf(file)) {
    throw Exception(ErrorCode::kUnsupportedFormat, file.path(), "the video is encrypted");
  }
  if (extent.hasIndex) return;
  if (extent.fragmented) throw Exception(ErrorCode::kUnsupportedFormat, file.path(), kSegmentAlone);
  throw Exception(ErrorCode::kDamagedFile, file.path(),
                  extent.missingBytes > 0 ? "the end of the file is missing (no index)" : "the file has no index, it was not finished");
}

VideoFacts examineVideo(VideoContainer& container, const MediaFile& file, const ContainerExtent& extent, const MediaLimits& limits,
                        const DecodeWatch& watch) {
  VideoFacts facts;
  const AVStream& stream = container.stream();
  MediaInfo& info = facts.info;
  info.kind = MediaKind::kVideo;
  info.container = containerName(file, container.type());
  info.codec = avcodec_get_name(stream.codecpar->codec_id);
  info.fileBytes = file.sizeBytes();
  info.holdsText = textStreamOf(container.format()) >= 0;
  info.hasSound = holdsSound(container.format());
  describeGeometry(container, facts);
  if (static_cast<std::int64_t>(facts.storedWidthPx) * facts.storedHeightPx > limits.videoFramePixels) {
    throw Exception(ErrorCode::kLimitExceeded, file.path(),
                    "its frames are larger than the limit of " + std::to_string(limits.videoFramePixels / 1'000'000) + " megapixels");
  }
  describeColour(*stream.codecpar, info);
  const bool cut = extent.missingBytes > 0 || extent.unfinished;
  if (cut) add_notice(info.notices, {NoticeCode::kCutOff, extent.missingBytes});
  if (const std::int64_t others = otherVideos(container); others > 0) add_notice(info.notices, {NoticeCode::kOtherVideos, others});
  if (extent.behindBytes > 0) add_notice(info.notices, {NoticeCode::kSecondVideo, extent.behindBytes, 0, extent.behind});

  const VideoLength length = measureLength(container, file, extent, watch);
  if (length.frames == 0) {
    throw Exception(ErrorCode::kDamagedFile, file.path(), cut ? "the file is cut off before its first frame" : "it holds no video frames");
  }
  const std::int64_t unread = container.readTo() > 0 ? extent.ownBytes - container.readTo() : 0;
  if (extent.behindBytes == 0 && isMuch(unread, file.sizeBytes())) add_notice(info.notices, {NoticeCode::kSecondVideo, unread});
  info.averageFps = plausibleFps(stream.avg_frame_rate);
  if (info.averageFps == 0.0) info.averageFps = plausibleFps(stream.r_frame_rate);
  info.frameCount = length.frames;
  info.durationS = length.durationS;
  if (!(info.durationS > 0.0)) info.durationS = info.averageFps > 0.0 ? 1.0 / info.averageFps : kFallbackFrameS;
  const bool believed = !cut && !length.claimWrong && !length.stretches;
  info.playsS = std::max(info.durationS, believed ? claimedPlayS(container) : 0.0);
  const double evenS = static_cast<double>(length.steadyTicks * length.frames) * av_q2d(stream.time_base);
  if (length.steadyTicks > 0 && std::abs(evenS - info.durationS) < 0.5 * evenS / static_cast<double>(length.frames))
    info.evenFrames = length.frames;
  if (length.claimWrong) add_notice(info.notices, {NoticeCode::kLengthWrong});
  if (length.stretches) add_notice(info.notices, {NoticeCode::kTimeJumps});
  facts.stretches = length.stretches;
  facts.steadyTicks = length.steadyTicks;
  facts.startTicks = container.startTicks();
  if (!isPacketStream(container.type())) facts.indexTrust = VideoDecoder::IndexTrust::kTrusted;
  return facts;
}

}  // namespace winnow::app
