#include "ui/theme/icons.h"

#include <QIconEngine>
#include <QPainter>
#include <QPainterPath>
#include <QPixmap>
#include <algorithm>
#include <utility>

#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

// Paths live on a grid of 24 x 24.
QPainterPath strokes(Glyph glyph) {
  QPainterPath p;
  switch (glyph) {
    case Glyph::kAttach:
      p.moveTo(20, 11.5);
      p.lineTo(12.2, 19.2);
      p.cubicTo(9.6, 21.6, 4.2, 20.4, 4.4, 15.6);
      p.cubicTo(4.5, 14.2, 5.2, 13.2, 6, 12.4);
      p.lineTo(13.2, 5.2);
      p.cubicTo(15.6, 3, 19.2, 5.6, 17.2, 8.6);
      p.lineTo(10, 15.8);
      p.cubicTo(8.8, 16.8, 7, 15.4, 8.2, 13.8);
      p.lineTo(14.4, 7.6);
      break;
    case Glyph::kSend:
      p.moveTo(12, 19);
      p.lineTo(12, 5);
      p.moveTo(6, 11);
      p.lineTo(12, 5);
      p.lineTo(18, 11);
      break;
    case Glyph::kPlus:
      p.moveTo(12, 5);
      p.lineTo(12, 19);
      p.moveTo(5, 12);
      p.lineTo(19, 12);
      break;
    case Glyph::kTrash:
      p.moveTo(4, 7);
      p.lineTo(20, 7);
      p.moveTo(9, 7);
      p.lineTo(9.5, 4);
      p.lineTo(14.5, 4);
      p.lineTo(15, 7);
      p.moveTo(6.5, 7);
      p.lineTo(7.5, 20);
      p.lineTo(16.5, 20);
      p.lineTo(17.5, 7);
      break;
    case Glyph::kCopy:
      p.addRoundedRect(9, 9, 11, 11, 2, 2);
      p.moveTo(15, 9);
      p.lineTo(15, 6);
      p.cubicTo(15, 4.8, 14.4, 4, 13.2, 4);
      p.lineTo(6, 4);
      p.cubicTo(4.8, 4, 4, 4.8, 4, 6);
      p.lineTo(4, 13);
      p.cubicTo(4, 14.4, 4.8, 15, 6, 15);
      p.lineTo(9, 15);
      break;
    case Glyph::kRefresh:
      p.moveTo(19.2, 9);
      p.arcTo(4.5, 4.5, 15, 15, 24, 300);
      p.moveTo(20, 4.2);
      p.lineTo(19.4, 9.2);
      p.lineTo(14.4, 8.8);
      break;
    case Glyph::kSidebar:
      p.addRoundedRect(3.5, 5, 17, 14, 2.5, 2.5);
      p.moveTo(9.5, 5);
      p.lineTo(9.5, 19);
      break;
    case Glyph::kPanel:
      p.addRoundedRect(3.5, 5, 17, 14, 2.5, 2.5);
      p.moveTo(14.5, 5);
      p.lineTo(14.5, 19);
      break;
    case Glyph::kClose:
      p.moveTo(6.5, 6.5);
      p.lineTo(17.5, 17.5);
      p.moveTo(17.5, 6.5);
      p.lineTo(6.5, 17.5);
      break;
    case Glyph::kImage:
      p.addRoundedRect(3.5, 4.5, 17, 15, 2.5, 2.5);
      p.addEllipse(QPointF(8.5, 9.5), 1.5, 1.5);
      p.moveTo(4, 17.5);
      p.lineTo(10, 12.5);
      p.lineTo(13, 15);
      p.lineTo(16, 11.5);
      p.lineTo(20, 16);
      break;
    case Glyph::kFilm:
      p.addRoundedRect(3.5, 5, 17, 14, 2.5, 2.5);
      p.moveTo(8, 5);
      p.lineTo(8, 19);
      p.moveTo(16, 5);
      p.lineTo(16, 19);
      p.moveTo(3.5, 12);
      p.lineTo(8, 12);
      p.moveTo(16, 12);
      p.lineTo(20.5, 12);
      break;
    case Glyph::kDocument:
      p.moveTo(13.5, 3.5);
      p.lineTo(7.5, 3.5);
      p.quadTo(5.5, 3.5, 5.5, 5.5);
      p.lineTo(5.5, 18.5);
      p.quadTo(5.5, 20.5, 7.5, 20.5);
      p.lineTo(16.5, 20.5);
      p.quadTo(18.5, 20.5, 18.5, 18.5);
      p.lineTo(18.5, 8.5);
      p.lineTo(13.5, 3.5);
      p.lineTo(13.5, 8.5);
      p.lineTo(18.5, 8.5);
      p.moveTo(8.5, 12.5);
      p.lineTo(15.5, 12.5);
      p.moveTo(8.5, 16);
      p.lineTo(15.5, 16);
      break;
    case Glyph::kChevronDown:
      p.moveTo(6, 9.5);
      p.lineTo(12, 15.5);
      p.lineTo(18, 9.5);
      break;
    case Glyph::kChevronLeft:
      p.moveTo(14.5, 6);
      p.lineTo(8.5, 12);
      p.lineTo(14.5, 18);
      break;
    case Glyph::kChevronRight:
      p.moveTo(9.5, 6);
      p.lineTo(15.5, 12);
      p.lineTo(9.5, 18);
      break;
    case Glyph::kPencil:
      p.moveTo(4.5, 19.5);
      p.lineTo(5.5, 15.5);
      p.lineTo(16, 5);
      p.lineTo(19, 8);
      p.lineTo(8.5, 18.5);
      p.closeSubpath();
      break;
    case Glyph::kCheck:
      p.moveTo(5, 12.5);
      p.lineTo(10, 17.5);
      p.lineTo(19, 7);
      break;
    case Glyph::kWarning:
      p.moveTo(12, 4);
      p.lineTo(21, 19.5);
      p.lineTo(3, 19.5);
      p.closeSubpath();
      p.moveTo(12, 10);
      p.lineTo(12, 14);
      p.moveTo(12, 16.8);
      p.lineTo(12, 16.9);
      break;
    case Glyph::kInfo:
      p.addEllipse(QPointF(12, 12), 8.5, 8.5);
      p.moveTo(12, 11);
      p.lineTo(12, 16);
      p.moveTo(12, 7.9);
      p.lineTo(12, 8);
      break;
    case Glyph::kPin:
      p.moveTo(8.5, 3.5);
      p.lineTo(15.5, 3.5);
      p.moveTo(10, 3.5);
      p.lineTo(10, 9.5);
      p.lineTo(6.5, 14);
      p.lineTo(17.5, 14);
      p.lineTo(14, 9.5);
      p.lineTo(14, 3.5);
      p.moveTo(12, 14);
      p.lineTo(12, 20.5);
      break;
    case Glyph::kFolder:
      p.moveTo(3.5, 7);
      p.lineTo(3.5, 18.5);
      p.lineTo(20.5, 18.5);
      p.lineTo(20.5, 8.5);
      p.lineTo(12, 8.5);
      p.lineTo(10, 6);
      p.lineTo(3.5, 6);
      p.closeSubpath();
      break;
    case Glyph::kChip:
      p.addRoundedRect(7, 7, 10, 10, 1.5, 1.5);
      for (const qreal at : {9.5, 14.5}) {
        p.moveTo(at, 3.5);
        p.lineTo(at, 7);
        p.moveTo(at, 17);
        p.lineTo(at, 20.5);
        p.moveTo(3.5, at);
        p.lineTo(7, at);
        p.moveTo(17, at);
        p.lineTo(20.5, at);
      }
      break;
    case Glyph::kArrowDown:
      p.moveTo(12, 5);
      p.lineTo(12, 19);
      p.moveTo(6, 13);
      p.lineTo(12, 19);
      p.lineTo(18, 13);
      break;
    case Glyph::kChat:
      p.moveTo(6.5, 5);
      p.lineTo(17.5, 5);
      p.cubicTo(19.4, 5, 20.5, 6, 20.5, 8);
      p.lineTo(20.5, 13.5);
      p.cubicTo(20.5, 15.4, 19.4, 16.5, 17.5, 16.5);
      p.lineTo(11, 16.5);
      p.lineTo(6.5, 20);
      p.lineTo(6.5, 16.5);
      p.cubicTo(4.6, 16.5, 3.5, 15.4, 3.5, 13.5);
      p.lineTo(3.5, 8);
      p.cubicTo(3.5, 6, 4.6, 5, 6.5, 5);
      break;
    case Glyph::kColumns:
      p.addRoundedRect(3.5, 5, 7, 14, 2, 2);
      p.addRoundedRect(13.5, 5, 7, 14, 2, 2);
      break;
    case Glyph::kDiffers:
      p.moveTo(5, 9.5);
      p.lineTo(19, 9.5);
      p.moveTo(5, 14.5);
      p.lineTo(19, 14.5);
      p.moveTo(15.5, 5);
      p.lineTo(8.5, 19);
      break;
    case Glyph::kGrid:
      for (const qreal x : {4.0, 10.0, 16.0}) {
        for (const qreal y : {4.0, 10.0, 16.0}) p.addRect(x, y, 4, 4);
      }
      break;
    case Glyph::kSliders:
      for (const auto& [y, knob] : {std::pair{7.0, 15.0}, std::pair{17.0, 9.0}}) {
        p.moveTo(4, y);
        p.lineTo(knob - 2.5, y);
        p.addEllipse(QPointF(knob, y), 2.5, 2.5);
        p.moveTo(knob + 2.5, y);
        p.lineTo(20, y);
      }
      break;
    case Glyph::kPlay:
      p.moveTo(8, 5.5);
      p.lineTo(18.5, 12);
      p.lineTo(8, 18.5);
      p.closeSubpath();
      break;
    case Glyph::kPause:
      p.moveTo(8.5, 6);
      p.lineTo(8.5, 18);
      p.moveTo(15.5, 6);
      p.lineTo(15.5, 18);
      break;
    case Glyph::kStop:
      break;
  }
  return p;
}

