// The protocol between the program and winnow-media: kinds of messages (worker_channel.h) and what each holds, as tables of fields.
//
// The program sends kBegin with the memory that frames come back in, and gets kReady when the sandbox is closed. From then on it asks one
// thing at a time and gets one answer: that of the question's kind, kFailed or kInterrupted. kInterrupt, which has no answer, says that
// the last question is not wanted any more. A source is a number that the program gives. Pixels lie in the memory one frame behind the
// other, from an offset that the answer names, and hold until the next question; the process reads the next frames ahead meanwhile. The
// encoded form is the wire's (engine/messages/wire_value.h). Plain data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/media/files/document_text.h"
#include "app/media/files/limits.h"
#include "app/media/files/media_reader.h"
#include "app/media/files/subtitle_text.h"
#include "engine/base/error.h"
#include "engine/messages/message_fields.h"

namespace winnow::app {

inline constexpr std::uint32_t kMediaProtocolVersion = 5;

// A process that ends with this status was sent files and got fewer: the system lets it have no more open.
inline constexpr int kFilesMissingStatus = 4;

enum class MediaMessage : std::uint32_t {
  kBegin = 1,       // BeginReading, with the memory
  kOpen = 2,        // AskFile -> kOpened
  kDetectKind = 3,  // AskFile -> kDetected
  kReadLines = 4,   // AskFile -> kLines
  kReadText = 5,    // AskFile -> kText
  kReadFrames = 6,  // AskFrames -> kFrames
  kClose = 7,       // CloseSource
  kInterrupt = 8,   // InterruptReading
  kOpenSound = 9,   // AskFile -> kSoundOpened
  kReadSound = 10,  // AskSound -> kSound
  kReady = 32,      // ReadyToRead
  kOpened = 33,     // SourceOpened
  kDetected = 34,   // KindDetected
  kLines = 35,      // Subtitles
  kText = 36,       // DocumentText
  kFrames = 37,     // FramesRead
  kFailed = 38,     // Error
  kInterrupted = 39,
  kSoundOpened = 40,  // SoundOpened
  kSound = 41,        // SoundRead
};

// The rights that the kernel was able to take from a process.
struct SandboxReport {
  bool systemCalls = false;  // only those that reading needs (seccomp)
  int landlock = 0;          // version of Landlock, which has taken all files and ports; 0: the kernel has none
  bool memory = false;       // its address space is bounded
};

struct BeginReading {
  std::uint32_t version = kMediaProtocolVersion;
  MediaLimits limits;
  std::int64_t memoryBytes = 0;  // of address space; 0: no bound
};

struct ReadyToRead {
  std::uint32_t version = 0;
  SandboxReport sandbox;
};

// A file that was opened for the process, or why that failed; the descriptors come in the same order, without those that failed.
struct GivenFile {
  std::string path;
  std::int64_t sizeBytes = 0;
  std::string version;
  std::optional<Error> failure;
  std::string password{};  // OpenedMedia::password
};

struct AskFile {
  std::uint64_t source = 0;  // that it will be, of kOpen
  MediaRequest request;
  std::vector<GivenFile> files;
};

struct AskFrames {
  std::uint64_t source = 0;
  int first = 0;
  int count = 0;
};

// Samples of a source of sound from `first` on; earlier ones than were read last begin the file anew.
struct AskSound {
  std::uint64_t source = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
};

struct CloseSource {
  std::uint64_t source = 0;
};

struct InterruptReading {
  int kind = 0;  // of engine/base/interrupt.h
};

struct SourceOpened {
  MediaInfo info;
  double durationS = 0.0;
  std::vector<double> askedS;
  std::vector<double> shownS;
  std::vector<double> untilS;
  int planned = 0;  // FrameSource::planned_frames()
  std::vector<TimedLine> lines;
  std::vector<MediaNotice> notices;
};

struct KindDetected {
  MediaKind kind = MediaKind::kImage;
};

struct FrameRead {
  double askedS = 0.0;
  double actualS = 0.0;
  int widthPx = 0;
  int heightPx = 0;
};

struct FramesRead {
  std::vector<FrameRead> frames;
  std::int64_t offset = 0;  // in the memory
  MediaInfo info;
  std::vector<MediaNotice> notices;
};

struct SoundOpened {
  double durationS = 0.0;
};

struct SoundRead {
  std::vector<float> samples;
};

WINNOW_FIELDS(MediaLimits, imageFileBytes, imageStoredPixels, imagePixels, imageSidePx, imageSideRatio, videoFramePixels, videoStreams,
              probeBytes, probeMs, plannedFrames, decoders, liveIndexEntries, decodeBudgetMs)
WINNOW_FIELDS(MediaInfo, kind, container, codec, widthPx, heightPx, durationS, playsS, averageFps, rotationDegrees, colourRange,
              colourMatrix, fileBytes, frameCount, words, pages, evenFrames, holdsText, hasSound, notices)
WINNOW_FIELDS(Subtitles, lines, notices)

template <FieldsOf<DocumentText> F>
constexpr void visit_fields(F& f, auto&& visit) {
  visit("text", f.utf8);
  visit("encoding", f.encoding);
  visit("notices", f.notices);
  visit("container", f.container);
  visit("pages", f.pages);
  visit("page_lines", f.pageLines);
}

WINNOW_FIELDS(SandboxReport, systemCalls, landlock, memory)
WINNOW_FIELDS(BeginReading, version, limits, memoryBytes)
WINNOW_FIELDS(ReadyToRead, version, sandbox)
WINNOW_FIELDS(GivenFile, path, sizeBytes, version, failure, password)
WINNOW_FIELDS(AskFile, source, request, files)
WINNOW_FIELDS(AskFrames, source, first, count)
WINNOW_FIELDS(AskSound, source, first, count)
WINNOW_FIELDS(SoundOpened, durationS)
WINNOW_FIELDS(SoundRead, samples)
WINNOW_FIELDS(CloseSource, source)
WINNOW_FIELDS(InterruptReading, kind)
WINNOW_FIELDS(SourceOpened, info, durationS, askedS, shownS, untilS, planned, lines, notices)
WINNOW_FIELDS(KindDetected, kind)
WINNOW_FIELDS(FrameRead, askedS, actualS, widthPx, heightPx)
WINNOW_FIELDS(FramesRead, frames, offset, info, notices)

}  // namespace winnow::app
