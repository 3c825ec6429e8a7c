#include "app/programs/cli/listening.h"

#include <CLI/CLI.hpp>
#include <QFile>
#include <algorithm>
#include <memory>

#include "app/chats/settings/app_folders.h"
#include "app/engine/cache_store/kept_transcripts.h"
#include "app/library/downloads/model_folder.h"
#include "app/media/process/scan_reader.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/document_passwords.h"
#include "app/programs/cli/interrupt_signals.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/media_reading.h"
#include "app/programs/cli/program_call.h"
#include "app/words/format_text.h"
#include "app/words/transcript_text.h"
#include "engine/base/error.h"

namespace winnow::cli {
namespace {

// The file of a sound's lines; empty: nothing is said in it.
std::string lines_heard(Session& session, const std::string& path, const std::string& content, const ListenOptions& options) {
  const QString data = app::AppFolders::standard().data;
  Transcribe request = transcribe_request(path, options);
  request.content = content;
  const std::string file = app::transcriptFile(data, request, app::kSubtitles);
  if (!app::isKeptTranscript(file)) {
    ConsoleSink sink(AnswerOutput::kSilent);
    session.run(request, sink);
    if (!sink.transcribed || sink.transcribed->stopped) throw Interrupted(Interrupt::kStop);
    const Transcribed& heard = *sink.transcribed;
    app::keepTranscript(app::timedTextBeside(file), heard.lines, app::clockedText);
    app::keepTranscript(file, heard.lines, app::webVttText);
    print_err("%s: %zu lines heard in %s\n", path.c_str(), heard.lines.size(),
              app::formatMilliseconds(heard.elapsed_ms).toStdString().c_str());
  } else {
    print_err("%s: heard before\n", path.c_str());
  }
  if (app::hasKeptLines(file)) return file;
  print_err("%s: nothing is said in it\n", path.c_str());
  return {};
}

// The content hash of a file that has sound. Text and pictures have none; what is wrong with a file says whoever reads it.
std::optional<std::string> content_of_sound(const std::string& path) {
  std::unique_ptr<SoundSource> sound;
  try {
    sound = media_reader().openSound({path, {}}, {});
  } catch (const Exception& problem) {
    if (problem.error().code == ErrorCode::kMediaCrashed) throw;
    return std::nullopt;
  }
  return sound->content_hash();
}

// The file of the text of a PDF that has none; nothing: it is another document, or has text.
std::optional<std::string> text_of_scan(const std::string& path, const TurnOptions& options) {
  const auto source = unlocking([&] { return media_reader().openSource(document_request(path, options), {}); });
  const app::MediaInfo& info = source->info();
  if (info.pages == 0 || info.words > 0) return std::nullopt;
  InterruptSource interrupt;
  const InterruptOnSignal on_signal(interrupt);
  const QString languages = app::scannedLanguages(interrupt.token());
  const std::string file = app::scannedFile(app::AppFolders::standard().data, source->content_hash(), languages, options.pages);
  if (!app::isKeptTranscript(file)) {
    const auto said = [](int done, int pages) { print_err("Tesseract: %d of %d pages read\n", done, pages); };
    app::keepText(file,
                  app::scannedText(media_reader(), document_request(path, options), static_cast<int>(info.pages), said, interrupt.token()));
  }
  print_err("%s: its text was read from pictures by Tesseract (%s) and may have mistakes\n", printable_line(path).c_str(),
            languages.toStdString().c_str());
  return file;
}

}  // namespace

void add_speech_options(CLI::App& command, ListenOptions& options, const char* model_option) {
  command.add_option(model_option, options.model,
                     "the speech model: a folder of Whisper, or a ggml-*.bin of whisper.cpp; default: the one that `get` fetched");
  command.add_option("--language", options.language, "the language that is spoken (en, de, ...); default: found by the model");
}

void add_listen_options(CLI::App& command, ListenOptions& options) {
  command.add_flag("--listen", options.listen,
                   "hear what is said in each video, and read it between the frames (with --subtitles auto: where there are none)");
  add_speech_options(command, options, "--speech-model");
}

std::optional<Transcribe> hearing_request(const std::string& path, const ListenOptions& options) {
  const QString model = options.model.empty() ? app::fetchedSpeechModel(app::modelsFolder(app::AppFolders::standard().data))
                                              : QFile::decodeName(QByteArray::fromStdString(options.model));
  if (model.isEmpty()) return std::nullopt;
  Transcribe request = app::hearingRequest(path, model);
  request.language = options.language;
  return request;
}

Transcribe transcribe_request(const std::string& path, const ListenOptions& options) {
  std::optional<Transcribe> request = hearing_request(path, options);
  if (request) return *std::move(request);
  throw Exception(ErrorCode::kNoModel, "speech model",
                  "there is none on this machine; this fetches a small one: " + program_call("get") + " whisper-tiny.en");
}

bool wants_hearing(const TurnOptions& options, const ListenOptions& listen) {
  const auto video = [&](const std::string& path) { return listen.listen && !options.heard.contains(path) && wants_speech(path, options); };
  const auto document = [&](const std::string& path) {
    return path != "-" && !options.heard.contains(path) && (options.ocr || content_of_sound(path).has_value());
  };
  return std::ranges::any_of(options.videos, video) || std::ranges::any_of(options.documents, document);
}

bool listen_to_media(Session& session, TurnOptions& options, const ListenOptions& listen) {
  const std::size_t before = options.heard.size();
  for (const std::string& video : options.videos) {
    if (!listen.listen || options.heard.contains(video) || !wants_speech(video, options)) continue;
    if (const auto content = content_of_sound(video)) {
      options.heard[video] = lines_heard(session, video, *content, listen);
    } else {
      options.heard[video] = {};
      print_err("%s: it has no sound\n", video.c_str());
    }
  }
  for (const std::string& document : options.documents) {
    if (document == "-" || options.heard.contains(document)) continue;
    const std::optional<std::string> content = content_of_sound(document);
    if (!content) {
      if (const auto text = options.ocr ? text_of_scan(document, options) : std::nullopt) options.heard[document] = *text;
      continue;
    }
    const std::string lines = lines_heard(session, document, *content, listen);
    if (lines.empty())
      throw Exception(ErrorCode::kInvalidArgument, document, "nothing is said in this sound, so there is nothing to ask about");
    options.heard[document] = app::timedTextBeside(lines);
  }
  return options.heard.size() > before;
}

}  // namespace winnow::cli
