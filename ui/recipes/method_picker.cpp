#include "ui/recipes/method_picker.h"

#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "app/words/display_text.h"
#include "ui/recipes/method_cards.h"
#include "ui/theme/file_dialog.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

MethodPicker::MethodPicker(const std::vector<MethodInfo>& methods, app::Settings& settings, const app::NamedRecipe& current,
                           const std::optional<ModelTraits>& model, QWidget* parent)
    : QDialog(parent), m_settings(settings), m_current(current) {
  setWindowTitle(tr("Cache method"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* layout = new QVBoxLayout(this);
  m_search = new QLineEdit;
  m_search->setPlaceholderText(tr("Search: name, author, merges, writing…"));
  m_search->setAccessibleName(tr("Search methods and recipes"));
  m_search->setClearButtonEnabled(true);
  m_search->installEventFilter(this);
  layout->addWidget(m_search);

  m_model = new MethodCardModel(methods, model, this);
  m_list = new QListView;
  m_list->setModel(m_model);
  m_list->setItemDelegate(new MethodCardDelegate(*m_model, m_list));
  m_list->setAccessibleName(tr("Methods and recipes"));
  setFocusFrame(m_list);
  m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setResizeMode(QListView::Adjust);
  m_list->setMouseTracking(true);
  m_list->viewport()->setAutoFillBackground(false);
  m_list->verticalScrollBar()->setSingleStep(theme().px(24));
  layout->addWidget(m_list, 1);

  m_notice = wrappedLabel(QString(), TextRole::kCaption);
  m_notice->hide();
  m_undo = new QPushButton(tr("Undo"));
  m_undo->setAutoDefault(false);
  m_undo->hide();
  auto* told = new QHBoxLayout;
  told->addWidget(m_notice, 1);
  told->addWidget(m_undo);
  layout->addLayout(told);

  m_change = new QPushButton(icon(Glyph::kPencil), QString());
  m_change->setToolTip(tr("Change options and parts of the selected one"));
  m_import = new QPushButton(icon(Glyph::kFolder), QString());
  m_import->setToolTip(tr("Add a recipe from a file"));
  m_delete = new QPushButton(icon(Glyph::kTrash), QString());
  m_delete->setToolTip(tr("Delete the selected recipe (Ctrl+Delete)"));
  auto* cancel = new QPushButton(tr("Cancel"));
  m_use = new QPushButton(tr("Use"));
  setPrimary(m_use);
  for (QPushButton* button : {m_change, m_import, m_delete, cancel}) button->setAutoDefault(false);
  m_use->setDefault(true);
  auto* buttons = new QHBoxLayout;
  for (QPushButton* button : {m_change, m_import, m_delete}) buttons->addWidget(button);
  buttons->addStretch(1);
  buttons->addWidget(cancel);
  buttons->addWidget(m_use);
  layout->addLayout(buttons);

  connect(m_search, &QLineEdit::textChanged, this, [this](const QString& words) {
    const std::optional<app::NamedRecipe> before = selected();
    m_model->setFilter(words);
    select(before ? std::max(0, m_model->rowOf(*before)) : 0);
  });
  connect(m_list, &QListView::doubleClicked, this, &MethodPicker::use);
  connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, &MethodPicker::updateButtons);
  connect(m_use, &QPushButton::clicked, this, &MethodPicker::use);
  connect(cancel, &QPushButton::clicked, this, &MethodPicker::reject);
  connect(m_change, &QPushButton::clicked, this, [this] {
    if (const std::optional<app::NamedRecipe> recipe = selected()) {
      Q_EMIT changeRequested(*recipe);
      reject();
    }
  });
  connect(m_import, &QPushButton::clicked, this, &MethodPicker::browse);
  connect(m_delete, &QPushButton::clicked, this, &MethodPicker::removeSelected);
  connect(m_undo, &QPushButton::clicked, this, &MethodPicker::undoRemove);
  connect(&theme(), &Theme::changed, this, [this] {
    arrangeButtons();
    m_list->doItemsLayout();
  });
  arrangeButtons();
  if (parent != nullptr) {
    resize(std::min(theme().px(640), parent->window()->width() - theme().px(24)),
           std::min(theme().px(640), parent->window()->height() - theme().px(24)));
  }
  m_model->setInUse(current);
  reload(current);
  m_search->setFocus();
}

QString MethodPicker::noticeText() const { return m_notice->isHidden() ? QString() : m_notice->text(); }

// In a small window the side buttons show their pictures only.
void MethodPicker::arrangeButtons() {
  const bool small = parentWidget() != nullptr && parentWidget()->window()->width() < theme().px(600);
  const std::pair<QPushButton*, QString> texts[] = {{m_change, tr("Change…")}, {m_import, tr("Import…")}, {m_delete, tr("Delete")}};
  for (const auto& [button, text] : texts) {
    button->setText(small ? QString() : text);
    button->setAccessibleName(text);
  }
}

void MethodPicker::reload(const app::NamedRecipe& wanted) {
  m_model->setRecipes(m_settings.savedRecipes(), m_current.spec.retention);
  select(std::max(0, m_model->rowOf(wanted)));
}

void MethodPicker::select(int row) {
  const QModelIndex index = m_model->index(row);
  m_list->setCurrentIndex(index);
  m_list->scrollTo(index);
  updateButtons();
}

std::optional<app::NamedRecipe> MethodPicker::selected() const {
  const QModelIndex index = m_list->currentIndex();
  if (!index.isValid() || index.row() >= m_model->rowCount()) return std::nullopt;
  app::NamedRecipe recipe = m_model->card(index.row()).recipe;
  // The method in use with its changes, not the method as it comes.
  if (m_model->isInUse(index.row()) && !m_model->card(index.row()).saved) recipe = m_current;
  return recipe;
}

void MethodPicker::updateButtons() {
  const QModelIndex index = m_list->currentIndex();
  const bool any = index.isValid() && index.row() < m_model->rowCount();
  m_use->setEnabled(any && m_model->card(index.row()).problem.isEmpty());
  m_change->setEnabled(any);
  m_delete->setEnabled(any && m_model->card(index.row()).saved);
  const bool nothing = m_model->rowCount() == 0;
  if (nothing) {
    tell(tr("No method matches all of these words."), false);
  } else if (m_nothingFound) {
    m_notice->hide();
  }
  m_nothingFound = nothing;
}

void MethodPicker::use() {
  const std::optional<app::NamedRecipe> recipe = selected();
  if (!recipe || !m_use->isEnabled()) return;
  Q_EMIT chosen(*recipe);
  accept();
}

void MethodPicker::removeSelected() {
  const std::optional<app::NamedRecipe> recipe = selected();
  if (!recipe || !m_delete->isEnabled()) return;
  m_removed = recipe;
  m_settings.removeRecipe(recipe->name);
  reload(m_current);
  tell(tr("“%1” was deleted.").arg(app::displayText(QString::fromStdString(recipe->name))), false);
  m_undo->show();
}

void MethodPicker::undoRemove() {
  if (!m_removed) return;
  m_settings.saveRecipe(*m_removed);
  reload(*m_removed);
  m_removed.reset();
  m_undo->hide();
  m_notice->hide();
}

void MethodPicker::tell(const QString& text, bool warning) {
  m_undo->hide();
  m_notice->setText(text);
  QPalette palette = m_notice->palette();
  palette.setColor(QPalette::WindowText, warning ? theme().colors().danger : theme().colors().text);
  m_notice->setPalette(palette);
  m_notice->show();
}

void MethodPicker::browse() {
  QFileDialog* dialog = fileDialog(this, tr("Import a recipe"), m_settings.lastMediaFolder());
  dialog->setFileMode(QFileDialog::ExistingFile);
  dialog->setNameFilters({tr("Recipes (*.json)"), tr("All files (*)")});
  dialog->setLabelText(QFileDialog::Accept, tr("Import"));
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) { importFile(QFile::encodeName(file)); });
  dialog->open();
}

