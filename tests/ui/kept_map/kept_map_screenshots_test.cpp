// Pictures of the kept-token page, for people to look at; with the checks that a picture cannot make by itself.
#include <QTabWidget>
#include <cmath>

#include "tests/ui/support/screenshot.h"
#include "tests/ui/support/window_fixture.h"
#include "ui/kept_map/kept_heat_map.h"
#include "ui/kept_map/kept_map_dialog.h"
#include "ui/kept_map/patch_view.h"
#include "ui/kept_map/token_text_view.h"

namespace winnow::test {
namespace {

constexpr int kLayers = 28;
constexpr int kHeads = 4;

// As a large model would report it: text, visual tokens made by `media`, a question; more is kept where something is to be seen.
class PromptMaker {
 public:
  explicit PromptMaker(double share, bool merges) : m_share(share), m_merges(merges) {
    addText(Modality::kSystem, "system\nYou are a helpful assistant.\nuser\n");
  }

  void addText(Modality modality, const std::string& text) {
    for (std::size_t from = 0; from < text.size();) {
      const std::size_t to = std::min({text.find(' ', from + 1), text.find('\n', from + 1), text.size()});
      m_report.texts.push_back({static_cast<std::int32_t>(m_report.tokens.size()), text.substr(from, to - from)});
      add({modality, -1, -1, -1, -1}, modality == Modality::kSystem ? 0.3 : 1.2);
      from = to;
    }
  }
  void addGrid(int frame, int rows, int columns, double interest, double cx, double cy) {
    for (int row = 0; row < rows; ++row) {
      for (int column = 0; column < columns; ++column) {
        const double dx = (column + 0.5) / columns - cx, dy = (row + 0.5) / rows - cy;
        add({Modality::kVisual, 0, frame, static_cast<std::int16_t>(row), static_cast<std::int16_t>(column)},
            interest * (0.25 + 2.2 * std::exp(-18.0 * (dx * dx + dy * dy))));
      }
    }
  }
  // Of a stitched grid of two by two tiles.
  void addTile(int row, int column, int rows, int columns) {
    const double dx = (column + 0.5) / columns - 0.35, dy = (row + 0.5) / rows - 0.5;
    add({Modality::kVisual, 0, 1 + row * 2 / rows * 2 + column * 2 / columns, static_cast<std::int16_t>(row),
         static_cast<std::int16_t>(column)},
        0.15 + 2.4 * std::exp(-14.0 * (dx * dx + dy * dy)));
  }
  void addLineEnd(int frame) { add({Modality::kVisual, 0, frame, -1, -1}, 0.5); }

  app::SharedKeptMap map(int seed = 0) {
    addText(Modality::kText, "\nWhat color is the star, and what else is in the video?\nassistant\n");
    for (int layer = 0; layer < kLayers; ++layer) {
      auto& kept = m_report.kept.emplace_back();
      auto& merged = m_report.merged.emplace_back();
      const double of_layer = m_share * (layer < 2 ? 2.6 : 1.4 - 0.8 * std::sin((layer + seed) * 0.35));
      for (int head = 0; head < kHeads; ++head) {
        auto& of_head = kept.emplace_back();
        auto& into = merged.emplace_back();
        for (std::size_t token = 0; token < m_interest.size(); ++token) {
          const double noise =
              std::abs(std::sin(static_cast<double>(token * 12.9898 + head * 4.1 + layer * 0.37 + seed * 7.7)) * 43758.5453);
          if (noise - std::floor(noise) >= of_layer * m_interest[token]) continue;
          of_head.push_back(static_cast<std::int32_t>(token));
          into.push_back(static_cast<std::int32_t>(token % 3 == 0 ? token * 7 % 14 : 0));
        }
      }
    }
    if (!m_merges) m_report.merged.clear();
    for (std::size_t i = 0; i < m_report.tokens.size(); ++i) {
      if (m_report.tokens[i].frame == 3 && m_merges) m_report.pinned.push_back(static_cast<std::int32_t>(i));
    }
    return std::make_shared<const app::KeptMap>(app::KeptMap::fromReport(m_report));
  }

