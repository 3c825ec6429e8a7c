#include "ui/model_library/card_list.h"

#include <QApplication>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/model_library/model_card.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

bool hasKeyboard(const ModelCard* card) {
  const QWidget* focused = card->window()->focusWidget();
  return focused != nullptr && card->isAncestorOf(focused);
}

}  // namespace

CardList::CardList(QWidget* parent) : QWidget(parent) {
  m_column = new QVBoxLayout(this);
  m_column->setContentsMargins(0, 0, 0, 0);
  setSpacing(m_column, 8);
}

void CardList::clear() {
  for (ModelCard* card : m_cards) {
    m_column->removeWidget(card);
    card->hide();
    card->deleteLater();  // one of its buttons may be the one that was pressed
  }
  m_cards.clear();
}

void CardList::add(ModelCard* card) {
  m_column->addWidget(card);
  card->show();  // now: it may be given the keyboard
  m_cards.push_back(card);
}

ModelCard* CardList::card(const QString& key) const {
  const auto found = std::ranges::find(m_cards, key, &ModelCard::key);
  return found != m_cards.end() ? *found : nullptr;
}

ModelCard* CardList::focused() const {
  const auto found = std::ranges::find_if(m_cards, hasKeyboard);
  return found != m_cards.end() ? *found : nullptr;
}

void focusCard(const ModelCard& card) {
  for (int i = 0; i < card.buttonCount(); ++i) {
    if (!card.button(i)->isEnabled()) continue;
    card.button(i)->setFocus(Qt::TabFocusReason);
    return;
  }
}

void stepCards(const std::vector<ModelCard*>& cards, int by) {
  if (cards.empty()) return;
  const auto at = std::ranges::find_if(cards, hasKeyboard);
  const auto last = static_cast<std::ptrdiff_t>(cards.size()) - 1;
  const std::ptrdiff_t next = at != cards.end() ? std::clamp<std::ptrdiff_t>(at - cards.begin() + by, 0, last) : (by > 0 ? 0 : last);
  focusCard(*cards[static_cast<std::size_t>(next)]);
}

}  // namespace winnow::ui
