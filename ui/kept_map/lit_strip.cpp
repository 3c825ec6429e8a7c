#include "ui/kept_map/lit_strip.h"

#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "app/words/format_text.h"
#include "ui/kept_map/kept_heat_map.h"
#include "ui/kept_map/kept_map_model.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kMostThumbnails = 12;  // per video
constexpr QSize kBound(192, 128);
constexpr double kDarkest = 0.88;  // a dropped frame can still be made out

}  // namespace

LitStrip::LitStrip(KeptMapModel& model, MediaPreview& preview, const KeptHeatMap& heatMap, QWidget* parent)
    : QWidget(parent), m_model(model), m_preview(preview), m_heatMap(heatMap) {
  setAccessibleName(tr("Frames, brighter where more is kept (mean over layers)"));
  setToolTip(accessibleName());
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
  connect(&m_model, &KeptMapModel::mapChanged, this, &LitStrip::onMap);
  connect(&m_model, &KeptMapModel::sharesChanged, this, &LitStrip::onShares);
  connect(&m_model, &KeptMapModel::selectionChanged, this, &LitStrip::onSelection);
  connect(&theme(), &Theme::changed, this, [this] { updateGeometry(); });
  connect(&m_preview, &MediaPreview::thumbnailReady, this, [this](PreviewToken token, int index, double, const QImage& image) {
    const auto asked = m_asked.constFind(token);
    if (asked == m_asked.constEnd()) return;
    std::vector<Thumbnail>& of = m_thumbnails[*asked];
    if (index < 0 || index >= static_cast<int>(of.size())) return;
    of[static_cast<std::size_t>(index)].image = image;
    update();
  });
  hide();
}

QSize LitStrip::sizeHint() const { return QSize(theme().px(160), theme().px(46)); }

bool LitStrip::isFrame(int part) const {
  const PromptPart& about = m_model.parts()[static_cast<std::size_t>(part)];
  const MapMedia* media = about.visual() ? m_model.mediaOf(about) : nullptr;
  return media != nullptr && media->kind == MediaKind::kVideo;
}

int LitStrip::thumbnails() const {
  int count = 0;
  for (const auto& [media, of] : m_thumbnails) {
    count += static_cast<int>(std::count_if(of.begin(), of.end(), [](const Thumbnail& thumbnail) { return !thumbnail.image.isNull(); }));
  }
  return count;
}

double LitStrip::light(int part) const { return m_most > 0.0 ? std::clamp(m_model.meanShare(part) / m_most, 0.0, 1.0) : 0.0; }

void LitStrip::onMap() {
  for (auto asked = m_asked.constBegin(); asked != m_asked.constEnd(); ++asked) m_preview.cancel(asked.key());
  m_asked.clear();
  m_thumbnails.clear();
  std::map<int, std::vector<int>> frames;  // parts, by media number
  if (!m_model.isEmpty() && !m_model.isDifference()) {
    for (int part = 0; part < static_cast<int>(m_model.parts().size()); ++part) {
      if (isFrame(part)) frames[m_model.parts()[static_cast<std::size_t>(part)].media].push_back(part);
    }
  }
  setVisible(!frames.empty());
  for (const auto& [number, parts] : frames) {
    const MapMedia& media = *m_model.mediaOf(m_model.parts()[static_cast<std::size_t>(parts.front())]);
    const auto count = std::min<std::size_t>(kMostThumbnails, parts.size());
    std::vector<double> seconds;
    for (std::size_t i = 0; i < count; ++i) {
      const int part = parts[(2 * i + 1) * parts.size() / (2 * count)];
      const auto frame = static_cast<std::size_t>(std::max(0, m_model.parts()[static_cast<std::size_t>(part)].frame));
      if (frame >= media.timesS.size()) continue;
      seconds.push_back(media.timesS[frame]);
      m_thumbnails[number].push_back({part, {}});
    }
    if (!seconds.empty()) m_asked.insert(m_preview.thumbnails(media.path, media.kind, seconds, kBound), number);
  }
  onShares();
}

void LitStrip::onShares() {
  m_most = 0.0;
  if (m_model.isEmpty() || isHidden()) return;
  for (int part = 0; part < static_cast<int>(m_model.parts().size()); ++part) {
    if (isFrame(part)) m_most = std::max(m_most, m_model.meanShare(part));
  }
  onSelection();
}

void LitStrip::onSelection() {
  if (m_model.isEmpty() || isHidden()) return;
  const int part = m_model.part();
  setAccessibleDescription(tr("%1: %2 kept, mean over layers").arg(m_model.partName(part), app::formatShare(m_model.meanShare(part))));
  update();
}

void LitStrip::paintEvent(QPaintEvent*) {
  if (m_model.isEmpty()) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::SmoothPixmapTransform);
  const Colors& c = theme().colors();
  const auto parts = static_cast<int>(m_model.parts().size());
  // Its frames, and what is said between them.
  const auto isOf = [&](int part, int number) {
    return part >= 0 && part < parts && m_model.parts()[static_cast<std::size_t>(part)].media == number;
  };
  const auto column = [this](int part) {
    const QRectF cell = m_heatMap.cellRect(0, part);
    return QRectF(cell.left(), 0, cell.width(), height());
  };
  // Each thumbnail reaches half way to its neighbours.
  for (const auto& [number, of] : m_thumbnails) {
    int first = of.empty() ? 0 : of.front().part;
    while (isOf(first - 1, number)) --first;
    for (std::size_t i = 0; i < of.size(); ++i) {
      int last = i + 1 < of.size() ? (of[i].part + of[i + 1].part) / 2 : of[i].part;
      while (i + 1 == of.size() && isOf(last + 1, number)) ++last;
      const QRectF area = column(first).united(column(last));
      first = last + 1;
      painter.fillRect(area, c.border);
      if (of[i].image.isNull()) continue;
      const QSizeF size = QSizeF(of[i].image.size()).scaled(area.size(), Qt::KeepAspectRatioByExpanding);
      const double scale = of[i].image.width() / size.width();
      const QRectF source((size.width() - area.width()) / 2 * scale, (size.height() - area.height()) / 2 * scale, area.width() * scale,
                          area.height() * scale);
      painter.drawImage(area, of[i].image, source);
    }
  }
  for (int part = 0; part < parts; ++part) {
    const PromptPart& about = m_model.parts()[static_cast<std::size_t>(part)];
    if (m_thumbnails.contains(about.media) && !about.visual()) painter.fillRect(column(part), c.border);  // words among the frames
    if (!isFrame(part)) continue;
    QColor veil = c.surface;
    veil.setAlphaF(static_cast<float>(kDarkest * (1.0 - light(part))));
    painter.fillRect(column(part), veil);
  }
  if (isFrame(m_model.part())) {
    painter.setPen(QPen(c.text, 2));
    painter.drawRect(column(m_model.part()).adjusted(0, 1, 0, -1));
  }
}

void LitStrip::mousePressEvent(QMouseEvent* event) {
  const auto parts = static_cast<int>(m_model.parts().size());
  for (int part = 0; part < parts; ++part) {
    const QRectF cell = m_heatMap.cellRect(0, part);
    if (event->position().x() >= cell.left() && event->position().x() < cell.right()) m_model.setPart(part);
  }
}

}  // namespace winnow::ui
