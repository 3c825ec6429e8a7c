// A dialog to choose how the cache is compressed: cards of saved recipes and methods, found by typing.
//
// Opened by ui/shell. Reads and changes the saved recipes in the settings; what is chosen is told by a signal. The text box keeps the
// focus: arrow keys move through the cards, Enter uses the selected one, Escape leaves everything as it was. UI thread only.
#pragma once

#include <QDialog>
#include <optional>
#include <vector>

#include "app/chats/settings/settings.h"
#include "app/ground/recipes/recipe_json.h"
#include "engine/recipes/method_info.h"

class QLabel;
class QLineEdit;
class QListView;
class QPushButton;

namespace winnow::ui {

class MethodCardModel;

class MethodPicker : public QDialog {
  Q_OBJECT
 public:
  // model: the loaded one; what it cannot do is greyed.
  MethodPicker(const std::vector<MethodInfo>& methods, app::Settings& settings, const app::NamedRecipe& current,
               const std::optional<ModelTraits>& model, QWidget* parent = nullptr);

  QLineEdit* search() const { return m_search; }
  QListView* list() const { return m_list; }
  QPushButton* useButton() const { return m_use; }
  QPushButton* changeButton() const { return m_change; }
  QPushButton* deleteButton() const { return m_delete; }
  QPushButton* undoButton() const { return m_undo; }
  QString noticeText() const;
  std::optional<app::NamedRecipe> selected() const;
  // Adds a recipe from a file to the saved ones and selects it; what is wrong with it is told in the dialog.
  void importFile(const QByteArray& path);

 Q_SIGNALS:
  void chosen(const winnow::app::NamedRecipe& recipe);
  void changeRequested(const winnow::app::NamedRecipe& recipe);

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void reload(const app::NamedRecipe& wanted);
  void select(int row);
  void updateButtons();
  void arrangeButtons();
  void use();
  void removeSelected();
  void undoRemove();
  void browse();
  void tell(const QString& text, bool warning);

  app::Settings& m_settings;
  app::NamedRecipe m_current;
  std::optional<app::NamedRecipe> m_removed;
  bool m_nothingFound = false;
  MethodCardModel* m_model = nullptr;
  QLineEdit* m_search = nullptr;
  QListView* m_list = nullptr;
  QLabel* m_notice = nullptr;
  QPushButton* m_change = nullptr;
  QPushButton* m_import = nullptr;
  QPushButton* m_delete = nullptr;
  QPushButton* m_undo = nullptr;
  QPushButton* m_use = nullptr;
};

}  // namespace winnow::ui
