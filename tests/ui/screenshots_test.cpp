// Pictures of the main states, for people to look at; with the checks that a picture cannot make by itself.
#include <QComboBox>
#include <QContextMenuEvent>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTabWidget>
#include <QToolButton>

#include "tests/ui/support/screenshot.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_tray.h"
#include "ui/composer/folder_chooser.h"
#include "ui/composer/frame_pins.h"
#include "ui/composer/frame_strip.h"
#include "ui/composer/frame_viewer.h"
#include "ui/composer/method_control.h"
#include "ui/composer/page_viewer.h"
#include "ui/composer/password_dialog.h"
#include "ui/composer/plan_line.h"
#include "ui/inspector/inspector_panel.h"
#include "ui/inspector/timeline_page.h"
#include "ui/recipes/method_picker.h"
#include "ui/recipes/recipe_editor.h"
#include "ui/shell/turns/watch_controller.h"
#include "ui/theme/find_bar.h"
#include "ui/theme/popup_card.h"
#include "ui/watch/watch_dialog.h"

namespace winnow::test {
namespace {

using namespace std::chrono_literals;

class Screenshots : public WindowTest {
 protected:
  void SetUp() override {
    m_script = [this](const Request& request) {
      return request.id != 0 && std::holds_alternative<LoadModel>(request.body) ? load_script(request) : script(request);
    };
    WindowTest::SetUp();
  }

  Script script(const Request& request) { return answer_script(request, m_answer, m_delay, 8); }

  void reopen(const ui::InitialState& initial) {
    close();
    open(initial);
  }

  static ui::InitialState samples() {
    ui::InitialState initial;
    initial.modelFolder = initial.demoModelFolder = QStringLiteral("/models/shapes-demo");
    const std::pair<const char*, const char*> texts[] = {{"Shapes in ten seconds", "What color is the star?"},
                                                         {"A minute of shapes", "What comes after the red star?"},
                                                         {"Letters on cards", "What letter is on the card?"},
                                                         {"Half an hour", "List everything in order."}};
    for (const auto& [title, question] : texts) {
      app::Sample sample{.file = QStringLiteral("/samples/%1.mp4").arg(QLatin1String(title)), .title = QLatin1String(title)};
      app::SampleQuestion ready{.question = QLatin1String(question)};
      sample.questions.append(ready);
      initial.samples.append(sample);
    }
    return initial;
  }

  void attachAndType(const QString& question) {
    composer()->addFile("/samples/a minute of shapes.mp4");
    composer()->prompt()->setPlainText(question);
    ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled() && m_preview->thumbnailsAsked > 0; }));
    QTest::qWait(250);
  }

  void shoot(const QString& name) { shoot(name, m_window.get()); }
  void shoot(const QString& name, QWidget* shown) { saveScreenshot(name, shown); }

  std::string m_answer =
      "The star is **red**.\n\nIn order, the video shows:\n\n1. a red star\n2. a blue circle\n3. a card with the letter K\n\n"
      "| scene | thing | seconds |\n|---|---|---:|\n| 1 | red star | 0 |\n| 2 | blue circle | 16 |\n\n"
      "```json\n{\"first\": \"red star\", \"count\": 3}\n```\n";
  std::chrono::milliseconds m_delay{0};
};

TEST_F(Screenshots, Empty) {
  reopen(samples());
  shoot(QStringLiteral("empty"));
}

TEST_F(Screenshots, ComposerWithVideo) {
  reopen(samples());
  attachAndType(QStringLiteral("What comes after the red star?"));
  shoot(QStringLiteral("composer"));
}

