#include "ui/shell/fault_notice.h"

#include <QFile>

#include "app/engine_host/engine_host.h"
#include "ui/shell/open_chat.h"
#include "ui/words/attached_words.h"

namespace winnow::ui {

FaultNotice::FaultNotice(app::EngineHost& engine, OpenChat& chat, QWidget* parent) : NoticeBar(parent) {
  connect(&chat, &OpenChat::problem, this, &FaultNotice::showErrorOfChat);
  // Of the chat on screen, and calmly: its media are read again, no more. That another model is loaded, the line under the box says.
  connect(&engine, &app::EngineHost::cacheSetAside, this, [this, &chat](const Error& why, ConversationId conversation) {
    if (conversation != chat.id() || why.subject.empty()) return;
    Notice notice = noticeOf(why);
    notice.error = false;
    // It is the file that the program keeps, and none that somebody could copy again.
    if (why.code != ErrorCode::kCacheOutdated)
      notice.text = tr("What was kept of this chat for later questions is damaged. Nothing is lost: the chat is read again.");
    presentOfChat(notice);
  });
  connect(&chat, &OpenChat::subtitlesChanged, this, [this](const QByteArray& file) {
    Notice notice;
    notice.text =
        tr("The subtitles in “%1” have changed since a question was asked about them. Answers are about the new ones from now on.")
            .arg(attachedName(QFile::decodeName(file)));
    notice.error = false;
    presentOfChat(notice);
  });
  connect(&chat, &OpenChat::aboutToShow, this, [this] {
    if (!m_ofChat.isEmpty() && text() == m_ofChat) dismiss();
    m_ofChat.clear();
  });
}

void FaultNotice::presentOfChat(const Notice& notice) {
  present(notice);
  m_ofChat = text();
}

}  // namespace winnow::ui
