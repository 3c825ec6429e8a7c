#include "ui/theme/icons.h"

#include <QFile>
#include <QHash>
#include <QIconEngine>
#include <QPainter>
#include <QPixmap>
#include <QSvgRenderer>
#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "ui/theme/theme.h"

// Resources of a static library are there once this has run.
static void openIcons() { Q_INIT_RESOURCE(icons); }

namespace winnow::ui {
namespace {

// In the order of Glyph.
constexpr std::array kNames = {"attach",  "send",    "stop",  "plus",   "trash",        "copy",         "refresh",       "sidebar",
                               "panel",   "close",   "image", "film",   "chevron-down", "chevron-left", "chevron-right", "pencil",
                               "check",   "warning", "info",  "folder", "chip",         "arrow-down",   "chat",          "pin",
                               "columns", "differs", "grid",  "play",   "pause",        "sliders",      "document"};

// Files say currentColor; each colour that is asked for is read once. Opacity is the painter's.
QSvgRenderer& rendererOf(const char* name, QRgb color) {
  static QHash<std::pair<const char*, QRgb>, std::shared_ptr<QSvgRenderer>> renderers;
  std::shared_ptr<QSvgRenderer>& renderer = renderers[{name, color}];
  if (renderer == nullptr) {
    openIcons();
    QFile file(QStringLiteral(":/icons/%1.svg").arg(QLatin1String(name)));
    const bool opened = file.open(QIODevice::ReadOnly);
    Q_ASSERT(opened);
    renderer = std::make_shared<QSvgRenderer>(file.readAll().replace("currentColor", QColor(color).name().toLatin1()));
  }
  return *renderer;
}

QRectF centredSquare(const QRectF& rect) {
  const qreal side = std::min(rect.width(), rect.height());
  return {rect.center().x() - side / 2, rect.center().y() - side / 2, side, side};
}

QColor resolve(IconColor color) {
  const Colors& c = theme().colors();
  switch (color) {
    case IconColor::kMuted: return c.mutedText;
    case IconColor::kOnAccent: return c.onAccent;
    case IconColor::kDanger: return c.danger;
    case IconColor::kText: break;
  }
  return c.text;
}

void paintNamed(QPainter& painter, const char* name, const QRectF& rect, const QColor& color) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setOpacity(painter.opacity() * color.alphaF());
  rendererOf(name, color.rgb()).render(&painter, centredSquare(rect));
  painter.restore();
}

class SvgEngine : public QIconEngine {
 public:
  SvgEngine(const char* name, IconColor color) : m_name(name), m_color(color) {}
  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
    QColor color = resolve(m_color);
    if (mode == QIcon::Disabled) {
      color = theme().colors().mutedText;
      color.setAlpha(130);
    }
    paintNamed(*painter, m_name, rect, color);
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap pixmap(size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return pixmap;
  }
  QIconEngine* clone() const override { return new SvgEngine(*this); }

 private:
  const char* m_name;
  IconColor m_color;
};

const char* nameOf(Glyph glyph) { return kNames.at(static_cast<std::size_t>(glyph) - 1); }

}  // namespace

void paintGlyph(QPainter& painter, Glyph glyph, const QRectF& rect, const QColor& color) {
  paintNamed(painter, nameOf(glyph), rect, color);
}

QIcon icon(Glyph glyph, IconColor color) { return QIcon(new SvgEngine(nameOf(glyph), color)); }

QIcon applicationIcon() { return QIcon(new SvgEngine("application", IconColor::kText)); }

}  // namespace winnow::ui
