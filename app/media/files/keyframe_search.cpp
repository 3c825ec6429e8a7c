#include "app/media/files/keyframe_search.h"

#include <span>

#include "app/media/files/big_endian.h"

namespace winnow::app {
namespace {

// Judges if the times of packets after a jump can be believed. What is read first of a stream of packets may be the rest of a picture that
// begins before: it takes the time stamp that belongs to the next picture, lasts a field, and so moves the one after that as well. Behind
// these two a time stamp of the stream is right, and what is counted on from it.
class TimesBehindJump {
 public:
  explicit TimesBehindJump(VideoContainer& container)
      : m_delayed(container.stream().codecpar->video_delay > 0), m_believed(!mayBeginWithin(container)) {}

  // Takes the packets as they are read.
  bool believed(const AVPacket& packet) {
    constexpr int kUncertain = 2;
    if (m_believed) return true;
    // FFmpeg tells those pictures their times as well that none leans on, and all where none is held back.
    const bool stamped = packet.pts != AV_NOPTS_VALUE && (packet.pts > packet.dts || (!m_delayed && packet.pos >= 0));
    m_believed = ++m_packets > kUncertain && stamped;
    return m_believed;
  }

 private:
  static bool mayBeginWithin(VideoContainer& container) {
    const AVCodecID codec = container.stream().codecpar->codec_id;
    const bool aligned = container.type() == ContentType::kMpegTs && (codec == AV_CODEC_ID_H264 || codec == AV_CODEC_ID_HEVC);
    return isPacketStream(container.type()) && !aligned;
  }

  const bool m_delayed;
  bool m_believed;
  int m_packets = 0;
};

// True if a picture of HEVC is what its mark says. Where a table of keyframes is missing all are marked, and begun with another one the
// decoder gives what follows in a wrong order. Streams with start codes have their marks from FFmpeg's parser.
bool isHevcKeyframe(std::span<const std::uint8_t> packet, std::size_t lengthBytes) {
  constexpr int kFirstKey = 16;  // of the types of units (ITU-T H.265, table 7-1)
  constexpr int kFirstNoPicture = 32;
  while (packet.size() > lengthBytes) {
    const int type = packet[lengthBytes] >> 1 & 0x3F;
    if (type < kFirstNoPicture) return type >= kFirstKey;
    const std::uint64_t unit = lengthBytes + bigEndian(packet.first(lengthBytes));
    if (unit >= packet.size()) return false;
    packet = packet.subspan(static_cast<std::size_t>(unit));
  }
  return false;
}

bool canBeginWith(const AVPacket& packet, const AVCodecParameters& codec) {
  constexpr int kLengthAt = 21;  // of a unit's length, in the description of the stream (ISO/IEC 14496-15)
  if ((packet.flags & AV_PKT_FLAG_KEY) == 0) return false;
  if (codec.codec_id != AV_CODEC_ID_HEVC || codec.extradata_size <= kLengthAt || codec.extradata[0] != 1) return true;
  return isHevcKeyframe({packet.data, static_cast<std::size_t>(packet.size)}, (codec.extradata[kLengthAt] & 3) + 1);
}

}  // namespace

bool seekKeyframe(VideoContainer& container, std::int64_t target, AVPacket& packet, SearchWork& work) {
  const double tickS = av_q2d(container.stream().time_base);
  const std::int64_t first = std::min(container.startTicks(), target);
  double backS = 0.0;
  for (;;) {
    const double wanted = static_cast<double>(target) - backS / tickS;
    const bool atStart = wanted <= static_cast<double>(first);
    const std::int64_t timestamp = atStart ? first : static_cast<std::int64_t>(wanted);
    ++work.seeks;
    bool found = atStart ? container.rewind() : container.seekBackwardTo(timestamp);
    if (found) {
      TimesBehindJump times(container);
      while ((found = container.readPacket(packet))) {
        ++work.packetsRead;
        const bool believed = times.believed(packet) && (showTime(packet) != AV_NOPTS_VALUE || !isPacketStream(container.type()));
        if (canBeginWith(packet, *container.stream().codecpar) && (believed || atStart)) break;
        // Past the target and no keyframe yet: this landing place was too late, reading on would not help.
        if (!atStart && decodeTime(packet) != AV_NOPTS_VALUE && decodeTime(packet) > target) {
          found = false;
          break;
        }
      }
    }
    if (found && (atStart || showTime(packet) == AV_NOPTS_VALUE || showTime(packet) <= target)) return true;
    if (atStart) return false;
    backS = backS == 0.0 ? kFirstStepBackS : backS * kStepBackGrowth;
  }
}

}  // namespace winnow::app
