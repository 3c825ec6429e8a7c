// Cards of models under one another, which the arrow keys step through.
//
// Used by here_page.h and get_page.h. Owns its cards. UI thread only.
#pragma once

#include <QWidget>
#include <vector>

class QVBoxLayout;

namespace winnow::ui {

class ModelCard;

class CardList : public QWidget {
  Q_OBJECT
 public:
  explicit CardList(QWidget* parent = nullptr);

  void clear();
  void add(ModelCard* card);
  const std::vector<ModelCard*>& cards() const { return m_cards; }
  ModelCard* card(const QString& key) const;  // null: there is none
  // The card that has the keyboard; null: none.
  ModelCard* focused() const;

 private:
  QVBoxLayout* m_column;
  std::vector<ModelCard*> m_cards;
};

// Gives the keyboard to a card's first button that can be pressed.
void focusCard(const ModelCard& card);
// To the next or previous of all of these cards, seen as one list; from outside of them to the first or last.
void stepCards(const std::vector<ModelCard*>& cards, int by);

}  // namespace winnow::ui
