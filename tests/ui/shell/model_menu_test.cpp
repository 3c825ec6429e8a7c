// Models that lie on this machine in the window's menu, and models that are dropped on the window.
#include <QAction>
#include <QActionGroup>
#include <QDir>
#include <QFile>
#include <QMenu>
#include <QMimeData>
#include <QToolButton>
#include <QUrl>
#include <mutex>
#include <vector>

#include "tests/ui/support/window_fixture.h"

namespace winnow::test {
namespace {

class ModelMenuTest : public WindowTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(m_folder.isValid());
    m_modelFolders = {{app::ModelOrigin::kLmStudio, at(QStringLiteral("lm"))}, {app::ModelOrigin::kJan, at(QStringLiteral("jan"))}};
  }
  QString at(const QString& path) const { return m_folder.filePath(path); }
  void gguf(const QString& path) {
    ASSERT_TRUE(QDir().mkpath(QFileInfo(at(path)).absolutePath()));
    QFile file(at(path));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("GGUF" + QByteArray(2044, 'x'));
  }
  QMenu* menu() {
    for (const QToolButton* button : m_window->findChildren<QToolButton*>())
      if (button->accessibleName().startsWith(QStringLiteral("Model: "))) return button->menu();
    return nullptr;
  }
  QStringList labels() {
    QStringList list;
    for (const QAction* action : menu()->actions()) list << action->text();
    return list;
  }
  QAction* action(const QString& beginning) {
    for (QAction* each : menu()->actions())
      if (each->text().startsWith(beginning)) return each;
    return nullptr;
  }
  bool loaded(const QString& path) {
    return waitUntil([&] { return session().model.state() == ui::ModelState::kReady && session().model.folder() == path; });
  }
};

TEST_F(ModelMenuTest, ListsWhatOtherProgramsHaveByWhoseItIsAndLoadsItWhereItLies) {
  gguf(QStringLiteral("lm/publisher/repository/Qwen2.Q8_0.gguf"));
  gguf(QStringLiteral("jan/llama/model.gguf"));
  open();
  EXPECT_FALSE(labels().contains(QStringLiteral("LM Studio"))) << "nobody has looked yet";
  menu()->popup({});
  ASSERT_TRUE(waitUntil([&] { return labels().contains(QStringLiteral("LM Studio")); })) << "it joins the open menu";
  const QStringList all = labels();
  EXPECT_EQ(all[all.indexOf(QStringLiteral("LM Studio")) + 1], QStringLiteral("Qwen2.Q8_0\t2.0 KiB"));
  EXPECT_EQ(all[all.indexOf(QStringLiteral("Jan")) + 1], QStringLiteral("llama\t2.0 KiB"));
  const QAction* found = action(QStringLiteral("Qwen2.Q8_0"));
  ASSERT_NE(found->actionGroup(), nullptr);
  EXPECT_TRUE(found->actionGroup()->isExclusive()) << "one of many is loaded: no box to tick for each";
  menu()->close();
  action(QStringLiteral("llama"))->trigger();
  ASSERT_TRUE(loaded(at(QStringLiteral("jan/llama/model.gguf"))));
  EXPECT_EQ(session().model.info().name, "llama") << "as its program calls it";
  EXPECT_TRUE(action(QStringLiteral("llama"))->isChecked());
  EXPECT_EQ(labels().filter(QStringLiteral("llama")).size(), 1) << "not a second time among those loaded last";
}

TEST_F(ModelMenuTest, AModelThatIsDroppedIsLoadedAndNotAttached) {
  open();
  QMimeData file;
  file.setUrls({QUrl::fromLocalFile(QStringLiteral("/models/SmolLM2.Q4_1.gguf"))});
  ASSERT_TRUE(ui::Composer::accepts(file));
  composer()->addMime(file);
  EXPECT_TRUE(loaded(QStringLiteral("/models/SmolLM2.Q4_1.gguf")));
  QMimeData folder;
  ASSERT_TRUE(QDir().mkpath(at(QStringLiteral("a-folder"))));
  folder.setUrls({QUrl::fromLocalFile(at(QStringLiteral("a-folder")))});
  composer()->addMime(folder);
  EXPECT_TRUE(loaded(at(QStringLiteral("a-folder"))));
  EXPECT_EQ(composer()->tray()->count(), 0);
}