TEST_F(Screenshots, PinnedFrames) {
  reopen(samples());
  composer()->addFile("/photos/a map of the harbour.png");
  attachAndType(QStringLiteral("What comes after the red star?"));
  ui::AttachmentTray* tray = composer()->tray();
  QTest::keyClick(tray->card(0), Qt::Key_P);
  ui::FrameStrip* strip = tray->card(1)->strip();
  strip->setFocus();
  QTest::keyClick(strip, Qt::Key_Up);
  for (int i = 0; i < 2; ++i) QTest::keyClick(strip, Qt::Key_Right);
  QTest::keyClick(strip, Qt::Key_P);
  QTest::keyClick(strip, Qt::Key_End);
  QTest::keyClick(strip, Qt::Key_Left);
  QTest::keyClick(strip, Qt::Key_P);
  QTest::keyClick(strip, Qt::Key_End);
  QTest::keyClick(strip, Qt::Key_P, Qt::ShiftModifier);
  shoot(QStringLiteral("pins"));
  const QPoint place = strip->pictureRect(1).center().toPoint();
  QContextMenuEvent menu(QContextMenuEvent::Mouse, place, strip->mapToGlobal(place));
  QCoreApplication::sendEvent(strip, &menu);
  auto* shown = strip->findChild<QMenu*>();
  ASSERT_NE(shown, nullptr);
  shoot(QStringLiteral("pins-menu"), shown);
  shown->close();
  ui::theme().setMode(ui::ThemeMode::kDark);
  shoot(QStringLiteral("pins-dark"));
  QTest::keyClick(strip, Qt::Key_Return);
  auto* viewer = composer()->findChild<ui::FrameViewer*>();
  ASSERT_NE(viewer, nullptr);
  ASSERT_TRUE(waitUntil([&] { return viewer->hasPicture(); }));
  shoot(QStringLiteral("pins-viewer-dark"), viewer);
  viewer->close();
  ui::theme().setMode(ui::ThemeMode::kLight);
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && !session().answers.busy(); }));
  shoot(QStringLiteral("pins-sent"));
  ui::theme().setZoomPercent(200);
  m_window->resize(800, 560);
  attachAndType(QStringLiteral("And here?"));
  composer()->tray()->card(0)->pins()->toggle(1);
  shoot(QStringLiteral("pins-200"));
}

TEST_F(Screenshots, Streaming) {
  m_delay = 40ms;
  attachAndType(QStringLiteral("What color is the star, and what else is in the video?"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && last().text.size() > 60; }));
  EXPECT_EQ(composer()->sendButton()->accessibleName(), QStringLiteral("Stop"));
  shoot(QStringLiteral("streaming"));
  session().answers.stop();
  ASSERT_TRUE(idle());
}

TEST_F(Screenshots, PanelAndDark) {
  attachAndType(QStringLiteral("What color is the star, and what else is in the video?"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && last().metrics.valid; }));
  shoot(QStringLiteral("panel"));
  m_window->inspector()->tabs()->setCurrentIndex(m_window->inspector()->tabs()->count() - 1);
  shoot(QStringLiteral("panel_table"));
  m_window->inspector()->tabs()->setCurrentIndex(0);
  m_settings->setTheme(app::Theme::kDark);
  EXPECT_TRUE(ui::theme().colors().dark);
  shoot(QStringLiteral("dark"));
  m_settings->setZoom(2.0);
  m_window->resize(800, 560);
  QTest::qWait(200);
  shoot(QStringLiteral("dark_zoom200_800x560"));
  m_settings->setZoom(1.0);
  m_settings->setTheme(app::Theme::kLight);
  shoot(QStringLiteral("small_800x560"));
}

TEST_F(Screenshots, Planner) {
  reopen(samples());
  const auto planned = [this](int frames, ui::PlanFit fit, const QString& name) {
    composer()->clear();
    m_settings->setDefaultFrameCount(frames);
    attachAndType(QStringLiteral("What comes after the red star?"));
    ASSERT_TRUE(waitUntil([&] { return !inWindow<ui::PlanLine>()->plan().text.isEmpty() && inWindow<ui::PlanLine>()->plan().fit == fit; }));
    shoot(name);
  };
  planned(64, ui::PlanFit::kFits, QStringLiteral("planner"));
  planned(400, ui::PlanFit::kTight, QStringLiteral("planner_tight"));
  planned(500, ui::PlanFit::kDoesNotFit, QStringLiteral("planner_refused"));
  m_settings->setTheme(app::Theme::kDark);
  shoot(QStringLiteral("planner_refused_dark"));
  m_settings->setZoom(2.0);
  m_window->resize(800, 560);
  QTest::qWait(200);
  shoot(QStringLiteral("planner_refused_dark_zoom200_800x560"));
}

