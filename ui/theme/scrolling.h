// A page that scrolls where it does not fit. UI thread only.
#pragma once

#include <QScrollArea>

namespace winnow::ui {

// As wide as its place, without a frame and without a focus of its own. Takes the page.
inline QScrollArea* scrolling(QWidget* page) {
  auto* scroll = new QScrollArea;
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidgetResizable(true);
  scroll->setFocusPolicy(Qt::NoFocus);
  scroll->setWidget(page);
  return scroll;
}

// A page of figures without controls of its own: a stop of the keyboard, whose arrows scroll it. Its frame is seen with the focus.
inline QScrollArea* keyboardScrolling(QWidget* page) {
  QScrollArea* scroll = scrolling(page);
  scroll->setFrameShape(QFrame::StyledPanel);
  scroll->setFocusPolicy(Qt::StrongFocus);
  return scroll;
}

}  // namespace winnow::ui
