#include "ui/theme/theme.h"

#include <QApplication>
#include <QBoxLayout>
#include <QEvent>
#include <QFontDatabase>
#include <QFrame>
#include <QStyle>
#include <QVariant>
#include <QWidget>
#include <algorithm>
#include <array>

#include "ui/theme/press_keys.h"
#include "ui/theme/winnow_style.h"

namespace winnow::ui {
namespace {

constexpr char kRoleProperty[] = "winnowTextRole";
constexpr char kMutedProperty[] = "winnowMuted";
constexpr char kPrimaryProperty[] = "winnowPrimary";
constexpr char kArrowsStepProperty[] = "winnowArrowsStep";

Colors lightColors() {
  Colors c;
  c.dark = false;
  c.window = QColor(0xfb, 0xfa, 0xf8);
  c.sidebar = QColor(0xf2, 0xf0, 0xec);
  c.surface = QColor(0xff, 0xff, 0xff);
  c.raised = QColor(0xf5, 0xf3, 0xef);
  c.code = QColor(0xf4, 0xf3, 0xf0);
  c.text = QColor(0x1f, 0x21, 0x24);
  c.mutedText = QColor(0x5d, 0x60, 0x66);
  c.onAccent = QColor(0xff, 0xff, 0xff);
  c.border = QColor(0xe2, 0xdf, 0xd8);
  c.strongBorder = QColor(0x8d, 0x8b, 0x86);
  c.hover = QColor(0xea, 0xe7, 0xe1);
  c.pressed = QColor(0xdd, 0xd9, 0xd1);
  c.accent = QColor(0x0f, 0x6b, 0x5c);
  c.accentHover = QColor(0x0b, 0x59, 0x4c);
  c.accentSoft = QColor(0xdc, 0xee, 0xe9);
  c.userBubble = QColor(0xe4, 0xf0, 0xec);
  c.selection = QColor(0xb5, 0xdc, 0xd2);
  c.link = QColor(0x0b, 0x5c, 0x8f);
  c.danger = QColor(0xb3, 0x26, 0x1e);
  c.dangerSoft = QColor(0xfc, 0xee, 0xec);
  c.warning = QColor(0x8a, 0x55, 0x00);
  c.warningSoft = QColor(0xfd, 0xf3, 0xdd);
  c.success = QColor(0x1a, 0x73, 0x4a);
  c.chartVisual = QColor(0x00, 0x72, 0xb2);
  c.chartImage = QColor(0xb8, 0x5c, 0x93);
  c.chartText = QColor(0xe0, 0x8a, 0x00);
  c.chartWritten = QColor(0x00, 0x8a, 0x65);
  c.chartFull = QColor(0xc9, 0xc5, 0xbd);
  c.chartTrack = QColor(0xea, 0xe7, 0xe1);
  return c;
}

Colors darkColors() {
  Colors c;
  c.dark = true;
  c.window = QColor(0x1c, 0x1d, 0x1f);
  c.sidebar = QColor(0x16, 0x17, 0x18);
  c.surface = QColor(0x25, 0x27, 0x29);
  c.raised = QColor(0x2b, 0x2d, 0x30);
  c.code = QColor(0x15, 0x16, 0x17);
  c.text = QColor(0xe9, 0xe8, 0xe6);
  c.mutedText = QColor(0xa8, 0xa9, 0xab);
  c.onAccent = QColor(0x06, 0x24, 0x1e);
  c.border = QColor(0x38, 0x3a, 0x3d);
  c.strongBorder = QColor(0x7d, 0x7f, 0x83);
  c.hover = QColor(0x32, 0x34, 0x37);
  c.pressed = QColor(0x3e, 0x40, 0x44);
  c.accent = QColor(0x4c, 0xc2, 0xa8);
  c.accentHover = QColor(0x6a, 0xd2, 0xbb);
  c.accentSoft = QColor(0x1f, 0x3d, 0x36);
  c.userBubble = QColor(0x26, 0x3b, 0x36);
  c.selection = QColor(0x2b, 0x62, 0x56);
  c.link = QColor(0x7a, 0xc0, 0xee);
  c.danger = QColor(0xff, 0x9b, 0x90);
  c.dangerSoft = QColor(0x3b, 0x22, 0x20);
  c.warning = QColor(0xf2, 0xc0, 0x6a);
  c.warningSoft = QColor(0x38, 0x2d, 0x18);
  c.success = QColor(0x7d, 0xd3, 0xa3);
  c.chartVisual = QColor(0x56, 0xb4, 0xe9);
  c.chartImage = QColor(0xdd, 0x96, 0xbd);
  c.chartText = QColor(0xf0, 0xb2, 0x3e);
  c.chartWritten = QColor(0x3f, 0xc9, 0x9c);
  c.chartFull = QColor(0x58, 0x5b, 0x60);
  c.chartTrack = QColor(0x36, 0x38, 0x3b);
  return c;
}

void applyWidgetProperties(QWidget* widget, const Theme& theme) {
  const QVariant role = widget->property(kRoleProperty);
  if (role.isValid()) widget->setFont(theme.font(static_cast<TextRole>(role.toInt())));
  if (widget->property(kMutedProperty).toBool()) {
    QPalette palette = widget->palette();
    palette.setColor(QPalette::WindowText, theme.colors().mutedText);
    palette.setColor(QPalette::Text, theme.colors().mutedText);
    palette.setColor(QPalette::ButtonText, theme.colors().mutedText);
    widget->setPalette(palette);
  }
}

struct RoleFont {
  TextRole role;
  qreal scale;
  bool strong = false;
};

constexpr auto kFonts = std::to_array<RoleFont>({{TextRole::kBody, 1.0},
                                                 {TextRole::kCaption, 0.88},
                                                 {TextRole::kCaptionStrong, 0.88, true},
                                                 {TextRole::kStrong, 1.0, true},
                                                 {TextRole::kHeading, 1.15, true},
                                                 {TextRole::kTitle, 1.45, true},
                                                 {TextRole::kDisplay, 2.0, true},
                                                 {TextRole::kCode, 0.95}});

}  // namespace

Theme& Theme::instance() {
  static Theme instance;
  return instance;
}

void Theme::install(QApplication& application) {
  if (m_application != &application) {
    m_application = &application;
    m_systemPalette = QApplication::palette();
    const QFont system = QApplication::font();
    m_family = system.family();
    m_basePoints = std::clamp(system.pointSizeF() > 0 ? system.pointSizeF() : 10.0, 10.0, 16.0);
    QApplication::setStyle(new WinnowStyle);  // owned by the application
    application.installEventFilter(this);
    application.installEventFilter(new PressKeys(&application));
  }
  apply();
}

void Theme::setMode(ThemeMode mode) {
  if (mode == m_mode) return;
  m_mode = mode;
  apply();
}

void Theme::setZoomPercent(int percent) {
  const int bounded = std::clamp(percent, kMinZoomPercent, kMaxZoomPercent);
  if (bounded == m_zoomPercent) return;
  m_zoomPercent = bounded;
  apply();
}

void Theme::zoomBy(int steps) {
  // The ladder that browsers use; a fixed step feels too small at 200 % and too large at 75 %.
  static constexpr int kLadder[] = {75, 80, 90, 100, 110, 125, 150, 175, 200};
  const int count = static_cast<int>(std::size(kLadder));
  int index = 0;
  while (index + 1 < count && kLadder[index + 1] <= m_zoomPercent) ++index;
  if (steps < 0 && kLadder[index] != m_zoomPercent) ++index;
  setZoomPercent(kLadder[std::clamp(index + steps, 0, count - 1)]);
}

int Theme::px(qreal units) const { return std::max(1, qRound(units * zoom())); }

QFont Theme::font(TextRole role) const {
  const auto found = std::ranges::find(kFonts, role, &RoleFont::role);
  QFont font = role == TextRole::kCode ? QFontDatabase::systemFont(QFontDatabase::FixedFont) : QFont(m_family);
  if (found->strong) font.setWeight(QFont::DemiBold);
  font.setPointSizeF(m_basePoints * found->scale * zoom());
  return font;
}

QPalette Theme::palette() const {
  QPalette p;
  const Colors& c = m_colors;
  p.setColor(QPalette::Window, c.window);
  p.setColor(QPalette::WindowText, c.text);
  p.setColor(QPalette::Base, c.surface);
  p.setColor(QPalette::AlternateBase, c.raised);
  p.setColor(QPalette::Text, c.text);
  p.setColor(QPalette::Button, c.raised);
  p.setColor(QPalette::ButtonText, c.text);
  p.setColor(QPalette::BrightText, c.danger);
  p.setColor(QPalette::ToolTipBase, c.dark ? c.raised : QColor(0x2a, 0x2b, 0x2d));
  p.setColor(QPalette::ToolTipText, c.dark ? c.text : QColor(0xf6, 0xf6, 0xf4));
  p.setColor(QPalette::PlaceholderText, c.mutedText);
  p.setColor(QPalette::Highlight, c.selection);
  p.setColor(QPalette::HighlightedText, c.text);
  p.setColor(QPalette::Link, c.link);
  p.setColor(QPalette::LinkVisited, c.link);
  p.setColor(QPalette::Light, c.surface);
  p.setColor(QPalette::Midlight, c.hover);
  p.setColor(QPalette::Mid, c.border);
  p.setColor(QPalette::Dark, c.strongBorder);
  p.setColor(QPalette::Shadow, QColor(0, 0, 0, c.dark ? 120 : 40));
  QColor disabled = c.mutedText;
  disabled.setAlpha(130);
  for (const QPalette::ColorRole role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
    p.setColor(QPalette::Disabled, role, disabled);
  }
  return p;
}

void Theme::apply() {
  if (m_application == nullptr || m_applying) return;
  m_applying = true;
  // Qt 6.4 has no colour scheme hint; the system's own palette tells whether the desktop is dark.
  const bool systemDark = m_systemPalette.color(QPalette::Window).lightness() < 128;
  const bool dark = m_mode == ThemeMode::kDark || (m_mode == ThemeMode::kSystem && systemDark);
  m_colors = dark ? darkColors() : lightColors();
  QApplication::setPalette(palette());
  QApplication::setFont(font(TextRole::kBody));
  const QWidgetList widgets = QApplication::allWidgets();
  for (QWidget* widget : widgets) applyWidgetProperties(widget, *this);
  // Metrics of the style depend on the zoom: every layout has to ask again.
  for (QWidget* widget : widgets) {
    QEvent styleChange(QEvent::StyleChange);
    QCoreApplication::sendEvent(widget, &styleChange);
    widget->updateGeometry();
    widget->update();
  }
  m_applying = false;
  Q_EMIT changed();
}

bool Theme::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_application && event->type() == QEvent::ThemeChange && !m_applying) {
    m_systemPalette = QApplication::style()->standardPalette();
    apply();
  }
  return QObject::eventFilter(watched, event);
}

