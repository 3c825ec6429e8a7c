#include "ui/words/download_fault_text.h"

#include <QCoreApplication>

#include "ui/words/display_text.h"
#include "ui/words/format_text.h"

namespace winnow::ui {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("winnow::ui::DownloadFaultText", text); }

}  // namespace

ErrorText describeDownloadFault(const app::DownloadFault& fault, const QString& name) {
  using app::DownloadProblem;
  const QString subject = displayText(fault.subject).simplified();
  const QString kept = tr("Check the network, then try again: what has come is kept.");
  ErrorText text;
  const auto say = [&text](const QString& cause, const QString& remedy) {
    text.cause = cause;
    text.remedy = remedy;
  };
  switch (fault.problem) {
    case DownloadProblem::kCancelled:
      say(tr("%1 was not fetched to the end.").arg(name), tr("What has come is kept."));
      break;
    case DownloadProblem::kNoNetwork:
      say(tr("%1 cannot be reached.").arg(subject), kept);
      break;
    case DownloadProblem::kNoTrust:
      say(tr("%1 cannot be trusted: its certificate is not known here.").arg(subject),
          tr("Install ca-certificates, or name your network’s certificates in SSL_CERT_FILE."));
      break;
    case DownloadProblem::kNoCertificates:
      say(tr("The certificates in “%1” cannot be read.").arg(subject), tr("Correct PIP_CERT or SSL_CERT_FILE, or unset it."));
      break;
    case DownloadProblem::kInsecure:
      say(tr("Nothing is fetched from “%1”: the connection would not be encrypted.").arg(subject),
          tr("Check PIP_INDEX_URL, where it is set: it has to begin with https://."));
      break;
    case DownloadProblem::kServerRefused:
      say(tr("%1 refuses the download.").arg(subject), tr("Try again later; the details say what it answered."));
      break;
    case DownloadProblem::kNotOffered:
      say(tr("%1 does not have %2.").arg(subject, name), tr("Check PIP_INDEX_URL, where it is set."));
      break;
    case DownloadProblem::kHashDiffers:
    case DownloadProblem::kDamaged:
      say(tr("What came is not %1, and is not used.").arg(name), tr("Try again; if it happens again, somebody on the way changes it."));
      break;
    case DownloadProblem::kNoSpace:
      say(fault.bytes > 0 ? tr("There is not enough room for %1: %2 have to be free.").arg(name, formatMegabytes(fault.bytes))
                          : tr("There is not enough room for %1.").arg(name),
          tr("Make some room on the disk, then try again."));
      break;
    case DownloadProblem::kUnwritable:
      say(tr("%1 cannot be kept: “%2” may not be written.").arg(name, subject), tr("Allow writing there, then try again."));
      break;
    case DownloadProblem::kBusy:
      say(tr("Another Winnow is fetching %1 right now.").arg(name), tr("Wait for it, then try again."));
      break;
  }
  text.details = QStringLiteral("download %1").arg(static_cast<int>(fault.problem));
  if (!subject.isEmpty()) text.details += QStringLiteral(" · ") + subject;
  if (!fault.reason.isEmpty()) text.details += QStringLiteral(" · ") + displayText(fault.reason).simplified();
  return text;
}

}  // namespace winnow::ui
