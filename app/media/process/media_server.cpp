#include "app/media/process/media_server.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <utility>

#include "app/media/files/media_opener.h"
#include "app/media/process/given_files.h"
#include "app/media/process/media_sandbox.h"
#include "engine/base/error.h"
#include "engine/messages/wire_value.h"

namespace winnow::app {
namespace {

constexpr std::chrono::milliseconds kForEver{-1};

// Frames come and go by the megabyte. Their pages stay while something is open: a fresh page costs more than what is written into it, and
// the program has to take fresh ones for its copy. One arena, as each reserves 64 MiB of the address space that is bounded.
void keepPages() {
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest that the C library takes
  ::mallopt(M_TRIM_THRESHOLD, 512 << 20);
}

// The end is not an error, and nothing is waited for: not a decoder that hangs.
[[noreturn]] void serve(WorkerChannel& channel, MediaServer& server) {
  try {
    while (true) server.take(*channel.receive(kForEver));
  } catch (const ChannelBroken& broken) {
    ::_exit(broken.cause() == ChannelBroken::Cause::kGarbage ? kFilesMissingStatus : 0);
  } catch (const std::exception&) {
    ::_exit(0);
  }
}

}  // namespace

std::int64_t FrameMemory::write(const std::vector<SampledFrame>& frames, const std::string& subject) {
  std::int64_t bytes = 0;
  for (const SampledFrame& frame : frames) bytes += static_cast<std::int64_t>(frame.image.rgb.size());
  m_last = bytes > kAreaBytes || m_last > 0 ? 0 : kAreaBytes;
  std::int64_t offset = m_last;
  for (const SampledFrame& frame : frames) {
    const std::vector<std::uint8_t>& rgb = frame.image.rgb;
    for (std::size_t done = 0; done < rgb.size();) {
      const ssize_t written = ::pwrite(m_file.descriptor(), rgb.data() + done, rgb.size() - done, offset);
      if (written < 0 && errno == EINTR) continue;
      // Memory without a name counts as a file to the kernel.
      if (written < 0 && errno == EFBIG)
        throw Exception(ErrorCode::kLimitExceeded, subject, "its frames are larger than files may be (ulimit -f)");
      if (written <= 0) throw Exception(ErrorCode::kOutOfMemory, subject, "there is not enough memory for its frames");
      done += static_cast<std::size_t>(written);
      offset += written;
    }
  }
  return m_last;
}

void FrameMemory::giveBack() { [[maybe_unused]] const int done = ::ftruncate(m_file.descriptor(), 0); }

MediaServer::MediaServer(WorkerChannel& channel, const MediaLimits& limits, OpenFile memory)
    : m_channel(channel), m_limits(limits), m_papers(limits), m_memory(std::move(memory)) {}

void MediaServer::take(ChannelMessage message) {
  const auto kind = static_cast<MediaMessage>(message.kind);
  if (kind == MediaMessage::kInterrupt) {
    const auto interrupt = wire::decoded_fields<InterruptReading>(message.bytes);
    interrupt.kind == static_cast<int>(Interrupt::kCancel) ? m_current.request_cancel() : m_current.request_stop();
    m_lastAhead.request_cancel();  // the question may wait for it
    m_currentAhead.request_cancel();
    return;
  }
  AskFrames ask;
  if (kind == MediaMessage::kReadFrames) ask = wire::decoded_fields<AskFrames>(message.bytes);
  m_lastAhead = std::exchange(m_currentAhead, InterruptSource());
  if (ask.source != m_expectedSource || ask.first != m_expectedFirst) m_lastAhead.request_cancel();
  m_expectedSource = ask.source;
  m_expectedFirst = std::int64_t{ask.first} + ask.count;
  m_current = InterruptSource();
  // Shared: a job has to be copyable.
  m_worker.post([this, message = std::make_shared<ChannelMessage>(std::move(message)),
                 interrupts = Interrupts{m_current.token(), m_currentAhead.token()}] {
    try {
      answer(std::move(*message), interrupts);
    } catch (const ChannelBroken&) {
      // The reading thread sees it, too, and ends the process.
    }
  });
}

void MediaServer::answer(ChannelMessage message, const Interrupts& interrupts) {
  const auto kind = static_cast<MediaMessage>(message.kind);
  m_subject.clear();
  try {
    if (kind == MediaMessage::kReadFrames) return answerWithFrames(wire::decoded_fields<AskFrames>(message.bytes), interrupts);
    m_ahead.reset();
    if (kind == MediaMessage::kReadSound) return answerWithSound(wire::decoded_fields<AskSound>(message.bytes), interrupts.question);
    if (kind == MediaMessage::kClose) {
      const std::uint64_t source = wire::decoded_fields<CloseSource>(message.bytes).source;
      m_sounds.erase(source);
      m_sources.erase(source);
      if (m_sources.empty()) {
        m_memory.giveBack();
        ::malloc_trim(0);
      }
    } else {
      answerAboutFile(kind, std::move(message), interrupts.question);
    }
  } catch (const ChannelBroken&) {
    throw;
  } catch (const Interrupted&) {
    m_channel.send(static_cast<std::uint32_t>(MediaMessage::kInterrupted), {});
  } catch (...) {
    send(MediaMessage::kFailed, current_error(m_subject));
  }
}

void MediaServer::answerAboutFile(MediaMessage kind, ChannelMessage message, const InterruptToken& interrupt) {
  auto ask = wire::decoded_fields<AskFile>(message.bytes);
  const MediaRequest& request = ask.request;
  m_subject = request.path;
  const GivenFiles files(std::move(ask.files), std::move(message.files));
  const FfmpegMediaOpener opener(
      m_limits, [&files](const std::string& path) { return files.open(path); }, &m_papers);
  switch (kind) {
    case MediaMessage::kOpen: {
      std::unique_ptr<MediaSource> source = opener.openSource(request, interrupt);
      send(MediaMessage::kOpened, SourceOpened{source->info(), source->duration_s(), source->askedTimes(), source->shown_times_s(),
                                               source->standing_until_s(), source->planned_frames(), source->lines(), source->notices()});
      m_sources[ask.source] = {request.path, std::move(source)};
      return;
    }
    case MediaMessage::kOpenSound: {
      std::unique_ptr<SoundSource> sound = opener.openSound({request.path, {}}, interrupt);
      send(MediaMessage::kSoundOpened, SoundOpened{sound->duration_s()});
      m_sounds[ask.source] = {request.path, std::move(sound)};
      return;
    }
    case MediaMessage::kDetectKind: return send(MediaMessage::kDetected, KindDetected{opener.detectKind(request.path, interrupt)});
    case MediaMessage::kReadLines: return send(MediaMessage::kLines, opener.readSubtitles(request.path, request.encoding, interrupt));
    case MediaMessage::kReadText: return send(MediaMessage::kText, opener.readDocument(*files.open(request.path), request, interrupt));
    default: throw Exception(ErrorCode::kInternal, request.path, "the process that reads media does not know what it is asked");
  }
}

void MediaServer::answerWithFrames(const AskFrames& ask, const Interrupts& interrupts) {
  const auto found = m_sources.find(ask.source);
  require(found != m_sources.end(), "the process that reads media has no such source");
  m_subject = found->second.path;
  std::optional<ReadAhead> ahead = std::exchange(m_ahead, std::nullopt);
  const bool there = ahead && ahead->ask.source == ask.source && ahead->ask.first == ask.first && ahead->ask.count == ask.count;
  if (there && ahead->failure) std::rethrow_exception(ahead->failure);
  const FramesRead read = there ? std::move(ahead->read) : readFrames(found->second, ask, interrupts.question);
  send(MediaMessage::kFrames, read);
  const int next = ask.first + ask.count;
  const int left = found->second.source->frame_count() - next;
  const std::int64_t bytes = std::int64_t{3} * read.info.widthPx * read.info.heightPx * ask.count;
  if (left > 0 && ask.count > 0 && bytes <= FrameMemory::kAreaBytes)
    readAhead(found->second, {ask.source, next, std::min(ask.count, left)}, interrupts.ahead);
}

void MediaServer::answerWithSound(const AskSound& ask, const InterruptToken& interrupt) {
  constexpr std::int64_t kPiece = 60 * kSoundRate;  // that is left out at a time
  const auto found = m_sounds.find(ask.source);
  require(found != m_sounds.end() && ask.count >= 0, "the process that reads media has no such sound");
  OpenSound& of = found->second;
  m_subject = of.path;
  if (ask.first < of.at) {
    of.sound->rewind();
    of.at = 0;
  }
  while (of.at < ask.first) {
    const auto left = std::ssize(of.sound->read(std::min(kPiece, ask.first - of.at), interrupt));
    if (left == 0) break;
    of.at += left;
  }
  SoundRead read{of.sound->read(ask.count, interrupt)};
  of.at += std::ssize(read.samples);
  send(MediaMessage::kSound, read);
}

FramesRead MediaServer::readFrames(OpenSource& of, const AskFrames& ask, const InterruptToken& interrupt) {
  MediaSource& source = *of.source;
  const std::vector<SampledFrame> frames = source.read(ask.first, ask.count, interrupt);
  FramesRead read{{}, m_memory.write(frames, of.path), source.info(), source.notices()};
  for (const SampledFrame& frame : frames)
    read.frames.push_back({frame.asked_s, frame.actual_s, frame.image.width_px, frame.image.height_px});
  return read;
}

// Faults are reported when the frames are asked for.
void MediaServer::readAhead(OpenSource& of, const AskFrames& ask, const InterruptToken& interrupt) {
  ReadAhead ahead{ask, {}, nullptr};
  try {
    ahead.read = readFrames(of, ask, interrupt);
  } catch (const Interrupted&) {
    return;
  } catch (...) {
    ahead.failure = std::current_exception();
  }
  m_ahead = std::move(ahead);
}

template <class Answer>
void MediaServer::send(MediaMessage kind, const Answer& answer) {
  m_channel.send(static_cast<std::uint32_t>(kind), wire::encoded_fields(answer));
}

int serveMedia(OpenFile socket) {
  WorkerChannel channel(std::move(socket));
  try {
    std::optional<ChannelMessage> first = channel.receive(kForEver);
    if (static_cast<MediaMessage>(first->kind) != MediaMessage::kBegin || first->files.size() != 1) return 2;
    const auto begin = wire::decoded_fields<BeginReading>(first->bytes);
    std::signal(SIGXFSZ, SIG_IGN);  // memory for frames that grows beyond its bound is an error of that file
    keepPages();
    prepareReading();
    const ReadyToRead ready{kMediaProtocolVersion, enterSandbox(begin.memoryBytes)};
    MediaServer server(channel, begin.limits, std::move(first->files.front()));
    channel.send(static_cast<std::uint32_t>(MediaMessage::kReady), wire::encoded_fields(ready));
    serve(channel, server);
  } catch (const std::exception&) {
    return 3;
  }
}

}  // namespace winnow::app
