#include "app/media/files/live/live_source.h"

#include <optional>
#include <string>
#include <utility>

#include "app/ground/threads/worker_thread.h"
#include "app/media/files/deinterlacing.h"
#include "app/media/files/live/live_container.h"
#include "app/media/files/live/live_decoder.h"
#include "app/media/files/live/stall_guard.h"
#include "app/media/files/picture_geometry.h"
#include "app/media/files/pixel_conversion.h"

namespace winnow::app {
namespace {

constexpr auto kPollToken = std::chrono::milliseconds(20);
constexpr std::size_t kMostNotices = 32;  // a source that changes its size with every picture says it this often

FrameQueue::WhenFull whenFull(LiveKind kind) {
  return kind == LiveKind::kGrowingFile || kind == LiveKind::kPipe ? FrameQueue::WhenFull::kWait : FrameQueue::WhenFull::kMiss;
}

}  // namespace

class LiveSource::Reader {
 public:
  Reader(const LiveRequest& request, const MediaLimits& limits)
      : m_request(request),
        m_limits(limits),
        m_watch(request.stallS),
        m_queue(whenFull(request.kind)),
        m_grid(request.everyS),
        m_converter(request.address),
        m_thread("live video") {
    m_thread.post([this] { run(); });
  }
  ~Reader() {
    m_watch.close();
    m_queue.close();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  FrameQueue& queue() { return m_queue; }
  const std::string& address() const { return m_request.address; }
  void finish() noexcept { m_watch.finish(); }

 private:
  void run() {
    try {
      m_queue.end(read());
    } catch (...) {
      m_queue.fail(current_error(m_request.address));
    }
  }

  LiveEnd read() {
    LiveContainer container(m_request, m_limits, m_watch);
    if (const AVStream* const video = container.video().stream; video != nullptr) {
      for (const MediaNotice& met : descriptionNotices(*video, container.pixelShape())) notice(met);
    }
    LiveDecoder decoder(container, m_limits);
    std::optional<LiveDecoder::Timed> shown;
    while (!m_watch.closed()) {
      std::optional<LiveDecoder::Timed> frame = decoder.next();
      for (; m_decoderNotices < decoder.notices().size(); ++m_decoderNotices) notice(decoder.notices()[m_decoderNotices]);
      if (shown) sample(*shown->frame, shown->timeS, frame ? frame->timeS : shown->timeS + decoder.frameS(), container);
      if (!frame) break;
      shown = std::move(frame);
    }
    if (!shown && decoder.end() == LiveEnd::kEndOfStream && !m_watch.closed() && !m_watch.finished()) {
      throw Exception(ErrorCode::kDamagedFile, address(), "none of its frames can be decoded");
    }
    return decoder.end();
  }

  // The frame is on screen from timeS until endS.
  void sample(const AVFrame& frame, double timeS, double endS, const LiveContainer& container) {
    std::optional<RgbImage> image;
    if (!m_begun) m_grid.skipTo(timeS);
    m_begun = true;
    for (; m_grid.isDueBefore(endS); m_grid.advance()) {
      if (!m_queue.wantsFrame()) continue;
      if (m_watch.closed()) return;
      if (!image) image = convert(frame, container);
      m_queue.push({m_grid.nextS(), timeS, *image});
    }
  }

  RgbImage convert(const AVFrame& frame, const LiveContainer& container) {
    const AVRational shape = frame.sample_aspect_ratio.num > 0 ? frame.sample_aspect_ratio : container.pixelShape();
    const int width = squarePixelWidth(frame.width, shape).value_or(frame.width);
    const Deinterlaced whole = deinterlace(frame);
    if (whole.differing > kLeastDiffering && !std::exchange(m_interlaced, true)) notice({NoticeCode::kInterlaced});
    RgbImage image = m_converter.convert(whole.frame ? *whole.frame : frame, width, frame.height,
                                         streamOrientation(*container.video().stream).orientation, ColourHint::kVideo);
    if (m_widthPx != 0 && (image.width_px != m_widthPx || image.height_px != m_heightPx)) {
      notice({NoticeCode::kSizeChanged, image.width_px, image.height_px});
    }
    m_widthPx = image.width_px;
    m_heightPx = image.height_px;
    return image;
  }

  void notice(const MediaNotice& notice) {
    if (m_notices++ < kMostNotices) m_queue.notice(notice);
  }

  const LiveRequest m_request;
  const MediaLimits m_limits;
  StallGuard m_watch;
  FrameQueue m_queue;
  SamplingGrid m_grid;
  FrameConverter m_converter;
  std::size_t m_decoderNotices = 0;  // passed on
  std::size_t m_notices = 0;
  bool m_begun = false;       // a frame was sampled
  bool m_interlaced = false;  // it was said
  int m_widthPx = 0;
  int m_heightPx = 0;
  WorkerThread m_thread;  // last: it ends before what it uses
};

LiveSource::LiveSource(const LiveRequest& request, const MediaLimits& limits) {
  requireLegal(request);
  m_reader = std::make_unique<Reader>(request, limits);
}

LiveSource::~LiveSource() = default;

LiveClip LiveSource::next(int most, const InterruptToken& interrupt) {
  if (most < 1) throw Exception(ErrorCode::kInvalidArgument, m_reader->address(), "at least one frame has to be asked for");
  LiveClip clip;
  for (;;) {
    if (m_reader->queue().take(clip, static_cast<std::size_t>(most))) return clip;
    if (interrupt.requested()) {
      clip.end = LiveEnd::kInterrupted;
      return clip;
    }
    m_reader->queue().wait(kPollToken);
  }
}

void LiveSource::finish() noexcept { m_reader->finish(); }

std::size_t LiveSource::mostWaiting() const { return m_reader->queue().mostWaiting(); }

}  // namespace winnow::app
