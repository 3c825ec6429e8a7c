#include "app/programs/server/transcription_request.h"

#include <QLocale>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/programs/server/api_json.h"
#include "app/programs/server/form_data.h"
#include "app/programs/server/request_fields.h"
#include "app/words/transcript_text.h"

namespace winnow::app {
namespace {

using Ordered = nlohmann::ordered_json;

struct FormWord {
  std::string_view word;
  TranscriptForm form;
};
constexpr FormWord kForms[] = {{"json", TranscriptForm::kJson},
                               {"text", TranscriptForm::kText},
                               {"srt", TranscriptForm::kSubRip},
                               {"vtt", TranscriptForm::kWebVtt},
                               {"verbose_json", TranscriptForm::kVerboseJson}};

constexpr std::string_view kNo[] = {"", "0", "false", "False"};

TranscriptForm formOf(std::string_view word) {
  const auto* const found = std::ranges::find(kForms, word, &FormWord::word);
  if (found == std::end(kForms)) throw ApiRefusal(400, "must be json, text, srt, vtt or verbose_json", "response_format");
  return found->form;
}

bool isZero(std::string_view number) {
  double value = 1.0;
  const auto [rest, problem] = std::from_chars(number.data(), number.data() + number.size(), value);
  return problem == std::errc() && rest == number.data() + number.size() && value == 0.0;
}

// One field that is not the file.
void readField(TranscriptionRequest& request, const std::string& name, std::string_view value) {
  if (name == "model") request.model = value;
  if (name == "language") request.language = value;
  if (name == "response_format") request.form = formOf(value);
  if (name == "prompt" && !value.empty()) refuseUnsupported(name, "a text that the words are to go on from");
  if (name == "temperature" && !isZero(value)) refuseUnsupported(name, "another temperature than 0");
  if (name == "stream" && !isAmong(kNo, value)) refuseUnsupported(name, "a transcript in pieces");
  if (name == "include[]" && !value.empty()) refuseUnsupported(name, "probabilities of what is said");
  if (name == "timestamp_granularities[]" && value != "segment") {
    if (value == "word") refuseUnsupported(name, "a time for each word");
    throw ApiRefusal(400, "must be segment", name);
  }
}

std::string wholeText(const Transcribed& heard) {
  std::string text;
  for (const TimedLine& line : heard.lines) text += (text.empty() ? "" : " ") + line.text;
  return text;
}

// "english", as OpenAI's API tells it.
std::string languageName(const std::string& code) {
  const QLocale::Language language = QLocale::codeToLanguage(QString::fromStdString(code));
  if (language == QLocale::AnyLanguage || language == QLocale::C) return code;
  return QLocale::languageToString(language).toLower().toStdString();
}

double inMilliseconds(double seconds) { return std::round(1'000.0 * seconds) / 1'000.0; }

Ordered transcriptJson(const Transcribed& heard, bool verbose) {
  Ordered json;
  if (verbose) {
    Ordered segments = Ordered::array();
    for (const TimedLine& line : heard.lines)
      segments.push_back(
          {{"id", segments.size()}, {"start", inMilliseconds(line.start_s)}, {"end", inMilliseconds(line.end_s)}, {"text", line.text}});
    json = {{"task", "transcribe"},
            {"language", languageName(heard.language)},
            {"duration", inMilliseconds(heard.sound_s)},
            {"text", ""},
            {"segments", std::move(segments)}};
  }
  json["text"] = wholeText(heard);
  json["usage"] = {{"type", "duration"}, {"seconds", std::ceil(heard.sound_s)}};
  return json;
}

}  // namespace

TranscriptionRequest transcriptionRequestOf(const HttpRequest& request) {
  TranscriptionRequest asked;
  bool hasFile = false;
  for (const FormField& field : formFields(request.type, request.body)) {
    if (field.name != "file") {
      readField(asked, field.name, field.value_view);
      continue;
    }
    if (hasFile) refuseUnsupported("file", "more than one file");
    hasFile = true;
    asked.sound_view = field.value_view;
  }
  if (!hasFile) throw ApiRefusal(400, "is missing", "file");
  if (asked.sound_view.empty()) throw ApiRefusal(400, "holds no bytes", "file");
  return asked;
}

HttpReply transcriptReply(TranscriptForm form, const Transcribed& heard) {
  switch (form) {
    case TranscriptForm::kText: return {200, "text/plain; charset=utf-8", wholeText(heard) + "\n", {}};
    case TranscriptForm::kSubRip: return {200, "text/plain; charset=utf-8", subRipText(heard.lines), {}};
    case TranscriptForm::kWebVtt: return {200, "text/vtt; charset=utf-8", webVttText(heard.lines), {}};
    case TranscriptForm::kVerboseJson: return jsonReply(transcriptJson(heard, /*verbose=*/true));
    case TranscriptForm::kJson: break;
  }
  return jsonReply(transcriptJson(heard, /*verbose=*/false));
}

}  // namespace winnow::app
