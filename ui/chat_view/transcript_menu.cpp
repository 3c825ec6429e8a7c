#include "ui/chat_view/transcript_menu.h"

#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QMenu>

namespace winnow::ui {
namespace {

class MenuWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::MenuWords)
};

void addOfMessage(QMenu& menu, const MessageContent& content, const std::function<void(Action, int)>& act) {
  const auto add = [&](const QString& text, Action action, int index = 0) {
    menu.addAction(text, &menu, [act, action, index] { act(action, index); });
  };
  add(MenuWords::tr("Copy &message"), Action::kCopy);
  const bool busy = content.status == MessageStatus::kWaiting || content.status == MessageStatus::kStreaming;
  if (content.speaker == Speaker::kAssistant && !busy && !content.bare) {
    add(MenuWords::tr("&Regenerate"), Action::kRegenerate);
    if (content.checkable) add(MenuWords::tr("&What changed? Check against the full cache"), Action::kCheck);
    if (content.hasKeptMap) add(MenuWords::tr("&Kept tokens"), Action::kKeptMap);
  } else if (content.speaker == Speaker::kUser) {
    add(MenuWords::tr("&Edit question"), Action::kEdit);
    for (int i = 0; i < static_cast<int>(content.comparisons.size()); ++i)
      add(MenuWords::tr("Open: %1").arg(content.comparisons[static_cast<std::size_t>(i)].label), Action::kComparison, i);
  }
}

}  // namespace

QMenu* newTranscriptMenu(const MessageContent* content, const QUrl& link, const TranscriptMenuChoices& choices, QWidget* parent) {
  auto* menu = new QMenu(parent);
  QAction* copy = menu->addAction(MenuWords::tr("&Copy"), menu, [run = choices.copySelection] { run(); });
  copy->setEnabled(choices.copySelection != nullptr);
  if (link.isValid()) {
    menu->addAction(MenuWords::tr("Copy &link"), menu, [link] { QApplication::clipboard()->setText(link.toString(QUrl::FullyEncoded)); });
  }
  if (content != nullptr) addOfMessage(*menu, *content, choices.act);
  menu->addSeparator();
  menu->addAction(MenuWords::tr("Select &all"), menu, choices.selectAll);
  return menu;
}

}  // namespace winnow::ui
