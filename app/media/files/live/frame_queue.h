// Frames on their way from the thread that reads a live source to the one that uses them; bounded in number and in bytes.
//
// Used by LiveSource. When it is full, the reading thread waits (sources that wait, too) or passes frames over and counts them (those that
// do not). Threads: one that reads, one that takes; close() and the waits are under one mutex.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "app/media/files/live/live_bytes.h"
#include "engine/base/error.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

// The result of a live source's next().
struct LiveClip {
  std::vector<SampledFrame> frames;  // asked_s rises from clip to clip
  LiveEnd end = LiveEnd::kNotYet;
  std::vector<MediaNotice> notices;  // new since the clip before

  bool ended() const { return end != LiveEnd::kNotYet; }
};

class FrameQueue {
 public:
  enum class WhenFull : int { kWait = 1, kMiss };
  static constexpr std::size_t kMostFrames = 64;
  static constexpr std::size_t kMostBytes = std::size_t{512} << 20;

  explicit FrameQueue(WhenFull whenFull, std::size_t mostBytes = kMostBytes) : m_whenFull(whenFull), m_mostBytes(mostBytes) {}

  // Reading thread. Whether the next frame is wanted; kWait: waits until it is, false only after close().
  bool wantsFrame();
  void push(SampledFrame frame);
  void notice(MediaNotice notice);
  void end(LiveEnd end);
  void fail(Error error);

  // The thread that takes. Moves frames into the clip until it holds `most` or there are none; whether the clip is done: full, at the end,
  // or before an error, which is thrown once no frame is left and the clip is empty.
  bool take(LiveClip& clip, std::size_t most);
  // Returns after a change or after `longest`.
  void wait(std::chrono::milliseconds longest);
  void close();

  // The most frames that ever waited.
  std::size_t mostWaiting() const;

 private:
  bool full() const { return m_frames.size() >= kMostFrames || (!m_frames.empty() && m_bytes >= m_mostBytes); }

  const WhenFull m_whenFull;
  const std::size_t m_mostBytes;
  mutable std::mutex m_mutex;
  std::condition_variable m_changed;
  std::deque<SampledFrame> m_frames;
  std::size_t m_bytes = 0;
  std::size_t m_mostWaiting = 0;
  std::int64_t m_missed = 0;  // since the last clip
  std::vector<MediaNotice> m_notices;
  LiveEnd m_end = LiveEnd::kNotYet;
  std::optional<Error> m_error;
  bool m_closed = false;
};

}  // namespace winnow::app
