#include "app/words/download_words.h"

#include <QCoreApplication>

#include "app/words/display_text.h"
#include "app/words/format_text.h"

namespace winnow::app {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("winnow::app::DownloadWords", text); }

QString perSecond(qint64 bytes) {
  constexpr qint64 kMegabyte = 1'000'000;
  constexpr qint64 kKilobyte = 1000;
  return bytes < kMegabyte ? tr("%1 kB").arg(formatCount(static_cast<double>(bytes / kKilobyte))) : formatMegabytes(bytes);
}

QString speedWords(const QueuedDownload& download) {
  if (!download.secondsLeft) return {};
  return tr(", %1 a second, %2 left")
      .arg(perSecond(download.bytesPerSecond), formatSeconds(static_cast<double>(*download.secondsLeft) * 1000));
}

QString runningWords(const QueuedDownload& download) {
  const DownloadProgress& progress = download.progress;
  const QString name = displayText(download.name);
  const QString part = tr("%1 of %2").arg(formatMegabytes(progress.done), formatMegabytes(progress.total));
  switch (progress.stage) {
    case DownloadStage::kConnecting: return tr("Contacting the server for %1…").arg(name);
    case DownloadStage::kDownloading: return tr("Downloading %1: %2").arg(name, part) + speedWords(download);
    case DownloadStage::kChecking: return tr("Checking %1: %2").arg(name, part);
    case DownloadStage::kUnpacking: return tr("Unpacking %1: %2").arg(name, part);
    case DownloadStage::kWaiting:
      return tr("The server asks to wait %1 before %2 goes on…").arg(formatSeconds(static_cast<double>(progress.total) * 1000), name);
  }
  return {};
}

