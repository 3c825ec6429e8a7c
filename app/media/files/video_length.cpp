#include "app/media/files/video_length.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "app/media/files/keyframe_search.h"
#include "app/media/files/show_offsets.h"

namespace winnow::app {
namespace {

constexpr double kMaxFps = 1'000.0;
constexpr int kWatchEvery = 4096;
constexpr double kRoundedS = 0.005;  // a film's length is often said in milliseconds
// A stream of packets up to this size is read through for its clock; of a longer one places are looked at.
constexpr std::int64_t kReadThroughBytes = 64LL << 20;
constexpr int kPlaces = 64;
constexpr int kPacketsAtPlace = 4096;
constexpr double kUnlikelyRate = 8.0;  // times the usual number of bytes a second, or a part of it

double frameS(const AVStream& stream) {
  const double fps = plausibleFps(stream.avg_frame_rate);
  return fps > 0.0 ? 1.0 / fps : kFallbackFrameS;
}

// The result of a scan of packets: when the first of their pictures begins and the last one ends being shown.
struct PacketScan {
  explicit PacketScan(ContentType container) : showTimes(container) {}

  ShowTimes showTimes;
  std::int64_t firstPts = AV_NOPTS_VALUE;
  std::int64_t endPts = AV_NOPTS_VALUE;
  std::int64_t packets = 0;
  std::int64_t lastTicks = 0;  // how long the last packet's picture lasts
  std::int64_t allTicks = 0;   // and all together, from the first one on that says when
  bool untimed = false;        // some do not say when
  std::int64_t endsAt = 0;     // the last one's bytes in the file

  void add(const AVPacket& packet, std::int64_t shift, std::int64_t usualTicks) {
    ++packets;
    endsAt = packet.pos + packet.size;
    lastTicks = packet.duration > 0 ? packet.duration : usualTicks;
    untimed = untimed || showTime(packet) == AV_NOPTS_VALUE;
    const ShowTimes::Told told = showTimes.told(packet);
    note(told.before, shift);
    note(told.own, shift);
    if (firstPts != AV_NOPTS_VALUE && __builtin_add_overflow(allTicks, lastTicks, &allTicks)) allTicks = 0;
  }
  void finish(std::int64_t shift) {
    note(showTimes.last(), shift);
    std::int64_t end = 0;
    if (untimed && firstPts != AV_NOPTS_VALUE && !__builtin_add_overflow(firstPts, allTicks, &end)) endPts = std::max(endPts, end);
  }

