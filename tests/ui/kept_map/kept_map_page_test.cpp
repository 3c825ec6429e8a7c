// The kept-token page in the window, by key and by mouse: of an answer while it is written, afterwards and after a restart.
#include <QClipboard>
#include <QComboBox>
#include <QSlider>
#include <QTabWidget>
#include <QTableView>

#include "tests/support/scripted_comparison.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/compare/comparison_view.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/kept_map/kept_heat_map.h"
#include "ui/kept_map/kept_map_dialog.h"
#include "ui/kept_map/lit_strip.h"
#include "ui/kept_map/patch_view.h"
#include "ui/kept_map/token_text_view.h"
#include "ui/shell/turns/kept_map_pages.h"

namespace winnow::test {
namespace {

using namespace std::chrono_literals;

class KeptMapPage : public WindowTest {
 protected:
  void attachAndAsk(const QByteArray& file) {
    composer()->addFile(file);
    QTest::qWait(50);
    ask(QStringLiteral("What color is the star?"));
  }
  ui::KeptMapDialog* page() { return inWindow<ui::KeptMapPages>()->page(); }
  void openByKey() {
    QTest::keyClick(m_window.get(), Qt::Key_T, Qt::ControlModifier);
    ASSERT_NE(page(), nullptr);
    ASSERT_TRUE(waitUntil([this] { return !page()->showsSentence(); }));
  }
  void press(QWidget* widget, Qt::Key key) { QTest::keyClick(widget, key); }
};

TEST_F(KeptMapPage, OpensFromAnAnswerAndStepsByKeyAndMouse) {
  attachAndAsk("/samples/a minute of shapes.mp4");
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {}, transcript()->actionRect(last().id, ui::Action::kKeptMap).center());
  ASSERT_NE(page(), nullptr);
  ASSERT_TRUE(waitUntil([this] { return !page()->showsSentence(); }));
  ui::KeptMapModel& model = page()->model();
  ASSERT_EQ(model.layers(), 4);
  const auto frames = std::count_if(model.parts().begin(), model.parts().end(), [](const ui::PromptPart& part) { return part.visual(); });
  ASSERT_EQ(frames, 64);
  EXPECT_EQ(model.layer(), 0);
  EXPECT_TRUE(model.parts()[static_cast<std::size_t>(model.part())].visual());
  EXPECT_TRUE(waitUntil([this] { return page()->patches()->hasPicture(); })) << "the frame comes from MediaPreview";
  const int part = model.part();
  press(page()->heatMap(), Qt::Key_Right);
  EXPECT_EQ(model.part(), part + 1);
  press(page()->heatMap(), Qt::Key_Down);
  press(page()->heatMap(), Qt::Key_PageDown);
  EXPECT_EQ(model.layer(), 2);
  EXPECT_EQ(page()->layerSlider()->value(), 2);
  EXPECT_TRUE(page()->cellLine().startsWith(QStringLiteral("Layer 2"))) << page()->cellLine().toStdString();
  EXPECT_EQ(page()->heatMap()->accessibleDescription(), page()->cellLine());
  QTest::mouseClick(page()->heatMap(), Qt::LeftButton, {}, page()->heatMap()->cellRect(3, part + 5).center().toPoint());
  EXPECT_EQ(model.layer(), 3);
  EXPECT_EQ(model.part(), part + 5);
  page()->layerSlider()->setValue(1);
  EXPECT_EQ(model.layer(), 1);
  // What the layer keeps of the frame is what the engine reported.
  const std::vector<int>& cells = model.parts()[static_cast<std::size_t>(model.part())].cells;
  ASSERT_EQ(cells.size(), 9U);
  QTest::mouseClick(page()->patches(), Qt::LeftButton, {}, page()->patches()->patchRect(1, 2).center().toPoint());
  EXPECT_EQ(page()->patches()->cursorToken(), cells[5]);
  page()->patches()->setFocus();
  press(page()->patches(), Qt::Key_Left);
  EXPECT_EQ(page()->patches()->cursorToken(), cells[4]);
  EXPECT_TRUE(page()->patches()->accessibleDescription().startsWith(QStringLiteral("Row 2, column 2")));
  // Space plays, also from the patches, and stops again.
  press(page()->patches(), Qt::Key_Space);
  EXPECT_TRUE(page()->playing());
  EXPECT_TRUE(waitUntil([&] { return model.layer() == 3; }));
  press(page()->heatMap(), Qt::Key_Space);
  EXPECT_FALSE(page()->playing());
}

// Under the heat-map the frames themselves, lit by the mean over the layers.
TEST_F(KeptMapPage, TheFrameStripIsLitByTheMeanOverTheLayers) {
  attachAndAsk("/samples/a minute of shapes.mp4");
  openByKey();
  ui::KeptMapModel& model = page()->model();
  ui::LitStrip* strip = page()->strip();
  ASSERT_TRUE(strip->isVisible());
  EXPECT_TRUE(waitUntil([&] { return strip->thumbnails() == 12; }));
  double brightest = 0.0;
  for (int part = 0; part < static_cast<int>(model.parts().size()); ++part) {
    if (!model.parts()[static_cast<std::size_t>(part)].visual()) continue;
    brightest = std::max(brightest, strip->light(part));
    double mean = 0.0;
    for (int layer = 0; layer < model.layers(); ++layer) mean += model.share(layer, part) / model.layers();
    EXPECT_NEAR(model.meanShare(part), mean, 1e-12);
  }
  EXPECT_EQ(brightest, 1.0) << "the best kept frame is clear";
  const int part = model.part() + 7;
  QTest::mouseClick(strip, Qt::LeftButton, {}, QPoint(qRound(page()->heatMap()->cellRect(0, part).center().x()), strip->height() / 2));
  EXPECT_EQ(model.part(), part);
  EXPECT_TRUE(strip->accessibleDescription().startsWith(model.partName(part)));
}

// An answer that was stopped before its prompt was read has no map: the key shows the newest that has one.
TEST_F(KeptMapPage, TheKeyTakesTheNewestAnswerThatHasAMap) {
  attachAndAsk("/samples/a minute of shapes.mp4");
  const qint64 mapped = last().id;
  m_script = [](const Request&) { return Script{{{}, Say{Progress{Phase::kPrefill, 1, 4}}}, {{}, Stall{}}}; };
  ASSERT_TRUE(sends(QStringLiteral("And now?")));
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 4 && session().answers.busy(); }));
  session().answers.stop();
  ASSERT_TRUE(idle());
  ASSERT_NE(last().id, mapped);
  openByKey();
  EXPECT_FALSE(page()->showsSentence());
  page()->close();
  // Asked for by hand, the sentence is true.
  inWindow<ui::KeptMapPages>()->open(last().id);
  EXPECT_TRUE(waitUntil([this] { return page()->sentence().contains(QStringLiteral("before its prompt was read")); }))
      << page()->sentence().toStdString();
  EXPECT_TRUE(page()->showsSentence());
}

