// The work of winnow-media: it answers the questions of media_protocol.h until the program closes the channel, in a sandbox; and the memory
// in which its pixels go back.
//
// The calling thread reads the channel, so that an interrupt arrives while a question is worked on; a thread of its own answers. Behind an
// answer with frames it reads as many ahead, which the next question usually asks for; any other question stops that. When the channel
// closes, the process ends at once, whatever it was doing. Errors go to the program as answers.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/ground/process/open_file.h"
#include "app/ground/threads/worker_thread.h"
#include "app/ground/worker/worker_channel.h"
#include "app/media/files/limits.h"
#include "app/media/files/media_reader.h"
#include "app/media/papers/papers.h"
#include "app/media/process/media_protocol.h"
#include "engine/base/interrupt.h"
#include "engine/media/frame_source.h"

namespace winnow::app {

// The memory that pixels go back in: a file without a name that both processes have. The program reads it and never maps it.
//
// It has two areas that take turns, so that the next frames are written while the program copies out the last ones. Its pages are used
// again, and given back when the last source is closed. Errors: Exception; kOutOfMemory, kLimitExceeded (ulimit -f).
class FrameMemory {
 public:
  explicit FrameMemory(OpenFile file) : m_file(std::move(file)) {}

  static constexpr std::int64_t kAreaBytes = std::int64_t{64} << 20;

  // Returns where they lie. Frames that do not fit into one area are written over both.
  std::int64_t write(const std::vector<SampledFrame>& frames, const std::string& subject);
  void giveBack();

 private:
  OpenFile m_file;
  std::int64_t m_last = kAreaBytes;  // the area that was written last
};

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
  struct OpenSound {
    std::string path;
    std::unique_ptr<SoundSource> sound;
    std::int64_t at = 0;  // the next sample
  };
  // Frames that nobody has asked for yet.
  struct ReadAhead {
    AskFrames ask;
    FramesRead read;
    std::exception_ptr failure;  // null: read
  };
  // Raised by the reading thread.
  struct Interrupts {
    InterruptToken question;
    InterruptToken ahead;  // of what is read behind its answer
  };
  void answer(ChannelMessage message, const Interrupts& interrupts);
  void answerAboutFile(MediaMessage kind, ChannelMessage message, const InterruptToken& interrupt);
  void answerWithFrames(const AskFrames& ask, const Interrupts& interrupts);
  void answerWithSound(const AskSound& ask, const InterruptToken& interrupt);
  FramesRead readFrames(OpenSource& of, const AskFrames& ask, const InterruptToken& interrupt);
  void readAhead(OpenSource& of, const AskFrames& ask, const InterruptToken& interrupt);
  template <class Answer>
  void send(MediaMessage kind, const Answer& answer);

  WorkerChannel& m_channel;
  const MediaLimits m_limits;
  const Papers m_papers;
  FrameMemory m_memory;
  std::map<std::uint64_t, OpenSource> m_sources;
  std::map<std::uint64_t, OpenSound> m_sounds;
  std::optional<ReadAhead> m_ahead;
  std::string m_subject;  // of the question that is worked on
  // The reading thread's: of the last question, of what is read behind its answer, and behind the one before.
  InterruptSource m_current;
  InterruptSource m_currentAhead;
  InterruptSource m_lastAhead;
  std::uint64_t m_expectedSource = 0;
  std::int64_t m_expectedFirst = 0;
  WorkerThread m_worker{"media"};
};

// Becomes the media process: reads kBegin, enters the sandbox, serves. Returns the exit status.
int serveMedia(OpenFile socket);

}  // namespace winnow::app
