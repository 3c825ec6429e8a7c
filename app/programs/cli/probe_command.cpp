#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/ground/notices/notice_text.h"
#include "app/media/files/subtitles.h"
#include "app/media/files/typed_path.h"
#include "app/programs/cli/answer_json.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/document_passwords.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/media_reading.h"
#include "engine/api/model_kinds.h"
#include "engine/api/model_summary.h"
#include "engine/messages/choice_words.h"

namespace winnow::cli {
namespace {

struct ProbeOptions : CommandOptions {
  std::string file;      // empty: the models that run
  std::string encoding;  // that a text is read in; empty: by its bytes
};

// The chosen sampling settings, and nothing else.
nlohmann::ordered_json sampling_json(const SamplingChoice& choice) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  visit_choices(choice, [&object](const SamplingField& field, const auto& value) {
    if (value) object[field.name] = *value;
  });
  return object;
}

// "temperature 0.7, top-k 20"; empty: nothing was chosen.
std::string sampling_words(const SamplingChoice& choice) {
  std::string words;
  const nlohmann::ordered_json object = sampling_json(choice);
  for (const auto& [name, value] : object.items()) words += (words.empty() ? "" : ", ") + option_of(name).substr(2) + " " + value.dump();
  return words;
}

// "Q4_1 98 %, F32 2 %", the largest first.
std::string stored_text(const ModelSummary& model) {
  std::vector<std::pair<std::uint64_t, std::string>> shares;
  std::uint64_t all = 0;
  for (const auto& [type, bytes] : model.stored) {
    shares.emplace_back(bytes, type);
    all += bytes;
  }
  std::sort(shares.rbegin(), shares.rend());
  std::string text;
  for (const auto& [bytes, type] : shares) {
    const auto percent = std::lround(100.0 * static_cast<double>(bytes) / static_cast<double>(all));
    text += (text.empty() ? "" : ", ") + type + " " + (percent > 0 ? std::to_string(percent) : "under 1") + " %";
  }
  return text;
}

nlohmann::ordered_json model_json(const ModelSummary& model) {
  nlohmann::ordered_json missing = nlohmann::ordered_json::array();
  for (const Error& error : model.missing) missing.push_back({{"subject", error.subject}, {"reason", error.reason}});
  return {{"path", model.path},
          {"kind", "model"},
          {"name", model.name},
          {"format", model.format},
          {"type", model.type},
          {"architecture", model.architecture},
          {"runs", model.runs},
          {"reads_images", model.sees},
          {"reads_videos", model.reads_videos},
          {"context_tokens", model.cache.context_tokens},
          {"weight_bytes", model.weight_bytes},
          {"stored", model.stored},
          {"projector", model.projector},
          {"chat_template", model.has_template},
          {"template_switches", model.template_switches},
          {"recommended", sampling_json(model.recommended)},
          {"missing", missing}};
}

std::string reads_text(const ModelSummary& model) {
  std::string text = !model.sees ? "text only" : model.reads_videos ? "text, images and videos" : "text and images";
  if (!model.projector.empty()) text += "; its vision encoder is " + model.projector;
  if (!model.sees && model.format == "GGUF") text += " (no matching mmproj file beside it; name one with --mmproj)";
  return text;
}

void print_model(const ModelSummary& model) {
  const std::string& what = model.architecture.empty() ? model.type : model.architecture;
  print_out("%s: %s model%s, %s of weights (%s)\n", model.path.c_str(), model.format.c_str(),
            (what.empty() ? "" : " of type " + what).c_str(), bytes_text(static_cast<std::int64_t>(model.weight_bytes)).c_str(),
            stored_text(model).c_str());
  if (!model.runs) print_out("does not run here: its class is not in the list of \"winnow-cli probe\"\n");
  if (model.runs) print_out("reads: %s\n", reads_text(model).c_str());
  if (model.cache.context_tokens > 0) print_out("context: %lld tokens\n", static_cast<long long>(model.cache.context_tokens));
  if (model.has_template) {
    print_out("chat template: its own%s\n",
              model.template_switches.empty() ? "" : (", with the switches " + joined_words(model.template_switches)).c_str());
  } else if (model.speaks_chatml) {
    print_out("chat template: none; ChatML, whose markers its vocabulary has\n");
  } else if (model.runs) {
    print_out("chat template: its family's\n");
  }
  const std::string recommended = sampling_words(model.recommended);
  print_out("recommended sampling: %s\n", recommended.empty() ? "none by the model" : recommended.c_str());
  for (const Error& error : model.missing) print_out("missing: %s: %s\n", error.subject.c_str(), error.reason.c_str());
}

ExitStatus probe_model(const std::string& path, OutputFormat format) {
  const ModelSummary model = summary_of_model(path);
  if (format == OutputFormat::kJson) {
    print_out("%s\n", json_line(model_json(model), 2).c_str());
  } else {
    print_model(model);
  }
  return ExitStatus::kAnswered;
}

// A folder, a GGUF file, or what was saved in place of one.
bool is_of_a_model(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) || is_gguf(path) || path.ends_with(".gguf") || path.ends_with(".safetensors");
}

