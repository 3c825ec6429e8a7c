// One download from a hub on this machine, to its end.
#pragma once

#include <gtest/gtest.h>

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <memory>
#include <optional>
#include <vector>

#include "app/library/hub/hub_cache.h"
#include "app/library/hub/hub_download.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/served_hub.h"
#include "tests/support/wait_until.h"

namespace winnow::test {

class HubRun : public ::testing::Test {
 protected:
  QString cache() const { return QString::fromStdString(scratch.file("hub")); }
  QString folder() const { return cache() + QStringLiteral("/") + app::hubFolderName(served.repository); }
  QString snapshot() const { return folder() + QStringLiteral("/snapshots/") + served.commit; }
  QString blob(std::size_t index) const {
    return folder() + QStringLiteral("/blobs/") + QString::fromLatin1(ServedHub::hashOf(served.files[index]));
  }
  QString incomplete(std::size_t index) const { return blob(index) + QStringLiteral(".incomplete"); }
  static QByteArray bytes(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  static void write(const QString& path, const QByteArray& text) {
    QDir().mkpath(QFileInfo(path).path());
    QFile file(path);
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write(text);
  }
  QStringList snapshotFiles() const {
    QStringList names = QDir(snapshot()).entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot | QDir::System, QDir::Name);
    return names;
  }

  void begin() {
    fault.reset();
    path.clear();
    choice.reset();
    progress.clear();
    if (!request) request = served.request(cache());
    download = std::make_unique<app::HubDownload>(*request);
    QObject::connect(download.get(), &app::ModelDownload::progressed,
                     [this](const app::DownloadProgress& each) { progress.push_back(each); });
    QObject::connect(download.get(), &app::ModelDownload::chosen, [this](const app::DownloadChoice& each) { choice = each; });
    QObject::connect(download.get(), &app::ModelDownload::finished, [this](const QString& each) { path = each; });
    QObject::connect(download.get(), &app::ModelDownload::failed, [this](const app::DownloadFault& each) { fault = each; });
    download->start();
  }
  bool ended() {
    return waitUntil([this] { return fault.has_value() || !path.isEmpty(); });
  }
  void expectModel(const QString& opened = QStringLiteral("Small-Q4_K_M.gguf")) {
    begin();
    ASSERT_TRUE(ended());
    ASSERT_FALSE(fault.has_value()) << static_cast<int>(fault->problem) << " " << fault->reason.toStdString();
    EXPECT_EQ(path.toStdString(), (opened.isEmpty() ? snapshot() : snapshot() + QLatin1Char('/') + opened).toStdString());
    EXPECT_EQ(bytes(folder() + QStringLiteral("/refs/main")), served.commit.toLatin1());
    EXPECT_TRUE(QDir(folder() + QStringLiteral("/blobs")).entryList({QStringLiteral("*.incomplete")}, QDir::Files).isEmpty());
  }
  void expectFault(app::DownloadProblem problem, const char* reason) {
    begin();
    ASSERT_TRUE(ended());
    ASSERT_TRUE(fault.has_value()) << path.toStdString();
    EXPECT_EQ(static_cast<int>(fault->problem), static_cast<int>(problem)) << fault->reason.toStdString();
    EXPECT_TRUE(fault->reason.contains(QString::fromUtf8(reason))) << fault->reason.toStdString();
    EXPECT_FALSE(QFileInfo::exists(folder() + QStringLiteral("/refs/main"))) << "a model that is not whole is referred to";
    EXPECT_TRUE(snapshotFiles().isEmpty()) << "a model that is not whole has a snapshot";
  }

  ScratchFolder scratch;
  ServedHub served;
  std::optional<app::HubRequest> request;  // nothing: the ordinary one
  std::unique_ptr<app::HubDownload> download;
  std::optional<app::DownloadFault> fault;
  std::optional<app::DownloadChoice> choice;
  QString path;
  std::vector<app::DownloadProgress> progress;
};

}  // namespace winnow::test
