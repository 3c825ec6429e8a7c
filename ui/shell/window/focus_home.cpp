#include "ui/shell/window/focus_home.h"

#include <QApplication>
#include <QEvent>
#include <QTimer>
#include <QWidget>
#include <utility>

namespace winnow::ui {

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
