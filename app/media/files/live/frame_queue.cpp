#include "app/media/files/live/frame_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace winnow::app {

bool FrameQueue::wantsFrame() {
  std::unique_lock lock(m_mutex);
  if (m_whenFull == WhenFull::kMiss && full()) {
    ++m_missed;
    return false;
  }
  m_changed.wait(lock, [this] { return m_closed || !full(); });
  return !m_closed;
}

void FrameQueue::push(SampledFrame frame) {
  {
    const std::lock_guard lock(m_mutex);
    m_bytes += frame.image.rgb.size();
    m_frames.push_back(std::move(frame));
    m_mostWaiting = std::max(m_mostWaiting, m_frames.size());
  }
  m_changed.notify_all();
}

void FrameQueue::notice(MediaNotice notice) {
  const std::lock_guard lock(m_mutex);
  m_notices.push_back(std::move(notice));
}

void FrameQueue::end(LiveEnd end) {
  {
    const std::lock_guard lock(m_mutex);
    m_end = end;
  }
  m_changed.notify_all();
}

void FrameQueue::fail(Error error) {
  {
    const std::lock_guard lock(m_mutex);
    m_error = std::move(error);
  }
  m_changed.notify_all();
}

bool FrameQueue::take(LiveClip& clip, std::size_t most) {
  bool done = false;
  {
    const std::lock_guard lock(m_mutex);
    while (clip.frames.size() < most && !m_frames.empty()) {
      m_bytes -= m_frames.front().image.rgb.size();
      clip.frames.push_back(std::move(m_frames.front()));
      m_frames.pop_front();
    }
    if (m_frames.empty()) {
      if (m_error && clip.frames.empty()) throw Exception(*m_error);
      clip.end = m_end;
    }
    done = clip.frames.size() == most || clip.ended() || m_error.has_value();
    std::move(m_notices.begin(), m_notices.end(), std::back_inserter(clip.notices));
    m_notices.clear();
    if (m_missed > 0 && done) {
      clip.notices.push_back({NoticeCode::kFramesMissed, m_missed});
      m_missed = 0;
    }
  }
  m_changed.notify_all();
  return done;
}

void FrameQueue::wait(std::chrono::milliseconds longest) {
  std::unique_lock lock(m_mutex);
  m_changed.wait_for(lock, longest, [this] { return !m_frames.empty() || m_end != LiveEnd::kNotYet || m_error.has_value(); });
}

void FrameQueue::close() {
  {
    const std::lock_guard lock(m_mutex);
    m_closed = true;
  }
  m_changed.notify_all();
}

std::size_t FrameQueue::mostWaiting() const {
  const std::lock_guard lock(m_mutex);
  return m_mostWaiting;
}

}  // namespace winnow::app
