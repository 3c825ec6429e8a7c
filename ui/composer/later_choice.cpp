#include "ui/composer/later_choice.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QStandardItemModel>
#include <QVBoxLayout>

#include "ui/recipes/later_questions.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

LaterChoice::LaterChoice(QWidget* parent) : QWidget(parent) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins({});
  setSpacing(layout, 8);
  auto* title = lineLabel(tr("Later &questions"), TextRole::kStrong);
  layout->addWidget(title);
  m_box = new QComboBox;
  m_box->setAccessibleName(tr("What later questions use"));
  m_box->view()->setAccessibleName(m_box->accessibleName());
  for (const Guard guard : laterGuards()) m_box->addItem(laterTitle(guard), static_cast<int>(guard));
  m_box->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
  title->setBuddy(m_box);
  layout->addWidget(m_box);
  m_cost = captionLabel();
  layout->addWidget(m_cost);
  connect(m_box, &QComboBox::activated, this, [this] {
    m_guard = static_cast<Guard>(m_box->currentData().toInt());
    describe();
    Q_EMIT chosen(m_guard);
  });
  describe();
}

void LaterChoice::setGuard(Guard guard) {
  m_guard = guard;
  describe();
}

void LaterChoice::setRecipe(const RecipeSpec& spec) {
  m_spec = spec;
  describe();
}

void LaterChoice::setWatching(bool watching) {
  m_watching = watching;
  describe();
}

QString LaterChoice::cost() const { return m_cost->text(); }

void LaterChoice::describe() {
  m_box->setEnabled(!m_watching);
  auto* items = qobject_cast<QStandardItemModel*>(m_box->model());
  for (int row = 0; row < m_box->count(); ++row) {
    const auto guard = static_cast<Guard>(m_box->itemData(row).toInt());
    m_box->setItemData(row, laterCost(guard, m_spec), Qt::ToolTipRole);
    items->item(row)->setEnabled(laterGuard(guard, m_spec) == guard);
  }
  m_box->setCurrentIndex(m_box->findData(static_cast<int>(m_watching ? Guard::kAlone : m_guard)));
  m_cost->setText(m_watching ? tr("Each question about a watched source stands alone and covers everything seen so far.")
                             : laterCost(m_guard, m_spec));
  m_box->setToolTip(m_cost->text());
  m_box->setAccessibleDescription(m_cost->text());
}

}  // namespace winnow::ui