ExitStatus run_known_models(OutputFormat format) {
  const std::vector<std::string> folders = known_classes();
  const std::vector<std::string> files = known_gguf_architectures();
  if (format == OutputFormat::kJson) {
    print_out("%s\n", json_line({{"classes", folders}, {"gguf_architectures", files}}, 2).c_str());
    return ExitStatus::kAnswered;
  }
  print_out("Model folders (config.json: architectures):\n");
  for (const std::string& name : folders) print_out("  %s\n", name.c_str());
  print_out("GGUF files (general.architecture):\n");
  for (const std::string& name : files) print_out("  %s\n", name.c_str());
  return ExitStatus::kAnswered;
}

ExitStatus run_probe(const ProbeOptions& options) {
  const std::string& path = options.file;
  if (path.empty()) return run_known_models(options.format);
  if (is_of_a_model(path)) return probe_model(path, options.format);
  note_missing_sandbox();
  unlock_document(path);
  const app::MediaInfo info = unlocking([&] { return media_reader().probe(path, {}, options.encoding); });
  const std::string subtitles = app::subtitlesOf(path, info);
  std::vector<std::string> notices;
  for (const MediaNotice& notice : info.notices) notices.push_back(app::noticeText(notice));
  if (options.format == OutputFormat::kJson) {
    const nlohmann::ordered_json object = {{"path", path},
                                           {"kind", word_of(kMediaKindWords, info.kind)},
                                           {"container", info.container},
                                           {"codec", info.codec},
                                           {"width_px", info.widthPx},
                                           {"height_px", info.heightPx},
                                           {"duration_s", info.durationS},
                                           {"average_fps", info.averageFps},
                                           {"rotation_degrees", info.rotationDegrees},
                                           {"colour_range", info.colourRange},
                                           {"colour_matrix", info.colourMatrix},
                                           {"bytes", info.fileBytes},
                                           {"frame_count", info.frameCount},
                                           {"words", info.words},
                                           {"pages", info.pages},
                                           {"subtitles", subtitles},
                                           {"notices", notices}};
    print_out("%s\n", json_line(object, 2).c_str());
    return ExitStatus::kAnswered;
  }
  print_out("%s: %s, %s in %s", path.c_str(), word_of(kMediaKindWords, info.kind), info.codec.c_str(), info.container.c_str());
  if (info.kind == MediaKind::kDocument) {
    if (info.pages > 0) print_out(", %lld page%s", static_cast<long long>(info.pages), info.pages == 1 ? "" : "s");
    print_out(", %lld words", static_cast<long long>(info.words));
  } else {
    print_out(", %d x %d", info.widthPx, info.heightPx);
  }
  if (info.kind == MediaKind::kVideo) print_out(", %.2f s, %.2f frames/s", info.durationS, info.averageFps);
  if (info.rotationDegrees != 0) print_out(", rotated by %d degrees", info.rotationDegrees);
  print_out(", %s\n", bytes_text(info.fileBytes).c_str());
  if (!subtitles.empty()) print_out("subtitles: %s\n", subtitles == path ? "text inside it" : subtitles.c_str());
  for (const std::string& notice : notices) print_out("note: %s\n", notice.c_str());
  return ExitStatus::kAnswered;
}

}  // namespace

RunCommand add_probe(CLI::App& command) {
  const auto options = std::make_shared<ProbeOptions>();
  command.add_option("file", options->file, "image, video, text, GGUF file or model folder; without one: list the models that run")
      ->transform(app::typedPath);
  add_encoding_option(command, options->encoding);
  add_password_option(command);
  add_json_option(command, *options, "print a JSON object");
  return [options] { return run_probe(*options); };
}

}  // namespace winnow::cli