// What is said of an answer that ended and has no map follows from its figures.
TEST_F(KeptMapPage, AnAnswerWithFiguresSaysWhyItHasNoMap) {
  std::int64_t tokens = 100;
  m_script = [&tokens](const Request&) {
    Finished done;
    done.answer = "A star.";
    done.figures.tokens.thread_text = tokens;
    done.figures.layers.resize(28);
    for (LayerFigures& layer : done.figures.layers) layer.kept_per_head.assign(4, 10);
    return Script{{{}, Say{done}}};
  };
  const auto sentence = [this] {
    composer()->prompt()->setPlainText(QStringLiteral("What is it?"));
    EXPECT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
    pressEnter();
    EXPECT_TRUE(idle());
    inWindow<ui::KeptMapPages>()->open(last().id);
    EXPECT_TRUE(waitUntil([this] { return page()->sentence().startsWith(QStringLiteral("No map")); }));
    const QString said = page()->sentence();
    page()->close();
    return said;
  };
  EXPECT_TRUE(sentence().contains(QStringLiteral("older version")));
  tokens = 40'000;
  EXPECT_TRUE(sentence().contains(QStringLiteral("larger than 4.0 MiB")));
}

TEST_F(KeptMapPage, TextShowsItsWords) {
  attachAndAsk("/samples/a minute of shapes.mp4");
  openByKey();
  press(page()->heatMap(), Qt::Key_End);
  const std::vector<QString> texts = page()->text()->tokenTexts();
  QString joined;
  for (const QString& text : texts) joined += text;
  EXPECT_TRUE(joined.contains(QStringLiteral("What color is the star?"))) << joined.toStdString();
  EXPECT_TRUE(page()->text()->isVisible());
  EXPECT_FALSE(page()->patches()->isVisible());
}

TEST_F(KeptMapPage, HeadsCanBeChosenAndTheTableCopied) {
  attachAndAsk("/samples/a minute of shapes.mp4");
  openByKey();
  ui::KeptMapModel& model = page()->model();
  ASSERT_TRUE(model.headsDiffer());
  ASSERT_TRUE(page()->headBox()->isVisible());
  EXPECT_EQ(page()->headBox()->count(), 3);
  page()->headBox()->setCurrentIndex(2);
  EXPECT_EQ(model.head(), 1);
  page()->tabs()->setCurrentIndex(1);
  QTest::keyClick(page()->table(), Qt::Key_C, Qt::ControlModifier);
  const QString copied = QApplication::clipboard()->text();
  EXPECT_EQ(copied.count(QLatin1Char('\n')), 5) << "a header and four layers";
  EXPECT_TRUE(copied.startsWith(QStringLiteral("Layer\tSystem text\tFrame 1 of 64")));
}

