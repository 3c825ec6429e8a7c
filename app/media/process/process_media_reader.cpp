#include "app/media/process/process_media_reader.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "app/media/files/content_hash.h"
#include "app/media/files/media_opener.h"
#include "app/media/process/given_files.h"
#include "app/media/process/kernel_sandbox.h"
#include "app/media/process/media_answers.h"
#include "engine/messages/wire_value.h"

namespace winnow::app {
namespace {

// Images and videos whose frames are decoded in the media process. Made by ProcessMediaReader.
//
// Holds the descriptors of its files, so that it can be opened again in another process where the first died of another file: the same
// bytes, the same frames. One that its process died of is refused from then on.
class ProcessMediaSource final : public MediaSource {
 public:
  // file: of request.path.
  ProcessMediaSource(std::shared_ptr<MediaProcess> process, MediaRequest request, OpenedMedia file, const InterruptToken& interrupt);
  ~ProcessMediaSource() override;

  MediaKind kind() const override { return m_request.kind; }
  double duration_s() const override { return m_opened.durationS; }
  int frame_count() const override { return static_cast<int>(m_opened.askedS.size()); }
  int planned_frames() const override { return m_opened.planned; }
  std::string content_hash() const override;
  std::vector<TimedLine> lines() const override { return m_opened.lines; }
  std::vector<SampledFrame> read(int first, int count, const InterruptToken& interrupt) override;

  const MediaInfo& info() const override { return m_opened.info; }
  const std::vector<double>& askedTimes() const override { return m_opened.askedS; }
  std::vector<double> shown_times_s() const override { return m_opened.shownS; }
  std::vector<double> standing_until_s() const override { return m_opened.untilS; }
  std::vector<MediaNotice> notices() const override;

 private:
  SourceOpened openIn(MediaProcess::Start& start, const InterruptToken& interrupt) const;
  void openAgain(const InterruptToken& interrupt);
  // Reads as many frames as fit into one answer.
  std::vector<SampledFrame> readPart(int first, int count, const InterruptToken& interrupt);

  const std::shared_ptr<MediaProcess> m_process;  // shared: it outlives its reader while a source is open
  const MediaRequest m_request;
  const OpenedMedia m_file;
  GivenFiles m_files;
  const std::uint64_t m_number;
  MediaProcess::Start m_start = MediaProcess::kAnyProcess;  // where it is open
  SourceOpened m_opened;                                    // its notices: of all that was read there
  std::vector<MediaNotice> m_noticedBefore;                 // in processes that died
  std::optional<Error> m_refused;
  mutable std::string m_hash;
};

// Sound that is decoded in the media process; opened anew there if the process died of another file.
class ProcessSound final : public SoundSource {
 public:
  ProcessSound(std::shared_ptr<MediaProcess> process, const std::string& path, OpenedMedia file, const InterruptToken& interrupt);
  ~ProcessSound() override { m_process->tell(MediaMessage::kClose, wire::encoded_fields(CloseSource{m_number}), m_start); }

  double duration_s() const override { return m_durationS; }
  std::string content_hash() const override { return contentHash(MediaFile(m_path, m_file)); }
  std::vector<float> read(std::int64_t count, const InterruptToken& interrupt) override;
  void rewind() override { m_at = 0; }

 private:
  void open(const InterruptToken& interrupt);

