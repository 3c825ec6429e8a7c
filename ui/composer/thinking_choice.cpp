#include "ui/composer/thinking_choice.h"

#include <QActionGroup>
#include <QMenu>
#include <algorithm>

#include "engine/sampling/sampling.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

ThinkingChoice::ThinkingChoice(QWidget* parent) : QToolButton(parent) {
  setAutoRaise(true);
  setPopupMode(QToolButton::InstantPopup);
  setMenu(new QMenu(this));
  setTextRole(this, TextRole::kCaption);
  setToolTip(tr("Whether the model thinks before it answers in this chat, and for how many tokens at most"));
  setAccessibleName(tr("Thinking"));
  hide();
  connect(menu(), &QMenu::aboutToShow, this, &ThinkingChoice::offer);
}

QString ThinkingChoice::words(int tokens) {
  if (tokens < 0) return tr("Thinking: model’s default");
  if (tokens == 0) return tr("No thinking");
  if (tokens == Sampling::kMostNewTokens) return tr("Thinking: as long as it takes");
  return tr("Thinking: at most %Ln token(s)", nullptr, tokens);
}

void ThinkingChoice::setTokens(int tokens) {
  m_tokens = tokens;
  setText(words(tokens));
  setAccessibleDescription(text());
}

void ThinkingChoice::offer() {
  std::vector<int> offered = {Sampling::kAsManyThoughtsAsTheModel, 0, 256, 1024, 4096, Sampling::kMostNewTokens};
  const auto place = std::ranges::lower_bound(offered, m_tokens);
  if (*place != m_tokens) offered.insert(place, m_tokens);
  menu()->clear();
  auto* group = new QActionGroup(menu());
  for (const int tokens : offered) {
    QAction* action = menu()->addAction(words(tokens), this, [this, tokens] { Q_EMIT chosen(tokens); });
    action->setCheckable(true);
    action->setActionGroup(group);
    action->setChecked(tokens == m_tokens);
  }
}

}  // namespace winnow::ui
