// Which methods a question is to be asked under: a panel above the composer, which stays in view with the question in it.
//
// Used by ui/shell. Two to four recipes, each a button with its own card as in the composer; the last set is remembered in the settings.
// While the panel is open, sending the question compares. Recipes that cannot be built are refused here, with the reason. UI thread only.
#pragma once

#include <QFrame>
#include <vector>

#include "app/chats/settings/settings.h"
#include "engine/messages/requests.h"
#include "engine/recipes/method_info.h"

class QComboBox;
class QGridLayout;
class QLabel;
class QPushButton;
class QScrollArea;
class QToolButton;

namespace winnow::ui {

class MethodControl;

class ComparisonSetup : public QFrame {
  Q_OBJECT
 public:
  static constexpr int kFewest = 2;
  static constexpr int kMost = 4;

  ComparisonSetup(std::vector<MethodInfo> methods, app::Settings& settings, QWidget* parent = nullptr);

  // Takes the set that was remembered; without one the full cache, `current` and SnapKV.
  void open(const app::NamedRecipe& current);
  std::vector<app::NamedRecipe> recipes() const;
  ColumnOrder order() const;
  QString problem() const { return m_problemText; }                                // why this set cannot be compared; empty: it can
  void setModel(std::optional<ModelTraits> model) { m_model = std::move(model); }  // none is loaded: empty
  // The question that "Compare" will ask: the one in the composer, or the last one again.
  void setAsksAgain(bool again);
  void setBlocked(const QString& reason);

  MethodControl* control(int index) const { return m_rows[static_cast<std::size_t>(index)].control; }
  QToolButton* removeButton(int index) const { return m_rows[static_cast<std::size_t>(index)].remove; }
  int count() const { return static_cast<int>(m_rows.size()); }
  QToolButton* addButton() const { return m_add; }
  QComboBox* orderBox() const { return m_order; }
  QPushButton* compareButton() const { return m_compare; }

 Q_SIGNALS:
  void compareRequested();
  void closeRequested();

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Row {
    QWidget* frame = nullptr;
    MethodControl* control = nullptr;
    QToolButton* remove = nullptr;
  };
  void addRow(const app::NamedRecipe& recipe);
  void removeRow(QWidget* frame);
  void setRecipe(MethodControl* control, const app::NamedRecipe& recipe);
  void pick(MethodControl* control);
  void change(MethodControl* control, const app::NamedRecipe& start);
  void changed();
  void arrange();
  bool low() const;  // hardly any height: one line of methods, no title
  app::NamedRecipe furtherRecipe() const;

  std::vector<MethodInfo> m_methods;
  app::Settings& m_settings;
  std::optional<ModelTraits> m_model;
  std::vector<Row> m_rows;
  QString m_problemText;
  QString m_blocked;
  bool m_asksAgain = false;
  QScrollArea* m_chips = nullptr;
  QGridLayout* m_grid = nullptr;
  QLabel* m_title = nullptr;
  QLabel* m_problem = nullptr;
  QToolButton* m_close = nullptr;
  QToolButton* m_add = nullptr;
  QComboBox* m_order = nullptr;
  QPushButton* m_compare = nullptr;
};

}  // namespace winnow::ui
