// Reads a source that is still running, on a thread of its own, and keeps one clip ready.
//
// Used by ui/shell/turns/watch_controller.h. While the owner works on a clip the next one is read, and then nothing more until it was
// taken: two clips of frames are the most that exist here and in the owner's hands. What the source does meanwhile is the reader's
// business, which says what was missed. Threads: belongs to the thread that made it (an event loop must run there), which never waits for a
// source; the reader lives and dies on the reading thread. The destructor interrupts the reader and joins. Errors: none thrown; failed().
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <vector>

#include "app/ground/threads/mailbox.h"
#include "app/ground/threads/worker_thread.h"
#include "app/media/live/clip_reader.h"
#include "engine/base/error.h"

namespace winnow::app {

class LiveWatch : public QObject {
  Q_OBJECT
 public:
  static constexpr int kClipFrames = 8;

  explicit LiveWatch(ClipReaderFactory open, QObject* parent = nullptr);
  ~LiveWatch() override;

  void start(const WatchRequest& request);  // instead of what is read now
  void stop();                              // what was read and not taken is gone; nothing more is told
  void setPaused(bool paused);              // no further clip is begun
  // Makes what has come of the clip that is being read a clip now, however short; caughtUp() follows, after clipReady() if there is
  // anything.
  void catchUp();
  bool paused() const { return m_paused; }
  bool reading() const { return m_source != nullptr; }  // more may come
  bool hasClip() const { return !m_clip.empty(); }
  std::vector<SampledFrame> takeClip();

 Q_SIGNALS:
  void clipReady();
  void caughtUp();  // unless stopped before
  void noticed(const winnow::MediaNotice& notice);
  // Both are the last that is told; a clip may still wait.
  void ended(const QString& because);
  void failed(const winnow::Error& error);

 private:
  struct Source;

  void readNext();
  void release(std::shared_ptr<Source> source);  // its reader, on the thread that made it
  void onRead(const std::shared_ptr<Source>& source, ClipReader::Clip& clip);
  void onFailed(const std::shared_ptr<Source>& source, const Error& error);

  const ClipReaderFactory m_open;
  std::shared_ptr<Source> m_source;  // null: nothing is read
  std::vector<SampledFrame> m_clip;
  bool m_paused = false;
  bool m_catchesUp = false;
  Mailbox m_mailbox;
  WorkerThread m_thread{"watch"};  // last: joined first
};

}  // namespace winnow::app
