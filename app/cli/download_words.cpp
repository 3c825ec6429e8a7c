#include "app/cli/download_words.h"

#include <unistd.h>

#include <utility>

#include "app/cli/console_output.h"

namespace winnow::cli {
namespace {

using app::ChoiceReason;
using app::DownloadFault;
using app::DownloadProblem;
using app::DownloadStage;

constexpr qint64 kMega = 1'000'000;
constexpr qint64 kGiga = 1'000'000'000;
constexpr qint64 kMinute = 60;
constexpr const char* kKept = "; what has come is kept, and the same command goes on from there";

std::string duration(qint64 seconds) {
  if (seconds < 2 * kMinute) return std::to_string(seconds) + " s";
  if (seconds < 2 * kMinute * kMinute) return std::to_string((seconds + kMinute / 2) / kMinute) + " min";
  return std::to_string(seconds / (kMinute * kMinute)) + " h " + std::to_string(seconds / kMinute % kMinute) + " min";
}

// "; it has Q4_K_M, Q8_0"
std::string choices_text(const DownloadFault& fault) {
  if (fault.choices.isEmpty()) return {};
  return "; it has " + printable_line(fault.choices.join(QStringLiteral(", ")).toStdString());
}

// The sentence for the hub's own problems; empty: it is none of them.
std::string hub_sentence(const DownloadFault& fault, const std::string& name, const std::string& subject, const std::string& reason) {
  switch (fault.problem) {
    case DownloadProblem::kNoSuchModel:
      return "the hub has no model " + subject + ", or shows it to its owner only (" + reason +
             "): check the name; for a private one set HF_TOKEN";
    case DownloadProblem::kNeedsToken:
      return "the owner of this model asks for an agreement: accept it at " + subject +
             ", then set HF_TOKEN to a token of your account (or run: hf auth login)";
    case DownloadProblem::kGated:
      return "your account may not fetch this model yet: ask for access at " + subject + " and try again when it is granted";
    case DownloadProblem::kNoSuchFile:
      return fault.choices.isEmpty() ? name + " has no quantisations: ask for it without \":" + subject + "\""
                                     : name + " has no " + subject + choices_text(fault);
    case DownloadProblem::kAmbiguous:
      return "\"" + subject + "\" names several files" + choices_text(fault) + "; write one of them behind the colon";
    case DownloadProblem::kNotReadable:
      return name + " cannot be used here: " + reason;
    case DownloadProblem::kTooLarge:
      return name + " does not fit into this machine's memory: the smallest needs about " + download_size(fault.bytes) +
             choices_text(fault) + "; write one behind a colon to fetch it all the same";
    case DownloadProblem::kOffline:
      return "the network is forbidden (--offline or HF_HUB_OFFLINE), and " + name + " is not here";
    case DownloadProblem::kChanged:
      return name + " was changed on the hub meanwhile (" + reason + "): try again";
    default:
      return {};
  }
}

}  // namespace

std::string download_size(qint64 bytes) {
  if (bytes < kGiga) return std::to_string((bytes + kMega / 2) / kMega) + " MB";
  const qint64 tenths = (bytes + kGiga / 20) / (kGiga / 10);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GB";
}

std::string fault_sentence(const DownloadFault& fault, const std::string& name) {
  const std::string subject = printable_line(fault.subject.toStdString());
  const std::string reason = printable_line(fault.reason.toStdString());
  const std::string about = subject + " (" + reason + ")";
  switch (fault.problem) {
    case DownloadProblem::kCancelled:
      return std::string("stopped") + kKept;
    case DownloadProblem::kNoNetwork:
      return subject + " cannot be reached (" + reason + "): check the network and try again; what has come is kept";
    case DownloadProblem::kNoTrust:
      return subject + " cannot be trusted (" + reason + "): install ca-certificates, or name your network's in SSL_CERT_FILE";
    case DownloadProblem::kNoCertificates:
      return "the certificates in " + about + ": correct or unset PIP_CERT or SSL_CERT_FILE";
    case DownloadProblem::kInsecure:
      return "no download without encryption: " + about;
    case DownloadProblem::kServerRefused:
      return subject + " refused: " + reason + kKept;
    case DownloadProblem::kNotOffered:
      return subject + " does not have " + name + " (" + reason + ")";
    case DownloadProblem::kHashDiffers:
    case DownloadProblem::kDamaged:
      return "the download is not the expected model and is not used: " + about;
    case DownloadProblem::kNoSpace:
      return "there is not enough room for the model: " + about;
    case DownloadProblem::kUnwritable:
      return "the model cannot be saved: " + about;
    case DownloadProblem::kBusy:
      return "another program is downloading this model right now";
    case DownloadProblem::kTooManyRequests:
      return subject + " asks to wait" + (fault.seconds > 0 ? " " + duration(fault.seconds) : "") + ": too many requests" + kKept;
    case DownloadProblem::kOtherAnswer:
      return about + ": log in to this network in a browser, or check its proxy" + kKept;
    default:
      return hub_sentence(fault, name, subject, reason);
  }
}

std::string choice_sentence(const app::DownloadChoice& choice, const std::string& name) {
  const std::string what = printable_line(choice.what.toStdString());
  const std::string memory = download_size(choice.memoryBytes) + " of memory";
  std::string text = printable_line(name) + ": " + (what.empty() ? "the folder" : what) + ", " + download_size(choice.bytes);
  if (!choice.projector.isEmpty()) text += ", with its vision encoder (" + printable_line(choice.projector.toStdString()) + ")";
  switch (choice.reason) {
    case ChoiceReason::kNamed:
      return text;
    case ChoiceReason::kOnly:
      return text + "; it has no other";
    case ChoiceReason::kSmall:
      return text + "; so small that fewer bits would save little";
    case ChoiceReason::kUsual:
      return text + "; the usual balance of size and quality, which fits " + memory;
    case ChoiceReason::kSmaller:
      return text + "; the largest that fits " + memory;
    case ChoiceReason::kBest:
      return text + "; the first choice of those that it has";
    case ChoiceReason::kFolder:
      return text + "; weights as they were published";
    case ChoiceReason::kStored:
      return text + "; found here, without asking the network";
  }
  return text;
}

DownloadLine::DownloadLine(const std::string& name) : name_(printable_line(name)), interactive_(isatty(STDERR_FILENO) == 1) {
  clock_.start();
}

void DownloadLine::show(const app::DownloadProgress& progress) {
  if (progress.stage == DownloadStage::kDownloading) speed_.told(clock_.elapsed(), progress.done);
  if (interactive_) {
    status_line(text(progress));
  } else if (last_ != progress.stage) {
    print_err("%s\n", text(progress).c_str());
  }
  last_ = progress.stage;
}

void DownloadLine::clear() const {
  if (interactive_) status_line("");
}

std::string DownloadLine::text(const app::DownloadProgress& progress) const {
  const std::string of = download_size(progress.done) + " of " + download_size(progress.total);
  switch (progress.stage) {
    case DownloadStage::kConnecting:
      return "contacting the server for " + name_;
    case DownloadStage::kDownloading: {
      std::string text = "downloading " + name_ + " " + of;
      if (const qint64 speed = speed_.bytesPerSecond(); speed > 0) text += ", " + download_size(speed) + "/s";
      if (const auto seconds = speed_.secondsLeft(progress.total)) text += ", " + duration(*seconds) + " left";
      return text;
    }
    case DownloadStage::kChecking:
      return "checking its hash, " + of;
    case DownloadStage::kUnpacking:
      return "unpacking " + of;
    case DownloadStage::kWaiting:
      return "the server asks to wait " + duration(progress.total);
  }
  return {};
}

}  // namespace winnow::cli
