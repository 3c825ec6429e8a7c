// A GPU that is not used yet, as the window offers it.
#include <QClipboard>
#include <QPushButton>

#include "tests/ui/support/window_fixture.h"

namespace winnow::test {
namespace {

using app::DownloadProblem;
using app::DownloadStage;
using app::GpuReadiness;

class GpuNoticeTest : public WindowTest {
 protected:
  void SetUp() override {
    m_gpu = &m_service;
    WindowTest::SetUp();
  }
  void find(GpuReadiness lack) { Q_EMIT m_probe.found({QStringLiteral("NVIDIA T400"), lack}); }
  ui::NoticeBar* notice() { return noticeBar("gpu"); }
  QString text() { return notice()->text(); }
  void press(const char* label) {
    QPushButton* button = notice()->button(QLatin1String(label));
    ASSERT_NE(button, nullptr) << label;
    QTest::mouseClick(button, Qt::LeftButton);
  }

  app::GpuProbe m_probe{{}};  // in no installation, where it asks nobody
  QPointer<ScriptedDownload> m_download;
  int m_made = 0;
  const ui::GpuService m_service{m_probe, [] { return qint64{2'500'000'000}; },
                                 [this]() -> std::unique_ptr<app::ModelDownload> {
                                   auto download = std::make_unique<ScriptedDownload>();
                                   m_download = download.get();
                                   ++m_made;
                                   return download;
                                 }};
};

TEST_F(GpuNoticeTest, WithoutThePlugInItNamesThePackage) {
  EXPECT_TRUE(text().isEmpty());
  find(GpuReadiness::kNoPlugIn);
  EXPECT_TRUE(text().contains(QStringLiteral("NVIDIA T400"))) << text().toStdString();
  EXPECT_TRUE(text().contains(QStringLiteral("winnow-cuda"))) << text().toStdString();
  press("Copy the command");
  EXPECT_TRUE(QApplication::clipboard()->text().contains(QStringLiteral("winnow-cuda")));
}

TEST_F(GpuNoticeTest, OneClickFetchesTheLibrariesAndTheNextLoadsTheModelOnIt) {
  find(GpuReadiness::kNoLibraries);
  EXPECT_TRUE(text().contains(QStringLiteral("2.5 GB"))) << text().toStdString();
  EXPECT_EQ(m_made, 0) << "nothing asks the network by itself";
  press("Download them");
  ASSERT_NE(m_download, nullptr);
  Q_EMIT m_download->progressed({DownloadStage::kDownloading, 500'000'000, 2'500'000'000});
  EXPECT_TRUE(text().contains(QStringLiteral("500 MB of 2.5 GB"))) << text().toStdString();
  press("Pause");
  EXPECT_TRUE(text().contains(QStringLiteral("500 MB of 2.5 GB"))) << text().toStdString();
  press("Go on");
  EXPECT_EQ(m_made, 2);
  Q_EMIT m_download->finished(QStringLiteral("/home/user/.local/share/winnow/cuda/torch-2.11.0"));
  const auto loads = [this] {
    return std::ranges::count_if(m_log->requests(), [](const Request& each) { return std::holds_alternative<LoadModel>(each.body); });
  };
  const auto before = loads();
  press("Load this model again");
  EXPECT_TRUE(waitUntil([&] { return loads() == before + 1; }));
}

TEST_F(GpuNoticeTest, WhatFailsSaysWhyAndCanBeTriedAgain) {
  find(GpuReadiness::kNoLibraries);
  press("Download them");
  Q_EMIT m_download->failed({DownloadProblem::kNoNetwork, QStringLiteral("pypi.org"), QStringLiteral("no route")});
  EXPECT_TRUE(text().contains(QStringLiteral("pypi.org"))) << text().toStdString();
  press("Try again");
  EXPECT_EQ(m_made, 2);
}

TEST_F(GpuNoticeTest, WhoClosesItIsNotAskedAgain) {
  find(GpuReadiness::kNoLibraries);
  QTest::mouseClick(notice()->findChild<QToolButton*>(), Qt::LeftButton);
  EXPECT_TRUE(text().isEmpty());
  find(GpuReadiness::kNoLibraries);
  EXPECT_TRUE(text().isEmpty());
  EXPECT_FALSE(m_settings->atStart().offerGpu);
}

}  // namespace
}  // namespace winnow::test
