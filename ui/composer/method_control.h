// How the cache is compressed, and how much is kept: a button that says both, and the card that opens over it.
//
// Used by the composer. The card changes the share and what later questions go on from; choosing another method and changing parts are
// asked for by signals, for ui/shell opens those dialogs. The list of methods is given (list_methods() of the engine). Percent exists only
// here; the value is a share in (0, 1]. UI thread only.
#pragma once

#include <QToolButton>
#include <vector>

#include "app/ground/recipes/recipe_json.h"
#include "engine/messages/events.h"
#include "engine/recipes/method_info.h"

class QLabel;
class QPushButton;
class QSlider;
class QSpinBox;

namespace winnow::ui {

class LaterChoice;
class PopupCard;

class MethodControl : public QToolButton {
  Q_OBJECT
 public:
  explicit MethodControl(std::vector<MethodInfo> methods, QWidget* parent = nullptr);

  const app::NamedRecipe& recipe() const { return m_recipe; }
  double retention() const { return m_recipe.spec.retention; }
  void setRecipe(const app::NamedRecipe& recipe);
  void stepRetention(int percent);
  void setShare(double share);  // as if chosen with the slider
  void storeInEightBits();      // as if chosen in the recipe editor, and so the next
  void readTwice();
  // How much attention each share would keep, by the last prefill of the same media; empty: nobody knows.
  void setRetainedMass(const std::vector<RetainedMass>& points);
  QString massLine() const;  // empty while hidden
  void openCard();
  PopupCard* card() const { return m_card; }
  QPushButton* pickButton() const { return m_pick; }
  QPushButton* changeButton() const { return m_change; }
  QSlider* slider() const { return m_slider; }
  QSpinBox* spin() const { return m_spin; }
  LaterChoice* addLaterChoice();                  // into the card, where a chat is asked on
  LaterChoice* later() const { return m_later; }  // null: not added
  void openLaterChoice();                         // the card, at that choice
  QString about() const;
  // This chat is text alone: methods that compress what is attached have nothing to do.
  void setTextAlone(bool textAlone);
  // Why no method has any effect; empty: it has.
  void setLacking(const QString& why);
  // The recipe that reads the source watched here, whatever is chosen; none: nothing is watched.
  void setWatching(const std::optional<app::NamedRecipe>& recipe);
  // New chats begin otherwise than this one.
  void setNewChatsDiffer(bool differ);

  QSize sizeHint() const override;

 Q_SIGNALS:
  void recipeChanged(const winnow::app::NamedRecipe& recipe);
  void pickRequested();
  void changeRequested();
  void useForNewRequested();

 private:
  void describe();
  void chooseRetention(double share);
  void describeMass();

  std::vector<MethodInfo> m_methods;
  app::NamedRecipe m_recipe;
  std::optional<app::NamedRecipe> m_watching;
  bool m_textAlone = false;
  QString m_lacking;
  PopupCard* m_card = nullptr;
  QPushButton* m_pick = nullptr;
  QPushButton* m_change = nullptr;
  QPushButton* m_forNew = nullptr;
  QLabel* m_about = nullptr;
  QLabel* m_share = nullptr;
  QLabel* m_mass = nullptr;
  std::vector<RetainedMass> m_points;
  QSlider* m_slider = nullptr;
  QSpinBox* m_spin = nullptr;
  LaterChoice* m_later = nullptr;
};

}  // namespace winnow::ui
