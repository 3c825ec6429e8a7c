#include "app/programs/cli/download_words.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "app/programs/cli/console_output.h"
#include "app/words/download_words.h"
#include "app/words/format_text.h"

namespace winnow::cli {
namespace {

using app::ChoiceReason;
using app::DownloadProblem;
using app::DownloadStage;

// The server's or the system's reason adds nothing to what is said of these.
constexpr std::array kSaidInFull = {DownloadProblem::kCancelled, DownloadProblem::kBusy, DownloadProblem::kTooManyRequests,
                                    DownloadProblem::kNeedsToken, DownloadProblem::kGated};

}  // namespace

std::string download_size(qint64 bytes) { return app::formatMegabytes(bytes).toStdString(); }

std::string with_details(const QString& sentence, const std::string& details) {
  std::string text = printable_line(sentence.toStdString());
  if (!details.empty() && text.ends_with('.')) text.replace(text.size() - 1, 1, " (" + details + ").");
  return text;
}

std::string fault_sentence(const app::DownloadFault& fault, const std::string& name) {
  const app::ErrorText text = app::describeDownloadFault(fault, QString::fromStdString(name));
  const bool full = std::ranges::find(kSaidInFull, fault.problem) != kSaidInFull.end();
  const std::string reason = full ? std::string() : printable_line(fault.reason.toStdString());
  return with_details(text.cause, reason) + " " + printable_line(text.remedy.toStdString());
}

std::string choice_sentence(const app::DownloadChoice& choice, const std::string& name) {
  const std::string what = printable_line(choice.what.toStdString());
  const std::string memory = download_size(choice.memoryBytes) + " of memory";
  std::string text = printable_line(name) + ": " + (what.empty() ? "the folder" : what) + ", " + download_size(choice.bytes);
  if (!choice.projector.isEmpty()) text += ", with its vision encoder (" + printable_line(choice.projector.toStdString()) + ")";
  switch (choice.reason) {
    case ChoiceReason::kNamed: return text;
    case ChoiceReason::kOnly: return text + "; it has no other";
    case ChoiceReason::kSmall: return text + "; so small that fewer bits would save little";
    case ChoiceReason::kUsual: return text + "; the usual balance of size and quality, which fits " + memory;
    case ChoiceReason::kSmaller: return text + "; the largest that fits " + memory;
    case ChoiceReason::kBest: return text + "; the first choice of those that it has";
    case ChoiceReason::kFolder: return text + "; weights as they were published";
    case ChoiceReason::kStored: return text + "; found here, without asking the network";
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
  app::QueuedDownload shown;
  shown.name = QString::fromStdString(name_);
  shown.state = app::QueuedDownload::State::kRunning;
  shown.progress = progress;
  shown.bytesPerSecond = speed_.bytesPerSecond();
  shown.secondsLeft = speed_.secondsLeft(progress.total);
  return app::downloadWords(shown).toStdString();
}

}  // namespace winnow::cli