TEST_F(KeptMapPage, FillsWhileTheAnswerIsWrittenAndIsSavedWithIt) {
  m_script = answering("one two three four five six seven eight", 60ms);
  composer()->addFile("/samples/a minute of shapes.mp4");
  ASSERT_TRUE(sends(QStringLiteral("What?")));
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2; }));
  QTest::keyClick(m_window.get(), Qt::Key_T, Qt::ControlModifier);
  ASSERT_NE(page(), nullptr);
  ASSERT_TRUE(waitUntil([this] { return !page()->showsSentence(); }));
  EXPECT_TRUE(session().answers.busy()) << "known before the answer is";
  ASSERT_TRUE(idle());
  const app::KeptMap live = page()->model().map();
  const qint64 answer = last().id;
  ASSERT_TRUE(reopened(2));
  EXPECT_EQ(last().id, answer);
  EXPECT_TRUE(last().hasKeptMap);
  openByKey();
  EXPECT_EQ(page()->model().map(), live) << "the saved map is the reported one";
  EXPECT_EQ(page()->model().media().size(), 1U);
  EXPECT_EQ(page()->model().media()[0].timesS.size(), 64U);
}

TEST_F(KeptMapPage, OfAComparisonShowsColumnsAndDifferencesAlsoAfterARestart) {
  m_script = [](const Request& request) {
    if (std::holds_alternative<Compare>(request.body)) return compare_script(request, {"A red star.", "A blue star.", "A star."});
    return default_script(request);
  };
  composer()->addFile("/samples/a minute of shapes.mp4");
  composer()->prompt()->setPlainText(QStringLiteral("What?"));
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  QTest::keyClick(m_window.get(), Qt::Key_K, Qt::ControlModifier);
  pressEnter();
  const auto ended = [this] {
    const ui::ComparisonModel* model = inWindow<ui::ComparisonView>()->model();
    return model != nullptr && !model->running() && model->comparison().id != 0;
  };
  ASSERT_TRUE(waitUntil(ended));
  QTest::mouseClick(inWindow<ui::ComparisonView>()->mapsButton(), Qt::LeftButton);
  ASSERT_NE(page(), nullptr);
  ASSERT_TRUE(waitUntil([this] { return !page()->showsSentence(); }));
  EXPECT_EQ(page()->choiceBox()->count(), 6) << "three columns and their three pairs";
  EXPECT_TRUE(page()->model().isDifference()) << "the two that are not the full cache";
  EXPECT_TRUE(page()->cellLine().contains(page()->model().secondName()));
  page()->choiceBox()->setCurrentIndex(1);
  ASSERT_FALSE(page()->model().isDifference());
  const app::KeptMap live = page()->model().map();
  ASSERT_EQ(page()->model().media().size(), 1U);
  reopen();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() >= 1; }));
  m_window->grab();
  QTest::mouseClick(transcript()->viewport(), Qt::LeftButton, {},
                    transcript()->actionRect(transcript()->messageAt(0).id, ui::Action::kComparison).center());
  ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison(); }));
  QTest::keyClick(m_window.get(), Qt::Key_T, Qt::ControlModifier);
  ASSERT_NE(page(), nullptr);
  page()->choiceBox()->setCurrentIndex(1);
  ASSERT_TRUE(waitUntil([this] { return !page()->showsSentence() && !page()->model().isDifference(); }));
  EXPECT_EQ(page()->model().map(), live) << "the saved map is the reported one";
}

TEST_F(KeptMapPage, AnAnswerWithoutAMapSaysSo) {
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    return failure_script(ErrorCode::kDamagedFile, "/x.mp4", "it ends");
  };
  ask(QStringLiteral("What?"));
  EXPECT_TRUE(transcript()->actionRect(last().id, ui::Action::kKeptMap).isEmpty());
  QTest::keyClick(m_window.get(), Qt::Key_T, Qt::ControlModifier);
  ASSERT_NE(page(), nullptr);
  QTest::qWait(100);
  EXPECT_TRUE(page()->showsSentence());
  QTest::keyClick(page(), Qt::Key_Escape);
  EXPECT_TRUE(waitUntil([this] { return page() == nullptr; }));
}

TEST_F(KeptMapPage, APageThatCannotSeeTheFileStillShowsTheGrid) {
  ui::KeptMapDialog dialog(*m_preview, QStringLiteral("snapkv · 20 %"), m_window.get());
  dialog.setAttribute(Qt::WA_DeleteOnClose, false);
  CacheReport report;
  for (int i = 0; i < 9; ++i)
    report.tokens.push_back({Modality::kVisual, 0, 0, static_cast<std::int16_t>(i / 3), static_cast<std::int16_t>(i % 3)});
  report.kept = {{{0, 4, 8}}};
  dialog.showMap(std::make_shared<const app::KeptMap>(app::KeptMap::fromReport(report)), {});
  dialog.show();
  EXPECT_FALSE(dialog.showsSentence());
  EXPECT_FALSE(dialog.patches()->hasPicture());
  EXPECT_EQ(dialog.patches()->tokenAt(dialog.patches()->patchRect(1, 1).center()), 4);
  EXPECT_FALSE(dialog.headBox()->isVisible()) << "one head, nothing to choose";
}

}  // namespace
}  // namespace winnow::test
