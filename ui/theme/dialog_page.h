// The page of a dialog: a form whose long rows wrap and whose fields grow, and a page that scrolls where it does not fit. UI thread only.
#pragma once

#include <QApplication>
#include <QFormLayout>
#include <QScrollArea>

#include "ui/theme/theme.h"

namespace winnow::ui {

// A form on a page of a dialog: long rows wrap, fields grow.

// The page's layout, which the page owns.
inline QFormLayout* formOn(QWidget* page) {
  auto* form = new QFormLayout(page);
  form->setRowWrapPolicy(QFormLayout::WrapLongRows);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  form->setVerticalSpacing(theme().px(10));
  return form;
}

// A scroll area as wide as its place, without a frame or a focus of its own. Takes the page.
template <typename Area = QScrollArea>
Area* scrolling(QWidget* page) {
  auto* scroll = new Area;
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setWidget(page);
  // Tab scrolls within the page by itself, but not when it comes from elsewhere.
  QObject::connect(qApp, &QApplication::focusChanged, scroll, [scroll, page](QWidget*, QWidget* now) {
    if (now == nullptr || !page->isAncestorOf(now)) return;
    scroll->ensureWidgetVisible(now);
    // Qt brings only the cursor of a text box into view.
    if (now->height() > scroll->viewport()->height()) return;
    const QPoint middle = now->mapTo(page, now->rect().center());
    scroll->ensureVisible(middle.x(), middle.y(), 0, now->height() / 2 + 1);
  });
  return scroll;
}

// A page of figures without controls of its own: a stop of the keyboard, whose arrows scroll it.
inline QScrollArea* keyboardScrolling(QWidget* page) {
  QScrollArea* scroll = scrolling(page);
  setFocusFrame(scroll);
  scroll->setFocusPolicy(Qt::StrongFocus);
  return scroll;
}

}  // namespace winnow::ui
