#include "app/media/video_probe.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "app/media/container_extent.h"
#include "app/media/picture_geometry.h"
#include "app/media/pixel_conversion.h"
#include "app/media/subtitles.h"

namespace winnow::app {
namespace {

constexpr double kMaxFps = 1'000.0;
constexpr double kFallbackFrameS = 0.04;  // of a video with a single frame and no rate
constexpr int kWatchEvery = 4096;

double plausibleFps(AVRational rate) {
  if (rate.num <= 0 || rate.den <= 0) return 0.0;
  const double fps = av_q2d(rate);
  return fps <= kMaxFps && fps >= 1.0 / 3600.0 ? fps : 0.0;
}

struct Measured {
  double durationS = 0.0;
  std::int64_t frames = -1;
};

// MP4 with a complete index: what of it lies inside the file. Entries before the start of an edit list are not shown and not counted.
Measured measureByIndex(AVStream& stream, std::int64_t fileBytes, const VideoContainer& container, const DecodeWatch& watch) {
  const int count = avformat_index_get_entries_count(&stream);
  Measured measured{0.0, 0};
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t beforeLast = 0;
  for (int i = 0; i < count; ++i) {
    if (i % kWatchEvery == 0) watch.check(container.path());
    const AVIndexEntry* entry = avformat_index_get_entry(&stream, i);
    if ((entry->flags & AVINDEX_DISCARD_FRAME) != 0) continue;
    if (entry->pos < 0 || entry->pos > fileBytes - entry->size) continue;
    if (measured.frames++ == 0) first = entry->timestamp;
    beforeLast = measured.frames > 1 ? last : entry->timestamp;
    last = entry->timestamp;
  }
  if (measured.frames == 0) return measured;
  const double tickS = av_q2d(stream.time_base);
  const double fps = plausibleFps(stream.avg_frame_rate);
  double lastFrameS = static_cast<double>(last - beforeLast) * tickS;
  if (lastFrameS <= 0.0) lastFrameS = fps > 0.0 ? 1.0 / fps : kFallbackFrameS;
  measured.durationS = static_cast<double>(last - first) * tickS + lastFrameS;
  return measured;
}

struct PacketScan {
  std::int64_t firstPts = AV_NOPTS_VALUE;
  std::int64_t endPts = AV_NOPTS_VALUE;
  std::int64_t packets = 0;
};

PacketScan scanToEnd(VideoContainer& container) {
  PacketScan scan;
  const AVStream& stream = container.stream();
  const double fps = plausibleFps(stream.avg_frame_rate);
  const auto frameTicks = static_cast<std::int64_t>(std::llround((fps > 0.0 ? 1.0 / fps : kFallbackFrameS) / av_q2d(stream.time_base)));
  const AvPacket packet = makePacket();
  while (container.readPacket(*packet)) {
    ++scan.packets;
    const std::int64_t pts = packet->pts != AV_NOPTS_VALUE ? packet->pts : packet->dts;
    if (pts == AV_NOPTS_VALUE) continue;
    std::int64_t end = 0;
    if (__builtin_add_overflow(pts, packet->duration > 0 ? packet->duration : std::max<std::int64_t>(1, frameTicks), &end)) continue;
    scan.firstPts = scan.firstPts == AV_NOPTS_VALUE ? pts : std::min(scan.firstPts, pts);
    scan.endPts = scan.endPts == AV_NOPTS_VALUE ? end : std::max(scan.endPts, end);
  }
  return scan;
}

// Length by the packets of the whole file.
Measured measureByScan(VideoContainer& container) {
  container.rewind();
  const PacketScan scan = scanToEnd(container);
  Measured measured{0.0, scan.packets};
  AVStream& stream = container.stream();
  if (scan.packets > 0 && stream.start_time == AV_NOPTS_VALUE) stream.start_time = scan.firstPts;
  if (scan.endPts != AV_NOPTS_VALUE) {
    const std::int64_t start = stream.start_time != AV_NOPTS_VALUE ? stream.start_time : scan.firstPts;
    measured.durationS = static_cast<double>(scan.endPts - start) * av_q2d(stream.time_base);
  }
  return measured;
}

// Length by the packets near the claimed end; nullopt where these cannot be found.
std::optional<double> measureByTail(VideoContainer& container, double claimedS) {
  AVStream& stream = container.stream();
  if (stream.start_time == AV_NOPTS_VALUE) return std::nullopt;
  const double tickS = av_q2d(stream.time_base);
  const double endTicks = claimedS / tickS;
  if (!(endTicks < 1e18)) return std::nullopt;
  if (!container.seekBackwardTo(stream.start_time + static_cast<std::int64_t>(endTicks))) return std::nullopt;
  const PacketScan tail = scanToEnd(container);
  if (tail.endPts == AV_NOPTS_VALUE || tail.endPts <= stream.start_time) return std::nullopt;
  return static_cast<double>(tail.endPts - stream.start_time) * tickS;
}

double claimedDuration(VideoContainer& container) {
  const AVStream& stream = container.stream();
  const AVFormatContext& format = container.format();
  if (stream.duration != AV_NOPTS_VALUE && stream.duration > 0) return static_cast<double>(stream.duration) * av_q2d(stream.time_base);
  if (format.duration == AV_NOPTS_VALUE || format.duration <= 0 || format.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE)
    return 0.0;
  double seconds = static_cast<double>(format.duration) / AV_TIME_BASE;
  // The container counts from its earliest stream, a video from its own first frame.
  if (stream.start_time != AV_NOPTS_VALUE && format.start_time != AV_NOPTS_VALUE) {
    seconds -= static_cast<double>(stream.start_time) * av_q2d(stream.time_base) - static_cast<double>(format.start_time) / AV_TIME_BASE;
  }
  return seconds;
}

Measured measureDuration(VideoContainer& container, const MediaFile& file, bool completeIndex, const DecodeWatch& watch) {
  const double claimedS = claimedDuration(container);
  if (completeIndex) {
    const Measured indexed = measureByIndex(container.stream(), file.sizeBytes(), container, watch);
    if (indexed.frames > 0) return indexed;
  } else if (claimedS > 0.0) {
    if (const auto tailS = measureByTail(container, claimedS)) return {*tailS, -1};
  }
  return measureByScan(container);
}

std::string containerName(const MediaFile& file, ContentType type) {
  const auto head = file.readRange(0, 64);
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (type == ContentType::kMatroska && text.find("webm") != std::string_view::npos) return "webm";
  if (type == ContentType::kMov && text.substr(0, 12).ends_with("ftypqt  ")) return "mov";
  return nameOf(type);
}

void describeGeometry(VideoContainer& container, VideoFacts& facts) {
  AVStream& stream = container.stream();
  const AVCodecParameters& parameters = *stream.codecpar;
  facts.storedWidthPx = parameters.width;
  facts.storedHeightPx = parameters.height;
  if (const auto width = squarePixelWidth(parameters.width, av_guess_sample_aspect_ratio(&container.format(), &stream, nullptr))) {
    facts.storedWidthPx = *width;
  } else {
    add_notice(facts.info.notices, {NoticeCode::kPixelShapeIgnored});
  }
  const MatrixOrientation found = streamOrientation(stream);
  facts.orientation = found.orientation;
  if (!found.exact) add_notice(facts.info.notices, {NoticeCode::kTurnIgnored});
  const bool swapped = swapsSides(facts.orientation);
  facts.info.widthPx = swapped ? facts.storedHeightPx : facts.storedWidthPx;
  facts.info.heightPx = swapped ? facts.storedWidthPx : facts.storedHeightPx;
  facts.info.rotationDegrees = clockwiseDegrees(facts.orientation);
}

void describeColour(const AVCodecParameters& parameters, MediaInfo& info) {
  if (parameters.format >= 0) {
    const ColourReading colour =
        readColour(parameters.format, parameters.color_range, parameters.color_space, parameters.height, ColourHint::kVideo);
    info.colourRange = nameOf(colour.range);
    info.colourMatrix = nameOf(colour.matrix);
  }
  if (parameters.color_trc == AVCOL_TRC_SMPTE2084 || parameters.color_trc == AVCOL_TRC_ARIB_STD_B67) {
    add_notice(info.notices, {NoticeCode::kNoToneMapping});
  }
}

}  // namespace

void requirePlayable(const MediaFile& file, ContentType type) {
  const ContainerExtent extent = measureExtent(file, type);
  if (extent.hasIndex || extent.fragmented) return;
  throw Exception(ErrorCode::kDamagedFile, file.path(),
                  extent.missingBytes > 0 ? "the end of the file is missing (no index)" : "the file has no index, it was not finished");
}

VideoFacts examineVideo(VideoContainer& container, const MediaFile& file, const MediaLimits& limits, const DecodeWatch& watch) {
  VideoFacts facts;
  const AVStream& stream = container.stream();
  const ContainerExtent extent = measureExtent(file, container.type());
  MediaInfo& info = facts.info;
  info.kind = MediaKind::kVideo;
  info.container = containerName(file, container.type());
  info.codec = avcodec_get_name(stream.codecpar->codec_id);
  info.fileBytes = file.sizeBytes();
  info.holdsText = textStreamOf(container.format()) >= 0;
  describeGeometry(container, facts);
  if (static_cast<std::int64_t>(facts.storedWidthPx) * facts.storedHeightPx > limits.videoFramePixels) {
    throw Exception(ErrorCode::kLimitExceeded, file.path(),
                    "its frames are larger than the limit of " + std::to_string(limits.videoFramePixels / 1'000'000) + " megapixels");
  }
  describeColour(*stream.codecpar, info);
  if (extent.missingBytes > 0) add_notice(info.notices, {NoticeCode::kCutOff, extent.missingBytes});

  const bool completeIndex = container.type() == ContentType::kMov && !extent.fragmented;
  const Measured measured = measureDuration(container, file, completeIndex, watch);
  if (measured.frames == 0) {
    throw Exception(ErrorCode::kDamagedFile, file.path(),
                    extent.missingBytes > 0 ? "the file is cut off before its first frame" : "it holds no video frames");
  }
  info.averageFps = plausibleFps(stream.avg_frame_rate);
  if (info.averageFps == 0.0) info.averageFps = plausibleFps(stream.r_frame_rate);
  info.frameCount = measured.frames;
  info.durationS = measured.durationS;
  if (!(info.durationS > 0.0)) info.durationS = info.averageFps > 0.0 ? 1.0 / info.averageFps : kFallbackFrameS;
  const double highestFps = std::max(plausibleFps(stream.avg_frame_rate), plausibleFps(stream.r_frame_rate));
  info.mostFrames = info.frameCount;
  if (info.mostFrames < 0 && highestFps > 0.0) info.mostFrames = static_cast<std::int64_t>(std::ceil(highestFps * info.durationS));
  const double claimedS = claimedDuration(container);
  if (extent.missingBytes == 0 && std::abs(claimedS - info.durationS) > 1.0 + 0.05 * info.durationS && claimedS > 0.0) {
    add_notice(info.notices, {NoticeCode::kLengthWrong});
  }
  if (container.type() != ContentType::kMpegTs) facts.indexTrust = VideoDecoder::IndexTrust::kTrusted;
  return facts;
}

}  // namespace winnow::app
