#include "ui/theme/winnow_style.h"

#include <QAbstractButton>
#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QComboBox>
#include <QEvent>
#include <QPainter>
#include <QPainterPath>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollBar>
#include <QSlider>
#include <QStyleFactory>
#include <QStyleOption>
#include <QTabBar>
#include <algorithm>

#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

bool isPrimary(const QWidget* widget) { return widget != nullptr && widget->property("winnowPrimary").toBool(); }
bool showsKeyboardFocus(const QStyleOption* option) {
  return (option->state & QStyle::State_HasFocus) && (option->state & QStyle::State_KeyboardFocusChange);
}
bool hasFocusFrame(const QWidget* widget) { return widget != nullptr && widget->property("winnowFocusFrame").toBool(); }

void fillRounded(QPainter* painter, const QRectF& rect, qreal radius, const QColor& fill, const QColor& line, qreal lineWidth = 1.0) {
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setBrush(fill.isValid() ? QBrush(fill) : QBrush(Qt::NoBrush));
  painter->setPen(line.isValid() ? QPen(line, lineWidth) : QPen(Qt::NoPen));
  const qreal inset = line.isValid() ? lineWidth / 2.0 : 0.0;
  painter->drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), radius, radius);
  painter->restore();
}

void drawChevron(QPainter* painter, const QRectF& rect, const QColor& color, bool up) {
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(QPen(color, 1.6 * theme().zoom(), Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
  painter->setBrush(Qt::NoBrush);
  const qreal w = std::min({4.0 * theme().zoom(), rect.width() / 2, rect.height()});
  const QPointF c = rect.center();
  const qreal dy = up ? -w / 2 : w / 2;
  painter->drawPolyline(QPolygonF{QPointF(c.x() - w, c.y() - dy), QPointF(c.x(), c.y() + dy), QPointF(c.x() + w, c.y() - dy)});
  painter->restore();
}

void drawFieldFrame(QPainter* painter, const QStyleOption* option) {
  const Colors& c = theme().colors();
  const bool focused = option->state & QStyle::State_HasFocus;
  fillRounded(painter, option->rect, theme().smallRadius(), c.surface, focused ? c.accent : c.border, focused ? 1.6 : 1.0);
}

// Just inside a button, with a line of the ground between it and a filled one.
void drawFocusRing(QPainter* painter, const QStyleOption* option, const QWidget* widget) {
  const Colors& c = theme().colors();
  const bool primary = isPrimary(widget);
  const qreal inset = primary ? 3.0 : 1.0;
  fillRounded(painter, QRectF(option->rect).adjusted(inset, inset, -inset, -inset), theme().smallRadius() + 2 - inset, QColor(),
              primary ? c.onAccent : c.accent, 2.0);
}

}  // namespace

WinnowStyle::WinnowStyle() : QProxyStyle(QStyleFactory::create(QStringLiteral("Fusion"))) {}

void WinnowStyle::polish(QWidget* widget) {
  QProxyStyle::polish(widget);
  // Otherwise Tab never leaves a table; its cells are gone through by arrows.
  if (auto* view = qobject_cast<QAbstractItemView*>(widget)) view->setTabKeyNavigation(false);
  if (qobject_cast<QAbstractButton*>(widget) || qobject_cast<QComboBox*>(widget) || qobject_cast<QScrollBar*>(widget) ||
      qobject_cast<QSlider*>(widget)) {
    widget->setAttribute(Qt::WA_Hover);
  }
  if (qobject_cast<QComboBox*>(widget) || qobject_cast<QAbstractSpinBox*>(widget)) {
    // Otherwise the wheel itself would give them the focus.
    if (widget->focusPolicy() == Qt::WheelFocus) widget->setFocusPolicy(Qt::StrongFocus);
    widget->installEventFilter(this);
  }
}

bool WinnowStyle::eventFilter(QObject* object, QEvent* event) {
  if (event->type() != QEvent::Wheel || static_cast<QWidget*>(object)->hasFocus()) return QProxyStyle::eventFilter(object, event);
  event->ignore();  // its parent gets it
  return true;
}

void WinnowStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const {
  const Colors& c = theme().colors();
  const bool enabled = option->state & State_Enabled;
  const bool hover = enabled && (option->state & State_MouseOver);
  const bool down = enabled && (option->state & State_Sunken);
  const bool on = option->state & State_On;
  switch (element) {
    case PE_PanelButtonCommand: {
      QColor fill = isPrimary(widget) ? (hover || down ? c.accentHover : c.accent) : (down ? c.pressed : hover ? c.hover : c.surface);
      QColor line = isPrimary(widget) ? QColor() : c.border;
      if (on && !isPrimary(widget)) fill = c.accentSoft;
      if (!enabled) {
        fill = c.raised;
        line = c.border;
      }
      fillRounded(painter, option->rect, theme().smallRadius() + 2, fill, line);
      if (showsKeyboardFocus(option)) drawFocusRing(painter, option, widget);
      return;
    }
    case PE_PanelButtonTool: {
      if (isPrimary(widget)) {
        const qreal gap = showsKeyboardFocus(option) ? 4.0 : 0.0;  // between it and its ring
        fillRounded(painter, QRectF(option->rect).adjusted(gap, gap, -gap, -gap), option->rect.height() / 2.0 - gap,
                    enabled ? (hover ? c.accentHover : c.accent) : c.hover, QColor());
        return;
      }
      QColor fill;
      if (on) fill = c.accentSoft;
      if (hover) fill = c.hover;
      if (down) fill = c.pressed;
      if (fill.isValid()) fillRounded(painter, option->rect, theme().smallRadius(), fill, QColor());
      return;
    }
    case PE_FrameFocusRect: {
      if (qobject_cast<const QAbstractItemView*>(widget)) return;  // the row's own fill shows it
      if (qobject_cast<const QPushButton*>(widget)) return;        // drawn with its panel
      if (qobject_cast<const QTabBar*>(widget)) return;            // drawn with its shape
      fillRounded(painter, QRectF(option->rect).adjusted(-1, -1, 1, 1), theme().smallRadius(), QColor(), c.accent, 1.6);
      return;
    }
    case PE_Frame:
      if (widget != nullptr && widget->inherits("QComboBoxPrivateContainer")) {  // the list that drops down
        painter->save();
        painter->setPen(c.strongBorder);
        painter->setBrush(Qt::NoBrush);
        painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
        painter->restore();
        return;
      }
      if (hasFocusFrame(widget)) {
        const int width = pixelMetric(PM_DefaultFrameWidth, option, widget);
        const auto* text = qobject_cast<const QPlainTextEdit*>(widget);  // what is written in is seen as a field at all times
        if (option->state & State_HasFocus) {
          fillRounded(painter, option->rect, theme().smallRadius(), QColor(), c.accent, width);
        } else if (text != nullptr && !text->isReadOnly()) {
          fillRounded(painter, option->rect, theme().smallRadius(), QColor(), c.border);
        }
        return;
      }
      QProxyStyle::drawPrimitive(element, option, painter, widget);
      return;
    case PE_PanelLineEdit:
      if (const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option); frame && frame->lineWidth > 0) {
        drawFieldFrame(painter, option);
      } else {
        painter->fillRect(option->rect, option->palette.brush(QPalette::Base));
      }
      return;
    case PE_FrameLineEdit: drawFieldFrame(painter, option); return;
    case PE_IndicatorCheckBox: {
      const QRectF box = QRectF(option->rect);
      fillRounded(painter, box, 4 * theme().zoom(), on ? c.accent : c.surface, on ? QColor() : c.strongBorder, 1.2);
      if (on) {
        painter->save();
        painter->setRenderHint(QPainter::Antialiasing);
        painter->setPen(QPen(c.onAccent, 1.8 * theme().zoom(), Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter->drawPolyline(QPolygonF{QPointF(box.left() + box.width() * 0.25, box.top() + box.height() * 0.52),
                                        QPointF(box.left() + box.width() * 0.44, box.top() + box.height() * 0.70),
                                        QPointF(box.left() + box.width() * 0.76, box.top() + box.height() * 0.32)});
        painter->restore();
      }
      return;
    }
    case PE_PanelItemViewItem:
    case PE_PanelItemViewRow: {
      const auto* item = qstyleoption_cast<const QStyleOptionViewItem*>(option);
      const bool selected = option->state & State_Selected;
      if (item && item->backgroundBrush.style() != Qt::NoBrush) painter->fillRect(option->rect, item->backgroundBrush);
      if (element == PE_PanelItemViewRow && !selected) {
        QProxyStyle::drawPrimitive(element, option, painter, widget);
        return;
      }
      if (selected || hover) {
        painter->fillRect(option->rect, selected ? c.accentSoft : c.hover);
      }
      return;
    }
    case PE_FrameStatusBarItem:
    case PE_PanelStatusBar:
    case PE_PanelScrollAreaCorner:  // between two scroll bars, which have no ground either
      return;
    case PE_PanelMenu: painter->fillRect(option->rect, c.surface); return;
    case PE_FrameMenu:
      painter->save();
      painter->setPen(c.border);
      painter->setBrush(Qt::NoBrush);
      painter->drawRect(option->rect.adjusted(0, 0, -1, -1));
      painter->restore();
      return;
    case PE_IndicatorDockWidgetResizeHandle: painter->fillRect(option->rect, c.window); return;
    default: QProxyStyle::drawPrimitive(element, option, painter, widget); return;
  }
}

void WinnowStyle::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter, const QWidget* widget) const {
  const Colors& c = theme().colors();
  switch (element) {
    case CE_PushButtonLabel:
      if (const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option)) {
        QPalette palette = button->palette;
        if (isPrimary(widget) && (option->state & State_Enabled)) palette.setColor(QPalette::ButtonText, c.onAccent);
        const int text = button->fontMetrics.size(Qt::TextShowMnemonic, button->text).width();
        const int mark = button->icon.isNull() ? 0 : button->iconSize.width();
        const int gap = mark > 0 && text > 0 ? theme().px(8) : 0;
        QRect room(0, 0, std::min(option->rect.width(), mark + gap + text), option->rect.height());
        room.moveCenter(option->rect.center());
        if (mark > 0) {
          const QRect at(room.left(), room.center().y() - mark / 2, mark, mark);
          button->icon.paint(painter, visualRect(button->direction, room, at), Qt::AlignCenter,
                             option->state & State_Enabled ? QIcon::Normal : QIcon::Disabled);
        }
        drawItemText(painter, visualRect(button->direction, room, room.adjusted(mark + gap, 0, 0, 0)),
                     Qt::AlignCenter | Qt::TextSingleLine | Qt::TextHideMnemonic, palette, option->state & State_Enabled, button->text,
                     QPalette::ButtonText);
        return;
      }
      break;
    case CE_ToolButtonLabel:
      if (const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
          button && button->toolButtonStyle == Qt::ToolButtonTextBesideIcon) {
        const bool menu = button->features & QStyleOptionToolButton::HasMenu;
        const int mark = button->iconSize.width();
        const QRect room = option->rect.adjusted(theme().px(8), 0, -theme().px(8), 0);
        button->icon.paint(painter,
                           visualRect(button->direction, option->rect, QRect(room.left(), room.center().y() - mark / 2, mark, mark)),
                           Qt::AlignCenter, option->state & State_Enabled ? QIcon::Normal : QIcon::Disabled);
        const QRect text = room.adjusted(mark + theme().px(6), 0, menu ? -theme().px(16) : 0, 0);
        drawItemText(painter, visualRect(button->direction, option->rect, text),
                     Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine | Qt::TextHideMnemonic, button->palette,
                     option->state & State_Enabled, button->text, QPalette::ButtonText);
        if (menu)
          drawChevron(painter,
                      QRectF(visualRect(button->direction, option->rect,
                                        QRect(room.right() - theme().px(12), room.top(), theme().px(12), room.height()))),
                      c.mutedText, false);
        return;
      }
      break;
    case CE_TabBarTabShape:
      if (const auto* tab = qstyleoption_cast<const QStyleOptionTab*>(option)) {
        const bool selected = tab->state & State_Selected;
        if (!selected && (tab->state & State_MouseOver))
          fillRounded(painter, QRectF(tab->rect).adjusted(2, 2, -2, -3), theme().smallRadius(), c.hover, QColor());
        if (selected) {
          const qreal line = theme().px(2);
          fillRounded(painter,
                      QRectF(tab->rect.left() + theme().px(8), tab->rect.bottom() + 1 - line, tab->rect.width() - theme().px(16), line),
                      line / 2, c.accent, QColor());
        }
        if (tab->state & State_HasFocus)
          fillRounded(painter, QRectF(tab->rect).adjusted(1, 1, -1, -1), theme().smallRadius(), QColor(), c.accent, 1.6);
        return;
      }
      break;
    case CE_ProgressBarGroove: fillRounded(painter, option->rect, option->rect.height() / 2.0, c.chartTrack, QColor()); return;
    case CE_ProgressBarContents:
      if (const auto* bar = qstyleoption_cast<const QStyleOptionProgressBar*>(option)) {
        QRectF rect = bar->rect;
        const qint64 range = qint64(bar->maximum) - bar->minimum;
        if (range > 0) {
          rect.setWidth(std::max(rect.height(), rect.width() * (bar->progress - bar->minimum) / qreal(range)));
        } else {
          rect = QRectF(rect.left() + rect.width() * 0.35, rect.top(), rect.width() * 0.3, rect.height());
        }
        if (range == 0 || bar->progress > bar->minimum) fillRounded(painter, rect, rect.height() / 2.0, c.accent, QColor());
        return;
      }
      break;
    case CE_MenuBarItem:
      if (const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(option)) {
        painter->fillRect(option->rect, c.window);
        if (option->state & (State_Selected | State_Sunken)) {
          fillRounded(painter, QRectF(option->rect).adjusted(1, 2, -1, -2), theme().smallRadius(), c.hover, QColor());
        }
        drawItemText(painter, option->rect, Qt::AlignCenter | Qt::TextShowMnemonic | Qt::TextSingleLine, option->palette,
                     option->state & State_Enabled, item->text, QPalette::WindowText);
        return;
      }
      break;
    case CE_MenuBarEmptyArea: painter->fillRect(option->rect, c.window); return;
    case CE_Splitter: return;
    default: break;
  }
  QProxyStyle::drawControl(element, option, painter, widget);
}

void WinnowStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                                     const QWidget* widget) const {
  const Colors& c = theme().colors();
  const bool hover = (option->state & State_MouseOver) && (option->state & State_Enabled);
  if (control == CC_ScrollBar) {
    if (const auto* slider = qstyleoption_cast<const QStyleOptionSlider*>(option)) {
      if (slider->maximum <= slider->minimum) return;
      QRectF thumb = subControlRect(control, option, SC_ScrollBarSlider, widget);
      const qreal inset = hover ? 2.0 : 3.0;
      thumb.adjust(inset, inset, -inset, -inset);
      QColor fill = c.strongBorder;
      fill.setAlpha(option->activeSubControls == SC_ScrollBarSlider && hover ? 230 : 140);
      fillRounded(painter, thumb, std::min(thumb.width(), thumb.height()) / 2.0, fill, QColor());
      return;
    }
  }
  if (control == CC_Slider) {
    if (const auto* slider = qstyleoption_cast<const QStyleOptionSlider*>(option); slider && slider->orientation == Qt::Horizontal) {
      const QRectF handle = subControlRect(control, option, SC_SliderHandle, widget);
      const qreal line = 4 * theme().zoom();
      QRectF groove(option->rect.left(), option->rect.center().y() + 0.5 - line / 2, option->rect.width(), line);
      fillRounded(painter, groove, line / 2, c.chartTrack, QColor());
      QRectF filled = groove;
      filled.setRight(handle.center().x());
      fillRounded(painter, filled, line / 2, option->state & State_Enabled ? c.accent : c.strongBorder, QColor());
      const qreal r = 7 * theme().zoom();
      const QRectF knob(handle.center().x() - r, option->rect.center().y() + 0.5 - r, 2 * r, 2 * r);
      fillRounded(painter, knob, r, c.surface, option->state & State_Enabled ? c.accent : c.strongBorder, 2.0);
      if (option->state & State_HasFocus) fillRounded(painter, knob.adjusted(-3, -3, 3, 3), r + 3, QColor(), c.accent, 1.8);
      return;
    }
  }
  if (control == CC_ComboBox) {
    if (const auto* combo = qstyleoption_cast<const QStyleOptionComboBox*>(option); combo && !combo->editable) {
      const bool focused = option->state & State_HasFocus;
      fillRounded(painter, option->rect, theme().smallRadius() + 2, hover ? c.hover : c.surface, focused ? c.accent : c.border,
                  focused ? 1.6 : 1.0);
      drawChevron(painter, subControlRect(control, option, SC_ComboBoxArrow, widget), c.mutedText, false);
      return;
    }
  }
  if (control == CC_ToolButton) {
    if (const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option)) {
      proxy()->drawPrimitive(PE_PanelButtonTool, option, painter, widget);
      QStyleOptionToolButton label(*button);
      if (label.toolButtonStyle != Qt::ToolButtonTextBesideIcon) label.features &= ~QStyleOptionToolButton::HasMenu;
      proxy()->drawControl(CE_ToolButtonLabel, &label, painter, widget);
      if (showsKeyboardFocus(option)) {
        fillRounded(painter, QRectF(option->rect).adjusted(1, 1, -1, -1),
                    isPrimary(widget) ? option->rect.height() / 2.0 - 1.0 : theme().smallRadius(), QColor(), c.accent, 1.8);
      }
      return;
    }
  }
  if (control == CC_SpinBox) {
    const bool focused = option->state & State_HasFocus;
    fillRounded(painter, option->rect, theme().smallRadius() + 2, c.surface, focused ? c.accent : c.border, focused ? 1.6 : 1.0);
    drawChevron(painter, subControlRect(control, option, SC_SpinBoxUp, widget), c.mutedText, true);
    drawChevron(painter, subControlRect(control, option, SC_SpinBoxDown, widget), c.mutedText, false);
    return;
  }
  QProxyStyle::drawComplexControl(control, option, painter, widget);
}

