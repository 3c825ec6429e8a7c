#include "ui/shell/ground/focus_regions.h"

#include <QApplication>
#include <QEvent>
#include <QTimer>
#include <QWidget>
#include <utility>

namespace winnow::ui {

void FocusRegions::add(QWidget* region, Taker taker) { m_regions.push_back({region, std::move(taker)}); }

void FocusRegions::addHome(QWidget* region) {
  m_home = m_regions.size();
  add(region);
}

void FocusRegions::focusNext() const {
  const QWidget* focus = QApplication::focusWidget();
  const std::size_t count = m_regions.size();
  std::size_t at = m_home;
  for (std::size_t i = 0; i < count; ++i) {
    const QWidget* region = m_regions[i].widget;
    if (focus != nullptr && (region == focus || region->isAncestorOf(focus))) at = i;
  }
  for (std::size_t step = 1; step <= count; ++step) {
    const Region& next = m_regions[(at + step) % count];
    if (!next.widget->isVisible()) continue;
    return enter(next, Qt::TabFocusReason);
  }
}

void FocusRegions::focusHome() const {
  const std::size_t count = m_regions.size();
  // Backwards: what is read comes before the panel.
  for (std::size_t step = 0; step < count; ++step) {
    const Region& region = m_regions[(m_home + count - step) % count];
    if (region.widget->isVisible()) return enter(region, Qt::OtherFocusReason);
  }
}

void FocusRegions::enter(const Region& region, Qt::FocusReason reason) {
  QWidget* taker = region.taker ? region.taker() : nullptr;
  (taker != nullptr ? taker : region.widget)->setFocus(reason);
}

FocusHome::FocusHome(QWidget& window, const FocusRegions& regions) : QObject(&window), m_window(window), m_regions(regions) {
  window.installEventFilter(this);
  connect(qApp, &QApplication::focusChanged, this, &FocusHome::onFocusChanged);
}

bool FocusHome::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::WindowActivate) bringFrom(nullptr);
  return false;
}

void FocusHome::onFocusChanged(QWidget*, QWidget* now) {
  if (now == nullptr) return bringFrom(nullptr);
  if (now->window() != &m_window) return;
  const QPointer<QWidget> before = std::exchange(m_last, now);
  const bool first = !std::exchange(m_known, true);
  const bool gone = before == nullptr || !before->isVisible() || !before->isEnabled();
  if (!first && gone) bringFrom(now);
}

void FocusHome::bringFrom(QWidget* chosen) {
  const bool nobody = chosen == nullptr;
  QTimer::singleShot(0, this, [this, nobody, chosen = QPointer<QWidget>(chosen)] {
    const QWidget* focus = QApplication::focusWidget();
    const bool lost = nobody ? focus == nullptr : focus == chosen;
    if (lost && QApplication::activeWindow() == &m_window && QApplication::activePopupWidget() == nullptr) m_regions.focusHome();
  });
}

}  // namespace winnow::ui