TEST_F(Screenshots, Timeline) {
  m_delay = 25ms;
  m_answer =
      "First a **red star** on a blue ground, then a green circle on its left, then a card with the letter K. After it the star comes "
      "back.";
  m_window->resize(1280, 900);
  attachAndType(QStringLiteral("What color is the star, and what else is in the video?"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageCount() == 2 && last().metrics.valid; }));
  ask(QStringLiteral("And what comes last?"));
  ui::InspectorPanel* panel = m_window->inspector();
  panel->tabs()->setCurrentWidget(panel->timeline());
  shoot(QStringLiteral("timeline"));
  ui::MethodControl* method = composer()->method();
  method->openCard();
  ASSERT_FALSE(method->massLine().isEmpty());
  shoot(QStringLiteral("method_card_mass"), method->card());
  method->card()->hide();
  m_settings->setTheme(app::Theme::kDark);
  shoot(QStringLiteral("timeline_dark"));
  m_settings->setZoom(2.0);
  m_window->resize(2200, 1400);
  QTest::qWait(200);
  shoot(QStringLiteral("timeline_dark_zoom200"));
  m_settings->setZoom(1.0);
  m_window->resize(800, 680);
  QTest::qWait(200);
  shoot(QStringLiteral("timeline_dark_800x680"));
}

TEST_F(Screenshots, PickerAndRecipeEditor) {
  app::NamedRecipe saved;
  saved.name = "Letters, small";
  saved.spec.method = "vl-cache";
  saved.spec.retention = 0.05;
  saved.spec.allocator = "meda";
  saved.spec.reducer = "average";
  saved.spec.options["recent_share"] = "0.2";
  m_settings->saveRecipe(saved);
  ui::MethodControl* method = composer()->method();
  method->openCard();
  shoot(QStringLiteral("method_card"), method->card());
  method->card()->hide();
  const auto both = [&](const QString& suffix) {
    QTest::mouseClick(method->pickButton(), Qt::LeftButton);
    auto* picker = m_window->findChild<ui::MethodPicker*>();
    ASSERT_NE(picker, nullptr);
    shoot(QStringLiteral("picker") + suffix, picker);
    picker->search()->setText(QStringLiteral("letters"));
    QTest::mouseClick(picker->changeButton(), Qt::LeftButton);
    auto* editor = m_window->findChild<ui::RecipeEditor*>();
    ASSERT_NE(editor, nullptr);
    shoot(QStringLiteral("recipe_editor") + suffix, editor);
    editor->partBox("allocator")->setCurrentIndex(editor->partBox("allocator")->findData(QStringLiteral("pyramid")));
    auto* scroll = editor->findChild<QScrollArea*>();
    scroll->verticalScrollBar()->setValue(scroll->verticalScrollBar()->maximum());
    EXPECT_FALSE(editor->legal());
    shoot(QStringLiteral("recipe_editor_refused") + suffix, editor);
    editor->reject();
    ASSERT_TRUE(waitUntil(
        [this] { return m_window->findChild<ui::RecipeEditor*>() == nullptr && m_window->findChild<ui::MethodPicker*>() == nullptr; }));
  };
  both(QString());
  m_settings->setTheme(app::Theme::kDark);
  both(QStringLiteral("_dark"));
  m_settings->setZoom(2.0);
  m_window->resize(800, 560);
  QTest::qWait(200);
  both(QStringLiteral("_dark_zoom200_800x560"));
}

TEST_F(Screenshots, ErrorCard) {
  m_script = [](const Request& request) {
    if (std::holds_alternative<LoadModel>(request.body)) return load_script(request);
    return failure_script(ErrorCode::kDamagedFile, "/samples/a minute of shapes.mp4", "the file ends inside its index");
  };
  ask(QStringLiteral("What color is the star?"));
  shoot(QStringLiteral("error"));
}

