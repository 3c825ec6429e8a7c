#include "ui/chat_view/transcript_menu.h"

#include <QApplication>
#include <QClipboard>
#include <QCoreApplication>
#include <QMenu>
#include <algorithm>

#include "app/words/display_text.h"

namespace winnow::ui {
namespace {

class MenuWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::MenuWords)
};

constexpr std::size_t kMostListings = 9;  // that the menu offers

// "Copy code: python", with its number where there are several.
QString codeLabel(const TranscriptMenuChoices& choices, std::size_t listing) {
  QString language = app::displayText(choices.code[listing].language.left(24));
  language =
      language.isEmpty() ? MenuWords::tr("Copy code") : MenuWords::tr("Copy code: %1").arg(language.replace(u'&', QStringLiteral("&&")));
  return choices.code.size() < 2 ? language : MenuWords::tr("%1 (&%2)").arg(language).arg(listing + 1);
}

// No menu is as wide as a line, and none has a letter of it underlined.
QString shortened(const QString& line) {
  constexpr qsizetype kMost = 60;
  return QString(line.size() > kMost ? line.left(kMost) + u'…' : line).replace(u'&', QStringLiteral("&&"));
}

// Buttons of a message that nothing else in the menu does.
bool isOnlyAButton(Action action) {
  return action == Action::kPreviousBranch || action == Action::kNextBranch || action == Action::kFindFile ||
         action == Action::kErrorDetails || action == Action::kStop || action == Action::kAnswerNow || action == Action::kNewChat ||
         action == Action::kAnswerAlone;
}

void addOfMessage(QMenu& menu, const MessageContent& content, const TranscriptMenuChoices& choices) {
  const auto add = [&](const QString& text, Action action, int index = 0) {
    menu.addAction(text, &menu, [act = choices.act, action, index] { act(action, index); });
  };
  if (!content.text.isEmpty()) add(MenuWords::tr("Copy &message"), Action::kCopy);
  for (std::size_t i = 0; i < std::min(choices.code.size(), kMostListings); ++i)
    add(codeLabel(choices, i), Action::kCopyCode, choices.code[i].block);
  if (!content.thought.isEmpty())
    add(choices.thoughtOpen ? MenuWords::tr("Hide t&hought") : MenuWords::tr("Show t&hought"), Action::kThought);
  const bool busy = content.status == MessageStatus::kWaiting || content.status == MessageStatus::kStreaming;
  if (content.speaker == Speaker::kAssistant && !busy && !content.bare) {
    if (content.canGoOn) add(MenuWords::tr("C&ontinue"), Action::kContinue);
    if (!content.chosenEarlier.isEmpty()) add(MenuWords::tr("Re&ad again"), Action::kReadAgain);
    if (!content.fromPart.isEmpty()) add(MenuWords::tr("Answer from a&ll frames"), Action::kReadAll);
    add(MenuWords::tr("&Regenerate"), Action::kRegenerate);
    if (content.checkable) add(MenuWords::tr("&What changed? Check against the full cache"), Action::kCheck);
    if (content.citable) add(MenuWords::tr("Where it &stands"), Action::kCite);
    for (int i = 0; i < content.quotes.size(); ++i) add(MenuWords::tr("Open: %1").arg(shortened(content.quotes[i])), Action::kQuote, i);
    if (content.hasKeptMap) add(MenuWords::tr("&Kept tokens"), Action::kKeptMap);
    if (content.metrics.valid) add(MenuWords::tr("&Figures of this answer"), Action::kFigures);
  } else if (content.speaker == Speaker::kUser) {
    add(MenuWords::tr("&Edit question"), Action::kEdit);
    for (int i = 0; i < static_cast<int>(content.comparisons.size()); ++i)
      add(MenuWords::tr("Open: %1").arg(content.comparisons[static_cast<std::size_t>(i)].label), Action::kComparison, i);
  }
  if (content.error) add(MenuWords::tr("Copy the &error"), Action::kErrorCopy);
  for (const ActionArea& area : choices.areas) {
    if (isOnlyAButton(area.action)) add(area.label, area.action);
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
  if (content != nullptr) addOfMessage(*menu, *content, choices);
  menu->addSeparator();
  menu->addAction(MenuWords::tr("Select &all"), menu, choices.selectAll);
  return menu;
}

}  // namespace winnow::ui
