// Fusion with this program's shapes: rounded controls, thin scroll bars, one focus ring. Colours and sizes come from theme.h. The wheel
// scrolls the page that a field is on; it changes the field only when that has the focus.
//
// Installed by Theme; nobody else uses it. UI thread only.
#pragma once

#include <QProxyStyle>

namespace winnow::ui {

class WinnowStyle : public QProxyStyle {
  Q_OBJECT
 public:
  WinnowStyle();

  void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const override;
  void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const override;
  void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                          const QWidget* widget) const override;
  QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl subControl,
                       const QWidget* widget) const override;
  QRect subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const override;
  QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size, const QWidget* widget) const override;
  int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
  int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget, QStyleHintReturn* data) const override;
  void polish(QWidget* widget) override;
  using QProxyStyle::polish;
  bool eventFilter(QObject* object, QEvent* event) override;
};

}  // namespace winnow::ui
