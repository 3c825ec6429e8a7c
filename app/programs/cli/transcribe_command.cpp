#include <nlohmann/json.hpp>
#include <string>

#include "app/programs/cli/answer_json.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/listening.h"
#include "app/words/transcript_text.h"

namespace winnow::cli {
namespace {

enum class TranscriptForm : int { kText = 1, kSubRip = 2, kWebVtt = 3, kJson = 4 };

struct TranscribeOptions : ListenOptions {
  std::string file;
  TranscriptForm form = TranscriptForm::kText;
  bool whole = false;  // silence and music as well
  LoadModel how;       // device and weight format
};

nlohmann::ordered_json transcript_json(const Transcribed& heard) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  for (const TimedLine& line : heard.lines) lines.push_back({{"start_s", line.start_s}, {"end_s", line.end_s}, {"text", line.text}});
  return {{"model", heard.model},     {"language", heard.language},     {"sound_s", heard.sound_s},
          {"heard_s", heard.heard_s}, {"elapsed_ms", heard.elapsed_ms}, {"repeated_lines", heard.repeated_lines},
          {"lines", std::move(lines)}};
}

std::string transcript_text(const Transcribed& heard, TranscriptForm form) {
  switch (form) {
    case TranscriptForm::kSubRip: return app::subRipText(heard.lines);
    case TranscriptForm::kWebVtt: return app::webVttText(heard.lines);
    case TranscriptForm::kJson: return json_line(transcript_json(heard), 2) + "\n";
    case TranscriptForm::kText: break;
  }
  return {};  // written line by line
}

// Says what is heard while it is heard; files of subtitles and JSON come at the end.
ExitStatus run_transcribe(const TranscribeOptions& options) {
  Transcribe request = transcribe_request(options.file, options);
  if (options.whole) request.voice.clear();
  request.device = options.how.device;
  request.format = options.how.format;
  Session session;
  ConsoleSink sink(AnswerOutput::kSilent);
  if (options.form == TranscriptForm::kText)
    sink.on_lines = [](const std::vector<TimedLine>& lines) { write_out(app::clockedText(lines)); };
  session.run(std::move(request), sink);
  if (!sink.transcribed) return ExitStatus::kInterrupted;
  const Transcribed& heard = *sink.transcribed;
  write_out(transcript_text(heard, options.form));
  if (heard.repeated_lines > 0)
    print_err("note: the same line again and again was left out %lld times\n", static_cast<long long>(heard.repeated_lines));
  if (heard.lines.empty() && !heard.stopped) print_err("nothing is said in %s\n", options.file.c_str());
  return heard.stopped ? ExitStatus::kInterrupted : ExitStatus::kAnswered;
}

}  // namespace

RunCommand add_transcribe(CLI::App& command) {
  const auto options = std::make_shared<TranscribeOptions>();
  command.add_option("file", options->file, "a video, or a file of sound")->required();
  add_speech_options(command, *options, "--model");
  add_device_options(command, options->how);
  const auto form = [&](const char* name, TranscriptForm value, const char* help) {
    return command.add_flag_callback(
        name, [options, value] { options->form = value; }, help);
  };
  CLI::Option* const srt = form("--srt", TranscriptForm::kSubRip, "write subtitles as SubRip (.srt)");
  CLI::Option* const vtt = form("--vtt", TranscriptForm::kWebVtt, "write subtitles as WebVTT (.vtt)")->excludes(srt);
  form("--json", TranscriptForm::kJson, "print one JSON object only")->excludes(srt)->excludes(vtt);
  command.add_flag("--whole", options->whole, "decode silence and music, too, in which a model may hear words that nobody says");
  return [options] { return run_transcribe(*options); };
}

}  // namespace winnow::cli
