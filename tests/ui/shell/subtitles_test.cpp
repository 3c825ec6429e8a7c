// Subtitles in the window: read with a video's frames where that is wanted, saved with the chat, and found in the kept-token map.
#include <QFile>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTemporaryDir>

#include "app/media/files/media_opener.h"
#include "tests/support/source_folder.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/attachment_card.h"
#include "ui/kept_map/kept_map_dialog.h"
#include "ui/kept_map/token_text_view.h"
#include "ui/models/media_preview_thread.h"
#include "ui/shell/turns/kept_map_pages.h"
#include "ui/theme/find_bar.h"

namespace winnow::test {
namespace {

class SubtitlesTest : public WindowTest {
 protected:
  void attach() {
    ASSERT_TRUE(attaches("/clips/subtitled.mp4"));
    composer()->tray()->card(0)->frameCount()->setValue(6);
  }
  QString detail() { return transcript()->messageAt(0).attachments.front().detail; }
  ui::KeptMapDialog* map() { return inWindow<ui::KeptMapPages>()->page(); }
};

TEST_F(SubtitlesTest, AreAskedForWithTheVideoAndSavedWithIt) {
  attach();
  composer()->tray()->card(0)->offerButton()->click();
  ask(QStringLiteral("What is said?"));
  const auto turns = m_log->requests();
  const auto& asked = std::get<MediaItem>(std::get<Turn>(turns.back().body).messages.back().items.front()).media;
  EXPECT_EQ(asked.kind, MediaKind::kVideo);
  EXPECT_EQ(asked.subtitles, "/clips/subtitled.srt");
  EXPECT_TRUE(detail().endsWith(QStringLiteral(" · 3 subtitle lines"))) << detail().toStdString();
  ASSERT_TRUE(reopened(2));
  EXPECT_TRUE(detail().endsWith(QStringLiteral(" · 3 subtitle lines"))) << detail().toStdString();
}

TEST_F(SubtitlesTest, AreLeftOutUnlessTheyAreWanted) {
  attach();
  ask(QStringLiteral("What is shown?"));
  const auto turns = m_log->requests();
  EXPECT_TRUE(std::get<MediaItem>(std::get<Turn>(turns.back().body).messages.back().items.front()).media.subtitles.empty());
  EXPECT_FALSE(detail().contains(QStringLiteral("subtitle")));
}

TEST_F(SubtitlesTest, TheMapHasTheirLinesWithTheirTimesAndFindsThem) {
  attach();
  composer()->tray()->card(0)->offerButton()->click();
  ask(QStringLiteral("What is said?"));
  ASSERT_TRUE(reopened(2));
  QTest::keyClick(m_window.get(), Qt::Key_T, Qt::ControlModifier);
  ASSERT_NE(map(), nullptr);
  ASSERT_TRUE(waitUntil([this] { return !map()->showsSentence(); }));
  ui::KeptMapModel& model = map()->model();
  std::vector<int> lines;
  for (int part = 0; part < static_cast<int>(model.parts().size()); ++part) {
    if (model.parts()[static_cast<std::size_t>(part)].kind == ui::PartKind::kLines) lines.push_back(part);
  }
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(model.parts()[static_cast<std::size_t>(lines[1] - 1)].frame, 2) << "between the frames";
  // Six frames in ten seconds: the third is at 4.17 s.
  EXPECT_EQ(model.partName(lines[1]), QStringLiteral("Line 2 · said at 0:04"));
  model.setPart(lines[1]);
  EXPECT_EQ(map()->text()->tokens().size(), 6U) << "all that is said";
  EXPECT_EQ(map()->text()->tokenTexts()[2], QStringLiteral("Line1"));
  EXPECT_TRUE(model.describeToken(map()->text()->tokens()[2]).startsWith(QStringLiteral("line 2 · ")));

  model.setPart(lines[0] - 1);
  QTest::keyClick(map(), Qt::Key_F, Qt::ControlModifier);
  ASSERT_TRUE(map()->findBar()->isVisible()) << "from a frame, too";
  QTest::keyClicks(map()->findBar()->box(), QStringLiteral("line2 SAID"));
  EXPECT_EQ(map()->text()->foundCount(), 1);
  map()->findBar()->box()->setText(QStringLiteral(":2"));
  EXPECT_EQ(map()->text()->foundCount(), 1);
}

// With the files themselves: what cannot be read is not offered.
TEST(SubtitlePreview, OffersWhatCanBeRead) {
  const QString sample = QString::fromStdString(source_folder() + "/resources/demo/samples/ten-seconds.mp4");
  QTemporaryDir folder;
  const QString video = folder.filePath(QStringLiteral("clip.mp4"));
  ASSERT_TRUE(QFile::copy(sample, video));
  app::Passwords passwords;
  ui::MediaPreviewThread preview(std::make_unique<app::FfmpegMediaOpener>(), folder.filePath(QStringLiteral("pasted")), passwords);
  QList<ui::MediaSummary> probed;
  QObject::connect(&preview, &ui::MediaPreview::probed, &preview, [&](ui::PreviewToken, const ui::MediaSummary& of) { probed << of; });
  const auto probe = [&](const char* srt) {
    if (srt != nullptr) {
      QFile out(folder.filePath(QStringLiteral("clip.srt")));
      EXPECT_TRUE(out.open(QIODevice::WriteOnly) && out.write(srt) > 0);
    }
    const qsizetype before = probed.size();
    preview.probe(QFile::encodeName(video), {});
    EXPECT_TRUE(waitUntil([&] { return probed.size() == before + 1; }));
    return probed.isEmpty() ? ui::MediaSummary() : probed.last();
  };
  EXPECT_TRUE(probe(nullptr).subtitles.isEmpty());
  EXPECT_TRUE(probe("no times in it\n").subtitles.isEmpty());
  const ui::MediaSummary found = probe("1\n00:00:01,000 --> 00:00:02,000\nHello.\n\n2\n00:00:03,000 --> 00:00:04,000\nBye.\n");
  EXPECT_EQ(found.subtitles, QFile::encodeName(folder.filePath(QStringLiteral("clip.srt"))));
  EXPECT_EQ(found.lines.size(), 2U);
  EXPECT_TRUE(found.notices.empty()) << "of a poster's one frame nothing is to be said";
}

}  // namespace
}  // namespace winnow::test
