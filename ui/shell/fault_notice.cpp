#include "ui/shell/fault_notice.h"

#include "app/engine_host/engine_host.h"
#include "ui/shell/open_chat.h"

namespace winnow::ui {

FaultNotice::FaultNotice(app::EngineHost& engine, OpenChat& chat, QWidget* parent) : NoticeBar(parent) {
  connect(&chat, &OpenChat::problem, this, &NoticeBar::showError);
  connect(&engine, &app::EngineHost::cacheSetAside, this, &NoticeBar::showError);
}

}  // namespace winnow::ui
