#include "ui/shell/storage_notice.h"

#include <QDateTime>
#include <QDesktopServices>
#include <QFileInfo>
#include <QLocale>
#include <QUrl>

#include "ui/words/display_text.h"
#include "ui/words/folder_fault_text.h"

namespace winnow::ui {

StorageNotice::StorageNotice(app::ChatStore& store, QWidget* parent) : NoticeBar(parent), m_store(store) {
  using app::ChatStore;
  connect(&m_store, &ChatStore::opened, this, [this](app::RequestToken, const app::StoreOpened& report) { showOpened(report); });
  connect(&m_store, &ChatStore::openFailed, this,
          [this](app::RequestToken, const app::StorageFailure& failure) { showFailure(failure, false); });
  connect(&m_store, &ChatStore::damaged, this, [this](const app::StorageFailure& failure) { showFailure(failure, true); });
  connect(&m_store, &ChatStore::failed, this, [this](app::RequestToken, const Error& error) {
    if (!m_store.isOpen() || !is_storage(error.code) || error.code == ErrorCode::kStorageDamaged) return;
    showFailure({error, {}}, true);
  });
  const auto turnWorks = [this] {
    if (std::exchange(m_stays, Stays::kForGood) != Stays::kForGood) dismiss();
  };
  connect(&m_store, &ChatStore::turnCommitted, this, turnWorks);
  connect(&m_store, &ChatStore::turnFinished, this, turnWorks);
  connect(&m_store, &ChatStore::saved, this, [this, turnWorks] {
    if (m_stays == Stays::kUntilSaved) turnWorks();
  });
}

NoticeAction StorageNotice::showFolder() const {
  return {tr("Show folder"), [folder = m_store.folders().data] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); }};
}

void StorageNotice::showOpened(const app::StoreOpened& report) {
  m_stays = Stays::kForGood;
  dismiss();
  Notice notice;
  if (!report.saves) {
    notice.text = tr("Nothing is saved from now on. Everything new is lost when Winnow closes.");
    notice.closable = false;
  } else if (!report.setAside.isEmpty()) {
    notice.text = tr("Your previous chats file is kept as “%1”.").arg(displayText(QFileInfo(report.setAside).fileName()));
    notice.actions = {showFolder()};
  } else {
    return;
  }
  present(notice);
}

void StorageNotice::showFailure(const app::StorageFailure& failure, bool open) {
  const ErrorCode code = failure.error.code;
  Notice notice = failure.folder ? noticeOf(failure.error) : noticeOf(describeFolderFault(failure.folder, failure.error));
  notice.closable = open;
  const NoticeAction tryAgain{tr("Try again"), [this] { m_store.open(); }};
  const NoticeAction startEmpty{tr("Start with an empty list"), [this] { m_store.setAsideAndOpen(); }};
  const NoticeAction goOn{tr("Continue without saving"), [this] { m_store.openInMemory(); }};
  if (code == ErrorCode::kStorageDamaged) {
    for (const app::Backup& backup : failure.backups) {
      const QDateTime made = QDateTime::fromMSecsSinceEpoch(backup.madeMs);
      notice.actions.push_back({tr("Restore the backup of %1").arg(QLocale().toString(made, QLocale::ShortFormat)),
                                [this, file = backup.file] { m_store.restoreBackup(file); }});
    }
    notice.actions.push_back(startEmpty);
    if (!open) notice.actions.push_back(goOn);
    notice.actions.push_back(showFolder());
  } else if (code == ErrorCode::kStorageNewer) {
    notice.actions = {goOn, startEmpty};
  } else if (!open) {
    notice.actions = {tryAgain, goOn, showFolder()};
  } else if (code == ErrorCode::kStorageFull || code == ErrorCode::kStorageReadOnly) {
    notice.actions = {goOn};
  }
  m_stays = !open ? Stays::kForGood : code == ErrorCode::kStorage ? Stays::kUntilTurn : Stays::kUntilSaved;
  present(notice);
}

}  // namespace winnow::ui