void MethodPicker::importFile(const QByteArray& path) {
  const QString file = QFileInfo(QFile::decodeName(path)).fileName();
  try {
    app::NamedRecipe recipe = app::readRecipeFile(path.toStdString());
    if (recipe.name.empty()) recipe.name = QFileInfo(file).completeBaseName().left(40).toStdString();
    if (recipe.spec.method != "prefixkv-profile") {  // needs a model to be judged
      if (const std::optional<Error> problem = recipe_problem(recipe.spec)) throw Exception(*problem);
    }
    const std::vector<app::NamedRecipe> saved = m_settings.savedRecipes();
    const bool known = std::any_of(saved.begin(), saved.end(), [&](const app::NamedRecipe& other) { return other.name == recipe.name; });
    if (!m_settings.saveRecipe(recipe)) {
      tell(tr("You already have %1 saved recipes, the most Winnow keeps. Delete one first.").arg(app::kMaxSavedRecipes), true);
      return;
    }
    m_search->clear();
    m_removed.reset();
    reload(recipe);
    const QString name = app::displayText(QString::fromStdString(recipe.name));
    tell(known ? tr("“%1” was imported and replaced the recipe of that name.").arg(name) : tr("“%1” was imported.").arg(name), false);
  } catch (const Exception& exception) {
    tell(tr("“%1” cannot be used: %2.").arg(app::displayText(file), app::displayText(QString::fromStdString(exception.error().reason))),
         true);
  }
}

bool MethodPicker::eventFilter(QObject* watched, QEvent* event) {
  if (watched == m_search && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const int row = m_list->currentIndex().row();
    const int last = m_model->rowCount() - 1;
    const int page = 4;
    int to = -1;
    switch (key->key()) {
      case Qt::Key_Down: to = row + 1; break;
      case Qt::Key_Up: to = row - 1; break;
      case Qt::Key_PageDown: to = row + page; break;
      case Qt::Key_PageUp: to = row - page; break;
      case Qt::Key_Delete:
        if (!(key->modifiers() & Qt::ControlModifier)) return false;
        removeSelected();
        return true;
      default: return false;
    }
    if (last >= 0) select(std::clamp(to, 0, last));
    return true;
  }
  return QDialog::eventFilter(watched, event);
}

}  // namespace winnow::ui