 private:
  void note(std::int64_t pts, std::int64_t shift) {
    std::int64_t placed = 0;
    std::int64_t end = 0;
    if (pts == AV_NOPTS_VALUE || __builtin_add_overflow(pts, shift, &placed)) return;
    if (__builtin_add_overflow(placed, lastTicks, &end)) return;
    firstPts = firstPts == AV_NOPTS_VALUE ? placed : std::min(firstPts, placed);
    endPts = endPts == AV_NOPTS_VALUE ? end : std::max(endPts, end);
  }
};

// From where the demuxer is to the end of the file.
PacketScan scanToEnd(VideoContainer& container, ClockStretches* stretches = nullptr) {
  PacketScan scan(container.type());
  const AVStream& stream = container.stream();
  const auto usualTicks = std::max<std::int64_t>(1, std::llround(frameS(stream) / av_q2d(stream.time_base)));
  const AvPacket packet = makePacket();
  while (container.readPacket(*packet)) {
    if (stretches != nullptr) stretches->add(*packet);
    scan.add(*packet, stretches != nullptr ? stretches->shift() : 0, usualTicks);
  }
  scan.finish(stretches != nullptr ? stretches->shift() : 0);
  return scan;
}

// When the last picture ends, seconds. In AVI it stands for as long as chunks without a picture follow.
double endS(const PacketScan& scan, const VideoContainer& container, const MediaFile& file) {
  const bool avi = container.type() == ContentType::kAvi;
  const std::int64_t longer = avi ? emptyAviChunks(file, scan.endsAt, container.stream().index) : 0;
  return container.secondsAt(scan.endPts + longer * scan.lastTicks);
}

void setStart(AVStream& stream, const PacketScan& scan) {
  if (stream.start_time == AV_NOPTS_VALUE) stream.start_time = scan.firstPts;
}

bool hasSound(const AVFormatContext& format) {
  return std::ranges::any_of(std::span<AVStream* const>(format.streams, format.nb_streams),
                             [](const AVStream* stream) { return stream->codecpar->codec_type == AVMEDIA_TYPE_AUDIO; });
}

// MP4 with a complete index: what of it lies inside the file. Entries before the start of an edit list are not shown and not counted.
VideoLength measureByIndex(VideoContainer& container, const MediaFile& file, const DecodeWatch& watch) {
  AVStream& stream = container.stream();
  const int count = avformat_index_get_entries_count(&stream);
  const std::vector<std::int32_t> offsets = showOffsets(file, stream.id, static_cast<std::size_t>(count));
  const auto shows = [&](int i) {
    return avformat_index_get_entry(&stream, i)->timestamp + (offsets.empty() ? 0 : offsets[static_cast<std::size_t>(i)]);
  };
  bool steady = !offsets.empty();
  std::vector<std::int64_t> starts;
  std::int64_t firstDecoded = 0;
  std::int64_t decodedTicks = 0;         // from there to the last
  std::optional<std::int64_t> lastEnds;  // of a file that is cut off behind it
  for (int i = 0; i < count; ++i) {
    if (i % kWatchEvery == 0) watch.check(container.path());
    const AVIndexEntry* entry = avformat_index_get_entry(&stream, i);
    if ((entry->flags & AVINDEX_DISCARD_FRAME) != 0) {
      steady = false;
      continue;
    }
    if (entry->pos < 0 || entry->pos > file.sizeBytes() - entry->size) {
      if (!lastEnds) lastEnds = shows(i);
      continue;
    }
    lastEnds.reset();
    if (starts.empty()) firstDecoded = entry->timestamp;
    decodedTicks = entry->timestamp - firstDecoded;
    starts.push_back(shows(i));
  }
  VideoLength length{0.0, std::ssize(starts)};
  if (starts.empty()) return length;
  std::ranges::sort(starts);
  std::int64_t usual = std::llround(frameS(stream) / av_q2d(stream.time_base));
  if (starts.size() > 1) usual = starts.back() - starts[starts.size() - 2];
  for (std::size_t i = 1; i < starts.size() && steady; ++i) steady = starts[i] - starts[i - 1] == usual;
  if (steady && starts.size() > 1 && usual > 0) length.steadyTicks = usual;
  const std::int64_t span = starts.back() - starts.front();
  std::int64_t ticks = std::max(span + std::max<std::int64_t>(1, usual), lastEnds.value_or(starts.back()) - starts.front());
  if (!lastEnds && stream.duration > span) ticks = stream.duration;
  length.durationS = container.secondsAt(container.startTicks() + ticks);
  if (lastEnds) return length;
  length.claimWrong = stream.duration > 0 && stream.duration <= decodedTicks;
  // If nothing else plays, the last picture stands until the film's end, if that is not a lie.
  const double filmS = hasSound(container.format()) ? 0.0 : claimedPlayS(container);
  if (filmS > length.durationS + kRoundedS && filmS < 2.0 * length.durationS) length.durationS = filmS;
  return length;
}

// "00:00:15.000000000", as Matroska files say of each of their streams when it ends.
std::optional<double> endByTag(const AVStream& stream) {
  const AVDictionaryEntry* tag = av_dict_get(stream.metadata, "DURATION", nullptr, AV_DICT_IGNORE_SUFFIX);
  int hours = 0;
  int minutes = 0;
  double seconds = 0.0;
  if (tag == nullptr || std::sscanf(tag->value, "%d:%d:%lf", &hours, &minutes, &seconds) != 3) return std::nullopt;
  const double endS = 3600.0 * hours + 60.0 * minutes + seconds;
  if (!std::isfinite(endS) || endS <= 0.0) return std::nullopt;
  return endS;
}

struct Claim {
  double endS = 0.0;        // from the beginning of the file; 0: there is none
  double latestS = 0.0;     // the same, if the header counts from there and not from its clock's 0
  bool ofPictures = false;  // and not of the sound beside them
};

Claim claimedEnd(VideoContainer& container, const ContainerExtent& extent) {
  const AVStream& stream = container.stream();
  const AVFormatContext& format = container.format();
  // If the header has no length, FFmpeg guesses the streams' by the bytes of the file.
  const bool guessed = format.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE;
  // FFmpeg says of fragments when the last one ends, whenever the first of those that are there begins.
  const std::int64_t from = extent.fragmented ? 0 : container.startTicks();
  if (!guessed && stream.duration != AV_NOPTS_VALUE && stream.duration > 0) return {container.secondsAt(from + stream.duration), 0.0, true};
  const double originS = -container.secondsAt(0);
  if (const auto tagged = endByTag(stream)) return {*tagged - originS, *tagged, true};
  if (format.duration == AV_NOPTS_VALUE || format.duration <= 0 || guessed) return {};
  const double claimedS = static_cast<double>(format.duration) / AV_TIME_BASE;
  return {claimedS - std::max(0.0, originS), claimedS, !hasSound(format)};
}

// Length by the packets of the whole file.
VideoLength measureByScan(VideoContainer& container, const MediaFile& file) {
  container.rewind();
  const PacketScan scan = scanToEnd(container);
  if (scan.packets > 0) setStart(container.stream(), scan);
  VideoLength length{0.0, scan.packets};
  if (scan.endPts != AV_NOPTS_VALUE) length.durationS = endS(scan, container, file);
  return length;
}

// Length by the packets near the claimed end; nullopt where these cannot be found.
std::optional<VideoLength> measureByTail(VideoContainer& container, const MediaFile& file, double claimedS) {
  const AVStream& stream = container.stream();
  if (stream.start_time == AV_NOPTS_VALUE) return std::nullopt;
  const double endTicks = claimedS / av_q2d(stream.time_base);
  if (!(endTicks < 1e18)) return std::nullopt;
  if (!container.seekBackwardTo(container.ticksAt(claimedS))) return std::nullopt;
  const PacketScan tail = scanToEnd(container);
  if (tail.endPts == AV_NOPTS_VALUE || tail.endPts <= stream.start_time) return std::nullopt;
  return VideoLength{endS(tail, container, file), -1};
}

// True if the time of a stream of packets rises with its bytes, as far as some places of it tell.
bool risesSteadily(VideoContainer& container, std::int64_t fileBytes) {
  const AvPacket packet = makePacket();
  std::vector<std::int64_t> steps;
  std::optional<std::int64_t> last;
  for (int place = 0; place < kPlaces; ++place) {
    if (!container.seekToByte(fileBytes / kPlaces * place)) return false;
    std::optional<std::int64_t> stamp;
    for (int i = 0; i < kPacketsAtPlace && !stamp && container.readPacket(*packet); ++i) {
      if (decodeTime(*packet) != AV_NOPTS_VALUE) stamp = decodeTime(*packet);
    }
    if (!stamp) return false;
    if (last) steps.push_back(*stamp - *last);
    last = stamp;
  }
  std::ranges::sort(steps);
  const auto usual = static_cast<double>(steps[steps.size() / 2]);
  return static_cast<double>(steps.front()) > usual / kUnlikelyRate && static_cast<double>(steps.back()) < usual * kUnlikelyRate;
}

// A stream of packets: has no index, and may be several recordings behind one another.
VideoLength measureStream(VideoContainer& container, const MediaFile& file) {
  if (file.sizeBytes() > kReadThroughBytes && risesSteadily(container, file.sizeBytes())) {
    const Claim claim = claimedEnd(container, {});
    const double claimedS = std::max(claim.endS, claim.latestS);
    if (const auto tail = claimedS > 0.0 ? measureByTail(container, file, claimedS) : std::nullopt) return *tail;
  }
  container.rewind();
  const AVStream& stream = container.stream();
  auto stretches = std::make_shared<ClockStretches>(frameS(stream), av_q2d(stream.time_base));
  const PacketScan scan = scanToEnd(container, stretches.get());
  if (scan.packets > 0) setStart(container.stream(), scan);
  VideoLength length{0.0, scan.packets};
  if (scan.endPts != AV_NOPTS_VALUE) length.durationS = container.secondsAt(scan.endPts);
  if (stretches->jumps()) {
    length.stretches = std::move(stretches);
    container.setStretches(length.stretches);
  }
  return length;
}

}  // namespace

double plausibleFps(AVRational rate) {
  if (rate.num <= 0 || rate.den <= 0) return 0.0;
  const double fps = av_q2d(rate);
  return fps <= kMaxFps && fps >= 1.0 / 3600.0 ? fps : 0.0;
}

double claimedPlayS(const VideoContainer& container) {
  const AVFormatContext& format = container.format();
  if (format.nb_programs > 1) return 0.0;  // that is all of them together
  if (format.duration == AV_NOPTS_VALUE || format.duration_estimation_method == AVFMT_DURATION_FROM_BITRATE) return 0.0;
  return static_cast<double>(format.duration) / AV_TIME_BASE + std::min(0.0, container.secondsAt(0));
}

VideoLength measureLength(VideoContainer& container, const MediaFile& file, const ContainerExtent& extent, const DecodeWatch& watch) {
  if (isPacketStream(container.type())) return measureStream(container, file);
  if (container.type() == ContentType::kMov && !extent.fragmented) {
    const VideoLength indexed = measureByIndex(container, file, watch);
    if (indexed.frames > 0) return indexed;
  }
  const Claim header = claimedEnd(container, extent);
  const double headerS = std::max(header.endS, header.latestS);
  const auto tail = headerS > 0.0 ? measureByTail(container, file, headerS) : std::nullopt;
  VideoLength length = tail ? *tail : measureByScan(container, file);
  if (extent.missingBytes > 0 || extent.unfinished) return length;
  const Claim claim = claimedEnd(container, extent);  // once more: a scan may have found when the video starts
  const bool longer = claim.endS > length.durationS;
  const auto near = [&](double claimedS) { return std::abs(claimedS - length.durationS) <= 1.0 + 0.05 * length.durationS; };
  const bool differs = (claim.endS > 0.0 || claim.latestS > 0.0) && !near(claim.endS) && !near(claim.latestS);
  // AVI's pictures were counted. FLV knows no end, so that one which ends between two tags looks whole.
  const bool lasts = container.type() != ContentType::kAvi && (container.type() != ContentType::kFlv || near(claim.endS));
  if (longer && claim.ofPictures && lasts) {
    length.durationS = claim.endS;
  } else {
    length.claimWrong = differs && (claim.ofPictures || !longer);
  }
  return length;
}

}  // namespace winnow::app
