#include "app/media/live/live_watch.h"

#include <utility>

namespace winnow::app {

struct LiveWatch::Source {
  explicit Source(WatchRequest asked) : request(std::move(asked)) {}

  const WatchRequest request;
  InterruptSource interrupt;
  InterruptSource clip;                // the owner's thread only: of what is being read; a stop delivers what has come
  bool busy = false;                   // the owner's thread only: a clip of it is being read
  std::unique_ptr<ClipReader> reader;  // the reading thread only
};

LiveWatch::LiveWatch(ClipReaderFactory open, QObject* parent) : QObject(parent), m_open(std::move(open)) {}

LiveWatch::~LiveWatch() { stop(); }

void LiveWatch::start(const WatchRequest& request) {
  stop();
  m_paused = false;
  m_source = std::make_shared<Source>(request);
  readNext();
}

void LiveWatch::stop() {
  m_clip.clear();
  m_catchesUp = false;
  if (m_source == nullptr) return;
  m_source->interrupt.request_cancel();
  release(std::exchange(m_source, nullptr));
}

void LiveWatch::setPaused(bool paused) {
  m_paused = paused;
  readNext();
}

void LiveWatch::catchUp() {
  if (m_source == nullptr || !m_source->busy) {
    Q_EMIT caughtUp();
    return;
  }
  m_catchesUp = true;
  m_source->clip.request_stop();
}

std::vector<SampledFrame> LiveWatch::takeClip() {
  std::vector<SampledFrame> clip = std::exchange(m_clip, {});
  readNext();
  return clip;
}

void LiveWatch::readNext() {
  if (m_source == nullptr || m_source->busy || m_paused || hasClip()) return;
  m_source->busy = true;
  m_source->clip = InterruptSource(m_source->interrupt.token());
  m_thread.post([this, source = m_source, token = m_source->clip.token()] {
    try {
      const InterruptToken gone = source->interrupt.token();
      gone.throw_if_requested();
      if (source->reader == nullptr) source->reader = m_open(source->request, gone);
      const auto clip = std::make_shared<ClipReader::Clip>(source->reader->next(kClipFrames, token));
      require(clip->frames.size() <= std::size_t{kClipFrames}, "a clip has more frames than were asked for");
      m_mailbox.post([this, source, clip] { onRead(source, *clip); });
    } catch (...) {
      m_mailbox.post([this, source, error = current_error(source->request.address)] { onFailed(source, error); });
    }
  });
}

void LiveWatch::release(std::shared_ptr<Source> source) {
  m_thread.post([source = std::move(source)] { source->reader.reset(); });
}

void LiveWatch::onRead(const std::shared_ptr<Source>& source, ClipReader::Clip& clip) {
  if (source != m_source) return;  // stopped meanwhile
  source->busy = false;
  m_clip = std::move(clip.frames);
  if (clip.ended) release(std::exchange(m_source, nullptr));
  readNext();
  const bool catchesUp = std::exchange(m_catchesUp, false);
  for (const MediaNotice& notice : clip.notices) Q_EMIT noticed(notice);
  if (hasClip()) Q_EMIT clipReady();
  if (catchesUp) Q_EMIT caughtUp();
  if (clip.ended) Q_EMIT ended(QString::fromStdString(clip.endedBecause));
}

// A source that threw because it was interrupted is no longer the source by then.
void LiveWatch::onFailed(const std::shared_ptr<Source>& source, const Error& error) {
  if (source != m_source) return;
  release(std::exchange(m_source, nullptr));
  if (std::exchange(m_catchesUp, false)) Q_EMIT caughtUp();
  Q_EMIT failed(error);
}

}  // namespace winnow::app
