// What winnow-media does: answers the questions of media_protocol.h until the program closes the channel, in a sandbox.
//
// The calling thread reads the channel, so that an interrupt arrives while a question is worked on; a thread of its own answers. When the
// channel closes, the process ends at once, whatever it was doing. Errors go to the program as answers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/media/limits.h"
#include "app/media/media_source.h"
#include "app/media_process/frame_memory.h"
#include "app/media_process/media_protocol.h"
#include "app/threads/worker_thread.h"
#include "app/worker/worker_channel.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

class MediaServer {
 public:
  MediaServer(WorkerChannel& channel, const MediaLimits& limits, OpenFile memory);

  // On the thread that reads the channel.
  void take(ChannelMessage message);

 private:
  struct OpenSource {
    std::string path;
    std::unique_ptr<MediaSource> source;
  };
  void answer(ChannelMessage message, const InterruptToken& interrupt);
  void answerAboutFile(MediaMessage kind, ChannelMessage message, const InterruptToken& interrupt);
  void answerWithFrames(const AskFrames& ask, const InterruptToken& interrupt);
  template <class Answer>
  void send(MediaMessage kind, const Answer& answer);

  WorkerChannel& m_channel;
  const MediaLimits m_limits;
  FrameMemory m_memory;
  std::map<std::uint64_t, OpenSource> m_sources;
  std::string m_subject;      // of the question that is worked on
  InterruptSource m_current;  // of the last question; the reading thread's
  WorkerThread m_worker{"media"};
};

// Becomes the media process: reads kBegin, enters the sandbox, serves. Returns the exit status.
int serveMedia(OpenFile socket);

}  // namespace winnow::app
