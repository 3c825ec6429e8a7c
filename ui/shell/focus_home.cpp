#include "ui/shell/focus_home.h"

#include <QApplication>
#include <QEvent>
#include <QTimer>

namespace winnow::ui {

FocusHome::FocusHome(QWidget& window, const FocusRegions& regions) : QObject(&window), m_window(window), m_regions(regions) {
  window.installEventFilter(this);
  connect(qApp, &QApplication::focusChanged, this, &FocusHome::onFocusChanged);
}

bool FocusHome::eventFilter(QObject*, QEvent* event) {
  if (event->type() == QEvent::WindowActivate) bringFrom(nullptr);
  return false;
}

void FocusHome::onFocusChanged(QWidget* old, QWidget* now) {
  if (now == nullptr) return bringFrom(nullptr);
  const bool within = old != nullptr && old->window() == &m_window && now->window() == &m_window;
  if (within && !(old->isVisible() && old->isEnabled())) bringFrom(now);
}

void FocusHome::bringFrom(QWidget* chosen) {
  const bool nobody = chosen == nullptr;
  QTimer::singleShot(0, this, [this, nobody, chosen = QPointer<QWidget>(chosen)] {
    const QWidget* focus = QApplication::focusWidget();
    const bool lost = nobody ? focus == nullptr : focus == chosen;
    if (lost && m_window.isActiveWindow() && QApplication::activePopupWidget() == nullptr) m_regions.focusHome();
  });
}

}  // namespace winnow::ui