QColor resolve(IconColor color) {
  const Colors& c = theme().colors();
  switch (color) {
    case IconColor::kMuted:
      return c.mutedText;
    case IconColor::kOnAccent:
      return c.onAccent;
    case IconColor::kDanger:
      return c.danger;
    case IconColor::kText:
      break;
  }
  return c.text;
}

class GlyphEngine : public QIconEngine {
 public:
  GlyphEngine(Glyph glyph, IconColor color) : m_glyph(glyph), m_color(color) {}
  void paint(QPainter* painter, const QRect& rect, QIcon::Mode mode, QIcon::State) override {
    QColor color = resolve(m_color);
    if (mode == QIcon::Disabled) {
      color = theme().colors().mutedText;
      color.setAlpha(130);
    }
    paintGlyph(*painter, m_glyph, rect, color);
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap pixmap(size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return pixmap;
  }
  QIconEngine* clone() const override { return new GlyphEngine(*this); }

 private:
  Glyph m_glyph;
  IconColor m_color;
};

class MarkEngine : public QIconEngine {
 public:
  void paint(QPainter* painter, const QRect& rect, QIcon::Mode, QIcon::State) override {
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const qreal side = std::min(rect.width(), rect.height());
    painter->translate(rect.center().x() + 0.5 - side / 2, rect.center().y() + 0.5 - side / 2);
    painter->scale(side / 24.0, side / 24.0);
    painter->setPen(Qt::NoPen);
    painter->setBrush(QColor(0x0f, 0x6b, 0x5c));
    painter->drawRoundedRect(QRectF(0, 0, 24, 24), 6, 6);
    painter->setBrush(QColor(0xf5, 0xd9, 0x8b));
    // Three pairs of grains and one on top, along a stalk.
    const auto grain = [painter](qreal x, qreal y, qreal angle) {
      painter->save();
      painter->translate(x, y);
      painter->rotate(angle);
      painter->drawEllipse(QPointF(0, -2.4), 1.5, 2.6);
      painter->restore();
    };
    grain(12, 7.6, 0);
    for (const qreal y : {10.2, 13.6, 17.0}) {
      grain(12.4, y, 42);
      grain(11.6, y, -42);
    }
    painter->setPen(QPen(QColor(0xf5, 0xd9, 0x8b), 1.2, Qt::SolidLine, Qt::RoundCap));
    painter->drawLine(QPointF(12, 8), QPointF(12, 20.5));
    painter->restore();
  }
  QPixmap pixmap(const QSize& size, QIcon::Mode mode, QIcon::State state) override {
    QPixmap pixmap(size);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    paint(&painter, QRect(QPoint(), size), mode, state);
    return pixmap;
  }
  QIconEngine* clone() const override { return new MarkEngine(*this); }
};

}  // namespace

void paintGlyph(QPainter& painter, Glyph glyph, const QRectF& rect, const QColor& color) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  const qreal side = std::min(rect.width(), rect.height());
  painter.translate(rect.center().x() - side / 2, rect.center().y() - side / 2);
  painter.scale(side / 24.0, side / 24.0);
  if (glyph == Glyph::kStop) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawRoundedRect(QRectF(6.5, 6.5, 11, 11), 2, 2);
  } else {
    painter.setPen(QPen(color, 1.8, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
    painter.setBrush(Qt::NoBrush);
    painter.drawPath(strokes(glyph));
  }
  painter.restore();
}

QIcon icon(Glyph glyph, IconColor color) { return QIcon(new GlyphEngine(glyph, color)); }

QIcon applicationIcon() { return QIcon(new MarkEngine); }

}  // namespace winnow::ui
