// A model that cannot be loaded, in the real window: what is said of it, and the ways on.
#include <QFileDialog>
#include <QMenu>
#include <QPushButton>
#include <set>

#include "app/words/fault_texts.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/shell/ground/notice_bar.h"
#include "ui/shell/model/welcome_page.h"

namespace winnow::test {
namespace {

const QString kVideos = QStringLiteral("/home/me/media");

TEST(ModelFaultText, SpeaksOfTheModelAndNeverOfAnAttachment) {
  std::set<QString> causes;
  for (int code = 1; code <= 25; ++code) {
    for (const char* subject : {"", "/home/me/media", "/home/me/media/config.json", "/home/me/media/model.safetensors"}) {
      const app::ErrorText text = app::describeModelFault({static_cast<ErrorCode>(code), subject, "because"}, kVideos, false);
      EXPECT_FALSE(text.cause.contains(QLatin1Char('%'))) << text.cause.toStdString();
      EXPECT_FALSE((text.cause + text.remedy).contains(QStringLiteral("attach"))) << text.remedy.toStdString();
      EXPECT_FALSE(text.remedy.contains(QStringLiteral("chat is saved"))) << code;
      EXPECT_TRUE(text.details.contains(QStringLiteral("because")));
      causes.insert(text.cause);
    }
  }
  EXPECT_GE(causes.size(), 25u);
}

TEST(ModelFaultText, SaysWhatAFolderLacks) {
  const auto cause = [](ErrorCode code, const char* subject) { return app::describeModelFault({code, subject, ""}, kVideos, false).cause; };
  EXPECT_EQ(cause(ErrorCode::kNoModel, "/home/me/media"),
            QStringLiteral("“media” is not a model: neither a GGUF file nor a folder with config.json."));
  EXPECT_EQ(cause(ErrorCode::kModelFolderMissing, "/home/me/media/"), QStringLiteral("The model “media” cannot be found."));
  EXPECT_EQ(cause(ErrorCode::kModelFileMissing, "/home/me/media/tokenizer.json"),
            QStringLiteral("The model “media” is not complete: “tokenizer.json” is missing."));
  EXPECT_EQ(cause(ErrorCode::kModelInside, "/home/me/media/demo/model"), QStringLiteral("“media” is not a model, but “model” in it is."));
  EXPECT_EQ(cause(ErrorCode::kModelFormat, "/home/me/media/llava.gguf"),
            QStringLiteral("“llava.gguf” of the model “media” is in a format that Winnow does not open."));
  EXPECT_EQ(cause(ErrorCode::kUnsupportedModel, "/home/me/media"),
            QStringLiteral("The model “media” is of a kind that Winnow cannot run yet."));
  EXPECT_EQ(cause(ErrorCode::kDamagedFile, "/home/me/media/config.json"),
            QStringLiteral("“config.json” of the model “media” is damaged or incomplete."));
}

TEST(ModelFaultText, AFileIsNamedOnce) {
  const QString file = QStringLiteral("/home/me/big-00001-of-00002.gguf");
  const auto cause = [&](ErrorCode code, const char* subject) { return app::describeModelFault({code, subject, ""}, file, false).cause; };
  EXPECT_EQ(cause(ErrorCode::kDamagedFile, "/home/me/big-00001-of-00002.gguf"),
            QStringLiteral("The model “big” is damaged or incomplete."));
  EXPECT_EQ(cause(ErrorCode::kModelFileMissing, "/home/me/big-00002-of-00002.gguf"),
            QStringLiteral("The model “big” is not complete: “big-00002-of-00002.gguf” is missing."));
  EXPECT_EQ(cause(ErrorCode::kUnsupportedFormat, "/home/me/big-00001-of-00002.gguf"),
            QStringLiteral("The model “big” is in a format that Winnow does not open."));
}

class ModelFaultTest : public WindowTest {
 protected:
  void SetUp() override {
    m_script = [](const Request& request) {
      const auto* load = std::get_if<LoadModel>(&request.body);
      if (load == nullptr || load->folder == kDemo.toStdString()) return default_script(request);
      return failure_script(ErrorCode::kNoModel, load->folder, "a model folder has a config.json, this has none");
    };
  }
  void openWith(const QString& model, const QString& demo) {
    ASSERT_TRUE(m_folder.isValid());
    ui::InitialState initial{.modelFolder = model, .demoModelFolder = demo};
    open(initial);
  }
  QPushButton* button(const char* label) { return noticeBar("faults")->button(QString::fromUtf8(label)); }
};

TEST_F(ModelFaultTest, AModelBelowTheChosenFolderIsOneClickAway) {
  const QString inside = kVideos + QStringLiteral("/llava");
  m_script = [inside](const Request& request) {
    const auto* load = std::get_if<LoadModel>(&request.body);
    if (load == nullptr || load->folder == inside.toStdString()) return default_script(request);
    return failure_script(ErrorCode::kModelInside, inside.toStdString(), "the model is in this folder, below the chosen one");
  };
  openWith(kVideos, {});
  ASSERT_EQ(session().model.state(), ui::ModelState::kFailed);
  EXPECT_TRUE(noticeBar("faults")->text().startsWith(QStringLiteral("“media” is not a model, but “llava” in it is.")));
  ASSERT_NE(button("Use that one"), nullptr);
  QTest::mouseClick(button("Use that one"), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady; }));
  EXPECT_EQ(session().model.folder(), inside);
}

