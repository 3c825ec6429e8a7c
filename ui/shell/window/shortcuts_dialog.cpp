#include "ui/shell/window/shortcuts_dialog.h"

#include <QDialogButtonBox>
#include <QGridLayout>
#include <QPushButton>
#include <QScrollBar>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/theme/dialog_page.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

ShortcutsDialog::ShortcutsDialog(const std::vector<Shortcut>& shortcuts, QWidget* parent) : QDialog(parent) {
  setAttribute(Qt::WA_DeleteOnClose);
  setWindowTitle(tr("Keyboard shortcuts"));
  auto* page = new QWidget;
  auto* grid = new QGridLayout(page);
  grid->setColumnStretch(0, 1);
  setSpacing(grid, 8);
  int row = 0;
  for (const Shortcut& shortcut : shortcuts) {
    auto* keys = wrappedLabel(shortcut.keys, TextRole::kStrong);
    keys->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
    grid->addWidget(wrappedLabel(shortcut.what), row, 0);
    grid->addWidget(keys, row++, 1);
  }
  auto* layout = new QVBoxLayout(this);
  QScrollArea* scroll = keyboardScrolling(page);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setAccessibleName(windowTitle());
  layout->addWidget(scroll, 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
  layout->addWidget(buttons);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  const QSize room = parent->window()->size() - QSize(theme().px(24), theme().px(24));
  resize(std::min(theme().px(560), room.width()), std::min(theme().px(640), room.height()));
  scroll->setFocus();
}

}  // namespace winnow::ui
