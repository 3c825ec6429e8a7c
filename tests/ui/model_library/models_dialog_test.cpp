// The page of models: what lies here and what can be done with it, downloads from a scripted hub, keys alone, and small windows.
#include "ui/model_library/models_dialog.h"

#include <QAction>
#include <QDialogButtonBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QMap>
#include <QProgressBar>
#include <QPushButton>
#include <QTabBar>
#include <QTabWidget>

#include "app/words/download_words.h"
#include "tests/support/source_folder.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/model_library/get_page.h"
#include "ui/model_library/here_page.h"
#include "ui/model_library/model_card.h"

namespace winnow::test {
namespace {

using app::DownloadProblem;
using app::DownloadStage;

class ModelsDialogTest : public WindowTest {
 protected:
  void SetUp() override {
    m_hub.host = QStringLiteral("hub.example");
    m_hub.known = {known(QStringLiteral("owner/Sees-8B-GGUF"), QStringLiteral("Sees 8B"), 6'200'000'000, app::Sight::kVideos),
                   known(QStringLiteral("owner/Huge-GGUF"), QStringLiteral("Huge"), 60'000'000'000, app::Sight::kVideos),
                   known(QStringLiteral("owner/Reads-GGUF"), QStringLiteral("Reads"), 500'000'000, app::Sight::kNothing)};
    m_hub.make = [this](const app::HubName& name) -> std::unique_ptr<app::ModelDownload> {
      auto download = std::make_unique<ScriptedDownload>();
      m_running[name.text()] = download.get();
      return download;
    };
    m_hub.unfinished = [this] { return m_unfinished; };
    m_hub.noteUnfinished = [this](const std::vector<app::QueuedDownload>& downloads) { m_unfinished = downloads; };
    m_hub.keys = &m_keys;
    m_hub.endpoint = "https://hub.example";
    m_modelFolders = {{app::ModelOrigin::kHuggingFace, at(QStringLiteral("hub"))},
                      {app::ModelOrigin::kOllama, at(QStringLiteral("ollama"))}};
    WindowTest::SetUp();
  }
  static app::KnownModel known(const QString& repository, const QString& name, qint64 bytes, app::Sight sight) {
    return {.repository = repository,
            .name = name,
            .sight = sight,
            .licence = QStringLiteral("Apache-2.0"),
            .purpose = QStringLiteral("tests"),
            .downloadBytes = bytes,
            .kvBytesPerToken = 50'000,
            .tokensPerFrame = 64};
  }
  QString at(const QString& path) const { return m_folder.filePath(path); }
  // A model of the tree, as if it had come from the hub.
  QString putModel(const QString& repository, const QString& model = QStringLiteral("resources/demo/model")) {
    const QString snapshots = at(QStringLiteral("hub/models--") + QString(repository).replace(QLatin1Char('/'), QLatin1String("--")) +
                                 QStringLiteral("/snapshots"));
    EXPECT_TRUE(QDir().mkpath(snapshots));
    const QString path = snapshots + QStringLiteral("/c0ffee");
    EXPECT_TRUE(QFile::link(QString::fromStdString(source_folder()) + QLatin1Char('/') + model, path));
    return path;
  }
  void openPage() {
    for (QAction* action : m_window->actions()) {
      if (action->shortcut() == QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O)) action->trigger();
    }
    ASSERT_NE(page(), nullptr);
    ASSERT_TRUE(waitUntil([this] { return m_shelf->hasLooked(); }));
  }
  void openToGet() {
    openPage();
    page()->tabs()->setCurrentIndex(1);
  }
  ui::ModelsDialog* page() const { return m_window->findChild<ui::ModelsDialog*>(); }
  ui::ModelCard* card(const std::vector<ui::ModelCard*>& cards, const QString& key) const {
    for (ui::ModelCard* each : cards) {
      if (each->key() == key) return each;
    }
    return nullptr;
  }
  // The first of that key: a download's stands before the known model's.
  ui::ModelCard* toGet(const QString& key) const { return card(page()->get()->cards(), key); }
  static QPushButton* button(const ui::ModelCard* card, const QString& text) {
    for (int i = 0; card != nullptr && i < card->buttonCount(); ++i) {
      if (card->button(i)->text() == text) return card->button(i);
    }
    return nullptr;
  }
  static QString lines(const ui::ModelCard* card) {
    QStringList all;
    for (const QLabel* label : card->findChildren<QLabel*>()) all << label->text();
    return all.join(QLatin1Char('\n'));
  }
  void press(ui::ModelCard* card, const QString& text) {
    ASSERT_NE(button(card, text), nullptr) << text.toStdString();
    QTest::mouseClick(button(card, text), Qt::LeftButton);
  }

  QMap<QString, QPointer<ScriptedDownload>> m_running;
  std::vector<app::QueuedDownload> m_unfinished;
};

const QString kSees = QStringLiteral("owner/Sees-8B-GGUF");
const QString kReads = QStringLiteral("owner/Reads-GGUF");
const QString kHuge = QStringLiteral("owner/Huge-GGUF");

TEST_F(ModelsDialogTest, SaysOfEachModelWhatItIsAndWhetherItFits) {
  const QString path = putModel(QStringLiteral("a/shapes"));
  openPage();
  ASSERT_TRUE(waitUntil([this] { return page()->here()->cards().size() == 1; }));
  const QString said = lines(page()->here()->cards().front());
  for (const char* part : {"a/shapes", "llava_onevision", "sees videos and images", "context ", "for each 1,000 words read",
                           "Fits: needs about ", " of 16.0 GB of memory.", "Hugging Face", "not used yet"})
    EXPECT_TRUE(said.contains(QLatin1String(part))) << part << " in " << said.toStdString();
  EXPECT_EQ(page()->tabs()->tabText(0), QStringLiteral("On this computer (1)"));
  press(page()->here()->cards().front(), QStringLiteral("Open"));
  EXPECT_TRUE(waitUntil([&] { return session().model.folder() == path; }));
  EXPECT_TRUE(waitUntil([this] { return page() == nullptr; }));
  EXPECT_EQ(m_window->focusWidget(), composer()->prompt());
}

TEST_F(ModelsDialogTest, AModelThatHearsIsChosenToHear) {
  putModel(QStringLiteral("a/english"), QStringLiteral("tests/golden/whisper/english"));
  putModel(QStringLiteral("a/several"), QStringLiteral("tests/golden/whisper/several"));
  openPage();
  ASSERT_TRUE(waitUntil([this] { return page()->here()->cards().size() == 2; }));
  const auto one = [this] { return page()->here()->cards().front(); };
  EXPECT_TRUE(lines(one()).contains(QStringLiteral("hears"))) << lines(one()).toStdString();
  EXPECT_TRUE(lines(one()).contains(QStringLiteral("Fits: needs about "))) << lines(one()).toStdString();
  press(one(), QStringLiteral("Hear with it"));
  ASSERT_TRUE(waitUntil([&] { return button(one(), QStringLiteral("Hears")) != nullptr; }));
  EXPECT_FALSE(button(one(), QStringLiteral("Hears"))->isEnabled());
  EXPECT_NE(button(page()->here()->cards().back(), QStringLiteral("Hear with it")), nullptr);
}

// 6.2 GB and a tenth, 4,608 tokens of 50 kB: 7.05 GB, with 1.07 to work in 8.12; of memory with 0.37 for the program 7.4.
TEST_F(ModelsDialogTest, SaysOfEachModelWhetherItFitsTheGpu) {
  putModel(QStringLiteral("a/shapes"));
  openToGet();
  ASSERT_TRUE(waitUntil([this] { return page()->here()->cards().size() == 1; }));
  const auto says = [this](const QString& key, const char* part) {
    EXPECT_TRUE(lines(toGet(key)).contains(QLatin1String(part))) << part << " in " << lines(toGet(key)).toStdString();
  };
  says(kSees, "Fits: needs about 7.4 GB of 16.0 GB of memory. The best of these that sees videos here.");
  m_shelf->setGpuBytes(8'500'000'000);
  says(kSees, "Fits memory, but with its cache not the GPU (8.5 GB): needs about 7.4 GB of 16.0 GB.");
  says(kReads, "Fits the GPU: needs about 2.0 GB of its 8.5 GB.");
  says(kHuge, "Does not fit: needs about 66.6 GB, and this computer has 16.0 GB of memory and a GPU with 8.5 GB.");
  EXPECT_TRUE(lines(page()->here()->cards().front()).contains(QStringLiteral("Fits the GPU: needs about "))) << "the other page, too";
  m_shelf->setGpuBytes(24'000'000'000);
  says(kSees, "Fits the GPU: needs about 8.1 GB of its 24.0 GB. The best of these that sees videos here.");
}

TEST_F(ModelsDialogTest, AModelIsCheckedAndRemovedAfterAQuestion) {
  const QString path = putModel(QStringLiteral("a/shapes"));
  m_trash = [this](const QString& folder) { return QDir().rename(folder, at(QStringLiteral("trashed"))); };
  reopen();
  openPage();
  ASSERT_TRUE(waitUntil([this] { return page()->here()->cards().size() == 1; }));
  const auto only = [this] { return page()->here()->cards().front(); };
  press(only(), QStringLiteral("Check"));
  ASSERT_TRUE(waitUntil([&] { return only()->note().contains(QStringLiteral("cannot be checked")); })) << only()->note().toStdString();
  press(only(), QStringLiteral("Remove…"));
  EXPECT_TRUE(only()->note().startsWith(QStringLiteral("Move "))) << only()->note().toStdString();
  press(only(), QStringLiteral("Keep it"));
  EXPECT_NE(button(only(), QStringLiteral("Open")), nullptr);
  EXPECT_TRUE(QFile::exists(path));
  press(only(), QStringLiteral("Remove…"));
  press(only(), QStringLiteral("Move to the trash"));
  EXPECT_TRUE(waitUntil([this] { return page()->here()->cards().empty(); }));
  EXPECT_TRUE(page()->here()->summary().startsWith(QStringLiteral("No models are here yet."))) << page()->here()->summary().toStdString();
}

TEST_F(ModelsDialogTest, TheTrashThatRefusesIsSaid) {
  putModel(QStringLiteral("a/shapes"));
  openPage();
  ASSERT_TRUE(waitUntil([this] { return page()->here()->cards().size() == 1; }));
  press(page()->here()->cards().front(), QStringLiteral("Remove…"));
  press(page()->here()->cards().front(), QStringLiteral("Move to the trash"));
  EXPECT_TRUE(
      waitUntil([this] { return page()->here()->cards().front()->note().contains(QStringLiteral("could not be moved to the trash")); }));
}

TEST_F(ModelsDialogTest, TheLoadedModelStaysWhereItIs) {
  const QString path = putModel(QStringLiteral("a/shapes"));
  session().model.load(path);
  ASSERT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady; }));
  openPage();
  ASSERT_TRUE(waitUntil([this] { return page()->here()->cards().size() == 1; }));
  EXPECT_FALSE(button(page()->here()->cards().front(), QStringLiteral("Remove…"))->isEnabled());
  EXPECT_FALSE(button(page()->here()->cards().front(), QStringLiteral("Loaded"))->isEnabled());
}

TEST_F(ModelsDialogTest, KnownModelsSayWhatTheyNeedAndWhyOneDoesNotFit) {
  openToGet();
  EXPECT_TRUE(m_running.isEmpty()) << "nothing asks the network by itself";
  const QString sees = lines(toGet(kSees));
  for (const char* part : {"Sees 8B", "sees videos and images", "6.2 GB", "licence: Apache-2.0", "hub.example/owner/Sees-8B-GGUF",
                           "The best of these that sees videos here."})
    EXPECT_TRUE(sees.contains(QLatin1String(part))) << part << " in " << sees.toStdString();
  EXPECT_TRUE(lines(toGet(kHuge)).contains(QStringLiteral("Does not fit: needs about 66.6 GB, and this computer has 16.0 GB")))
      << lines(toGet(kHuge)).toStdString();
}

TEST_F(ModelsDialogTest, ADownloadIsPausedResumedCancelledAndTheThirdWaits) {
  openToGet();
  press(toGet(kSees), QStringLiteral("Get"));
  press(toGet(kReads), QStringLiteral("Get"));
  press(toGet(kHuge), QStringLiteral("Get"));
  EXPECT_EQ(page()->tabs()->tabText(1), QStringLiteral("Get a model (3)"));
  EXPECT_EQ(toGet(kHuge)->note(), QStringLiteral("Contacting the server for Huge…")) << "it is looked up at once";
  Q_EMIT m_running[kHuge]->progressed({DownloadStage::kDownloading, 0, 60'000'000'000});
  Q_EMIT m_running[kHuge]->progressed({DownloadStage::kDownloading, 1000, 60'000'000'000});
  ASSERT_TRUE(waitUntil([this] { return m_running[kHuge].isNull(); }));
  EXPECT_EQ(toGet(kHuge)->note(), QStringLiteral("Waiting: two at a time."));
  Q_EMIT m_running[kSees]->progressed({DownloadStage::kDownloading, 1'000'000'000, 6'200'000'000});
  QTest::qWait(600);
  Q_EMIT m_running[kSees]->progressed({DownloadStage::kDownloading, 1'600'000'000, 6'200'000'000});
  const QString note = toGet(kSees)->note();
  EXPECT_TRUE(note.startsWith(QStringLiteral("Downloading Sees 8B: 1.6 GB of 6.2 GB, "))) << note.toStdString();
  EXPECT_TRUE(note.endsWith(QStringLiteral(" left"))) << note.toStdString();
  EXPECT_EQ(toGet(kSees)->findChild<QProgressBar*>()->value(), 25);
  EXPECT_TRUE(m_window->statusText().contains(QStringLiteral("Downloading Sees 8B"))) << m_window->statusText().toStdString();
  press(toGet(kSees), QStringLiteral("Pause"));
  EXPECT_EQ(toGet(kSees)->note(), QStringLiteral("Paused. 1.6 GB of 6.2 GB already downloaded."));
  EXPECT_TRUE(m_running[kSees].isNull());
  EXPECT_FALSE(m_running[kHuge].isNull()) << "its turn";
  press(toGet(kHuge), QStringLiteral("Cancel"));
  press(toGet(kSees), QStringLiteral("Resume"));
  ASSERT_FALSE(m_running[kSees].isNull());
  Q_EMIT m_running[kSees]->failed({DownloadProblem::kNoNetwork, QStringLiteral("hub.example")});
  EXPECT_TRUE(toGet(kSees)->note().startsWith(QStringLiteral("hub.example cannot be reached."))) << toGet(kSees)->note().toStdString();
  EXPECT_TRUE(noticeBar("faults")->text().isEmpty()) << "it is said once";
  press(toGet(kSees), QStringLiteral("Try again"));
  const QString path = putModel(kSees);
  Q_EMIT m_running[kSees]->finished(path);
  ASSERT_TRUE(waitUntil([this] { return page()->here()->cards().size() == 1; })) << "it is on the shelf";
  press(toGet(kSees), QStringLiteral("Open"));
  EXPECT_TRUE(waitUntil([&] { return session().model.folder() == path; }));
}

TEST_F(ModelsDialogTest, AnyModelComesByItsNameAndWhatIsNoneIsSaid) {
  openToGet();
  QTest::keyClicks(page()->get()->typed(), QStringLiteral("nonsense"));
  QTest::keyClick(page()->get()->typed(), Qt::Key_Return);
  EXPECT_TRUE(m_running.isEmpty());
  ASSERT_NE(page(), nullptr) << "Enter closes nothing";
  bool said = false;
  for (const QLabel* label : page()->get()->findChildren<QLabel*>())
    said = said || label->text().startsWith(QStringLiteral("That is no name of a model."));
  EXPECT_TRUE(said);
  page()->get()->typed()->clear();
  QTest::keyClicks(page()->get()->typed(), QStringLiteral("some/Other-GGUF:Q8_0"));
  QTest::keyClick(page()->get()->typed(), Qt::Key_Return);
  EXPECT_TRUE(m_running.contains(QStringLiteral("some/Other-GGUF:Q8_0")));
  EXPECT_TRUE(page()->get()->typed()->text().isEmpty());
}

TEST_F(ModelsDialogTest, WhatWasOnItsWayIsThereAfterAKill) {
  openToGet();
  press(toGet(kSees), QStringLiteral("Get"));
  ASSERT_EQ(m_unfinished.size(), 1u);
  EXPECT_EQ(m_unfinished[0].key, kSees);
  Q_EMIT m_running[kSees]->progressed({DownloadStage::kDownloading, 0, 98'000'000});
  press(toGet(kReads), QStringLiteral("Get"));
  Q_EMIT m_running[kReads]->failed({DownloadProblem::kGated, QStringLiteral("https://hub.example/owner/Reads-GGUF")});
  m_running.clear();
  const std::vector<app::QueuedDownload> written = m_unfinished;
  ASSERT_EQ(written.size(), 2u);
  EXPECT_EQ(written[0].toCome, 98'000'000);
  EXPECT_EQ(written[1].fault.problem, DownloadProblem::kGated);
  close();  // nothing is written at the end that a kill would not have left
  m_unfinished = written;
  m_unfinished[0].come = 70'000'000;  // as the parts on the disk say
  open();
  openToGet();
  EXPECT_TRUE(m_running.isEmpty()) << "it waits for a word";
  EXPECT_EQ(toGet(kSees)->title(), QStringLiteral("Sees 8B"));
  EXPECT_EQ(toGet(kSees)->note(), QStringLiteral("Paused. 70 MB of 98 MB already downloaded."));
  EXPECT_EQ(toGet(kSees)->findChild<QProgressBar*>()->value(), 71);
  EXPECT_TRUE(toGet(kReads)->note().startsWith(QStringLiteral("Your account may not download Reads yet.")))
      << toGet(kReads)->note().toStdString();
  press(toGet(kReads), QStringLiteral("Cancel"));
  press(toGet(kSees), QStringLiteral("Resume"));
  ASSERT_TRUE(m_running.contains(kSees));
  Q_EMIT m_running[kSees]->finished(at(QStringLiteral("sees.gguf")));
  EXPECT_TRUE(m_unfinished.empty());
}

TEST_F(ModelsDialogTest, AMistypedNameIsRefusedWhileTwoOthersCome) {
  openToGet();
  press(toGet(kSees), QStringLiteral("Get"));
  press(toGet(kReads), QStringLiteral("Get"));
  QTest::keyClicks(page()->get()->typed(), QStringLiteral("owner/Mistyped"));
  QTest::keyClick(page()->get()->typed(), Qt::Key_Return);
  const QString mistyped = QStringLiteral("owner/Mistyped");
  ASSERT_FALSE(m_running[mistyped].isNull());
  Q_EMIT m_running[mistyped]->failed({DownloadProblem::kNoSuchModel, mistyped});
  EXPECT_TRUE(toGet(mistyped)->note().startsWith(QStringLiteral("The hub has no model owner/Mistyped")))
      << toGet(mistyped)->note().toStdString();
  EXPECT_EQ(button(toGet(mistyped), QStringLiteral("Enter a token…")), nullptr) << "it would not help";
}

TEST_F(ModelsDialogTest, ATokenIsTypedKeptByTheDesktopAndTriedAtOnce) {
  openToGet();
  press(toGet(kReads), QStringLiteral("Get"));
  app::DownloadFault fault{DownloadProblem::kNeedsToken, QStringLiteral("https://hub.example/owner/Reads-GGUF")};
  fault.status = 401;
  Q_EMIT m_running[kReads]->failed(fault);
  EXPECT_TRUE(page()->get()->token()->isHidden() || !page()->get()->token()->isVisible());
  press(toGet(kReads), QStringLiteral("Enter a token…"));
  EXPECT_TRUE(page()->get()->token()->isVisible());
  EXPECT_EQ(page()->focusWidget(), page()->get()->token());
  EXPECT_EQ(page()->get()->token()->echoMode(), QLineEdit::Password);
  QTest::keyClicks(page()->get()->token(), QStringLiteral("two words"));
  QTest::keyClick(page()->get()->token(), Qt::Key_Return);
  EXPECT_TRUE(page()->get()->tokenSaid().startsWith(QStringLiteral("A token has no spaces"))) << page()->get()->tokenSaid().toStdString();
  page()->get()->token()->clear();
  QTest::keyClicks(page()->get()->token(), QStringLiteral("hf_mine"));
  QTest::keyClick(page()->get()->token(), Qt::Key_Return);
  EXPECT_TRUE(page()->get()->token()->text().isEmpty());
  EXPECT_FALSE(m_running[kReads].isNull()) << "what was refused for it is tried again";
  ASSERT_TRUE(waitUntil([this] { return page()->get()->tokenSaid() == QStringLiteral("Your desktop’s key store keeps the token."); }));
  EXPECT_EQ(m_desktopKeys->secret("https://hub.example"), "hf_mine");
  m_desktopKeys->mood = FakeSecretService::Mood::kRefuses;
  QTest::keyClicks(page()->get()->token(), QStringLiteral("hf_other"));
  QTest::keyClick(page()->get()->token(), Qt::Key_Return);
  EXPECT_TRUE(waitUntil([this] {
    return page()->get()->tokenSaid() == QStringLiteral("The token is used until Winnow ends: there is no key store that keeps it.");
  }));
}

// Its first page was empty beside the demo model and a file that were in use.
TEST_F(ModelsDialogTest, WhatIsUsedFromElsewhereIsListedAndAnEmptyPageIsNotTheFirst) {
  openPage();
  EXPECT_TRUE(waitUntil([this] { return page()->tabs()->currentIndex() == 1; })) << "nothing is here";
  page()->reject();
  ASSERT_TRUE(waitUntil([this] { return page() == nullptr; }));
  const QString mine = at(QStringLiteral("mine"));
  ASSERT_TRUE(QFile::link(QString::fromStdString(source_folder()) + QStringLiteral("/resources/demo/model"), mine));
  session().model.load(mine);
  ASSERT_TRUE(waitUntil([&] { return session().model.state() == ui::ModelState::kReady && session().model.folder() == mine; }));
  openPage();
  ASSERT_TRUE(waitUntil([this] { return page()->here()->cards().size() == 1; }));
  EXPECT_EQ(page()->tabs()->currentIndex(), 0);
  const ui::ModelCard* only = page()->here()->cards().front();
  EXPECT_EQ(only->title(), QStringLiteral("mine"));
  EXPECT_TRUE(lines(only).contains(QStringLiteral("Opened from its place"))) << lines(only).toStdString();
  EXPECT_EQ(only->buttonCount(), 1) << "it is its owner’s";
}

TEST_F(ModelsDialogTest, ADownloadGoesOnWithoutThePageAndANoticeOpensIt) {
  openToGet();
  press(toGet(kReads), QStringLiteral("Get"));
  page()->reject();
  ASSERT_TRUE(waitUntil([this] { return page() == nullptr; }));
  ASSERT_FALSE(m_running[kReads].isNull());
  const QString file = at(QStringLiteral("reads.gguf"));
  Q_EMIT m_running[kReads]->finished(file);
  EXPECT_EQ(noticeBar("faults")->text(), QStringLiteral("Reads is ready."));
  QTest::mouseClick(noticeBar("faults")->button(QStringLiteral("Open it")), Qt::LeftButton);
  EXPECT_TRUE(waitUntil([&] { return session().model.folder() == file; }));
}

TEST_F(ModelsDialogTest, ArrowsStepThroughModelsAndThePressedOneKeepsTheKeyboard) {
  openToGet();
  page()->activateWindow();
  QTest::keyClick(page(), Qt::Key_Down);
  EXPECT_EQ(page()->focusWidget(), toGet(kSees)->button(0));
  QTest::keyClick(page()->focusWidget(), Qt::Key_Down);
  EXPECT_EQ(page()->focusWidget(), toGet(kHuge)->button(0));
  QTest::keyClick(page()->focusWidget(), Qt::Key_Up);
  QTest::keyClick(page()->focusWidget(), Qt::Key_Return);
  ASSERT_TRUE(m_running.contains(kSees));
  EXPECT_EQ(page()->focusWidget(), button(toGet(kSees), QStringLiteral("Pause")));
  QTest::keyClick(page()->focusWidget(), Qt::Key_Space);
  EXPECT_EQ(page()->focusWidget(), button(toGet(kSees), QStringLiteral("Resume")));
}

// At 800 x 560 and 200 % as on a large screen: no word and no button is cut at the side.
TEST_F(ModelsDialogTest, FitsEveryWindowAndEveryZoom) {
  putModel(QStringLiteral("a/shapes-with-a-very-long-name-that-wraps-in-a-narrow-window"));
  for (const QSize& size : {QSize(800, 560), QSize(1280, 800)}) {
    for (const int zoom : {100, 150, 200}) {
      SCOPED_TRACE(testing::Message() << size.width() << " x " << size.height() << " at " << zoom << " %");
      ui::theme().setZoomPercent(zoom);
      m_window->resize(size);
      openToGet();
      press(toGet(kSees), QStringLiteral("Get"));
      for (const int tab : {0, 1}) {
        page()->tabs()->setCurrentIndex(tab);
        QTest::qWait(50);
        EXPECT_LE(page()->width(), size.width());
        EXPECT_LE(page()->height(), size.height());
        EXPECT_TRUE(page()->findChild<QDialogButtonBox*>()->isVisible());
        const std::vector<ui::ModelCard*> cards = tab == 0 ? page()->here()->cards() : page()->get()->cards();
        ASSERT_FALSE(cards.empty());
        for (const ui::ModelCard* each : cards) {
          EXPECT_GE(each->width(), each->minimumSizeHint().width()) << each->title().toStdString();
          EXPECT_LE(each->mapTo(page(), QPoint(each->width(), 0)).x(), page()->width()) << each->title().toStdString();
        }
      }
      page()->get()->cards().front()->button(1)->click();
      page()->reject();
      ASSERT_TRUE(waitUntil([this] { return page() == nullptr; }));
    }
  }
}

}  // namespace
}  // namespace winnow::test
