#include "ui/composer/folder_chooser.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QFile>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QListWidget>
#include <QPushButton>
#include <QSet>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "app/words/display_text.h"
#include "app/words/format_text.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

enum class Order : int { kName = 1, kOldest, kNewest };

constexpr int kPathRole = Qt::UserRole;

QString nameOf(const app::FolderFile& file) { return QFileInfo(QFile::decodeName(file.path)).fileName(); }

Glyph glyphOf(MediaKind kind) {
  return kind == MediaKind::kVideo ? Glyph::kFilm : kind == MediaKind::kDocument ? Glyph::kDocument : Glyph::kImage;
}

}  // namespace

FolderChooser::FolderChooser(const QString& name, std::vector<app::FolderFile> files, int room, QWidget* parent)
    : QDialog(parent), m_room(room), m_files(std::move(files)) {
  setAttribute(Qt::WA_DeleteOnClose);
  setWindowTitle(tr("Attach from “%1”").arg(name));
  if (parent != nullptr) resize(parent->window()->size() * 0.7);
  auto* layout = new QVBoxLayout(this);
  setSpacing(layout, 8);
  auto* top = new QHBoxLayout;
  setSpacing(top, 8);
  m_count = wrappedLabel();
  m_order = new QComboBox;
  m_order->setAccessibleName(tr("Order"));
  m_order->addItem(tr("By name"), int(Order::kName));
  m_order->addItem(tr("Oldest first"), int(Order::kOldest));
  m_order->addItem(tr("Newest first"), int(Order::kNewest));
  top->addWidget(m_count, 1);
  top->addWidget(m_order);
  layout->addLayout(top);
  m_list = new QListWidget;
  setFocusFrame(m_list);
  m_list->setAccessibleName(tr("Files of the folder"));
  m_list->setUniformItemSizes(true);
  layout->addWidget(m_list, 1);
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
  m_attach = buttons->addButton(tr("Attach"), QDialogButtonBox::AcceptRole);
  setPrimary(m_attach);
  auto* fitting = buttons->addButton(tr("Choose what fits"), QDialogButtonBox::ActionRole);
  auto* none = buttons->addButton(tr("Choose none"), QDialogButtonBox::ActionRole);
  if (std::ranges::count(m_files, MediaKind::kVideo, &app::FolderFile::kind) > 1) {
    m_all = new QPushButton(icon(Glyph::kFilm), tr("Ask each of the videos…"));
    m_all->setToolTip(tr("One question to every video of the folder: which of them show something, and when"));
    m_all->setAutoDefault(false);
    connect(m_all, &QPushButton::clicked, this, [this] {
      accept();
      Q_EMIT allWanted();
    });
    layout->addWidget(m_all, 0, Qt::AlignLeft);
  }
  layout->addWidget(buttons);
  m_attach->setDefault(true);
  connect(fitting, &QPushButton::clicked, this, [this] { choose(m_room); });
  connect(none, &QPushButton::clicked, this, [this] { choose(0); });
  connect(m_order, &QComboBox::currentIndexChanged, this, &FolderChooser::sort);
  connect(m_list, &QListWidget::itemChanged, this, &FolderChooser::showCount);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(buttons, &QDialogButtonBox::accepted, this, [this] {
    Q_EMIT chosen(paths());
    accept();
  });
  connect(&theme(), &Theme::changed, this, &FolderChooser::showCount);
  sort();
  choose(m_room);
  m_list->setCurrentRow(0);
  setTabOrder(m_list, m_order);  // the keyboard begins at the files
}

QString FolderChooser::countText() const { return m_count->text(); }

// The chosen files stay chosen.
void FolderChooser::sort() {
  const QList<QByteArray> before = paths();
  const QSet<QByteArray> kept(before.begin(), before.end());
  const auto order = static_cast<Order>(m_order->currentData().toInt());
  const QCollator names = app::nameOrder();
  std::ranges::stable_sort(m_files, [&](const app::FolderFile& a, const app::FolderFile& b) {
    if (order == Order::kName || a.changed == b.changed) return names.compare(nameOf(a), nameOf(b)) < 0;
    return order == Order::kOldest ? a.changed < b.changed : a.changed > b.changed;
  });
  const QDateTime now = QDateTime::currentDateTime();
  const QSignalBlocker quiet(m_list);
  m_list->clear();
  for (const app::FolderFile& file : m_files) {
    auto* row = new QListWidgetItem(
        icon(glyphOf(file.kind), IconColor::kMuted),
        tr("%1 · %2 · %3").arg(app::displayText(nameOf(file)), app::formatBytes(file.bytes), app::formatWhen(file.changed, now)), m_list);
    row->setData(kPathRole, file.path);
    row->setFlags(row->flags() | Qt::ItemIsUserCheckable);
    row->setCheckState(kept.contains(file.path) ? Qt::Checked : Qt::Unchecked);
  }
  showCount();
}

void FolderChooser::choose(int first) {
  const QSignalBlocker quiet(m_list);
  for (int row = 0; row < m_list->count(); ++row) m_list->item(row)->setCheckState(row < first ? Qt::Checked : Qt::Unchecked);
  showCount();
}

void FolderChooser::showCount() {
  const auto count = static_cast<int>(paths().size());
  const QString chosen = tr("%1 of %Ln file(s) chosen", nullptr, m_list->count()).arg(count);
  const bool fits = count <= m_room;
  m_count->setText(fits ? tr("%1 · %2 fit").arg(chosen).arg(m_room)
                        : tr("%1 · only %2 fit: leave out %3").arg(chosen).arg(m_room).arg(count - m_room));
  QPalette palette = m_count->palette();
  palette.setColor(QPalette::WindowText, fits ? theme().colors().text : theme().colors().warning);
  m_count->setPalette(palette);
  m_attach->setEnabled(fits && count > 0);
}

QList<QByteArray> FolderChooser::paths() const {
  QList<QByteArray> chosen;
  for (int row = 0; row < m_list->count(); ++row) {
    if (m_list->item(row)->checkState() == Qt::Checked) chosen << m_list->item(row)->data(kPathRole).toByteArray();
  }
  return chosen;
}

}  // namespace winnow::ui
