#include "ui/shell/undo_notice.h"

#include "ui/shell/chat_list.h"

namespace winnow::ui {
namespace {
constexpr int kUndoMs = 10000;
}

UndoNotice::UndoNotice(ChatList& list, QWidget* parent) : NoticeBar(parent) {
  connect(&list, &ChatList::removed, this, [this](ConversationId, ConversationId, const QString& title) {
    showMessage(tr("“%1” was deleted.").arg(title), tr("Undo"), kUndoMs);
  });
  connect(&list, &ChatList::restored, this, &NoticeBar::dismiss);
  connect(this, &NoticeBar::actionTriggered, &list, &ChatList::undoRemove);
}

}  // namespace winnow::ui
