// While other programs are served: the address, how many requests were answered and wait, and a way to end it.
//
// Used by main_window.h, above the chat. UI thread only.
#pragma once

#include "ui/shell/notice_bar.h"

namespace winnow::ui {

class Serving;

class ServingNotice : public NoticeBar {
  Q_OBJECT
 public:
  explicit ServingNotice(Serving& serving, QWidget* parent = nullptr);

 private:
  void update();
  QString words() const;

  Serving& m_serving;
};

}  // namespace winnow::ui
