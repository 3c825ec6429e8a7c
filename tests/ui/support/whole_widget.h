// Whether all of a widget is inside of what it stands in: nothing scrolled away, squeezed out or cut.
#pragma once

#include <QWidget>

namespace winnow::test {

inline bool isWhole(const QWidget* widget) {
  QRect seen = widget->rect();
  for (const QWidget* at = widget; !at->isWindow(); at = at->parentWidget()) {
    seen.translate(at->pos());
    seen &= at->parentWidget()->rect();
  }
  return widget->isVisible() && seen.size() == widget->size();
}

}  // namespace winnow::test