 private:
  void add(TokenOrigin origin, double interest) {
    m_report.tokens.push_back(origin);
    m_interest.push_back(interest);
  }
  double m_share;
  bool m_merges;
  CacheReport m_report;
  std::vector<double> m_interest;
};

PromptMaker video(double share, bool merges) {
  PromptMaker prompt(share, merges);
  for (int frame = 0; frame < 64; ++frame) {
    const double at = frame * 2.0 + 1.0;
    prompt.addGrid(frame, 14, 14, frame % 16 < 3 ? 1.6 : 0.7, 0.35 + 0.3 * (at / 16.0 - std::floor(at / 16.0)), 0.5);
  }
  prompt.addLineEnd(-1);
  return prompt;
}

std::vector<ui::MapMedia> videoMedia() {
  ui::MapMedia media{MediaKind::kVideo, "/samples/a minute of shapes.mp4", QStringLiteral("a minute of shapes.mp4"), {}};
  for (int frame = 0; frame < 64; ++frame) media.timesS.push_back(frame * 2.0 + 1.0);
  return {media};
}

class KeptMapScreenshots : public WindowTest {
 protected:
  std::unique_ptr<ui::KeptMapDialog> page(const QString& subject) {
    auto dialog = std::make_unique<ui::KeptMapDialog>(*m_preview, subject, m_window.get());
    dialog->setAttribute(Qt::WA_DeleteOnClose, false);
    return dialog;
  }
};

TEST_F(KeptMapScreenshots, Video) {
  auto dialog = page(QStringLiteral("VL-Cache · 20 %"));
  dialog->showMap(video(0.2, false).map(), videoMedia());
  dialog->show();
  dialog->model().setLayer(5);
  dialog->model().setPart(22);
  ASSERT_TRUE(waitUntil([&] { return dialog->patches()->hasPicture(); }));
  saveScreenshot(QStringLiteral("kept_map_video"), dialog.get());
  // A layer further on, everything but the selection stays where it is.
  const QRectF before = dialog->heatMap()->cellRect(10, 10);
  dialog->model().setLayer(6);
  EXPECT_EQ(dialog->heatMap()->cellRect(10, 10), before);
  dialog->tabs()->setCurrentIndex(1);
  saveScreenshot(QStringLiteral("kept_map_table"), dialog.get());
  dialog->tabs()->setCurrentIndex(0);
  dialog->model().setPart(static_cast<int>(dialog->model().parts().size()) - 1);
  saveScreenshot(QStringLiteral("kept_map_text"), dialog.get());
  dialog->model().setPart(22);
  m_settings->setTheme(app::Theme::kDark);
  saveScreenshot(QStringLiteral("kept_map_video_dark"), dialog.get());
  m_settings->setZoom(2.0);
  m_window->resize(800, 560);
  dialog->resize(736, 515);
  QTest::qWait(100);
  saveScreenshot(QStringLiteral("kept_map_video_dark_zoom200_800x560"), dialog.get());
  m_settings->setZoom(1.0);
  m_settings->setTheme(app::Theme::kLight);
  QTest::qWait(100);
  saveScreenshot(QStringLiteral("kept_map_video_800x560"), dialog.get());
}

TEST_F(KeptMapScreenshots, MergedAndPinned) {
  auto dialog = page(QStringLiteral("MEDA · 20 %"));
  PromptMaker prompt(0.2, true);
  for (int frame = 0; frame < 8; ++frame) prompt.addGrid(frame, 3, 3, 0.9, 0.5, 0.5);
  ui::MapMedia media = videoMedia().front();
  media.timesS.resize(8);
  dialog->showMap(prompt.map(), {media});
  dialog->show();
  dialog->model().setLayer(1);
  dialog->model().setPart(4);
  ASSERT_TRUE(waitUntil([&] { return dialog->patches()->hasPicture(); }));
  saveScreenshot(QStringLiteral("kept_map_merged"), dialog.get());
}

TEST_F(KeptMapScreenshots, Image) {
  auto dialog = page(QStringLiteral("SnapKV · 10 %"));
  PromptMaker prompt(0.12, false);
  prompt.addGrid(0, 27, 27, 1.0, 0.35, 0.5);
  for (int row = 0; row < 30; ++row) {
    for (int column = 0; column < 54; ++column) {
      // One row of the stitched tiles after the other, each with its newline.
      prompt.addTile(row, column, 30, 54);
    }
    prompt.addLineEnd(2 + row * 2 / 30 * 2);
  }
  dialog->showMap(prompt.map(), {{MediaKind::kImage, "/samples/photo.png", QStringLiteral("photo.png"), {}}});
  dialog->show();
  dialog->model().setLayer(4);
  dialog->model().setPart(2);
  ASSERT_TRUE(waitUntil([&] { return dialog->patches()->hasPicture(); }));
  saveScreenshot(QStringLiteral("kept_map_image"), dialog.get());
  m_settings->setTheme(app::Theme::kDark);
  saveScreenshot(QStringLiteral("kept_map_image_dark"), dialog.get());
}

TEST_F(KeptMapScreenshots, Difference) {
  auto dialog = page(QStringLiteral("SnapKV · 20 % and MEDA · 20 %"));
  ASSERT_TRUE(dialog->showDifference(video(0.2, false).map(0), video(0.2, false).map(3), QStringLiteral("SnapKV"), QStringLiteral("MEDA"),
                                     videoMedia()));
  dialog->show();
  dialog->model().setLayer(5);
  dialog->model().setPart(22);
  dialog->model().setHead(0);
  ASSERT_TRUE(waitUntil([&] { return dialog->patches()->hasPicture(); }));
  saveScreenshot(QStringLiteral("kept_map_difference"), dialog.get());
  m_settings->setTheme(app::Theme::kDark);
  saveScreenshot(QStringLiteral("kept_map_difference_dark"), dialog.get());
}

}  // namespace
}  // namespace winnow::test