void sayFault(const DownloadFault& fault, const QString& name, const QString& subject, ErrorText& text) {
  const QString has =
      fault.choices.isEmpty() ? QString() : tr("It has %1.").arg(displayText(fault.choices.join(QStringLiteral(", "))).simplified());
  const auto say = [&text](const QString& cause, const QString& remedy) {
    text.cause = cause;
    text.remedy = remedy;
  };
  switch (fault.problem) {
    case DownloadProblem::kCancelled:
      return say(tr("The download of %1 was interrupted.").arg(name),
                 tr("What is already downloaded is kept, and the next try continues there."));
    case DownloadProblem::kNoNetwork:
      return say(tr("%1 cannot be reached.").arg(subject),
                 tr("Check the network, then try again. The download continues where it stopped."));
    case DownloadProblem::kNoTrust:
      return say(tr("%1 cannot be trusted: its certificate is unknown here.").arg(subject),
                 tr("Install ca-certificates, or name your network’s certificates in SSL_CERT_FILE."));
    case DownloadProblem::kNoCertificates:
      return say(tr("The certificates in “%1” cannot be read.").arg(subject), tr("Correct PIP_CERT or SSL_CERT_FILE, or unset it."));
    case DownloadProblem::kInsecure:
      return say(tr("Winnow does not download from “%1”: the connection is not encrypted.").arg(subject),
                 tr("If PIP_INDEX_URL is set, it must begin with https://."));
    case DownloadProblem::kServerRefused: return say(tr("%1 refuses the download.").arg(subject), tr("Try again later."));
    case DownloadProblem::kNotOffered: return say(tr("%1 does not have %2.").arg(subject, name), tr("If PIP_INDEX_URL is set, check it."));
    case DownloadProblem::kHashDiffers:
    case DownloadProblem::kDamaged:
      return say(tr("The download is not the expected %1, so it is not used.").arg(name),
                 tr("Try again. If it happens again, something on the network changes it."));
    case DownloadProblem::kNoSpace:
      return say(fault.bytes > 0 ? tr("There is not enough room for %1: %2 must be free.").arg(name, formatMegabytes(fault.bytes))
                                 : tr("There is not enough room for %1.").arg(name),
                 tr("Make some room on the disk, then try again."));
    case DownloadProblem::kUnwritable:
      return say(tr("%1 cannot be saved: Winnow may not write to “%2”.").arg(name, subject), tr("Allow writing there, then try again."));
    case DownloadProblem::kBusy:
      return say(tr("Another program is downloading %1 right now.").arg(name), tr("Wait until it has finished, then try again."));
    case DownloadProblem::kTooManyRequests:
      return say(tr("%1 asks to wait: too many requests.").arg(subject),
                 fault.seconds > 0 ? tr("Try again in %1.").arg(formatSeconds(fault.seconds * 1000.0)) : tr("Try again in some minutes."));
    case DownloadProblem::kOtherAnswer:
      return say(
          tr("%1 answered with something other than the model.").arg(subject),
          tr("If this network asks for a log-in, log in with a browser; otherwise check its proxy. What is already downloaded is kept."));
    // Answers of the Hugging Face hub:
    case DownloadProblem::kNoSuchModel:
      return say(tr("The hub has no model %1, or shows it to its owner only.").arg(subject),
                 tr("Check the name. A private model needs a token (HF_TOKEN, or Model > Models…, Token… in the window)."));
    case DownloadProblem::kNeedsToken:
      return say(tr("The owner of %1 asks for an agreement.").arg(name),
                 tr("Accept it at %1. Then enter a token of your account in the window (Model > Models…, Token…), set HF_TOKEN, or run hf "
                    "auth login.")
                     .arg(subject));
    case DownloadProblem::kGated:
      return say(tr("Your account may not download %1 yet.").arg(name),
                 tr("Ask for access at %1, and try again when it is granted.").arg(subject));
    case DownloadProblem::kNoSuchFile:
      return say(tr("%1 has no %2.").arg(name, subject), has.isEmpty() ? tr("Ask for it without “:%1”.").arg(subject) : has);
    case DownloadProblem::kAmbiguous:
      return say(tr("“%1” names several files of %2.").arg(subject, name), tr("%1 Write one of them after the colon.").arg(has));
    case DownloadProblem::kNotReadable: return say(tr("%1 cannot be used by Winnow.").arg(name), tr("Choose another model."));
    case DownloadProblem::kTooLarge:
      return say(tr("%1 does not fit into this computer’s memory: it needs about %2.").arg(name, formatMegabytes(fault.bytes)),
                 has.isEmpty() ? tr("Choose a smaller model.")
                               : tr("Choose a smaller model. %1 Write one after a colon to get it all the same.").arg(has));
    case DownloadProblem::kOffline:
      return say(tr("%1 is not on this computer, and the network is forbidden.").arg(name),
                 tr("To download it, unset HF_HUB_OFFLINE and leave out --offline."));
    case DownloadProblem::kChanged: return say(tr("%1 was changed on the hub meanwhile.").arg(name), tr("Try again."));
  }
}

}  // namespace

QString downloadWords(const QueuedDownload& download) {
  using State = QueuedDownload::State;
  switch (download.state) {
    case State::kRunning: return runningWords(download);
    case State::kWaiting: return tr("Waiting: two at a time.");
    case State::kPaused: return download.come > 0 ? tr("Paused.") + QLatin1Char(' ') + comeWords(download) : tr("Paused.");
    case State::kFailed: return {};  // describeDownloadFault() has words for it
    case State::kHere: return tr("It is here, and every file is right.");
  }
  return {};
}

int downloadPercent(const QueuedDownload& download) {
  const DownloadProgress& progress = download.progress;
  if (download.state == QueuedDownload::State::kRunning && progress.total > 0)
    return static_cast<int>(100 * progress.done / progress.total);
  return download.onItsWay() || download.toCome <= 0 ? -1 : static_cast<int>(100 * download.come / download.toCome);
}

QString comeWords(const QueuedDownload& download) {
  if (download.come <= 0) return {};
  return tr("%1 of %2 already downloaded.").arg(formatMegabytes(download.come), formatMegabytes(download.toCome));
}

ErrorText describeDownloadFault(const DownloadFault& fault, const QString& name) {
  const QString subject = displayText(fault.subject).simplified();
  ErrorText text;
  sayFault(fault, name, subject, text);
  text.details = QStringLiteral("download %1").arg(static_cast<int>(fault.problem));
  if (!subject.isEmpty()) text.details += QStringLiteral(" · ") + subject;
  if (!fault.reason.isEmpty()) text.details += QStringLiteral(" · ") + displayText(fault.reason).simplified();
  return text;
}

}  // namespace winnow::app
