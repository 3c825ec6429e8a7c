// A text-only model in the window: what is offered, what is greyed, and what is said when there is something to look at.
#include <QAction>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QListView>
#include <QPushButton>
#include <set>

#include "tests/ui/support/window_fixture.h"
#include "ui/composer/method_control.h"
#include "ui/composer/plan_line.h"
#include "ui/recipes/method_picker.h"
#include "ui/shell/model/welcome_page.h"

namespace winnow::test {
namespace {

const QString kText = QStringLiteral("/models/SmolLM2.Q4_1.gguf");

class TextModelTest : public WindowTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(m_folder.isValid());
    m_modelFolders = {{app::ModelOrigin::kHuggingFace, m_folder.filePath(QStringLiteral("hub"))}};
    m_script = [](const Request& request) {
      return changed<ModelLoaded>(default_script(request), [](ModelLoaded& loaded) {
        loaded.info.traits.sees = !loaded.info.name.ends_with(".gguf");
        loaded.info.traits.reads_videos = !loaded.info.name.ends_with("-1.5");
      });
    };
    ui::InitialState initial{.modelFolder = kText, .demoModelFolder = kDemo};
    app::Sample sample{.file = QStringLiteral("/samples/cards.mp4"), .title = QStringLiteral("Cards")};
    sample.questions.append({QStringLiteral("What colour is the star?"), QStringLiteral("red")});
    initial.samples.append(sample);
    open(initial);
    ASSERT_TRUE(session().model.readsTextOnly());
  }
  void seeingModel(const QString& owner) {
    const QString folder = m_folder.filePath(QStringLiteral("hub/models--%1--llava/snapshots/0123abcd").arg(owner));
    ASSERT_TRUE(QDir().mkpath(folder));
    const auto write = [&](const QString& name, const QByteArray& bytes) {
      QFile file(folder + QLatin1Char('/') + name);
      ASSERT_TRUE(file.open(QIODevice::WriteOnly));
      file.write(bytes);
    };
    write(QStringLiteral("config.json"), R"({"architectures":["LlavaOnevisionForConditionalGeneration"],"vision_config":{}})");
    write(QStringLiteral("model.safetensors"), "weights");
  }
  ui::NoticeBar* notice() { return noticeBar("faults"); }
  QPushButton* button(const char* label) { return notice()->button(QString::fromUtf8(label)); }
  void attach(const char* file) { ASSERT_TRUE(attaches(file)); }
  QAction* watchAction() {
    for (QAction* action : m_window->actions())
      if (action->text().startsWith(QStringLiteral("&Watch"))) return action;
    return nullptr;
  }
};

TEST_F(TextModelTest, SaysThatItCannotLookAtAPictureAndOffersTheModelsThatSee) {
  seeingModel(QStringLiteral("someone"));
  EXPECT_TRUE(notice()->text().isEmpty());
  attach("/pictures/cat.png");
  EXPECT_EQ(notice()->text(), QStringLiteral("This model reads text only: it cannot look at “cat.png”."));
  ASSERT_NE(button("Use the demo model"), nullptr);
  ASSERT_TRUE(waitUntil([this] { return button("Use someone/llava") != nullptr; })) << "found meanwhile";
  composer()->prompt()->setPlainText(QStringLiteral("What is it?"));
  EXPECT_FALSE(composer()->sendButton()->isEnabled());
  EXPECT_EQ(composer()->sendButton()->toolTip(), notice()->text()) << "the reason stands where it is looked for, too";
  pressEnter();
  EXPECT_EQ(transcript()->messageCount(), 0);
  QTest::mouseClick(button("Use someone/llava"), Qt::LeftButton);
  ASSERT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady && !session().model.readsTextOnly(); }));
  EXPECT_EQ(session().model.info().name, "someone/llava");
  EXPECT_TRUE(notice()->text().isEmpty());
  EXPECT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); })) << "what was written is still there";
}

TEST_F(TextModelTest, TheNoticeGoesWithWhatItIsAbout) {
  attach("/pictures/cat.png");
  ASSERT_FALSE(notice()->text().isEmpty());
  composer()->tray()->clear();
  EXPECT_TRUE(notice()->text().isEmpty());
  composer()->prompt()->setPlainText(QStringLiteral("What is a cat?"));
  EXPECT_TRUE(composer()->sendButton()->isEnabled());
  attach("/pictures/cat.png");
  ASSERT_FALSE(notice()->text().isEmpty());
  session().model.load(kDemo);
  EXPECT_TRUE(waitUntil([this] { return notice()->text().isEmpty(); })) << "another model looks at it";
}

TEST_F(TextModelTest, AModelOfImagesIsShownNoVideos) {
  session().model.load(QStringLiteral("/models/llava-1.5"));
  ASSERT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady && !session().model.readsTextOnly(); }));
  EXPECT_TRUE(session().model.readsNoVideos());
  EXPECT_FALSE(watchAction()->isEnabled());
  EXPECT_EQ(watchAction()->text(), QStringLiteral("&Watch… (this model reads no videos)"));
  attach("/pictures/cat.png");
  EXPECT_TRUE(notice()->text().isEmpty()) << notice()->text().toStdString();
  composer()->tray()->clear();
  attach("/samples/clip.mp4");
  EXPECT_EQ(notice()->text(), QStringLiteral("This model reads images, but no videos: it cannot look at “clip.mp4”."));
  ASSERT_NE(button("Use the demo model"), nullptr);
  composer()->prompt()->setPlainText(QStringLiteral("What is it?"));
  EXPECT_FALSE(composer()->sendButton()->isEnabled());
}