QRect WinnowStyle::subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl subControl,
                                  const QWidget* widget) const {
  if (control == CC_ScrollBar) {
    if (const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(option)) {
      const QRect rect = bar->rect;
      const bool horizontal = bar->orientation == Qt::Horizontal;
      const int length = horizontal ? rect.width() : rect.height();
      const qint64 range = qint64(bar->maximum) - bar->minimum;
      int thumb = length;
      if (range > 0) {
        thumb = static_cast<int>(qint64(length) * bar->pageStep / std::max<qint64>(1, range + bar->pageStep));
        thumb = std::clamp(thumb, std::min(length, theme().px(28)), length);
      }
      const int start = sliderPositionFromValue(bar->minimum, bar->maximum, bar->sliderPosition, length - thumb, bar->upsideDown);
      QRect result;
      switch (subControl) {
        case SC_ScrollBarSlider: result = horizontal ? QRect(start, 0, thumb, rect.height()) : QRect(0, start, rect.width(), thumb); break;
        case SC_ScrollBarGroove: result = QRect(0, 0, rect.width(), rect.height()); break;
        case SC_ScrollBarSubPage: result = horizontal ? QRect(0, 0, start, rect.height()) : QRect(0, 0, rect.width(), start); break;
        case SC_ScrollBarAddPage:
          result = horizontal ? QRect(start + thumb, 0, length - start - thumb, rect.height())
                              : QRect(0, start + thumb, rect.width(), length - start - thumb);
          break;
        default: return QRect();
      }
      return visualRect(bar->direction, rect, result.translated(rect.topLeft()));
    }
  }
  if (control == CC_ComboBox) {
    const int arrow = theme().px(24);
    const QRect rect = option->rect;
    if (subControl == SC_ComboBoxArrow)
      return visualRect(option->direction, rect, QRect(rect.right() - arrow + 1, rect.top(), arrow, rect.height()));
    if (subControl == SC_ComboBoxEditField) {
      return visualRect(option->direction, rect, rect.adjusted(theme().px(8), theme().px(2), -arrow, -theme().px(2)));
    }
  }
  if (control == CC_SpinBox) {
    const int button = theme().px(20);
    const QRect rect = option->rect;
    const int half = rect.height() / 2;
    QRect result;
    if (subControl == SC_SpinBoxUp) result = QRect(rect.right() - button + 1, rect.top() + 3, button, half - 3);
    if (subControl == SC_SpinBoxDown) result = QRect(rect.right() - button + 1, rect.top() + half, button, half - 3);
    if (subControl == SC_SpinBoxEditField) result = rect.adjusted(theme().px(6), 2, -button, -2);
    if (subControl == SC_SpinBoxFrame) result = rect;
    return visualRect(option->direction, rect, result);
  }
  return QProxyStyle::subControlRect(control, option, subControl, widget);
}

