// What has just been done, for a while, under what is read: that a chat was deleted, with Undo, or what it goes on from.
//
// Used by chat_page.h. Hears of deleted chats itself. UI thread only.
#pragma once

#include "ui/shell/notice_bar.h"

namespace winnow::ui {

class ChatList;

class UndoNotice : public NoticeBar {
  Q_OBJECT
 public:
  explicit UndoNotice(ChatList& list, QWidget* parent = nullptr);
};

}  // namespace winnow::ui