  const std::shared_ptr<MediaProcess> m_process;  // shared: it outlives its reader while a source is open
  const std::string m_path;
  const OpenedMedia m_file;
  GivenFiles m_files;
  const std::uint64_t m_number;
  MediaProcess::Start m_start = MediaProcess::kAnyProcess;
  double m_durationS = 0.0;
  std::int64_t m_at = 0;
};

constexpr std::int64_t kAnswerBytes = std::int64_t{256} << 20;  // of pixels in one answer, unless one frame is larger
constexpr std::size_t kPageBytes = 4096;

// Read and not mapped: what the process does to it meanwhile cannot harm.
void readAll(int memory, std::int64_t offset, std::span<std::uint8_t> into) {
  for (std::size_t had = 0; had < into.size();) {
    const ssize_t got = ::pread(memory, into.data() + had, into.size() - had, offset + static_cast<std::int64_t>(had));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) throw Exception(ErrorCode::kDamagedFile, "answer", "pixels are missing");
    had += static_cast<std::size_t>(got);
  }
}

// In large pages where the system has them: the first touch of so many small ones costs more than the copy.
void makeRoom(std::vector<std::uint8_t>& rgb, std::size_t bytes) {
  rgb.reserve(bytes);
  void* begin = rgb.data();
  std::size_t left = bytes;
  if (std::align(kPageBytes, kPageBytes, begin, left) != nullptr) ::madvise(begin, left / kPageBytes * kPageBytes, MADV_HUGEPAGE);
  rgb.resize(bytes);
}

std::int64_t bytesOf(const MediaInfo& info) { return std::int64_t{3} * info.widthPx * info.heightPx; }

SampledFrame frameIn(int memory, std::int64_t offset, const FrameRead& read) {
  SampledFrame frame{read.askedS, read.actualS, {read.widthPx, read.heightPx, {}}};
  makeRoom(frame.image.rgb, static_cast<std::size_t>(read.widthPx) * static_cast<std::size_t>(read.heightPx) * 3);
  readAll(memory, offset, frame.image.rgb);
  return frame;
}

ProcessMediaSource::ProcessMediaSource(std::shared_ptr<MediaProcess> process, MediaRequest request, OpenedMedia file,
                                       const InterruptToken& interrupt)
    : m_process(std::move(process)), m_request(std::move(request)), m_file(std::move(file)), m_number(m_process->nextSource()) {
  m_files.add(m_request.path, m_file);
  if (m_request.kind == MediaKind::kVideo && !m_request.subtitles.empty() && m_request.subtitles != m_request.path)
    m_files.addIfOpens(m_request.subtitles);
  m_opened = openIn(m_start, interrupt);
}

ProcessMediaSource::~ProcessMediaSource() { m_process->tell(MediaMessage::kClose, wire::encoded_fields(CloseSource{m_number}), m_start); }

SourceOpened ProcessMediaSource::openIn(MediaProcess::Start& start, const InterruptToken& interrupt) const {
  SourceOpened opened;
  const MediaQuestion question{MediaMessage::kOpen, MediaMessage::kOpened, m_request.path,
                               wire::encoded_fields(AskFile{m_number, m_request, m_files.files()}), m_files.descriptors()};
  start = m_process->ask(question, MediaProcess::kAnyProcess, interrupt, [&](const std::vector<std::uint8_t>& answer, int) {
    opened = openedAnswer(answer, m_request, m_file.sizeBytes, m_process->settings().limits);
  });
  return opened;
}

void ProcessMediaSource::openAgain(const InterruptToken& interrupt) {
  SourceOpened opened = openIn(m_start, interrupt);
  if (opened.askedS != m_opened.askedS || opened.info.widthPx != m_opened.info.widthPx || opened.info.heightPx != m_opened.info.heightPx)
    throw Exception(ErrorCode::kDamagedFile, m_request.path, "the file has changed since it was opened");
  add_notices(m_noticedBefore, m_opened.notices);
  m_opened = std::move(opened);
}

std::string ProcessMediaSource::content_hash() const {
  if (m_hash.empty()) m_hash = contentHash(MediaFile(m_request.path, m_file));
  return m_hash;
}

std::vector<MediaNotice> ProcessMediaSource::notices() const {
  std::vector<MediaNotice> all = m_opened.notices;
  add_notices(all, m_noticedBefore);
  return all;
}

std::vector<SampledFrame> ProcessMediaSource::read(int first, int count, const InterruptToken& interrupt) {
  if (m_refused) throw Exception(*m_refused);
  const int most = static_cast<int>(std::clamp<std::int64_t>(kAnswerBytes / bytesOf(m_opened.info), 1, 1'024));
  std::vector<SampledFrame> frames;
  try {
    for (int done = 0; done == 0 || done < count; done += most) {
      // Numbers outside the plan are refused by the source in the process, as a whole.
      const bool within = first >= 0 && count >= 0 && first <= frame_count() && count <= frame_count() - first;
      std::vector<SampledFrame> part = readPart(first + done, within ? std::min(most, count - done) : count, interrupt);
      std::ranges::move(part, std::back_inserter(frames));
    }
  } catch (const Exception& failure) {
    if (failure.error().code == ErrorCode::kMediaCrashed) m_refused = failure.error();
    throw;
  }
  return frames;
}

std::vector<SampledFrame> ProcessMediaSource::readPart(int first, int count, const InterruptToken& interrupt) {
  std::vector<SampledFrame> frames;
  const MediaQuestion question{
      MediaMessage::kReadFrames, MediaMessage::kFrames, m_request.path, wire::encoded_fields(AskFrames{m_number, first, count}), {}};
  const auto take = [&](const std::vector<std::uint8_t>& answer, int memory) {
    FramesRead read = framesAnswer(answer, count, m_opened, m_process->settings().limits);
    std::int64_t offset = read.offset;
    for (const FrameRead& frame : read.frames) {
      frames.push_back(frameIn(memory, offset, frame));
      offset += bytesOf(m_opened.info);
    }
    m_opened.info = std::move(read.info);
    m_opened.notices = std::move(read.notices);
  };
  while (m_process->ask(question, m_start, interrupt, take) == MediaProcess::kAnyProcess) openAgain(interrupt);
  return frames;
}

ProcessSound::ProcessSound(std::shared_ptr<MediaProcess> process, const std::string& path, OpenedMedia file,
                           const InterruptToken& interrupt)
    : m_process(std::move(process)), m_path(path), m_file(std::move(file)), m_number(m_process->nextSource()) {
  m_files.add(m_path, m_file);
  open(interrupt);
}

void ProcessSound::open(const InterruptToken& interrupt) {
  MediaRequest request{.path = m_path};
  const MediaQuestion question{MediaMessage::kOpenSound, MediaMessage::kSoundOpened, m_path,
                               wire::encoded_fields(AskFile{m_number, request, m_files.files()}), m_files.descriptors()};
  m_start = m_process->ask(question, MediaProcess::kAnyProcess, interrupt,
                           [&](const std::vector<std::uint8_t>& answer, int) { m_durationS = soundOpenedAnswer(answer).durationS; });
}

std::vector<float> ProcessSound::read(std::int64_t count, const InterruptToken& interrupt) {
  std::vector<float> samples;
  const MediaQuestion question{
      MediaMessage::kReadSound, MediaMessage::kSound, m_path, wire::encoded_fields(AskSound{m_number, m_at, count}), {}};
  const auto take = [&](const std::vector<std::uint8_t>& answer, int) { samples = soundAnswer(answer, count); };
  while (m_process->ask(question, m_start, interrupt, take) == MediaProcess::kAnyProcess) open(interrupt);
  m_at += std::ssize(samples);
  return samples;
}

using Bytes = std::vector<std::uint8_t>;

// A question about one file, which is opened for it.
MediaQuestion questionAbout(MediaMessage kind, MediaMessage answer, const MediaRequest& request, const GivenFiles& files) {
  return {kind, answer, request.path, wire::encoded_fields(AskFile{0, request, files.files()}), files.descriptors()};
}

GivenFiles given(const std::string& path, OpenedMedia opened) {
  GivenFiles files;
  files.add(path, std::move(opened));
  return files;
}

}  // namespace

ProcessMediaReader::ProcessMediaReader(MediaProcessSettings settings)
    : m_process(std::make_shared<MediaProcess>(std::move(settings))),
      m_documents(
          std::make_unique<ReadDocuments>([this](const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt) {
            return readDocument(file, request, interrupt);
          })) {}

std::unique_ptr<MediaSource> ProcessMediaReader::openSource(const MediaRequest& request, const InterruptToken& interrupt) const {
  interrupt.throw_if_requested();
  OpenedMedia opened = openMedia(request.path);
  if (const Passwords* const passwords = m_process->settings().passwords) opened.password = passwords->of(request.path);
  if (request.kind == MediaKind::kDocument) return m_documents->open(MediaFile(request.path, std::move(opened)), request, interrupt);
  return std::make_unique<ProcessMediaSource>(m_process, request, std::move(opened), interrupt);
}

DocumentText ProcessMediaReader::readDocument(const MediaFile& file, const MediaRequest& request, const InterruptToken& interrupt) const {
  DocumentText text;
  GivenFiles files = given(file.path(), file.opened());
  if (!request.subtitles.empty()) files.addIfOpens(request.subtitles);
  m_process->ask(questionAbout(MediaMessage::kReadText, MediaMessage::kText, request, files), MediaProcess::kAnyProcess, interrupt,
                 [&](const Bytes& answer, int) { text = textAnswer(answer); });
  return text;
}

std::unique_ptr<SoundSource> ProcessMediaReader::openSound(const SoundRequest& request, const InterruptToken& interrupt) const {
  interrupt.throw_if_requested();
  return std::make_unique<ProcessSound>(m_process, request.path, openMedia(request.path), interrupt);
}

MediaKind ProcessMediaReader::detectKind(const std::string& path, const InterruptToken& interrupt) const {
  MediaRequest request{.path = path};
  MediaKind kind = MediaKind::kImage;
  const GivenFiles files = given(path, openMedia(path));
  m_process->ask(questionAbout(MediaMessage::kDetectKind, MediaMessage::kDetected, request, files), MediaProcess::kAnyProcess, interrupt,
                 [&](const Bytes& answer, int) { kind = detectedAnswer(answer); });
  return kind;
}

Subtitles ProcessMediaReader::readSubtitles(const std::string& path, const std::string& encoding, const InterruptToken& interrupt) const {
  MediaRequest request{.path = path, .encoding = encoding};
  Subtitles subtitles;
  const GivenFiles files = given(path, openMedia(path));
  m_process->ask(questionAbout(MediaMessage::kReadLines, MediaMessage::kLines, request, files), MediaProcess::kAnyProcess, interrupt,
                 [&](const Bytes& answer, int) { subtitles = linesAnswer(answer); });
  return subtitles;
}

std::string wordsOf(const SandboxReport& report) {
  std::string held, missing;
  const auto say = [](std::string& words, const std::string& more) { words += (words.empty() ? "" : ", ") + more; };
  say(report.systemCalls ? held : missing, report.systemCalls ? "system calls (seccomp)" : "no seccomp");
  say(report.landlock > 0 ? held : missing,
      report.landlock > 0 ? "files (Landlock " + std::to_string(report.landlock) + ")" : std::string("no Landlock"));
  say(report.memory ? held : missing, report.memory ? "memory" : "no bound of memory");
  if (missing.empty()) return held;
  return (held.empty() ? "nothing is held" : held) + "; this kernel has " + missing;
}

std::unique_ptr<MediaReader> makeMediaReader(bool inProcess, const Passwords* passwords) {
  MediaProcessSettings settings;
  settings.passwords = passwords;
  settings.requireSandbox = sandboxIsRequired();
  if (inProcess && !settings.requireSandbox) return std::make_unique<FfmpegMediaOpener>();
  return std::make_unique<ProcessMediaReader>(std::move(settings));
}

}  // namespace winnow::app