TEST_F(ModelMenuTest, TheStatusSaysNameParametersAndBits) {
  m_script = [](const Request& request) {
    return changed<ModelLoaded>(default_script(request), [](ModelLoaded& loaded) {
      loaded.info.name = "SmolLM2-135M-Instruct.Q4_1";
      loaded.info.parameter_count = 134'515'008;
      loaded.info.dtype = "fp32, Q4_1";
    });
  };
  open();
  EXPECT_TRUE(m_window->statusText().startsWith(QStringLiteral("SmolLM2-135M-Instruct.Q4_1  ·  135 M  ·  Q4_1  ·  CPU")))
      << m_window->statusText().toStdString();
}

// Requests that reach the engine, and what the menu says is in force.
class WeightsMenuTest : public ModelMenuTest {
 protected:
  void SetUp() override {
    ModelMenuTest::SetUp();
    m_script = [this](const Request& request) {
      if (const auto* load = std::get_if<LoadModel>(&request.body)) {
        const std::lock_guard lock(m_guard);
        m_asked.push_back(load->format);
      }
      return default_script(request);
    };
  }
  std::vector<WeightFormat> asked() {
    const std::lock_guard lock(m_guard);
    return m_asked;
  }
  QMenu* weights() { return action(QStringLiteral("&Weights"))->menu(); }
  QAction* choice(const QString& text) {
    for (QAction* each : weights()->actions())
      if (each->text() == text) return each;
    return nullptr;
  }
  QString checked() {
    QStringList all;
    for (const QAction* each : weights()->actions())
      if (each->isChecked()) all << each->text();
    return all.join(QLatin1Char(','));
  }
  bool askedFor(const std::vector<WeightFormat>& formats) {
    return waitUntil([&] { return asked() == formats && session().model.state() == ui::ModelState::kReady; });
  }

 private:
  std::mutex m_guard;
  std::vector<WeightFormat> m_asked;
};

TEST_F(WeightsMenuTest, AChoiceLoadsTheModelAgainAndIsKept) {
  open();
  ASSERT_TRUE(askedFor({WeightFormat::kAuto}));
  EXPECT_EQ(checked(), QStringLiteral("&As stored"));
  const QString folder = session().model.folder();
  choice(QStringLiteral("&8 bits"))->trigger();
  ASSERT_TRUE(askedFor({WeightFormat::kAuto, WeightFormat::kInt8}));
  EXPECT_EQ(session().model.folder(), folder);
  EXPECT_TRUE(weights()->actions().last()->text().startsWith(QStringLiteral("Now: "))) << "what it takes";
  EXPECT_EQ(checked(), QStringLiteral("&8 bits"));
  EXPECT_EQ(m_settings->weights(), WeightFormat::kInt8);
  choice(QStringLiteral("&8 bits"))->trigger();
  session().model.load(QStringLiteral("/models/another"));
  EXPECT_TRUE(askedFor({WeightFormat::kAuto, WeightFormat::kInt8, WeightFormat::kInt8}))
      << "the same again loads nothing; another model is held so, too";
}

TEST_F(WeightsMenuTest, SettingsThatAreReadLaterCountForTheModelThatWasAskedFor) {
  open();
  ASSERT_TRUE(askedFor({WeightFormat::kAuto}));
  m_settings->load({{QString::fromLatin1(app::setting_keys::kWeights), QStringLiteral("int4")}});
  EXPECT_TRUE(askedFor({WeightFormat::kAuto, WeightFormat::kInt4}));
  EXPECT_EQ(checked(), QStringLiteral("&4 bits"));
}

TEST_F(WeightsMenuTest, TheCommandLineCountsUntilAnotherChoice) {
  open();
  ASSERT_TRUE(askedFor({WeightFormat::kAuto}));
  ui::ModelSession& model = session().model;
  model.setForm(Device::kAuto, WeightFormat::kBf16);
  model.load(QStringLiteral("/models/another"));
  ASSERT_TRUE(askedFor({WeightFormat::kAuto, WeightFormat::kBf16}));
  EXPECT_EQ(checked(), QStringLiteral("&16 bits"));
  EXPECT_EQ(m_settings->weights(), WeightFormat::kAuto) << "it is of this start";
  m_settings->setWeights(WeightFormat::kInt8);
  EXPECT_EQ(model.weights(), WeightFormat::kBf16);
  choice(QStringLiteral("&As stored"))->trigger();
  EXPECT_TRUE(askedFor({WeightFormat::kAuto, WeightFormat::kBf16, WeightFormat::kAuto}));
}

}  // namespace
}  // namespace winnow::test
