#include "app/media/process/process_media_reader.h"

#include <utility>

#include "app/media/files/media_opener.h"
#include "app/media/process/given_files.h"
#include "app/media/process/kernel_sandbox.h"
#include "app/media/process/media_answers.h"
#include "app/media/process/process_media_source.h"
#include "engine/messages/wire_value.h"

namespace winnow::app {
namespace {

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
          std::make_unique<ReadDocuments>([this](const MediaFile& file, const std::string& encoding, const InterruptToken& interrupt) {
            return readDocument(file, encoding, interrupt);
          })) {}

std::unique_ptr<MediaSource> ProcessMediaReader::openSource(const MediaRequest& request, const InterruptToken& interrupt) const {
  interrupt.throw_if_requested();
  OpenedMedia opened = openMedia(request.path);
  if (request.kind == MediaKind::kDocument)
    return m_documents->open(MediaFile(request.path, std::move(opened)), request.encoding, interrupt);
  return std::make_unique<ProcessMediaSource>(m_process, request, std::move(opened), interrupt);
}

std::shared_ptr<const DocumentSource> ProcessMediaReader::readDocument(const MediaFile& file, const std::string& encoding,
                                                                       const InterruptToken& interrupt) const {
  MediaRequest request;
  request.path = file.path();
  request.kind = MediaKind::kDocument;
  request.encoding = encoding;
  DocumentText text;
  const GivenFiles files = given(file.path(), file.opened());
  m_process->ask(questionAbout(MediaMessage::kReadText, MediaMessage::kText, request, files), MediaProcess::kAnyProcess, interrupt,
                 [&](const Bytes& answer, int) { text = textAnswer(answer); });
  return std::make_shared<const DocumentSource>(file, std::move(text));
}

MediaKind ProcessMediaReader::detectKind(const std::string& path, const InterruptToken& interrupt) const {
  MediaRequest request;
  request.path = path;
  MediaKind kind = MediaKind::kImage;
  const GivenFiles files = given(path, openMedia(path));
  m_process->ask(questionAbout(MediaMessage::kDetectKind, MediaMessage::kDetected, request, files), MediaProcess::kAnyProcess, interrupt,
                 [&](const Bytes& answer, int) { kind = detectedAnswer(answer); });
  return kind;
}

Subtitles ProcessMediaReader::readSubtitles(const std::string& path, const std::string& encoding, const InterruptToken& interrupt) const {
  MediaRequest request;
  request.path = path;
  request.encoding = encoding;
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

std::unique_ptr<MediaReader> makeMediaReader(bool inProcess) {
  MediaProcessSettings settings;
  settings.requireSandbox = sandboxIsRequired();
  if (inProcess && !settings.requireSandbox) return std::make_unique<FfmpegMediaOpener>();
  return std::make_unique<ProcessMediaReader>(std::move(settings));
}

}  // namespace winnow::app