QRect WinnowStyle::subElementRect(SubElement element, const QStyleOption* option, const QWidget* widget) const {
  const QRect rect = QProxyStyle::subElementRect(element, option, widget);
  if (element == SE_LineEditContents) {
    // The frame is rounded: text keeps its distance. Line edits inside spin boxes have no frame of their own.
    const auto* frame = qstyleoption_cast<const QStyleOptionFrame*>(option);
    if (frame != nullptr && frame->lineWidth > 0) return rect.adjusted(theme().px(5), 0, -theme().px(5), 0);
  }
  return rect;
}

QSize WinnowStyle::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size, const QWidget* widget) const {
  QSize result = QProxyStyle::sizeFromContents(type, option, size, widget);
  const int control = theme().px(32);
  switch (type) {
    case CT_PushButton: return QSize(size.width() + theme().px(32), std::max(control, size.height() + theme().px(12)));
    case CT_ToolButton:
      if (const auto* button = qstyleoption_cast<const QStyleOptionToolButton*>(option);
          button && button->toolButtonStyle == Qt::ToolButtonTextBesideIcon) {
        const int text = button->fontMetrics.size(Qt::TextShowMnemonic, button->text).width();
        const int menu = button->features & QStyleOptionToolButton::HasMenu ? theme().px(16) : 0;
        return QSize(theme().px(16) + button->iconSize.width() + theme().px(8) + text + menu, std::max(result.height(), control));
      }
      return QSize(control, control);
    case CT_ComboBox: return QSize(size.width() + theme().px(40), std::max(control, size.height() + theme().px(10)));
    case CT_SpinBox: return QSize(size.width() + theme().px(30), std::max(control, option->fontMetrics.height() + theme().px(12)));
    case CT_LineEdit: return QSize(result.width(), std::max(control, result.height()));
    case CT_MenuBarItem: return QSize(size.width() + theme().px(16), std::max(size.height() + theme().px(8), theme().px(28)));
    case CT_MenuItem:
      if (const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(option);
          item && item->menuItemType != QStyleOptionMenuItem::Separator) {
        // Fusion reckons with its own check column, which is as wide as our icons are at any zoom, and shortens what has no room.
        return QSize(result.width() + theme().px(18), std::max(result.height(), theme().px(28)));
      }
      return result;
    case CT_HeaderSection: return QSize(result.width() + theme().px(4), std::max(result.height(), theme().px(26)));
    default: return result;
  }
}

int WinnowStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const {
  switch (metric) {
    case PM_LayoutLeftMargin:
    case PM_LayoutRightMargin:
    case PM_LayoutTopMargin:
    case PM_LayoutBottomMargin: return theme().space(Space::kMedium);
    case PM_LayoutHorizontalSpacing:
    case PM_LayoutVerticalSpacing: return theme().space(Space::kSmall);
    case PM_DefaultFrameWidth:
      if (hasFocusFrame(widget)) return 2;
      return QProxyStyle::pixelMetric(metric, option, widget);
    case PM_ScrollBarExtent: return theme().px(12);
    case PM_ScrollBarSliderMin: return theme().px(28);
    case PM_ScrollView_ScrollBarSpacing: return 0;
    case PM_SmallIconSize:
    case PM_ButtonIconSize:
    case PM_ListViewIconSize:
    case PM_ToolBarIconSize: return theme().px(18);
    case PM_MessageBoxIconSize: return theme().px(36);
    case PM_SliderThickness:
    case PM_SliderControlThickness: return theme().px(22);
    case PM_SliderLength: return theme().px(16);
    case PM_IndicatorWidth:
    case PM_IndicatorHeight: return theme().px(17);
    case PM_ButtonMargin: return theme().px(8);
    case PM_MenuPanelWidth: return 1;  // the line around it: window and menu are nearly the same white
    case PM_MenuVMargin:
    case PM_MenuHMargin: return theme().px(4);
    case PM_ToolBarItemSpacing: return theme().px(4);
    case PM_DockWidgetSeparatorExtent: return theme().px(5);
    case PM_SplitterWidth: return theme().px(5);
    case PM_TabBarTabHSpace: return theme().px(24);
    case PM_TabBarTabVSpace: return theme().px(10);
    default: return QProxyStyle::pixelMetric(metric, option, widget);
  }
}

int WinnowStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget, QStyleHintReturn* data) const {
  switch (hint) {
    case SH_ToolTip_WakeUpDelay: return 500;
    case SH_Menu_SpaceActivatesItem: return 1;
    case SH_Slider_AbsoluteSetButtons: return Qt::LeftButton;
    case SH_ScrollBar_LeftClickAbsolutePosition: return 0;
    case SH_EtchDisabledText: return 0;
    case SH_DialogButtonBox_ButtonsHaveIcons: return 0;
    case SH_ComboBox_Popup: return 0;
    case SH_UnderlineShortcut: return 0;
    default: return QProxyStyle::styleHint(hint, option, widget, data);
  }
}

}  // namespace winnow::ui