TEST_F(Screenshots, Papers) {
  for (const bool dark : {false, true}) {
    ui::theme().setMode(dark ? ui::ThemeMode::kDark : ui::ThemeMode::kLight);
    const QString suffix = dark ? QStringLiteral("-dark") : QStringLiteral("-light");
    composer()->tray()->clear();
    composer()->addFile("/papers/a.pdf");
    ASSERT_TRUE(waitUntil([this] { return composer()->tray()->count() == 1 && !composer()->tray()->opening(); }));
    QTest::keyClick(composer()->tray()->card(0), Qt::Key_Space);
    auto* viewer = m_window->findChild<ui::PageViewer*>();
    ASSERT_TRUE(viewer != nullptr && waitUntil([&] { return viewer->hasPicture(); }));
    QTest::keyClick(viewer, Qt::Key_F, Qt::ControlModifier);
    QTest::keyClicks(viewer->findBar()->box(), QStringLiteral("basalt"));
    QTest::qWait(200);
    shoot(QStringLiteral("page-viewer") + suffix);
    viewer->reject();
    std::vector<app::FolderFile> files;
    for (int i = 1; i <= 70; ++i)
      files.push_back({"/papers/paper " + QByteArray::number(i) + ".pdf", MediaKind::kDocument,
                       QDateTime(QDate(2026, 3, 1), QTime(9, i % 60)), 9'000 * i});
    ui::FolderChooser chooser(QStringLiteral("papers"), files, 64, nullptr);
    chooser.resize(640, 480);
    chooser.show();
    QTest::qWait(50);
    shoot(QStringLiteral("folder-chooser") + suffix, &chooser);
    ui::PasswordDialog password(*m_preview, "/papers/encrypted.pdf", m_window.get());
    password.setAttribute(Qt::WA_DeleteOnClose, false);
    password.show();
    password.box()->setText(QStringLiteral("guess"));
    password.openButton()->click();
    ASSERT_TRUE(waitUntil([&] { return password.told().startsWith(QStringLiteral("This is not")); }));
    shoot(QStringLiteral("password") + suffix, &password);
  }
}

TEST_F(Screenshots, Rewording) {
  m_answer = "It is **red**.";
  ask(QStringLiteral("What color is the star?"));
  QTest::keyClick(composer()->prompt(), Qt::Key_Up);
  composer()->prompt()->setPlainText(QStringLiteral("What color is the circle?"));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return transcript()->messageAt(0).branchCount == 2 && !session().answers.busy(); }));
  QTest::keyClick(composer()->prompt(), Qt::Key_Up);
  shoot(QStringLiteral("rewording"));
}

TEST_F(Screenshots, Zoom200Empty) {
  reopen(samples());
  m_settings->setZoom(2.0);
  m_window->resize(800, 560);
  QTest::qWait(200);
  shoot(QStringLiteral("empty_zoom200_800x560"));
  m_window->resize(1600, 1000);
  attachAndType(QStringLiteral("What comes after the red star?"));
  shoot(QStringLiteral("composer_zoom200"));
}

// Two minutes of a camera under a small cap, asked about in between.
TEST_F(Screenshots, WatchedCamera) {
  for (const bool dark : {false, true}) {
    ui::theme().setMode(dark ? ui::ThemeMode::kDark : ui::ThemeMode::kLight);
    inWindow<ui::WatchController>()->start({app::WatchRequest::Kind::kCamera, "/dev/video0", 0.5, 400});
    for (int i = 0; i < 30; ++i) m_clips.giveFrames(8);
    ASSERT_TRUE(waitUntil([this] { return inWindow<ui::WatchController>()->watched().frames == 240; }));
    if (!dark) ask(QStringLiteral("What came by?"));
    app::ClipReader::Clip missed{.notices = {{NoticeCode::kFramesMissed, 3}}};
    m_clips.give(missed);
    saveScreenshot(dark ? QStringLiteral("watch-dark") : QStringLiteral("watch-light"), m_window.get());
    inWindow<ui::WatchController>()->stop();
    saveScreenshot(dark ? QStringLiteral("watch-ended-dark") : QStringLiteral("watch-ended-light"), m_window.get());
  }
  ui::WatchDialog dialog({8192, 9}, {{"/dev/video0", "Integrated Camera"}}, m_window.get());
  dialog.setAttribute(Qt::WA_DeleteOnClose, false);
  dialog.show();
  saveScreenshot(QStringLiteral("watch-dialog"), &dialog);
}

}  // namespace
}  // namespace winnow::test
