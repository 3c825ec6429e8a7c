// The cards of the method picker: one per saved recipe and per method, in groups, filtered by what is typed, and how a card is painted: the
// first of a group below the group's title.
//
// Used by method_picker.h. The whole card is its accessible text. UI thread only.
#pragma once

#include <QAbstractListModel>
#include <QStyledItemDelegate>
#include <optional>
#include <vector>

#include "app/ground/recipes/recipe_json.h"
#include "engine/recipes/method_info.h"
#include "ui/recipes/method_texts.h"

namespace winnow::ui {

struct MethodCard {
  app::NamedRecipe recipe;
  MethodGroup group = MethodGroup::kSaved;
  bool saved = false;
  QString title;
  QString name;  // the method's own, as on the command line
  QStringList tags{};
  QString purpose{};  // for a saved recipe: what differs from its method
  QString caution{};
  QString source{};
  QString problem{};  // why the loaded model cannot do it; empty: it can
};

class MethodCardModel : public QAbstractListModel {
  Q_OBJECT
 public:
  MethodCardModel(const std::vector<MethodInfo>& methods, std::optional<ModelTraits> model, QObject* parent = nullptr);

  // The recommended method, saved recipes, the other methods by groups. Plain methods are offered with `retention`.
  void setRecipes(const std::vector<app::NamedRecipe>& saved, double retention);
  // Every word must occur in the card, upper and lower case alike.
  void setFilter(const QString& words);
  // The card of this recipe (by its name, else by its method); -1: filtered out.
  int rowOf(const app::NamedRecipe& recipe) const;
  void setInUse(const app::NamedRecipe& recipe);
  bool isInUse(int row) const;
  bool beginsGroup(int row) const { return row == 0 || card(row).group != card(row - 1).group; }
  const MethodCard& card(int row) const { return m_cards[m_shown[static_cast<std::size_t>(row)]]; }

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  void add(MethodCard card);
  void addMethod(const MethodInfo& method, double retention);
  bool same(const MethodCard& card, const app::NamedRecipe& recipe) const;
  void rebuild();

  const std::vector<MethodInfo> m_methods;  // by groups
  const std::optional<ModelTraits> m_model;
  std::vector<MethodCard> m_cards;
  std::vector<std::size_t> m_shown;
  app::NamedRecipe m_inUse;
  QStringList m_words;
};

class MethodCardDelegate : public QStyledItemDelegate {
  Q_OBJECT
 public:
  explicit MethodCardDelegate(const MethodCardModel& model, QObject* parent = nullptr) : QStyledItemDelegate(parent), m_model(model) {}
  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;

 private:
  const MethodCardModel& m_model;
};

}  // namespace winnow::ui
