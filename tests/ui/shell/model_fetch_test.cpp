// A real model at the press of a button on the first screen: what is seen while it comes, when it fails and when it is there.
#include <QFile>
#include <QLabel>
#include <QMenu>
#include <QProgressBar>
#include <QPushButton>

#include "app/words/download_words.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/shell/model/model_offer_box.h"
#include "ui/shell/model/welcome_page.h"

namespace winnow::test {
namespace {

using app::DownloadProblem;
using app::DownloadStage;

const QString kGet = QStringLiteral("Get a real language model, 98 MB");

class ModelFetchTest : public WindowTest {
 protected:
  void SetUp() override { ASSERT_TRUE(m_folder.isValid()); }
  void openDemo() {
    ui::InitialState initial{.modelFolder = kDemo, .demoModelFolder = kDemo};
    open(initial);
  }
  // The one of the package index; one that sees stands before it.
  ui::ModelOfferBox* box() { return m_window->findChildren<ui::ModelOfferBox*>().at(m_box); }
  int m_box = 1;
  // A model that sees, of 6.2 GB, whose download is scripted.
  void offerOneThatSees(const QString& repository = QStringLiteral("owner/Sees-8B-GGUF"), const app::MachineMemory& memory = {}) {
    app::KnownModel known;
    known.repository = repository;
    known.name = QStringLiteral("Sees 8B");
    known.licence = QStringLiteral("Apache-2.0");
    known.sight = app::Sight::kVideos;
    known.downloadBytes = 6'200'000'000;
    known.kvBytesPerToken = 147'456;
    known.tokensPerFrame = 384;
    app::HubRequest request;
    request.name.repository = known.repository;
    request.place.endpoint = QStringLiteral("https://hub.example");
    request.place.cache = m_folder.filePath(QStringLiteral("hub"));
    m_seeing = ui::seeingOffer(known, memory, request);
    m_seeing->make = [this]() -> std::unique_ptr<app::ModelDownload> {
      auto download = std::make_unique<ScriptedDownload>();
      m_sees = download.get();
      return download;
    };
    m_box = 0;
  }
  QPointer<ScriptedDownload> m_sees;
  QPushButton* button(const QString& label) {
    for (QPushButton* each : box()->findChildren<QPushButton*>()) {
      if (each->text() == label && each->isVisibleTo(box())) return each;
    }
    return nullptr;
  }
  QString words() { return box()->findChild<QLabel*>()->text(); }
  void click(const QString& label) {
    ASSERT_NE(button(label), nullptr) << label.toStdString();
    QTest::mouseClick(button(label), Qt::LeftButton);
  }
  QAction* menuLine(const QString& label) {
    for (QToolButton* each : m_window->findChildren<QToolButton*>()) {
      if (each->menu() == nullptr) continue;
      for (QAction* action : each->menu()->actions()) {
        if (action->text() == label) return action;
      }
    }
    return nullptr;
  }
};

TEST_F(ModelFetchTest, TheFirstScreenOffersItAndAsksNobodyByItself) {
  openDemo();
  ASSERT_TRUE(box()->isVisible());
  EXPECT_NE(button(kGet), nullptr);
  EXPECT_TRUE(words().contains(QStringLiteral("Apache-2.0"))) << words().toStdString();
  EXPECT_NE(menuLine(kGet), nullptr);
  EXPECT_EQ(m_downloads.made, 0);
}

TEST_F(ModelFetchTest, OneClickFetchesAndOpensIt) {
  openDemo();
  click(kGet);
  ASSERT_NE(m_downloads.current, nullptr);
  EXPECT_EQ(m_downloads.current->starts, 1);
  EXPECT_EQ(button(kGet), nullptr) << "it is running";
  Q_EMIT m_downloads.current->progressed({DownloadStage::kDownloading, 46'435'520, 92'871'040});
  EXPECT_EQ(words(), QStringLiteral("Downloading Small: 46 MB of 93 MB"));
  EXPECT_EQ(box()->findChild<QProgressBar*>()->value(), 50);
  EXPECT_TRUE(m_window->statusText().contains(QStringLiteral("Downloading Small: 46 MB of 93 MB"))) << m_window->statusText().toStdString();
  m_downloads.putModel();
  Q_EMIT m_downloads.current->finished(m_downloads.file());
  ASSERT_TRUE(
      waitUntil([this] { return session().model.state() == ui::ModelState::kReady && session().model.folder() == m_downloads.file(); }));
  EXPECT_FALSE(box()->isVisible()) << "a real model is loaded";
  EXPECT_EQ(m_window->focusWidget(), composer()->prompt());
  EXPECT_FALSE(m_window->statusText().contains(QStringLiteral("Fetching")));
  EXPECT_NE(menuLine(QStringLiteral("Small")), nullptr);
  EXPECT_EQ(menuLine(kGet), nullptr);
}

TEST_F(ModelFetchTest, CancelSaysWhatIsKeptAndOffersItAgain) {
  openDemo();
  click(kGet);
  Q_EMIT m_downloads.current->progressed({DownloadStage::kDownloading, 46'435'520, 92'871'040});
  click(QStringLiteral("Cancel"));
  ASSERT_NE(button(kGet), nullptr);
  EXPECT_TRUE(words().contains(QStringLiteral("46 MB of 93 MB already downloaded."))) << words().toStdString();
  EXPECT_TRUE(noticeBar("faults")->text().isEmpty());
  click(kGet);
  EXPECT_EQ(m_downloads.made, 2);
}

TEST_F(ModelFetchTest, WithoutANetworkItSaysSoAndTriesAgain) {
  openDemo();
  click(kGet);
  Q_EMIT m_downloads.current->failed({DownloadProblem::kNoNetwork, QStringLiteral("pypi.org"), QStringLiteral("Host pypi.org not found")});
  EXPECT_EQ(words(),
            QStringLiteral("pypi.org cannot be reached. Check the network, then try again. The download continues where it stopped."));
  EXPECT_TRUE(noticeBar("faults")->text().isEmpty()) << "it is said once";
  click(QStringLiteral("Try again"));
  EXPECT_EQ(m_downloads.made, 2);
}

TEST_F(ModelFetchTest, OneThatIsThereIsOpened) {
  m_downloads.putModel();
  openDemo();
  click(QStringLiteral("Open Small"));
  ASSERT_TRUE(
      waitUntil([this] { return session().model.state() == ui::ModelState::kReady && session().model.folder() == m_downloads.file(); }));
  EXPECT_NE(menuLine(QStringLiteral("Small")), nullptr);
  EXPECT_EQ(m_downloads.made, 0);
}

TEST_F(ModelFetchTest, OneThatWasRemovedSinceIsFetchedAnew) {
  m_downloads.putModel();
  openDemo();
  ASSERT_TRUE(QFile::remove(m_downloads.file()));
  click(QStringLiteral("Open Small"));
  EXPECT_EQ(m_downloads.made, 1);
}

TEST_F(ModelFetchTest, InAChatTheMenuFetchesItAndTheNoticeSaysWhatFails) {
  openDemo();
  ask(QStringLiteral("What color is the star?"));
  ASSERT_FALSE(box()->isVisible());
  ASSERT_NE(menuLine(kGet), nullptr);
  menuLine(kGet)->trigger();
  ASSERT_NE(m_downloads.current, nullptr);
  ASSERT_NE(menuLine(QStringLiteral("Stop downloading Small")), nullptr);
  Q_EMIT m_downloads.current->failed({DownloadProblem::kServerRefused, QStringLiteral("pypi.org"), QStringLiteral("status 503")});
  EXPECT_TRUE(noticeBar("faults")->text().startsWith(QStringLiteral("pypi.org refuses the download.")))
      << noticeBar("faults")->text().toStdString();
  ASSERT_NE(noticeBar("faults")->button(QStringLiteral("Try again")), nullptr);
  QTest::mouseClick(noticeBar("faults")->button(QStringLiteral("Try again")), Qt::LeftButton);
  EXPECT_EQ(m_downloads.made, 2);
  ASSERT_NE(menuLine(QStringLiteral("Stop downloading Small")), nullptr);
  menuLine(QStringLiteral("Stop downloading Small"))->trigger();
  EXPECT_NE(menuLine(kGet), nullptr);
}

TEST_F(ModelFetchTest, OneThatSeesIsOfferedBesideWithItsSizeLicenceAndSource) {
  offerOneThatSees();
  openDemo();
  ASSERT_TRUE(box()->isVisible());
  EXPECT_NE(button(QStringLiteral("Get Sees 8B, which sees videos, 6.2 GB")), nullptr);
  EXPECT_TRUE(words().contains(QStringLiteral("Licence: Apache-2.0. From hub.example/owner/Sees-8B-GGUF."))) << words().toStdString();
  EXPECT_TRUE(words().contains(QStringLiteral("Needs about 10.9 GB of memory"))) << words().toStdString();
  button(QStringLiteral("Get Sees 8B, which sees videos, 6.2 GB"))->setFocus();
  m_box = 1;
  ASSERT_NE(button(kGet), nullptr) << "the small one stays";
  QTest::keyClick(m_window->focusWidget(), Qt::Key_Tab);
  EXPECT_EQ(m_window->focusWidget(), button(kGet)) << "Tab goes down the screen";
}

// It was offered as if nothing of it had come.
TEST_F(ModelFetchTest, OneThatWasCutOffSaysThatItGoesOn) {
  offerOneThatSees();
  m_hub.unfinished = [] {
    app::QueuedDownload download{.key = QStringLiteral("owner/Sees-8B-GGUF")};
    return std::vector{download};
  };
  m_hub.make = [this](const app::HubName&) { return m_seeing->make(); };
  openDemo();
  const QString get = QStringLiteral("Continue downloading Sees 8B");
  ASSERT_NE(button(get), nullptr);
  EXPECT_TRUE(words().endsWith(QStringLiteral("Its download continues where it stopped."))) << words().toStdString();
  EXPECT_EQ(m_sees, nullptr) << "nothing asks the network by itself";
  click(get);
  ASSERT_NE(m_sees, nullptr);
  EXPECT_EQ(m_sees->starts, 1);
}

TEST_F(ModelFetchTest, OneThatSeesComesWithSpeedStopsAndGoesOn) {
  offerOneThatSees();
  openDemo();
  const QString get = QStringLiteral("Get Sees 8B, which sees videos, 6.2 GB");
  click(get);
  ASSERT_NE(m_sees, nullptr);
  Q_EMIT m_sees->progressed({DownloadStage::kDownloading, 1'000'000'000, 6'200'000'000});
  QTest::qWait(600);
  Q_EMIT m_sees->progressed({DownloadStage::kDownloading, 1'600'000'000, 6'200'000'000});
  EXPECT_TRUE(words().startsWith(QStringLiteral("Downloading Sees 8B: 1.6 GB of 6.2 GB, "))) << words().toStdString();
  EXPECT_TRUE(words().endsWith(QStringLiteral(" left"))) << words().toStdString();
  EXPECT_TRUE(m_window->statusText().contains(QStringLiteral("Downloading Sees 8B"))) << m_window->statusText().toStdString();
  click(QStringLiteral("Cancel"));
  EXPECT_TRUE(words().contains(QStringLiteral("1.6 GB of 6.2 GB already downloaded."))) << words().toStdString();
  click(get);
  ASSERT_NE(m_sees, nullptr);
  const QString file = m_folder.filePath(QStringLiteral("Sees-Q4_K_M.gguf"));
  Q_EMIT m_sees->finished(file);
  EXPECT_TRUE(waitUntil([&] { return session().model.state() == ui::ModelState::kReady && session().model.folder() == file; }));
}

TEST_F(ModelFetchTest, AGpuThatIsFoundLaterChangesWhatIsOffered) {
  offerOneThatSees();
  openDemo();
  EXPECT_TRUE(words().contains(QStringLiteral("fits here. Needs about 10.9 GB of memory."))) << words().toStdString();
  const app::MachineMemory memory{16'000'000'000, 24'000'000'000};
  offerOneThatSees(QStringLiteral("owner/Sees-8B-Other-GGUF"), memory);
  m_shelf->setGpuBytes(memory.gpuBytes);
  // 6.82 GB with what goes on beside the weights, 25,088 tokens of 147,456 bytes, 1.07 GB to work in.
  EXPECT_TRUE(words().contains(QStringLiteral("fits the GPU. Needs about 11.6 GB of the GPU’s memory."))) << words().toStdString();
  EXPECT_TRUE(words().contains(QStringLiteral("owner/Sees-8B-Other-GGUF"))) << words().toStdString();
  click(QStringLiteral("Get Sees 8B, which sees videos, 6.2 GB"));
  ASSERT_NE(m_sees, nullptr);
  m_shelf->setGpuBytes(memory.gpuBytes / 2);
  ASSERT_NE(m_sees, nullptr) << "what was asked for comes";
  EXPECT_NE(button(QStringLiteral("Cancel")), nullptr);
}

TEST_F(ModelFetchTest, OneThatSeesSaysHowFastItAnswersHere) {
  // 6.2 GB and a fifth of 25,088 tokens of 147,456 bytes: 6.94 GB a token; 30 GB a second give 13.5 GB of words.
  offerOneThatSees(QStringLiteral("owner/Sees-8B-GGUF"), {16'000'000'000, 0, 30e9});
  openDemo();
  EXPECT_TRUE(words().startsWith(QStringLiteral("About 3 words a second here. Model > Models… has others."))) << words().toStdString();
}

TEST_F(ModelFetchTest, ClosingTheWindowGivesItUp) {
  openDemo();
  click(kGet);
  ASSERT_NE(m_downloads.current, nullptr);
  close();
  EXPECT_EQ(m_downloads.current, nullptr);
}

TEST(DownloadFaultText, HasASentenceForEveryProblem) {
  for (int problem = 1; problem <= static_cast<int>(DownloadProblem::kChanged); ++problem) {
    app::DownloadFault fault{static_cast<DownloadProblem>(problem), QStringLiteral("pypi.org"), QStringLiteral("because")};
    fault.choices = QStringList{QStringLiteral("Q8_0")};
    const app::ErrorText text = app::describeDownloadFault(fault, QStringLiteral("Small"));
    EXPECT_TRUE(text.cause.endsWith(QLatin1Char('.'))) << problem;
    EXPECT_TRUE(text.remedy.endsWith(QLatin1Char('.'))) << problem;
    EXPECT_FALSE((text.cause + text.remedy).contains(QLatin1String("%1"))) << problem;
    EXPECT_TRUE(text.details.contains(QStringLiteral("because"))) << problem;
  }
}

}  // namespace
}  // namespace winnow::test
