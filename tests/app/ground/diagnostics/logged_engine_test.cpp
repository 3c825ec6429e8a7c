#include "app/ground/diagnostics/logged_engine.h"

#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>
#include <functional>

#include "tests/support/event_recorder.h"

namespace winnow::app {
namespace {

class ScriptedEngine final : public Engine {
 public:
  explicit ScriptedEngine(std::function<void(EventSink&)> script) : m_script(std::move(script)) {}
  void handle(const Request&, EventSink& sink, const InterruptToken&) override { m_script(sink); }

 private:
  std::function<void(EventSink&)> m_script;
};

// What the log says of one request that asks a secret of a secret file.
QString logged(std::function<void(EventSink&)> script, testing::EventRecorder& seen) {
  const QTemporaryDir folder;
  Log log(folder.path());
  LoggedEngine engine(std::make_unique<ScriptedEngine>(std::move(script)), log);
  Turn turn;
  turn.messages = {{Role::kUser, {MediaItem{{"/home/somebody/secret.mp4", MediaKind::kVideo, {}}}, TextItem{"the secret question"}}}};
  engine.handle({1, turn}, seen, {});
  QFile file(log.file());
  EXPECT_TRUE(file.open(QIODevice::ReadOnly));
  return QString::fromUtf8(file.readAll());
}

TEST(LoggedEngine, ATurnIsSizesAndTimesAndNothingOfItsContent) {
  const auto answered = [](double ttft) {
    return [ttft](EventSink& sink) {
      MediaSampled sampled{.path = "/home/somebody/secret.mp4"};
      sink.on_event({1, sampled});
      sink.on_event({1, TextDelta{"the secret answer"}});
      Finished finished;
      finished.answer = "the secret answer";
      finished.figures.method = "vl-cache";
      finished.figures.retention = 0.2;
      finished.figures.seed = 7;
      finished.figures.tokens.visual = 576;
      finished.figures.timings_ms.ttft = ttft;
      sink.on_event({1, finished});
    };
  };
  testing::EventRecorder seen;
  const QString line = logged(answered(812.0), seen);
  EXPECT_TRUE(line.contains(QStringLiteral(" info engine answer vl-cache at 0.2, seed 7; tokens: visual 576; ms: ttft 812;")))
      << line.toStdString();
  EXPECT_FALSE(line.contains(QStringLiteral("secret"))) << line.toStdString();
  EXPECT_EQ(seen.last<Finished>()->answer, "the secret answer") << "everything goes on to who asked";
  EXPECT_TRUE(logged(answered(60'000.0), seen).contains(QStringLiteral(" warning engine answer"))) << "a slow one";
}

TEST(LoggedEngine, AnErrorIsItsCodeAndItsReasonWithoutFiles) {
  testing::EventRecorder seen;
  const QString line = logged(
      [](EventSink& sink) {
        sink.on_event(
            {1, Failed{{ErrorCode::kDamagedFile, "my secret film.mp4", "my secret film.mp4 and /home/secret/b.mp4 end too early"}}});
      },
      seen);
  EXPECT_TRUE(line.contains(QStringLiteral(" error engine code 5: <subject> and <path> end too early"))) << line.toStdString();
  EXPECT_FALSE(line.contains(QStringLiteral("secret")));
  EXPECT_TRUE(seen.last<Failed>());
}

TEST(LoggedEngine, AModelIsItsFamilyAndSizes) {
  testing::EventRecorder seen;
  const QString line = logged(
      [](EventSink& sink) {
        ModelLoaded loaded;
        loaded.info.folder = "/home/somebody/secret";
        loaded.info.family = "llava_onevision";
        loaded.info.parameter_count = 893'000'000;
        loaded.info.device = "cpu";
        loaded.info.dtype = "bf16";
        sink.on_event({1, loaded});
      },
      seen);
  EXPECT_TRUE(line.contains(QStringLiteral("model llava_onevision, 893 million parameters"))) << line.toStdString();
  EXPECT_TRUE(line.trimmed().endsWith(QStringLiteral("bf16 on cpu"))) << line.toStdString();
  EXPECT_FALSE(line.contains(QStringLiteral("secret")));
}

// A server that refuses a request may quote it.
TEST(ErrorLine, AServersOwnWordsAreNotWritten) {
  const QString line = errorLine({ErrorCode::kServerRefuses, "gpu:8000", "it says (status 400): cannot parse \"my secret question\""});
  EXPECT_EQ(line, QStringLiteral("code 48: it says <words>"));
}

}  // namespace
}  // namespace winnow::app