TEST_F(TextModelTest, AChatAboutAVideoIsNotAskedOnButByAModelThatSees) {
  session().model.load(kDemo);
  ASSERT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady && !session().model.readsTextOnly(); }));
  attach("/samples/clip.mp4");
  ask(QStringLiteral("What is it?"));
  session().model.load(kText);
  ASSERT_TRUE(waitUntil([this] { return session().model.readsTextOnly(); }));
  EXPECT_EQ(notice()->text(), QStringLiteral("This model reads text only: it cannot look at “clip.mp4”."));
  composer()->prompt()->setPlainText(QStringLiteral("And then?"));
  EXPECT_FALSE(composer()->sendButton()->isEnabled());
  m_window->page().startNew();
  EXPECT_TRUE(waitUntil([this] { return notice()->text().isEmpty(); })) << "a new chat has nothing to look at";
}

TEST_F(TextModelTest, BeginsWithQuestionsAndNotWithSamplesOfPictures) {
  auto* welcome = inWindow<ui::WelcomePage>();
  QStringList shown, cards;
  for (const QLabel* label : welcome->findChildren<QLabel*>())
    if (label->isVisible()) shown << label->text();
  for (QAbstractButton* card : welcome->findChildren<QAbstractButton*>())
    if (card->isVisible() && !card->accessibleName().isEmpty()) cards << card->accessibleName();
  EXPECT_TRUE(shown.contains(QStringLiteral("Ask something"))) << shown.join(QLatin1Char('|')).toStdString();
  EXPECT_EQ(cards.size(), 3) << cards.join(QLatin1Char('|')).toStdString();
  EXPECT_FALSE(cards.join(QString()).contains(QStringLiteral("star")));
  EXPECT_EQ(composer()->prompt()->placeholderText(), QStringLiteral("Ask something…"));
  for (QAbstractButton* card : welcome->findChildren<QAbstractButton*>())
    if (card->accessibleName() == cards.first()) card->click();
  EXPECT_FALSE(composer()->prompt()->toPlainText().isEmpty());
  EXPECT_EQ(composer()->tray()->count(), 0);
  session().model.load(kDemo);
  ASSERT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady; }));
  EXPECT_FALSE(composer()->prompt()->placeholderText() == QStringLiteral("Ask something…"));
}

TEST_F(TextModelTest, WatchingIsGreyedWithTheReason) {
  ASSERT_NE(watchAction(), nullptr);
  EXPECT_FALSE(watchAction()->isEnabled());
  EXPECT_TRUE(watchAction()->text().contains(QStringLiteral("reads text only")));
  session().model.load(kDemo);
  EXPECT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady && watchAction()->isEnabled(); }));
}

TEST_F(TextModelTest, MethodsThatNeedPicturesAreGreyedAndTheOthersAreNot) {
  m_window->page().openDialog(ui::ChatPage::Dialog::kMethod);
  auto* picker = inWindow<ui::MethodPicker>();
  ASSERT_NE(picker, nullptr);
  std::set<std::string> blind, usable;
  for (int row = 0; row < picker->list()->model()->rowCount(); ++row) {
    picker->list()->setCurrentIndex(picker->list()->model()->index(row, 0));
    const QString card = picker->list()->currentIndex().data(Qt::AccessibleTextRole).toString();
    const bool usableNow = picker->useButton()->isEnabled();
    if (usableNow) usable.insert(picker->selected()->spec.method);
    if (!usableNow && card.contains(QStringLiteral("reads text only"))) blind.insert(picker->selected()->spec.method);
  }
  for (const char* method : {"rekv", "fastv"}) EXPECT_TRUE(blind.contains(method)) << method;
  for (const char* method : {"full", "self-study", "kvzip+", "snapkv", "h2o"}) EXPECT_TRUE(usable.contains(method)) << method;
  picker->reject();
}

TEST_F(TextModelTest, AMethodThatCompressesWhatIsAttachedSaysThatNothingIs) {
  app::NamedRecipe recipe{.spec = {.method = "self-study"}};
  composer()->method()->setRecipe(recipe);
  EXPECT_TRUE(composer()->method()->about().contains(QStringLiteral("This chat has none")));
  recipe.spec.method = "snapkv";
  composer()->method()->setRecipe(recipe);
  EXPECT_FALSE(composer()->method()->about().contains(QStringLiteral("This chat has none"))) << "it compresses text as well";
  recipe.spec.method = "self-study";
  composer()->method()->setRecipe(recipe);
  attach("/samples/clip.mp4");
  EXPECT_FALSE(composer()->method()->about().contains(QStringLiteral("This chat has none")));
}

TEST_F(TextModelTest, PlansAndComparesWithoutAnythingAttached) {
  composer()->prompt()->setPlainText(QStringLiteral("Why is the sky blue?"));
  ASSERT_TRUE(waitUntil([this] { return inWindow<ui::PlanLine>()->plan().text.contains(QStringLiteral("of 4,096 tokens")); }))
      << inWindow<ui::PlanLine>()->plan().text.toStdString();
  m_window->page().compareOrLeave();
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  pressEnter();
  ASSERT_TRUE(waitUntil([this] { return m_window->page().showsComparison(); })) << composer()->notice().toStdString();
  EXPECT_TRUE(idle());
}

}  // namespace
}  // namespace winnow::test
