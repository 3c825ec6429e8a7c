// The line under the composer: what it says, when it is asked for, and what its buttons do.
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>

#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_tray.h"
#include "ui/composer/method_control.h"
#include "ui/composer/plan_line.h"
#include "ui/composer/plan_words.h"
#include "ui/theme/popup_card.h"

namespace winnow::test {
namespace {

using namespace std::chrono_literals;
using ui::PlanFit;

app::Attachment video(int frames) { return {.kind = MediaKind::kVideo, .plan = {.frame_count = frames}}; }

Planned plan() {
  Planned planned;
  planned.tokens = {617, 577, 40, 256};
  planned.kv_bytes_full = 617 * 2048;
  planned.kv_bytes_per_token = 2048;
  planned.kv_bytes_after_event = 617 * 2048 / 5;
  planned.peak_bytes = 2 << 20;
  planned.free_bytes = 1 << 30;
  planned.context_tokens = 4096;
  planned.expected_ms = 640.0;
  planned.expected_per_token_ms = 25.0;
  return planned;
}

TEST(PlanWords, SayTokensCacheFitAndWaitInOneLine) {
  Planned measured = plan();
  measured.expected_reading_ms = 40.0;
  measured.expected_encoder_ms = 500.0;
  const ui::PlanView view = ui::describePlan(measured, {{video(64)}, {}});
  EXPECT_TRUE(view.detail.contains(QStringLiteral("40 ms for reading, 500 ms in the vision encoder, 100 ms in the decoder")));
  EXPECT_EQ(view.text, QStringLiteral("64 frames · cache 1.2 MiB → 247 KiB · fits · about 640 ms")) << view.text.toStdString();
  EXPECT_EQ(view.fit, PlanFit::kFits);
  EXPECT_TRUE(view.remedies.isEmpty());
  app::Attachment image{.kind = MediaKind::kImage};
  EXPECT_TRUE(ui::describePlan(plan(), {{video(64), image, image}, {}}).text.startsWith(QStringLiteral("64 frames · 2 images · cache")));
  Planned first = plan();
  first.expected_ms = 0.0;
  first.kv_bytes_after_event = first.kv_bytes_full;
  first.tokens = {41, 0, 41, 256};
  EXPECT_EQ(ui::describePlan(first, {}).text, QStringLiteral("617 of 4,096 tokens · cache 1.2 MiB · fits"));
  first.expected_ms = 85.0;
  EXPECT_EQ(ui::describePlan(first, {}).text, QStringLiteral("617 of 4,096 tokens · cache 1.2 MiB · fits · about 85 ms · 40 tokens/s"))
      << "without anything attached, context and speed are what there is to say";
}

TEST(PlanWords, TheWaitForAVideoIsSaidBeforeAnyWasMeasured) {
  Planned planned = plan();
  planned.expected_ms = 0.0;
  ui::PlanSubject subject{.attachments = {video(12)}, .frameMs = 5000.0};
  const ui::PlanView view = ui::describePlan(planned, subject);
  EXPECT_TRUE(view.text.endsWith(QStringLiteral(" · about 60.0 s · 64 frames: about 5 min"))) << view.text.toStdString();
  EXPECT_TRUE(view.detail.contains(QStringLiteral("Each frame takes about 5.0 s"))) << view.detail.toStdString();
  subject.frameMs = 2.0;
  EXPECT_FALSE(ui::describePlan(planned, subject).text.contains(QStringLiteral("about"))) << "the rest of a short wait is not known";
}

TEST(PlanWords, AVideoBeginsWithTheFramesOfAMinute) {
  ModelInfo model;
  EXPECT_EQ(frames_in_a_minute(model, 64), 64) << "nothing is known";
  model.frame_ms = 900.0;
  EXPECT_EQ(frames_in_a_minute(model, 64), 64) << "58 seconds";
  model.frame_ms = 5000.0;
  EXPECT_EQ(frames_in_a_minute(model, 64), 12);
  model.frame_ms = 50'000.0;
  EXPECT_EQ(frames_in_a_minute(model, 64), 4) << "fewer would show nothing";
  EXPECT_EQ(frames_in_a_minute(model, 2), 2);
}

TEST(PlanWords, APictureOfManyTokensIsSaidAndOffersFewer) {
  ui::PlanSubject subject;
  app::Attachment image{.kind = MediaKind::kImage};
  subject.attachments = {image};
  subject.pictures = {DetailKind::kAnySize, 256, 1024, 4096, 28};
  MediaSampled seen{.path = "/photos/harbour.jpg", .visual_tokens = 1024};
  subject.seen = {seen};
  const ui::PlanView few = ui::describePlan(plan(), subject);
  EXPECT_TRUE(few.text.startsWith(QStringLiteral("1 image"))) << few.text.toStdString();
  EXPECT_TRUE(few.detail.contains(QStringLiteral("harbour.jpg: 1,024 tokens"))) << few.detail.toStdString();
  EXPECT_TRUE(few.remedies.isEmpty());
  subject.seen[0].visual_tokens = 16'384;
  const ui::PlanView many = ui::describePlan(plan(), subject);
  EXPECT_TRUE(many.text.startsWith(QStringLiteral("harbour.jpg: 16,384 tokens · 1 image"))) << many.text.toStdString();
  ASSERT_EQ(many.remedies.size(), 1);
  EXPECT_EQ(many.remedies[0].kind, ui::PlanRemedy::Kind::kDetail);
  EXPECT_EQ(many.remedies[0].text, QStringLiteral("Use at most 1,024 tokens a picture"));
  subject.seen[0].detail.level = DetailLevel::kHigh;
  EXPECT_TRUE(ui::describePlan(plan(), subject).remedies.isEmpty()) << "it was asked for";
  subject.seen[0].detail = {};
  subject.pictures = {};
  EXPECT_TRUE(ui::describePlan(plan(), subject).remedies.isEmpty()) << "the model knows no other";
}

TEST(PlanWords, WhatAShareIsOfWhereLayersHaveAWindow) {
  const auto said = [](qint64 window) {
    ui::PlanSubject subject{.window = window};
    return ui::describePlan(plan(), subject).detail.contains(QStringLiteral("see only the last %1 tokens").arg(window));
  };
  EXPECT_TRUE(said(512)) << "of 617";
  EXPECT_FALSE(said(1024)) << "nothing has left it yet";
  EXPECT_FALSE(said(0));
}

TEST(PlanWords, StatesOfLayersCountAsMemory) {
  Planned planned = plan();
  EXPECT_FALSE(ui::describePlan(planned, {}).detail.contains(QStringLiteral("state")));
  planned.state_bytes = 19'500'000;
  EXPECT_TRUE(ui::describePlan(planned, {}).detail.contains(QStringLiteral("Parts of fixed size take 18.6 MiB more.")))
      << ui::describePlan(planned, {}).detail.toStdString();
  planned.state_bytes = 900 << 20;
  EXPECT_EQ(ui::describePlan(planned, {}).fit, PlanFit::kTight);
}

TEST(PlanWords, WhatDoesNotFitOffersWhatWould) {
  Planned planned = plan();
  planned.tokens.visual = 4500;
  planned.tokens.prompt = 4540;
  planned.kv_bytes_full = 4540 * 2048;
  planned.fits_context = false;
  const ui::PlanView context = ui::describePlan(planned, {{video(500)}, {}});
  EXPECT_EQ(context.fit, PlanFit::kDoesNotFit);
  ASSERT_EQ(context.remedies.size(), 1) << "a lower retention does not shorten the prompt";
  // 4540 + 256 tokens, 700 too many, at 9 a frame.
  EXPECT_EQ(context.remedies[0].text, QStringLiteral("Use 422 frames"));

  planned = plan();
  planned.fits_memory = false;
  planned.peak_bytes = 2 << 20;
  planned.free_bytes = 1 << 20;
  RecipeSpec recipe{.retention = 0.2};
  const ui::PlanView memory = ui::describePlan(planned, {{video(64)}, recipe});
  ASSERT_EQ(memory.remedies.size(), 2);
  EXPECT_EQ(memory.remedies[0].text, QStringLiteral("Use 25 frames"));
  EXPECT_DOUBLE_EQ(memory.remedies[1].retention, 0.1);
  // In eight bits it takes less, where it is not there yet and the device reads it.
  const ui::PlanView narrow = ui::describePlan(planned, {{video(64)}, recipe, true});
  ASSERT_EQ(narrow.remedies.size(), 3);
  EXPECT_EQ(narrow.remedies[1].kind, ui::PlanRemedy::Kind::kNarrowCache);
  EXPECT_EQ(narrow.remedies[1].text, QStringLiteral("Use an 8-bit cache"));
  recipe.kv_bits = 16;
  EXPECT_EQ(ui::describePlan(planned, {{video(64)}, recipe, true}).remedies.size(), 3);
  for (const int bits : {8, 4}) {
    recipe.kv_bits = bits;
    EXPECT_EQ(ui::describePlan(planned, {{video(64)}, recipe, true}).remedies.size(), 2);
  }
  recipe.kv_bits = 0;
  // Read twice it is offered where it fits then.
  planned.twice = PlannedPrefill{1 << 20, true, 1280.0};
  const ui::PlanView again = ui::describePlan(planned, {{video(64)}, recipe, true});
  ASSERT_EQ(again.remedies.size(), 4);
  EXPECT_EQ(again.remedies[2].kind, ui::PlanRemedy::Kind::kReadTwice);
  EXPECT_EQ(again.remedies[2].text, QStringLiteral("Read the prompt twice"));
  planned.twice->fits_memory = false;
  EXPECT_EQ(ui::describePlan(planned, {{video(64)}, recipe, true}).remedies.size(), 3);
  planned.twice.reset();
  recipe.method = "full";
  EXPECT_EQ(ui::describePlan(planned, {{}, recipe}).remedies.size(), 0) << "nothing is attached, and the full cache keeps all";

  planned = plan();
  planned.context_tokens = 900;
  EXPECT_EQ(ui::describePlan(planned, {{video(64)}, {}}).fit, PlanFit::kTight);
}

class PlanInWindow : public WindowTest {
 protected:
  ui::PlanLine* line() { return inWindow<ui::PlanLine>(); }
  bool planned(const QString& part) {
    return waitUntil([&] { return (line()->plan().text + line()->plan().detail).contains(part); });
  }
  void attach(int frames) {
    m_settings->setDefaultFrameCount(frames);
    composer()->addFile("/samples/clip.mp4");
    ASSERT_TRUE(waitUntil([this] { return !composer()->tray()->opening(); }));
  }
};

TEST_F(PlanInWindow, FollowsWhatIsWrittenAndChosen) {
  EXPECT_TRUE(line()->plan().text.isEmpty());
  attach(20);
  ASSERT_TRUE(planned(QStringLiteral("20 frames"))) << "known before a word is written";
  type(QStringLiteral("What is it?"));
  ASSERT_TRUE(planned(QStringLiteral("192 tokens (180 for the video, 12 for text)"))) << line()->plan().detail.toStdString();
  const std::size_t asked = m_log->plans().size();
  EXPECT_LE(asked, 4U) << "not one for every key";
  composer()->tray()->card(0)->frameCount()->setValue(10);
  ASSERT_TRUE(planned(QStringLiteral("10 frames")));
  composer()->method()->setShare(0.5);
  ASSERT_TRUE(waitUntil([&] { return m_log->plans().back().turn.recipe.retention == 0.5; }));
  composer()->clear();
  composer()->prompt()->setPlainText(QString());
  ASSERT_TRUE(waitUntil([&] { return line()->plan().text.isEmpty(); }));
}

TEST_F(PlanInWindow, AVideoBeginsWithWhatTheLoadedModelReadsInAMinute) {
  m_script = [](const Request& request) {
    return changed<ModelLoaded>(default_script(request), [](ModelLoaded& loaded) { loaded.info.frame_ms = 5000.0; });
  };
  attach(64);
  EXPECT_EQ(composer()->tray()->card(0)->attachment().plan.frame_count, 64);
  session().model.load(QStringLiteral("/models/slow"));
  ASSERT_TRUE(waitUntil([this] { return session().model.info().frame_ms > 0.0; }));
  EXPECT_EQ(composer()->tray()->card(0)->attachment().plan.frame_count, 12) << "it was attached while the model loaded";
  composer()->clear();
  attach(64);
  EXPECT_EQ(composer()->tray()->card(0)->attachment().plan.frame_count, 12);
  composer()->clear();
  attach(128);
  EXPECT_EQ(composer()->tray()->card(0)->attachment().plan.frame_count, 128) << "somebody asked for so many";
}

TEST_F(PlanInWindow, OneClickMakesItFit) {
  attach(500);
  type(QStringLiteral("What is it?"));
  ASSERT_TRUE(waitUntil([&] { return line()->plan().fit == PlanFit::kDoesNotFit; }));
  ASSERT_EQ(line()->buttons().size(), 1U);
  EXPECT_TRUE(line()->plan().text.contains(QStringLiteral("does not fit"))) << "said in words, not by colour alone";
  QTest::keyClick(line()->buttons().front(), Qt::Key_Space);
  ASSERT_TRUE(waitUntil([&] { return line()->plan().fit != PlanFit::kDoesNotFit; })) << line()->plan().text.toStdString();
  EXPECT_LT(composer()->tray()->card(0)->attachment().plan.frame_count, 500);
  EXPECT_GT(composer()->tray()->card(0)->attachment().plan.frame_count, 400);
}

TEST_F(PlanInWindow, OneClickReadsThePromptTwice) {
  attach(20);
  type(QStringLiteral("What is it?"));
  ASSERT_TRUE(planned(QStringLiteral("20 frames")));
  EXPECT_EQ(m_log->plans().back().turn.recipe.prefill_passes, 1);
  Q_EMIT line()->remedyChosen({ui::PlanRemedy::Kind::kReadTwice, 1.0, 1.0, QStringLiteral("Read the prompt twice")});
  ASSERT_TRUE(waitUntil([&] { return m_log->plans().back().turn.recipe.prefill_passes == 2; })) << "it is planned anew";
  EXPECT_EQ(session().chat.options().recipe.spec.prefill_passes, 2) << "it is the chat's";
}

TEST_F(PlanInWindow, SendingWaitsForNoPlanAndNoPlanIsMadeMeanwhile) {
  m_script = answering("One two three four five six seven eight nine ten.", 60ms);
  attach(20);
  composer()->prompt()->setPlainText(QStringLiteral("What is it?"));
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); }));
  pressEnter();  // before the line had time to ask
  ASSERT_TRUE(waitUntil([this] { return session().answers.writingHere(); }));
  composer()->prompt()->setPlainText(QStringLiteral("And then?"));
  const std::size_t before = m_log->plans().size();
  QTest::qWait(450);
  if (session().answers.busy()) {
    EXPECT_EQ(m_log->plans().size(), before) << "the engine has an answer to write";
  }
  ASSERT_TRUE(idle());
  ASSERT_TRUE(planned(QStringLiteral("tokens"))) << "the next question is planned when the answer is there";
  EXPECT_EQ(m_log->plans().back().turn.messages.size(), 3U) << "with the thread before it";
}

TEST_F(PlanInWindow, TheRetentionCardSaysHowMuchAttentionAShareKeeps) {
  ui::MethodControl* method = composer()->method();
  attach(20);
  ask(QStringLiteral("What is it?"));
  method->openCard();
  // The scripted engine: the square root of the share.
  ASSERT_TRUE(waitUntil([&] { return method->massLine().contains(QStringLiteral("45")); })) << method->massLine().toStdString();
  method->slider()->setValue(50);
  EXPECT_TRUE(method->massLine().contains(QStringLiteral("71"))) << method->massLine().toStdString();
  method->card()->hide();
  attach(20);
  EXPECT_FALSE(method->massLine().isEmpty()) << "the same media";
  composer()->tray()->card(0)->frameCount()->setValue(21);
  ASSERT_TRUE(waitUntil([&] { return method->massLine().isEmpty(); })) << "of other frames nothing is known";
}

}  // namespace
}  // namespace winnow::test
