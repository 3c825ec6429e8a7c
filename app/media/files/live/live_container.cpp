#include "app/media/files/live/live_container.h"

extern "C" {
#include <libavutil/mem.h>
}

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "app/media/files/frame_time.h"
#include "app/media/files/live/capture_device.h"
#include "app/media/files/live/descriptor_bytes.h"
#include "app/media/files/live/network_bytes.h"

namespace winnow::app {
namespace {

constexpr int kLiveBufferBytes = 32 * 1024;
constexpr std::size_t kFirstBytes = 4096;
constexpr std::size_t kLeastHeadBytes = 32;
constexpr int kMaxLiveReadErrors = 32;  // in a row
constexpr std::int64_t kProbeMs = 2'000;
constexpr unsigned kIndexBytes = 64 * 1024;  // nobody goes back to a place that was passed
constexpr auto kDeviceStep = std::chrono::milliseconds(5);

std::unique_ptr<LiveBytes> openBytes(const LiveRequest& request, StallGuard& watch) {
  switch (request.kind) {
    case LiveKind::kGrowingFile: return std::make_unique<DescriptorBytes>(request.address, DescriptorBytes::AtEnd::kWait, watch);
    case LiveKind::kPipe: return std::make_unique<DescriptorBytes>(request.address, DescriptorBytes::AtEnd::kEnd, watch);
    case LiveKind::kNetwork: return std::make_unique<NetworkBytes>(request.address, watch);
    case LiveKind::kCamera:
    case LiveKind::kScreen: return nullptr;
  }
  throw Exception(ErrorCode::kInternal, "", "unknown kind of source");
}

// True if what has come is enough to tell what it is; a sender may be slow.
bool isSettled(std::span<const std::uint8_t> head, const std::string& address) {
  if (head.size() < kLeastHeadBytes) return false;
  try {
    return requireStreamable(head, detectContent(head, address), address);
  } catch (const Exception&) {
    return !mayBecomeVideo(head);
  }
}

bool isDevice(LiveKind kind) { return kind == LiveKind::kCamera || kind == LiveKind::kScreen; }

}  // namespace

LiveContainer::LiveContainer(const LiveRequest& request, const MediaLimits& limits, StallGuard& watch)
    : m_request(request), m_limits(limits), m_watch(watch), m_raw(isDevice(request.kind) ? RawPictures::kAllowed : RawPictures::kRefused) {
  prepareFfmpeg();
  openOrEnd(&LiveContainer::openFirst);
}

void LiveContainer::openOrEnd(void (LiveContainer::*open)()) {
  try {
    (this->*open)();
  } catch (const Exception& exception) {
    close();
    m_video = {};
    // Missing data has not come yet; known faults stay faults.
    const ErrorCode code = exception.error().code;
    m_end = m_bytes ? m_bytes->end() : LiveEnd::kNotYet;
    const bool cutOff = m_end == LiveEnd::kStalled || m_watch.closed() || m_watch.finished();
    if (!cutOff || code != ErrorCode::kDamagedFile) throw;
    if (m_end == LiveEnd::kNotYet) m_end = LiveEnd::kEndOfStream;
  } catch (...) {
    close();
    throw;
  }
}

LiveContainer::~LiveContainer() { close(); }

void LiveContainer::close() noexcept {
  avformat_close_input(&m_format);
  if (m_io != nullptr) av_freep(&m_io->buffer);
  avio_context_free(&m_io);
}

void LiveContainer::openFirst() {
  if (isDevice(m_request.kind)) {
    makeFormat();
    openDevice();
  } else {
    recogniseStream();
    makeFormat();
    openStream();
  }
  choose();
}

void LiveContainer::openAgain() {
  close();
  m_units->beginAgain();
  ++m_reopenings;
  makeFormat();
  openStream();
  choose();
}

void LiveContainer::makeFormat() {
  m_format = avformat_alloc_context();
  if (m_format == nullptr) throw Exception(ErrorCode::kOutOfMemory, address(), "there is no memory to open it");
  m_format->interrupt_callback = {&closedCallback, this};
  m_format->max_index_size = kIndexBytes;
  restrictFormat(*m_format, m_limits);
}

void LiveContainer::choose() {
  m_video = chooseVideo(*m_format, m_limits, address(), m_raw);
  m_knownStreams = m_format->nb_streams;
}

void LiveContainer::recogniseStream() {
  m_bytes = openBytes(m_request, m_watch);
  std::vector<std::uint8_t> head = readHead();
  m_type = detectContent(head, address());
  if (kindOf(m_type) != MediaKind::kVideo) {
    throw Exception(ErrorCode::kUnsupportedFormat, address(), "this is an image (" + nameOf(m_type) + "), not a video");
  }
  requireStreamable(head, m_type, address());
  m_units = std::make_unique<StreamUnits>(m_type, std::move(head), *m_bytes);
}

void LiveContainer::openStream() {
  auto* buffer = static_cast<std::uint8_t*>(av_malloc(kLiveBufferBytes));
  if (buffer != nullptr) m_io = avio_alloc_context(buffer, kLiveBufferBytes, 0, this, &readCallback, nullptr, nullptr);
  if (m_io == nullptr) {
    av_free(buffer);
    throw Exception(ErrorCode::kOutOfMemory, address(), "there is no memory to open it");
  }
  m_format->pb = m_io;
  m_format->flags |= AVFMT_FLAG_CUSTOM_IO;
  m_format->max_analyze_duration = std::min(m_limits.probeMs, kProbeMs) * 1000;
  m_format->fps_probe_size = 0;
  const AVInputFormat& demuxer = videoDemuxer(m_type);
  AvOptions options;
  restrictOptions(options, demuxer);
  const int opened = avformat_open_input(&m_format, "", &demuxer, options.get());
  if (opened < 0) throwNotOpened(opened, m_limits, address());
  const int found = avformat_find_stream_info(m_format, nullptr);
  if (found < 0) throw Exception(ErrorCode::kDamagedFile, address(), "its streams cannot be read (" + ffmpegErrorText(found) + ")");
}

void LiveContainer::openDevice() {
  m_format->flags |= AVFMT_FLAG_NONBLOCK;
  openCapture(m_format, m_request);
}

std::vector<std::uint8_t> LiveContainer::readHead() {
  std::vector<std::uint8_t> head(kFirstBytes);
  std::size_t have = 0;
  while (have < kFirstBytes) {
    const int got = m_bytes->read(std::span(head).subspan(have));
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
    if (isSettled({head.data(), have}, address())) break;
  }
  head.resize(have);
  if (have == 0) throw Exception(ErrorCode::kDamagedFile, address(), "it ended before anything came");
  return head;
}

int LiveContainer::readCallback(void* self, std::uint8_t* buffer, int bytes) {
  auto* container = static_cast<LiveContainer*>(self);
  if (bytes <= 0) return AVERROR(EINVAL);
  if (container->m_watch.closed()) return AVERROR_EOF;
  const bool cut = container->indexEntries() >= container->m_limits.liveIndexEntries;
  const int got = container->m_units->read({buffer, static_cast<std::size_t>(bytes)}, cut);
  return got > 0 ? got : AVERROR_EOF;
}

int LiveContainer::closedCallback(void* self) { return static_cast<LiveContainer*>(self)->m_watch.closed() ? 1 : 0; }

LiveEnd LiveContainer::endOfReading() const {
  const LiveEnd bytes = m_bytes ? m_bytes->end() : LiveEnd::kNotYet;
  return bytes == LiveEnd::kNotYet ? LiveEnd::kEndOfStream : bytes;
}

LiveContainer::Read LiveContainer::readPacket(AVPacket& packet) {
  int errors = 0;
  m_watch.begin();
  while (m_end == LiveEnd::kNotYet) {
    if (m_watch.closed() || (!m_bytes && m_watch.finished())) {
      m_end = LiveEnd::kEndOfStream;
      break;
    }
    av_packet_unref(&packet);
    const int result = av_read_frame(m_format, &packet);
    if (result >= 0) {
      bool replaced = false;
      if (!belongs(packet, replaced)) continue;
      keepTime(packet);
      requirePlain(packet, address());
      return replaced ? Read::kNewVideo : Read::kPacket;
    }
    if (result == AVERROR(EAGAIN) && !m_bytes) {
      if (m_watch.stalled()) m_end = LiveEnd::kStalled;
      std::this_thread::sleep_for(kDeviceStep);
    } else if (m_units && m_units->wasCut()) {
      openOrEnd(&LiveContainer::openAgain);
    } else if (result == AVERROR_EOF || (m_bytes && m_bytes->end() != LiveEnd::kNotYet)) {
      m_end = endOfReading();
    } else if (++errors >= kMaxLiveReadErrors) {
      m_end = LiveEnd::kDamaged;
    }
  }
  return Read::kEnd;
}

bool LiveContainer::belongs(const AVPacket& packet, bool& replaced) {
  const auto index = static_cast<unsigned>(packet.stream_index);
  AVStream* stream = m_format->streams[index];
  if (index >= m_knownStreams) {
    if (m_format->nb_streams > static_cast<unsigned>(m_limits.videoStreams)) {
      throw Exception(ErrorCode::kLimitExceeded, address(), "it has more than " + std::to_string(m_limits.videoStreams) + " streams");
    }
    if (stream->codecpar->codec_type != AVMEDIA_TYPE_VIDEO) {
      stream->discard = AVDISCARD_ALL;
      return false;
    }
    m_knownStreams = index + 1;
    m_video.stream->discard = AVDISCARD_ALL;
    m_video.stream = stream;
    m_video.decoder = allowedDecoder(*stream, address(), m_raw);
    replaced = true;
  }
  return stream == m_video.stream;
}

void LiveContainer::keepTime(AVPacket& packet) {
  if (packet.dts == AV_NOPTS_VALUE) return;
  if (m_reopenings != m_timedReopenings) {
    m_timedReopenings = m_reopenings;
    if (packet.dts + m_shift < m_nextDts) m_shift = m_nextDts - packet.dts;
  }
  packet.dts += m_shift;
  if (packet.pts != AV_NOPTS_VALUE) packet.pts += m_shift;
  m_nextDts = packet.dts + packet.duration;
}

AVRational LiveContainer::pixelShape() const { return av_guess_sample_aspect_ratio(m_format, m_video.stream, nullptr); }

std::optional<double> LiveContainer::originS() const {
  if (m_video.stream == nullptr || m_video.stream->start_time == AV_NOPTS_VALUE) return std::nullopt;
  return static_cast<double>(timeOrigin(*m_format, *m_video.stream)) * av_q2d(m_video.stream->time_base);
}

int LiveContainer::indexEntries() const {
  int entries = 0;
  for (unsigned i = 0; m_format != nullptr && i < m_format->nb_streams; ++i) {
    entries += avformat_index_get_entries_count(m_format->streams[i]);
  }
  return entries;
}

}  // namespace winnow::app
