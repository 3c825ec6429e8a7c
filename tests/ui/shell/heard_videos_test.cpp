// A video is heard on request: its words stand between its frames, once for all chats, and a question never waits for them.
#include "ui/shell/turns/heard_videos.h"

#include <QFile>
#include <QPushButton>
#include <atomic>

#include "app/engine/cache_store/kept_transcripts.h"
#include "app/words/format_text.h"
#include "tests/support/scripted_download.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_tray.h"

namespace winnow::test {
namespace {

class HeardVideosTest : public WindowTest {
 protected:
  void SetUp() override {
    m_script = [this](const Request& request) -> Script {
      if (!std::holds_alternative<Transcribe>(request.body)) return default_script(request);
      if (m_fault) return failure_script(ErrorCode::kOutOfMemory, "", "no memory");
      Transcribed done;
      if (m_words) done.lines = {{0.5, 1.5, "Good morning."}, {2.0, 3.0, "Good <night>."}};
      Script script{{{}, Say{LinesHeard{64.0, 32.0, 128.0, {{0.5, 1.5, "Good morning."}}}}}};
      if (m_stalls > 0 && m_stalls-- > 0) script.push_back({{}, Stall{}});
      script.push_back({{}, Say{done}});
      return script;
    };
    m_service.request = [this](const QByteArray& path, const QByteArray& sha256) -> std::optional<Transcribe> {
      if (!m_here) return std::nullopt;
      return Transcribe{.path = path.toStdString(), .content = sha256.toStdString(), .model = "/models/ears"};
    };
    m_service.file = [this](const Transcribe& request) { return app::transcriptFile(m_folder.path(), request, app::kSubtitles); };
    m_service.modelName = QStringLiteral("Ears");
    m_service.modelBytes = 76'000'000;
    m_hearing = &m_service;
    WindowTest::SetUp();
  }
  void attach(const char* path) {
    composer()->addFile(path);
    ASSERT_TRUE(waitUntil([this] { return card()->state() == ui::CardState::kReady; }));
  }
  ui::AttachmentCard* card() { return composer()->tray()->card(composer()->tray()->count() - 1); }
  QPushButton* instead() { return card()->findChild<QPushButton*>(QStringLiteral("instead")); }
  QString offer() { return card()->offerButton()->isHidden() ? QString() : card()->offerButton()->text(); }
  void listenUnasked(app::Unasked when) {
    app::UnaskedWork work = m_settings->unasked();
    work.listen = when;
    m_settings->setUnasked(work);
  }
  // As MediaPreviewThread would find it.
  QByteArray kept() {
    QFile file(QFile::decodeName(QByteArray::fromStdString(m_service.file(*m_service.request("/clips/talking.mp4", "as attached")))));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  }
  std::vector<RequestId> asked() const {
    std::vector<RequestId> ids;
    for (const Request& request : m_log->requests()) {
      if (std::holds_alternative<Transcribe>(request.body)) ids.push_back(request.id);
    }
    return ids;
  }

