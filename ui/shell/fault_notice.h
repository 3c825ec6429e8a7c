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

  // About the chat on screen: another chat has nothing to do with it.
  void presentOfChat(const Notice& notice);
  void showErrorOfChat(const Error& error) { presentOfChat(noticeOf(error)); }

 private:
  QString m_ofChat;
};

}  // namespace winnow::ui
