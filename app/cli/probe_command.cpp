#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/cli/answer_json.h"
#include "app/cli/commands.h"
#include "app/cli/console_output.h"
#include "app/cli/sampling_json.h"
#include "app/media/media_opener.h"
#include "app/media/subtitles.h"
#include "app/notices/notice_text.h"
#include "engine/api/model_kinds.h"
#include "engine/api/model_summary.h"

namespace winnow::cli {
namespace {

const char* kind_name(MediaKind kind) { return kind == MediaKind::kVideo ? "video" : kind == MediaKind::kDocument ? "document" : "image"; }

ExitStatus probe_model(const std::string& path, OutputFormat format) {
  const ModelSummary model = summary_of_model(path);
  if (format == OutputFormat::kJson) {
    const nlohmann::ordered_json object = {{"path", path},
                                           {"kind", "model"},
                                           {"name", model.name},
                                           {"type", model.type},
                                           {"weight_bytes", model.weight_bytes},
                                           {"recommended", sampling_json(model.recommended)}};
    print_out("%s\n", json_line(object, 2).c_str());
    return ExitStatus::kAnswered;
  }
  const std::string recommended = sampling_words(model.recommended);
  print_out("%s: model%s, %s of weights\n", path.c_str(), (model.type.empty() ? "" : " of type " + model.type).c_str(),
            bytes_text(static_cast<std::int64_t>(model.weight_bytes)).c_str());
  print_out("recommended sampling: %s\n", recommended.empty() ? "the model says nothing of it" : recommended.c_str());
  return ExitStatus::kAnswered;
}

}  // namespace

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

ExitStatus run_probe(const std::string& path, OutputFormat format) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return probe_model(path, format);
  const app::MediaInfo info = app::FfmpegMediaOpener().probe(path);
  const std::string subtitles = app::subtitlesOf(path, info);
  std::vector<std::string> notices;
  for (const MediaNotice& notice : info.notices) notices.push_back(app::noticeText(notice));
  if (format == OutputFormat::kJson) {
    const nlohmann::ordered_json object = {{"path", path},
                                           {"kind", kind_name(info.kind)},
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
                                           {"subtitles", subtitles},
                                           {"notices", notices}};
    print_out("%s\n", json_line(object, 2).c_str());
    return ExitStatus::kAnswered;
  }
  print_out("%s: %s, %s in %s", path.c_str(), kind_name(info.kind), info.codec.c_str(), info.container.c_str());
  if (info.kind == MediaKind::kDocument) {
    print_out(", %lld words", static_cast<long long>(info.words));
  } else {
    print_out(", %d x %d", info.widthPx, info.heightPx);
  }
  if (info.kind == MediaKind::kVideo) print_out(", %.2f s, %.2f frames/s", info.durationS, info.averageFps);
  if (info.rotationDegrees != 0) print_out(", turned by %d degrees", info.rotationDegrees);
  print_out(", %s\n", bytes_text(info.fileBytes).c_str());
  if (!subtitles.empty()) print_out("subtitles: %s\n", subtitles == path ? "text inside it" : subtitles.c_str());
  for (const std::string& notice : notices) print_out("note: %s\n", notice.c_str());
  return ExitStatus::kAnswered;
}

}  // namespace winnow::cli