  ui::HearingService m_service;
  std::atomic<bool> m_here = true;
  std::atomic<int> m_stalls = 0;  // so many of them wait until they are interrupted
  std::atomic<bool> m_words = true;
  std::atomic<bool> m_fault = false;
};

TEST_F(HeardVideosTest, ItsWordsStandBetweenItsFrames) {
  attach("/clips/talking.mp4");
  ASSERT_TRUE(waitUntil([this] { return offer() == QStringLiteral("Listen to what is said"); })) << offer().toStdString();
  m_preview->heard << "/clips/talking.mp4";
  card()->offerButton()->click();
  ASSERT_TRUE(waitUntil([this] { return offer() == QStringLiteral("Leave out what is said"); })) << offer().toStdString();
  EXPECT_TRUE(card()->detail().contains(QStringLiteral("with 2 lines heard"))) << card()->detail().toStdString();
  EXPECT_EQ(card()->attachment().subtitles, "/data/transcripts/talking.vtt");
  EXPECT_TRUE(kept().startsWith("WEBVTT")) << kept().toStdString();
  EXPECT_TRUE(kept().contains("Good morning."));
  card()->offerButton()->click();
  EXPECT_TRUE(card()->attachment().subtitles.isEmpty());
  EXPECT_EQ(offer(), QStringLiteral("Read what is said with the frames"));
  // In another chat it is not heard again.
  m_window->page().startNew();
  attach("/clips/talking.mp4");
  EXPECT_EQ(offer(), QStringLiteral("Read what is said with the frames"));
  EXPECT_EQ(asked().size(), 1u);
}

TEST_F(HeardVideosTest, AQuestionGoesFirstAndHearingGoesOn) {
  m_stalls = 1;
  attach("/clips/talking.mp4");
  ASSERT_TRUE(waitUntil([this] { return !offer().isEmpty(); }));
  card()->offerButton()->click();
  ASSERT_TRUE(waitUntil([this] { return card()->detail().contains(QStringLiteral("heard 0:32 of 2:08")); }))
      << card()->detail().toStdString();
  EXPECT_EQ(offer(), QStringLiteral("Stop listening"));
  const RequestId first = asked().at(0);
  ask(QStringLiteral("What is it?"));
  EXPECT_EQ(m_log->interruptOf(first), Interrupt::kCancel);
  ASSERT_TRUE(waitUntil([this] { return asked().size() == 2u; })) << "behind the answer";
  const Transcribe rest = std::get<Transcribe>(m_log->requests().back().body);
  EXPECT_EQ(rest.heard_s, 32.0);
  EXPECT_EQ(rest.lines, (std::vector<TimedLine>{{0.5, 1.5, "Good morning."}}));
  EXPECT_TRUE(waitUntil([this] { return !kept().isEmpty(); }));
}

TEST_F(HeardVideosTest, AnotherModelGoesFirst) {
  m_stalls = 1;
  attach("/clips/talking.mp4");
  ASSERT_TRUE(waitUntil([this] { return !offer().isEmpty(); }));
  card()->offerButton()->click();
  ASSERT_TRUE(waitUntil([this] { return asked().size() == 1u; }));
  session().model.load(QStringLiteral("/models/other"));
  EXPECT_TRUE(waitUntil([this] { return m_log->interruptOf(asked()[0]) == Interrupt::kCancel; }));
  EXPECT_TRUE(waitUntil([this] { return session().model.state() == ui::ModelState::kReady; }));
  EXPECT_TRUE(waitUntil([this] { return asked().size() == 2u; })) << "behind the model";
}

TEST_F(HeardVideosTest, StoppedFailedAndSilentAreSaid) {
  m_stalls = 1;
  attach("/clips/silent talking.mp4");
  ASSERT_TRUE(waitUntil([this] { return !offer().isEmpty(); }));
  card()->offerButton()->click();
  ASSERT_TRUE(waitUntil([this] { return asked().size() == 1u; }));
  card()->offerButton()->click();
  ASSERT_TRUE(waitUntil([this] { return m_log->interruptOf(asked()[0]) == Interrupt::kCancel; }));
  ASSERT_TRUE(waitUntil([this] { return offer() == QStringLiteral("Listen to what is said"); }));
  m_fault = true;
  card()->offerButton()->click();
  ASSERT_TRUE(waitUntil([this] { return card()->detail().contains(QStringLiteral("memory")); })) << card()->detail().toStdString();
  m_fault = false;
  m_words = false;
  m_preview->heard << "/clips/silent talking.mp4";
  card()->offerButton()->click();
  ASSERT_TRUE(waitUntil([this] { return card()->detail().contains(QStringLiteral("nothing is said in it")); }))
      << card()->detail().toStdString();
  EXPECT_TRUE(offer().isEmpty()) << "it would be the same again";
}

TEST_F(HeardVideosTest, WithoutAModelItsDownloadIsOffered) {
  m_here = false;
  ScriptedDownload* download = nullptr;
  m_service.makeModel = [&download] {
    auto made = std::make_unique<ScriptedDownload>();
    download = made.get();
    return made;
  };
  close();
  open();
  attach("/clips/talking.mp4");
  EXPECT_TRUE(offer().startsWith(QStringLiteral("Get a model that hears (76"))) << offer().toStdString();
  card()->offerButton()->click();
  ASSERT_NE(download, nullptr);
  Q_EMIT download->progressed({app::DownloadStage::kDownloading, 19, 76});
  EXPECT_TRUE(offer().contains(app::formatShare(0.25))) << offer().toStdString();
  Q_EMIT download->finished(QStringLiteral("/models/ears"));
  EXPECT_EQ(offer(), QStringLiteral("Listen to what is said"));
}

TEST_F(HeardVideosTest, AVideoIsHeardByItselfOnceAndUnderHalfAnHour) {
  m_stalls = 1;
  listenUnasked(app::Unasked::kAlways);
  attach("/clips/talking.mp4");
  ASSERT_TRUE(waitUntil([this] { return asked().size() == 1u; }));
  ASSERT_TRUE(waitUntil([this] { return offer() == QStringLiteral("Stop listening"); }));
  card()->offerButton()->click();
  ASSERT_TRUE(waitUntil([this] { return offer() == QStringLiteral("Listen to what is said"); })) << "and stays stopped";
  m_preview->seconds = 1'801.0;
  attach("/clips/long talking.mp4");
  EXPECT_EQ(asked().size(), 1u) << "it takes long";
  m_preview->seconds = 1'799.0;
  attach("/clips/shorter talking.mp4");
  ASSERT_TRUE(waitUntil([this] { return asked().size() == 2u; }));
  EXPECT_EQ(std::get<Transcribe>(m_log->requests().back().body).path, "/clips/shorter talking.mp4");
}

TEST_F(HeardVideosTest, AQuestionGoesBeforeAVideoThatIsHeardByItself) {
  m_stalls = 1;
  listenUnasked(app::Unasked::kAlways);
  attach("/clips/talking.mp4");
  ASSERT_TRUE(waitUntil([this] { return asked().size() == 1u; }));
  const RequestId first = asked()[0];
  ask(QStringLiteral("What is it?"));
  EXPECT_EQ(m_log->interruptOf(first), Interrupt::kCancel);
  EXPECT_TRUE(waitUntil([this] { return asked().size() == 2u; })) << "behind the answer";
}

TEST_F(HeardVideosTest, SubtitlesWinUnlessSpeechIsChosen) {
  listenUnasked(app::Unasked::kAlways);
  attach("/clips/subtitled talking.mp4");
  EXPECT_EQ(offer(), QStringLiteral("Read its subtitles with the frames"));
  ASSERT_TRUE(waitUntil([this] { return instead()->text() == QStringLiteral("Listen to what is said"); }));
  EXPECT_TRUE(asked().empty()) << "its subtitles say it";
  card()->offerButton()->click();
  EXPECT_EQ(card()->attachment().subtitles, "/clips/subtitled talking.srt");
  m_preview->heard << "/clips/subtitled talking.mp4";
  instead()->click();
  ASSERT_TRUE(waitUntil([this] { return instead()->text() == QStringLiteral("Read its subtitles instead"); }));
  EXPECT_EQ(card()->attachment().subtitles, "/data/transcripts/talking.vtt");
  EXPECT_TRUE(card()->detail().contains(QStringLiteral("with 2 lines heard"))) << card()->detail().toStdString();
  EXPECT_EQ(offer(), QStringLiteral("Leave out what is said"));
  instead()->click();
  EXPECT_EQ(card()->attachment().subtitles, "/clips/subtitled talking.srt");
  EXPECT_TRUE(card()->detail().contains(QStringLiteral("12 subtitle lines"))) << card()->detail().toStdString();
  EXPECT_EQ(instead()->text(), QStringLiteral("Read what is said instead"));
}

TEST_F(HeardVideosTest, SoundIsADocumentOnceItIsHeard) {
  attach("/clips/talking.mp3");
  EXPECT_TRUE(card()->detail().startsWith(QStringLiteral("Sound, 3 min 12 s"))) << card()->detail().toStdString();
  ASSERT_TRUE(waitUntil([this] { return offer() == QStringLiteral("Listen to what is said"); })) << offer().toStdString();
  composer()->prompt()->setPlainText(QStringLiteral("What is said?"));
  EXPECT_FALSE(composer()->sendButton()->isEnabled());
  EXPECT_TRUE(composer()->sendButton()->toolTip().contains(QStringLiteral("has not been listened to")));
  pressEnter();
  EXPECT_EQ(transcript()->messageCount(), 0);
  m_preview->heard << "/clips/talking.mp3";
  card()->offerButton()->click();
  ASSERT_TRUE(waitUntil([this] { return composer()->sendButton()->isEnabled(); })) << card()->detail().toStdString();
  EXPECT_TRUE(card()->detail().contains(QStringLiteral("4 words"))) << card()->detail().toStdString();
  EXPECT_TRUE(offer().isEmpty());
  ask(QStringLiteral("What is said?"));
  const auto requests = m_log->requests();
  const MediaRequest document = std::get<MediaItem>(std::get<Turn>(requests.back().body).messages.back().items.at(0)).media;
  EXPECT_EQ(document.kind, MediaKind::kDocument);
  EXPECT_EQ(document.path, "/clips/talking.mp3");
  EXPECT_EQ(document.subtitles, "/data/transcripts/talking.txt");
  EXPECT_EQ(asked().size(), 1u);
}

TEST_F(HeardVideosTest, ASilentSoundCannotBeAskedAbout) {
  m_words = false;
  attach("/clips/silent talking.mp3");
  ASSERT_TRUE(waitUntil([this] { return !offer().isEmpty(); }));
  m_preview->heard << "/clips/silent talking.mp3";
  card()->offerButton()->click();
  ASSERT_TRUE(waitUntil([this] { return card()->detail().contains(QStringLiteral("nothing is said in it")); }));
  composer()->prompt()->setPlainText(QStringLiteral("What is said?"));
  EXPECT_TRUE(composer()->sendButton()->toolTip().contains(QStringLiteral("Nothing is said in")));
  EXPECT_FALSE(composer()->sendButton()->isEnabled());
}

}  // namespace
}  // namespace winnow::test
