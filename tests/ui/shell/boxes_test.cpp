// Boxes that an answer names: drawn under it, large in the viewer, in the export, and there again when the chat is opened anew.
#include "tests/ui/support/screenshot.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/composer/frame_viewer.h"
#include "ui/shell/chat/export_chat.h"

namespace winnow::test {
namespace {

class BoxesTest : public WindowTest {
 protected:
  void SetUp() override {
    m_script = [this](const Request& request) {
      return changed<ModelLoaded>(answering(m_answer)(request), [this](ModelLoaded& loaded) { loaded.info.family = m_family; });
    };
    WindowTest::SetUp();
  }
  void askAbout(const char* file) {
    ASSERT_TRUE(attaches(file));
    ask(QStringLiteral("Where is it?"));
  }
  // The picture itself has come, not only the small one of its card.
  bool pictured() {
    return waitUntil([this] { return last().attachments.size() == 1 && last().attachments[0].thumbnail.width() == 800; });
  }

  // The circle of FakeMediaPreview::picture().
  std::string m_answer =
      "The circle is on the left:\n```json\n[\n  {\"bbox_2d\": [215, 260, 485, 740], \"label\": \"circle\"},\n"
      "  {\"point_2d\": [350, 500], \"label\": \"its middle\"}\n]\n```";
  std::string m_family = "qwen3_vl";
};

TEST_F(BoxesTest, AreDrawnUnderTheAnswerAndLargeInTheViewer) {
  askAbout("/pictures/street.jpg");
  ASSERT_TRUE(pictured());
  EXPECT_EQ(last().text.toStdString(), m_answer);
  const ui::AttachmentSummary& picture = last().attachments[0];
  EXPECT_EQ(picture.title, QStringLiteral("street.jpg"));
  EXPECT_EQ(picture.detail, QStringLiteral("circle (138, 94 – 310, 266) · its middle (224, 180)"));
  ASSERT_EQ(picture.pointedAt->boxes.size(), 2U);
  EXPECT_NE(picture.pointedAt->boxes[0].colour, picture.pointedAt->boxes[1].colour);
  saveScreenshot(QStringLiteral("boxes_light"), m_window.get());
  Q_EMIT transcript()->attachmentActivated(last().id, 0);
  ASSERT_TRUE(waitUntil([this] { return inWindow<ui::FrameViewer>() != nullptr && inWindow<ui::FrameViewer>()->hasPicture(); }));
  saveScreenshot(QStringLiteral("boxes_viewer"), inWindow<ui::FrameViewer>());
  inWindow<ui::FrameViewer>()->close();
  const QByteArray exported = ui::chatAsMarkdown(session().chat.loaded(), list_methods());
  EXPECT_TRUE(exported.contains("> In street.jpg, in pixels: circle (138, 94 – 310, 266) · its middle (224, 180)\n"))
      << exported.toStdString();
  ASSERT_TRUE(reopened(2));
  m_window->resize(800, 560);
  ui::theme().setMode(ui::ThemeMode::kDark);
  ASSERT_TRUE(pictured()) << "its model's family is kept with the answer";
  saveScreenshot(QStringLiteral("boxes_dark"), m_window.get());
}

TEST_F(BoxesTest, OfAVideoAreOnTheFrameOfTheirTime) {
  m_answer = R"([{"time": 20.0, "bbox_2d": [290, 260, 560, 740], "label": "square"}])";
  askAbout("/clips/street.mp4");
  ASSERT_TRUE(pictured());
  EXPECT_EQ(last().attachments[0].title, QStringLiteral("street.mp4 at 0:20"));
  EXPECT_EQ(last().attachments[0].pointedAt->atS, 20.0);
}

TEST_F(BoxesTest, OfAModelThatWritesNoneStayText) {
  m_family = "llava_onevision";
  reopen();
  askAbout("/pictures/street.jpg");
  EXPECT_TRUE(last().attachments.empty());
}

}  // namespace
}  // namespace winnow::test
