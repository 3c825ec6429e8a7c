// What went wrong with the chat on screen or what is kept of it, in the words of error_text.h.
//
// Used by main_window.h, which has it stand above the chat. Hears of those faults itself; other parts present theirs in it. UI thread only.
#pragma once

#include "ui/shell/notice_bar.h"

namespace winnow::app {
class EngineHost;
}

namespace winnow::ui {

class OpenChat;

class FaultNotice : public NoticeBar {
  Q_OBJECT
 public:
  FaultNotice(app::EngineHost& engine, OpenChat& chat, QWidget* parent = nullptr);

 private:
  QString m_setAside;  // what was told of what was kept of the chat on screen
};

}  // namespace winnow::ui
