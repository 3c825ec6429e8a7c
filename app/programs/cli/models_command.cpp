#include "app/programs/cli/models_command.h"

#include <QFileInfo>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "app/chats/settings/app_folders.h"
#include "app/ground/diagnostics/system_report.h"
#include "app/library/gpu/gpu_probe.h"
#include "app/library/hub/hub_place.h"
#include "app/library/models/model_uses.h"
#include "app/programs/cli/answer_json.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/download_words.h"
#include "app/programs/cli/interrupt_signals.h"
#include "app/programs/cli/program_call.h"
#include "app/words/library_words.h"

namespace winnow::cli {
namespace {

using app::FoundModel;
using app::ListedModel;
using app::ModelOrigin;
using nlohmann::ordered_json;

constexpr int kThousand = 1000;

std::string origin_name(ModelOrigin origin) {
  return origin == ModelOrigin::kWinnow ? "Winnow" : app::modelOriginName(origin).toStdString();
}

std::string day_of(const ListedModel& model) { return model.used.toString(QStringLiteral("yyyy-MM-dd")).toStdString(); }

// The parts of its memory.
std::string parts_text(const app::MemoryNeed& need, const app::MachineMemory& memory) {
  const std::string held =
      "weights " + download_size(need.weights) + ", cache of " + std::to_string(kUsualTokens) + " tokens " + download_size(need.cache);
  if (app::modelFit(need, memory) == app::ModelFit::kGpu) return held + ", room to work in " + download_size(kGpuWorkingBytes);
  return held + ", program " + download_size(need.program);
}

void print_listed(const ListedModel& model, const app::MachineMemory& memory) {
  print_out("%s (%s)\n  %s\n", printable_line(model.found.name.toStdString()).c_str(), origin_name(model.found.origin).c_str(),
            printable_line(model.found.path.toStdString()).c_str());
  print_out("  %s", printable_line(app::modelFacts(model).toStdString()).c_str());
  if (model.summary && model.summary->cache.state_bytes > 0)
    print_out("  ·  states %s", download_size(model.summary->cache.state_bytes).c_str());
  const bool runs = model.summary && model.summary->runs;
  const QString fit = runs ? app::needWords(model.need, memory).text : app::fitWords(model, memory).text;
  print_out("\n  %s\n", with_details(fit, runs ? parts_text(model.need, memory) : std::string()).c_str());
  for (const Error& error : model.summary ? model.summary->missing : std::vector<Error>())
    print_out("  missing: %s\n", printable_line(error.reason).c_str());
  if (!model.found.hears) print_out("  last used: %s\n", model.used.isValid() ? day_of(model).c_str() : "never");
}

ordered_json listed_json(const ListedModel& model, const app::MachineMemory& memory) {
  ordered_json object = {{"name", model.found.name.toStdString()},
                         {"path", model.found.path.toStdString()},
                         {"origin", origin_name(model.found.origin)},
                         {"bytes", model.found.bytes},
                         {"hears", model.found.hears},
                         {"last_used", model.used.isValid() ? ordered_json(day_of(model)) : ordered_json()}};
  if (!model.summary) {
    if (!model.found.hears) object["fault"] = printable_line(model.fault);
    return object;
  }
  const app::ModelFit fit = app::modelFit(model.need, memory);
  object.update({{"type", model.summary->type},
                 {"runs", model.summary->runs},
                 {"reads_images", model.summary->sees},
                 {"reads_videos", model.summary->reads_videos},
                 {"context_tokens", model.summary->cache.context_tokens},
                 {"kv_bytes_per_1000_tokens", model.summary->cache.kv_bytes_per_token * kThousand},
                 {"state_bytes", model.summary->cache.state_bytes},
                 {"needed_bytes", model.need.total()},
                 {"needed_gpu_bytes", model.need.totalOnGpu()},
                 {"fits", fit != app::ModelFit::kNowhere},
                 {"fits_gpu", memory.gpuBytes > 0 ? ordered_json(fit == app::ModelFit::kGpu) : ordered_json()}});
  return object;
}

ExitStatus list_models(const std::vector<FoundModel>& found, const app::ModelPlaces& places, OutputFormat format) {
  const QHash<QString, QDateTime> uses = app::modelUses(places.data);
  ordered_json list = ordered_json::array();
  for (const FoundModel& each : found) {
    const ListedModel model = app::listedModel(each, uses);
    format == OutputFormat::kJson ? list.push_back(listed_json(model, places.memory)) : print_listed(model, places.memory);
  }
  if (format == OutputFormat::kJson) {
    print_out("%s\n", json_line(list, 2).c_str());
  } else if (found.empty()) {
    print_out("no models here yet; see: %s\n", program_call("get").c_str());
  }
  return ExitStatus::kAnswered;
}

const char* state_name(app::VerifiedFile::State state) {
  switch (state) {
    case app::VerifiedFile::State::kRight: return "right";
    case app::VerifiedFile::State::kDamaged: return "damaged";
    case app::VerifiedFile::State::kUnreadable: return "unreadable";
    case app::VerifiedFile::State::kNoHash: return "no hash to compare with";
  }
  return "";
}

ExitStatus verify_model(const FoundModel& model, OutputFormat format) {
  InterruptSource interrupt;
  const InterruptOnSignal signals(interrupt);
  DownloadLine line(model.name.toStdString());
  const std::vector<app::VerifiedFile> files = app::verifyModel(model, interrupt.token(), [&line](qint64 done, qint64 total) {
    line.show({app::DownloadStage::kChecking, done, total});
  });
  line.clear();
  bool damaged = false;
  ordered_json list = ordered_json::array();
  for (const app::VerifiedFile& file : files) {
    damaged = damaged || file.state == app::VerifiedFile::State::kDamaged || file.state == app::VerifiedFile::State::kUnreadable;
    if (format == OutputFormat::kJson) {
      list.push_back({{"path", file.path.toStdString()}, {"state", state_name(file.state)}});
    } else {
      print_out("%s: %s\n", printable_line(file.path.toStdString()).c_str(), state_name(file.state));
    }
  }
  if (format == OutputFormat::kJson) print_out("%s\n", json_line(list, 2).c_str());
  if (damaged) print_err("winnow-cli: this model is damaged: remove it (winnow-cli models remove) and get it again\n");
  return damaged ? ExitStatus::kRefusedInput : ExitStatus::kAnswered;
}

ExitStatus remove_model(const FoundModel& model, const app::ModelPlaces& places) {
  const app::RemovedModel removed = app::removeModel(model, places.trash);
  const std::string name = printable_line(model.name.toStdString());
  switch (removed.state) {
    case app::RemovedModel::State::kRemoved:
      print_out("%s is in the trash: %s\n", name.c_str(), download_size(removed.bytes).c_str());
      return ExitStatus::kAnswered;
    case app::RemovedModel::State::kNotOurs:
    case app::RemovedModel::State::kNotPossible:
      print_err("winnow-cli: %s\n", printable_line(app::removalWords(removed, model.name).toStdString()).c_str());
      return ExitStatus::kRefusedInput;
  }
  return ExitStatus::kEngineFailed;
}

// By its name in the list, the repository's, or its path. Null: said already.
const FoundModel* named_model(const std::vector<FoundModel>& found, const std::string& typed) {
  const QString text = QString::fromStdString(typed);
  const std::optional<app::HubName> name = app::readHubName(text);
  std::vector<const FoundModel*> named;
  for (const FoundModel& each : found) {
    const bool same = each.name.compare(text, Qt::CaseInsensitive) == 0 || (name && app::isOf(each, *name)) || each.path == text ||
                      each.path == QFileInfo(text).absoluteFilePath();
    if (same) named.push_back(&each);
  }
  if (named.size() == 1) return named.front();
  if (named.empty()) {
    print_err("winnow-cli: %s: no such model here; see: winnow-cli models\n", printable_line(typed).c_str());
    return nullptr;
  }
  print_err("winnow-cli: %s names several models; give the path of one:\n", printable_line(typed).c_str());
  for (const FoundModel* each : named) print_err("  %s\n", printable_line(each->path.toStdString()).c_str());
  return nullptr;
}

}  // namespace

ExitStatus run_models(const ModelsOptions& options, const app::ModelPlaces& places) {
  const std::vector<FoundModel> found = app::findModels(places.folders, {});
  if (options.action.empty()) return list_models(found, places, options.format);
  const FoundModel* model = named_model(found, options.named);
  if (model == nullptr) return ExitStatus::kWrongUsage;
  return options.action == "verify" ? verify_model(*model, options.format) : remove_model(*model, places);
}

RunCommand add_models(CLI::App& command) {
  const auto options = std::make_shared<ModelsOptions>();
  auto* action =
      command.add_option("action", options->action, "verify: compare the files with their hashes; remove: move them to the trash")
          ->check(CLI::IsMember({"verify", "remove"}));
  command.add_option("model", options->named, "its name in the list, or its path")->needs(action);
  add_json_option(command, *options, "print a JSON array");
  return [options] {
    if (options->action.empty() != options->named.empty()) throw CLI::RequiredError("model");
    return run_models(*options, app::ModelPlaces::standard(app::AppFolders::standard().data, this_machine()));
  };
}

app::MachineMemory this_machine() {
  return {app::memoryBytes(), app::usedGpuBytes(app::GpuPlaces::standard(app::AppFolders::standard().data))};
}

}  // namespace winnow::cli