void setTextRole(QWidget* widget, TextRole role) {
  widget->setProperty(kRoleProperty, static_cast<int>(role));
  applyWidgetProperties(widget, theme());
}

void setMuted(QWidget* widget) {
  widget->setProperty(kMutedProperty, true);
  applyWidgetProperties(widget, theme());
}

void setMargins(QLayout* layout, int left, int top, int right, int bottom) {
  const auto apply = [=] { layout->setContentsMargins(theme().px(left), theme().px(top), theme().px(right), theme().px(bottom)); };
  QObject::connect(&theme(), &Theme::changed, layout, apply);
  apply();
}

void setSpacing(QLayout* layout, int units) {
  const auto apply = [=] { layout->setSpacing(theme().px(units)); };
  QObject::connect(&theme(), &Theme::changed, layout, apply);
  apply();
}

void addGap(QBoxLayout* layout, int units) {
  auto* gap = new QSpacerItem(0, 0);
  layout->addSpacerItem(gap);
  const bool across = layout->direction() == QBoxLayout::LeftToRight || layout->direction() == QBoxLayout::RightToLeft;
  const auto apply = [=] {
    const int size = theme().px(units);
    across ? gap->changeSize(size, 0, QSizePolicy::Fixed, QSizePolicy::Minimum)
           : gap->changeSize(0, size, QSizePolicy::Minimum, QSizePolicy::Fixed);
    layout->invalidate();
  };
  QObject::connect(&theme(), &Theme::changed, layout, apply);
  apply();
}

void setFocusFrame(QFrame* view) {
  view->setProperty("winnowFocusFrame", true);  // first: the width of the frame follows it
  view->setFrameShape(QFrame::StyledPanel);
}

void setArrowsStep(QWidget* page) { page->setProperty(kArrowsStepProperty, true); }

QWidget* steppedBy(QWidget* button) {
  for (QWidget* page = button; page != nullptr; page = page->parentWidget()) {
    if (page->property(kArrowsStepProperty).toBool()) return page;
  }
  return nullptr;
}

void setPrimary(QWidget* button) { button->setProperty(kPrimaryProperty, true); }

}  // namespace winnow::ui
