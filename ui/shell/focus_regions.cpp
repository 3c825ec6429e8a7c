#include "ui/shell/focus_regions.h"

#include <QApplication>
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
    QWidget* taker = next.taker ? next.taker() : nullptr;
    (taker != nullptr ? taker : next.widget)->setFocus(Qt::TabFocusReason);
    return;
  }
}

}  // namespace winnow::ui