TEST_F(ModelFaultTest, AFolderOfVideosIsNoModelFolderAndTheDemoModelIsOneClickAway) {
  openWith(kVideos, kDemo);
  ASSERT_EQ(session().model.state(), ui::ModelState::kFailed);
  EXPECT_TRUE(
      noticeBar("faults")->text().startsWith(QStringLiteral("“media” is not a model: neither a GGUF file nor a folder with config.json.")))
      << noticeBar("faults")->text().toStdString();
  EXPECT_FALSE(noticeBar("faults")->text().contains(QStringLiteral("attach")));
  ASSERT_NE(button("Try again"), nullptr);
  ASSERT_NE(button("Use the demo model"), nullptr);
  QTest::mouseClick(button("Use the demo model"), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady; }));
  EXPECT_EQ(session().model.folder(), kDemo);
  EXPECT_FALSE(noticeBar("faults")->isVisible());
}

TEST_F(ModelFaultTest, AnotherModelCanBeChosenFromTheNotice) {
  openWith(kVideos, QString());
  ASSERT_NE(button("Choose another…"), nullptr);
  EXPECT_EQ(button("Use the demo model"), nullptr) << "it is not there";
  QTest::mouseClick(button("Choose another…"), Qt::LeftButton);
  QMenu* menu = nullptr;
  ASSERT_TRUE(waitUntil([&] { return (menu = qobject_cast<QMenu*>(QApplication::activePopupWidget())) != nullptr; }));
  QStringList ways;
  for (const QAction* action : menu->actions()) ways << action->text();
  EXPECT_TRUE(ways.contains(QStringLiteral("Open a &GGUF file…"))) << "a file and a folder are two dialogs on most systems";
  ASSERT_TRUE(ways.contains(QStringLiteral("Open a &folder…")));
  menu->actions()[ways.indexOf(QStringLiteral("Open a &folder…"))]->trigger();
  menu->close();
  auto* dialog = m_window->findChild<QFileDialog*>();
  ASSERT_NE(dialog, nullptr);
  dialog->reject();
}

TEST_F(ModelFaultTest, ADemoModelWhoseFilesAreGoneIsNamedAsTheDemoModel) {
  m_script = [](const Request& request) {
    const auto* load = std::get_if<LoadModel>(&request.body);
    if (load == nullptr) return default_script(request);
    return failure_script(ErrorCode::kNoModel, load->folder, "a model folder has a config.json, this has none");
  };
  openWith(kDemo, kDemo);
  EXPECT_TRUE(noticeBar("faults")->text().startsWith(QStringLiteral("The bundled demo model is missing.")))
      << noticeBar("faults")->text().toStdString();
  EXPECT_EQ(button("Use the demo model"), nullptr);
  EXPECT_NE(button("Try again"), nullptr);
}

TEST_F(ModelFaultTest, AWantedDemoModelThatWasNeverInstalledIsSaid) {
  ASSERT_TRUE(m_folder.isValid());
  ui::InitialState initial{.demoWanted = true};
  start(initial);
  EXPECT_TRUE(noticeBar("faults")->text().startsWith(QStringLiteral("The bundled demo model is missing.")))
      << noticeBar("faults")->text().toStdString();
}

}  // namespace
}  // namespace winnow::test
