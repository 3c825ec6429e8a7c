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

struct ColorRow {
  QColor Colors::*color;
  QRgb light;
  QRgb dark;
};
constexpr ColorRow kColors[] = {
    // surfaces
    {&Colors::window, 0xfbfaf8, 0x1c1d1f},
    {&Colors::sidebar, 0xf2f0ec, 0x161718},
    {&Colors::surface, 0xffffff, 0x252729},
    {&Colors::raised, 0xf5f3ef, 0x2b2d30},
    {&Colors::code, 0xf4f3f0, 0x151617},
    // text
    {&Colors::text, 0x1f2124, 0xe9e8e6},
    {&Colors::mutedText, 0x5d6066, 0xa8a9ab},
    {&Colors::onAccent, 0xffffff, 0x06241e},
    // edges and states
    {&Colors::border, 0xe2dfd8, 0x383a3d},
    {&Colors::strongBorder, 0x8d8b86, 0x7d7f83},
    {&Colors::hover, 0xeae7e1, 0x323437},
    {&Colors::pressed, 0xddd9d1, 0x3e4044},
    // accents
    {&Colors::accent, 0x0f6b5c, 0x4cc2a8},
    {&Colors::accentHover, 0x0b594c, 0x6ad2bb},
    {&Colors::accentSoft, 0xdceee9, 0x1f3d36},
    {&Colors::userBubble, 0xe4f0ec, 0x263b36},
    {&Colors::selection, 0xb5dcd2, 0x2b6256},
    {&Colors::link, 0x0b5c8f, 0x7ac0ee},
    // warnings
    {&Colors::danger, 0xb3261e, 0xff9b90},
    {&Colors::dangerSoft, 0xfceeec, 0x3b2220},
    {&Colors::warning, 0x8a5500, 0xf2c06a},
    {&Colors::warningSoft, 0xfdf3dd, 0x382d18},
    {&Colors::success, 0x1a734a, 0x7dd3a3},
    // charts
    {&Colors::chartVisual, 0x0072b2, 0x56b4e9},
    {&Colors::chartImage, 0xb85c93, 0xdd96bd},
    {&Colors::chartText, 0xe08a00, 0xf0b23e},
    {&Colors::chartWritten, 0x008a65, 0x3fc99c},
    {&Colors::chartFull, 0xc9c5bd, 0x585b60},
    {&Colors::chartTrack, 0xeae7e1, 0x36383b},
};

Colors colorsOf(bool dark) {
  Colors colors;
  colors.dark = dark;
  for (const ColorRow& row : kColors) colors.*row.color = QColor(dark ? row.dark : row.light);
  return colors;
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
  m_colors = colorsOf(dark);
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
