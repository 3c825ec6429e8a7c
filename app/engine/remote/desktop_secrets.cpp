#include "app/engine/remote/desktop_secrets.h"

#include <qt6keychain/keychain.h>
#include <QEventLoop>
#include <optional>

#include "app/ground/threads/interrupt_notifier.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

QString serviceName() { return QStringLiteral("winnow"); }

struct Told {
  QKeychain::Error error = QKeychain::NoError;
  QString words{};
  QString secret{};  // that was read
};

// The outcome of a job, which may take a person's password. It deletes itself when it has finished, be it after an interrupt.
Told outcomeOf(QKeychain::Job* job, const std::string& name, const InterruptToken& interrupt) {
  job->setInsecureFallback(false);
  job->setKey(QString::fromStdString(name));
  QEventLoop loop;
  const InterruptNotifier onInterrupt(interrupt, Interrupt::kNone, [&] { loop.quit(); });
  std::optional<Told> told;
  QObject::connect(job, &QKeychain::Job::finished, &loop, [&](const QKeychain::Job* done) {
    const auto* read = qobject_cast<const QKeychain::ReadPasswordJob*>(done);
    told = Told{done->error(), done->errorString(), read != nullptr ? read->textData() : QString()};
    loop.quit();
  });
  job->start();
  loop.exec();
  if (!told) throw Interrupted(interrupt.state());
  return *told;
}

void requireDone(const Told& told, const std::string& name) {
  if (told.error == QKeychain::NoError) return;
  const std::string words = told.words.toStdString();
  throw Exception(ErrorCode::kServerKeyMissing, name, words.empty() ? "no secret service of the desktop answers" : words);
}

}  // namespace

std::string DesktopSecrets::find(const std::string& name, const InterruptToken& interrupt) {
  const Told told = outcomeOf(new QKeychain::ReadPasswordJob(serviceName()), name, interrupt);
  if (told.error == QKeychain::EntryNotFound) return {};
  requireDone(told, name);
  return told.secret.toStdString();
}

void DesktopSecrets::keep(const std::string& name, const std::string& secret, const InterruptToken& interrupt) {
  auto* job = new QKeychain::WritePasswordJob(serviceName());
  job->setTextData(QString::fromStdString(secret));
  requireDone(outcomeOf(job, name, interrupt), name);
}

}  // namespace winnow::app
