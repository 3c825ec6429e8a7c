// What is wrong with the saved chats, and the ways on: restore a backup, begin anew, try again, go on without saving.
//
// Used by main_window.h, above everything else. Stays until something is chosen where the chats are not open, and for good where nothing
// is being saved. Hears of faults from the store itself, so that the first one is shown and not what follows from it. UI thread only.
#pragma once

#include "app/chat/chat_store.h"
#include "ui/shell/notice_bar.h"

namespace winnow::ui {

class StorageNotice : public NoticeBar {
  Q_OBJECT
 public:
  explicit StorageNotice(app::ChatStore& store, QWidget* parent = nullptr);

 private:
  void showFailure(const app::StorageFailure& failure, bool open);
  void showOpened(const app::StoreOpened& report);
  NoticeAction showFolder() const;

  app::ChatStore& m_store;
  // What is shown is over when something can be saved again. A change that was refused for its own sake says nothing of others, such as
  // the draft's: only a question that is saved does.
  enum class Stays : int { kForGood = 1, kUntilSaved = 2, kUntilTurn = 3 };
  Stays m_stays = Stays::kForGood;
};

}  // namespace winnow::ui
