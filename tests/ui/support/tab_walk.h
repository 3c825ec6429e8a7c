// The stops of the Tab key in a window, once around.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <QWidget>
#include <QtTest/QTest>
#include <functional>
#include <string>

namespace winnow::test {

inline std::string stopName(const QWidget* widget) {
  const QWidget* parent = widget->parentWidget();
  return std::string(widget->metaObject()->className()) + " “" + widget->accessibleName().toStdString() + "” in " +
         (parent != nullptr ? parent->metaObject()->className() : "nothing");
}

// Goes on from what has the focus until it has it again, with what stands beside a page of the window.
inline void walkByTab(QWidget* window, const std::function<void(QWidget*)>& visit) {
  QWidget* const first = window->focusWidget();
  ASSERT_NE(first, nullptr);
  constexpr int kMost = 120;
  int stops = 0;
  for (QWidget* at = first; stops < kMost && (stops == 0 || at != first); ++stops) {
    visit(at);
    at->setFocus(Qt::TabFocusReason);  // the offscreen platform gives it to nobody when a menu closes
    QTest::keyClick(at, Qt::Key_Tab);
    QApplication::processEvents();
    QWidget* const next = window->window()->focusWidget();
    ASSERT_NE(next, nullptr) << "behind " << stopName(at);
    if (next == at) break;  // the only one
    at = next;
  }
  EXPECT_LT(stops, kMost) << "Tab does not come back to where it began";
}

}  // namespace winnow::test
