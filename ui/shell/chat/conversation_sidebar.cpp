#include "ui/shell/chat/conversation_sidebar.h"

#include <QInputDialog>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QMenu>
#include <QPainter>
#include <QPushButton>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/models/conversation_list_model.h"
#include "ui/models/found_places_model.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kSearchMs = 150;

// Above the first chat of a group; of a closed folder it is all.
qreal headingHeight(const QModelIndex& index) {
  if (index.data(ConversationListModel::kGroupRole).toString().isEmpty()) return 0;
  return QFontMetricsF(theme().font(TextRole::kCaptionStrong)).height() + theme().px(index.row() == 0 ? 6 : 14);
}

bool isClosed(const QModelIndex& index) { return index.data(ConversationListModel::kClosedRole).toBool(); }
QString folderOf(const QModelIndex& index) { return index.data(ConversationListModel::kFolderRole).toString(); }

class ConversationDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
    if (isClosed(index)) return QSize(theme().px(120), qRound(headingHeight(index)) + theme().px(4));
    const QFontMetrics body(theme().font(TextRole::kBody)), caption(theme().font(TextRole::kCaption));
    return QSize(theme().px(120), qRound(headingHeight(index)) + body.height() + caption.height() + theme().px(18));
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Colors& c = theme().colors();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const qreal heading = headingHeight(index);
    const QRectF box = QRectF(option.rect).adjusted(theme().px(8), heading + theme().px(1), -theme().px(8), -theme().px(1));
    if (heading > 0) {
      const QFont font = theme().font(TextRole::kCaptionStrong);
      painter->setFont(font);
      painter->setPen(c.mutedText);
      QRectF room(box.left() + theme().px(10), option.rect.top(), box.width() - theme().px(10), heading - theme().px(3));
      if (!folderOf(index).isEmpty()) {
        const qreal size = theme().px(12), line = QFontMetricsF(font).height();
        const QRectF mark(room.left() - theme().px(4), room.bottom() - (line + size) / 2, size, size);
        paintGlyph(*painter, isClosed(index) ? Glyph::kChevronRight : Glyph::kChevronDown, mark, c.mutedText);
        room.setLeft(mark.right() + theme().px(4));
      }
      painter->drawText(
          room, Qt::AlignLeft | Qt::AlignBottom,
          QFontMetricsF(font).elidedText(index.data(ConversationListModel::kGroupRole).toString(), Qt::ElideRight, room.width()));
      if (isClosed(index) && (option.state & QStyle::State_HasFocus) && (option.state & QStyle::State_Selected)) {
        painter->setPen(QPen(c.accent, 1.5));
        painter->setBrush(Qt::NoBrush);
        const QRectF row = QRectF(option.rect).adjusted(theme().px(9), 1, -theme().px(9), -1);
        painter->drawRoundedRect(row, theme().smallRadius() + 2, theme().smallRadius() + 2);
      }
    }
    if (isClosed(index)) return painter->restore();
    const bool selected = option.state & QStyle::State_Selected;
    if (selected || (option.state & QStyle::State_MouseOver)) {
      painter->setPen(selected && (option.state & QStyle::State_HasFocus) ? QPen(c.accent, 1.5) : QPen(Qt::NoPen));
      painter->setBrush(selected ? c.accentSoft : c.hover);
      painter->drawRoundedRect(box.adjusted(1, 1, -1, -1), theme().smallRadius() + 2, theme().smallRadius() + 2);
    }
    QRectF text = box.adjusted(theme().px(10), theme().px(7), -theme().px(10), -theme().px(7));
    if (index.data(ConversationListModel::kRunningRole).toBool()) {
      const qreal r = theme().px(4);
      painter->setPen(Qt::NoPen);
      painter->setBrush(c.accent);
      painter->drawEllipse(QPointF(text.right() - r, text.center().y()), r, r);
      text.adjust(0, 0, -theme().px(16), 0);
    }
    if (index.data(ConversationListModel::kPinnedRole).toBool()) {
      const qreal size = theme().px(14);
      paintGlyph(*painter, Glyph::kPin, QRectF(text.right() - size, text.top() + theme().px(1), size, size), c.mutedText);
      text.adjust(0, 0, -size - theme().px(4), 0);
    }
    const QFontMetricsF body(theme().font(TextRole::kBody)), caption(theme().font(TextRole::kCaption));
    painter->setFont(theme().font(TextRole::kBody));
    painter->setPen(c.text);
    painter->drawText(QRectF(text.left(), text.top(), text.width(), body.height()), Qt::AlignLeft | Qt::AlignVCenter,
                      body.elidedText(index.data().toString(), Qt::ElideRight, text.width()));
    painter->setFont(theme().font(TextRole::kCaption));
    painter->setPen(c.mutedText);
    painter->drawText(QRectF(text.left(), text.bottom() - caption.height(), text.width(), caption.height()),
                      Qt::AlignLeft | Qt::AlignVCenter,
                      caption.elidedText(index.data(ConversationListModel::kSubtitleRole).toString(), Qt::ElideRight, text.width()));
    painter->restore();
  }

  QWidget* createEditor(QWidget* parent, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    QWidget* editor = QStyledItemDelegate::createEditor(parent, option, index);
    editor->setAccessibleName(ConversationSidebar::tr("Name of the chat"));
    return editor;
  }

  void setEditorData(QWidget* editor, const QModelIndex& index) const override {
    // Once: what is being typed stays when the store tells something new of the chat.
    if (editor->property("winnowFilled").toBool()) return;
    editor->setProperty("winnowFilled", true);
    QStyledItemDelegate::setEditorData(editor, index);
  }

  void updateEditorGeometry(QWidget* editor, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const int heading = qRound(headingHeight(index));
    editor->setGeometry(option.rect.adjusted(theme().px(10), heading + theme().px(4), -theme().px(10), -theme().px(4)));
  }
};

}  // namespace

ConversationSidebar::ConversationSidebar(ConversationListModel& model, FoundPlacesModel& places, QWidget* parent)
    : QWidget(parent), m_model(model), m_places(places) {
  setAccessibleName(tr("Chats"));
  auto* layout = new QVBoxLayout(this);
  setMargins(layout, 0, 10, 0, 8);
  setSpacing(layout, 8);
  m_new = new QPushButton(icon(Glyph::kPlus), tr("New chat"));
  m_new->setToolTip(tr("New chat (Ctrl+N)"));
  auto* top = new QHBoxLayout;
  setMargins(top, 10, 0, 10, 0);
  top->addWidget(m_new);
  layout->addLayout(top);
  m_search = new QLineEdit;
  m_search->setPlaceholderText(tr("Search chats"));
  m_search->setAccessibleName(tr("Search chats"));
  m_search->setToolTip(tr("Words of titles, questions and answers, and of what was attached (Ctrl+Shift+F)"));
  m_search->setClearButtonEnabled(true);
  m_search->installEventFilter(this);
  auto* searching = new QHBoxLayout;
  setMargins(searching, 10, 0, 10, 0);
  searching->addWidget(m_search);
  layout->addLayout(searching);
  m_list = new QListView;
  m_list->setModel(&m_model);
  m_list->setItemDelegate(new ConversationDelegate(m_list));
  setFocusFrame(m_list);
  m_list->setAccessibleName(tr("Chats"));
  m_list->setMouseTracking(true);
  m_list->setEditTriggers(QAbstractItemView::EditKeyPressed);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_list->setContextMenuPolicy(Qt::CustomContextMenu);
  m_list->viewport()->setAutoFillBackground(false);
  m_list->viewport()->installEventFilter(this);
  m_list->installEventFilter(this);
  m_hintText = new QLabel;
  m_hintText->setWordWrap(true);
  m_hintText->setAlignment(Qt::AlignHCenter);
  setTextRole(m_hintText, TextRole::kCaption);
  setMuted(m_hintText);
  m_hint = new QWidget;
  auto* hintLayout = new QHBoxLayout(m_hint);
  setMargins(hintLayout, 16, 8, 16, 0);
  hintLayout->addWidget(m_hintText);
  layout->addWidget(m_hint);
  layout->addWidget(m_list, 1);
  buildPlaces();
  layout->addWidget(m_placeList, 1);
  connect(&m_model, &QAbstractItemModel::rowsInserted, this, &ConversationSidebar::showHint);
  connect(&m_model, &QAbstractItemModel::rowsRemoved, this, &ConversationSidebar::showHint);
  connect(&m_model, &QAbstractItemModel::modelReset, this, [this] {
    showHint();
    select(m_open);
  });
  showHint();
  m_searchTimer.setSingleShot(true);
  m_searchTimer.setInterval(kSearchMs);
  connect(&m_searchTimer, &QTimer::timeout, this, [this] { Q_EMIT searchRequested(m_search->text()); });
  connect(m_search, &QLineEdit::textChanged, this,
          [this](const QString& text) { text.trimmed().isEmpty() ? m_searchTimer.start(0) : m_searchTimer.start(); });
  connect(m_new, &QPushButton::clicked, this, &ConversationSidebar::newRequested);
  connect(m_list->selectionModel(), &QItemSelectionModel::currentChanged, this, [this](const QModelIndex& index) {
    if (const ConversationId id = m_model.idAt(index.row()); id != 0) Q_EMIT openRequested(id);
  });
  connect(m_list, &QListView::customContextMenuRequested, this, [this](const QPoint& at) {
    const QModelIndex index = m_list->indexAt(at);
    if (!index.isValid()) return;
    if (const QString folder = folderAt(at); !folder.isEmpty()) return showFolderMenu(folder, at);
    const ConversationId id = m_model.idAt(index.row());
    QMenu menu(this);
    menu.addAction(tr("&Rename"), this, [this, index] { m_list->edit(index); })->setShortcut(Qt::Key_F2);
    const bool pinned = index.data(ConversationListModel::kPinnedRole).toBool();
    menu.addAction(pinned ? tr("Un&pin") : tr("&Pin to the top"), this, [this, id, pinned] { Q_EMIT pinRequested(id, !pinned); });
    addFolders(*menu.addMenu(tr("Move to &folder")), id);
    menu.addAction(tr("&Delete"), this, [this, id] { Q_EMIT deleteRequested(id); })->setShortcut(QKeySequence::Delete);
    menu.exec(m_list->viewport()->mapToGlobal(at));
  });
  connect(&theme(), &Theme::changed, this, [this] {
    m_list->doItemsLayout();
    m_placeList->doItemsLayout();
    updateGeometry();
  });
}

QString ConversationSidebar::folderAt(const QPoint& at) const {
  const QModelIndex index = m_list->indexAt(at);
  const bool onHeading = index.isValid() && (isClosed(index) || at.y() < m_list->visualRect(index).top() + headingHeight(index));
  return onHeading ? folderOf(index) : QString();
}

// The chat that is open stays so, also if its row goes.
void ConversationSidebar::editFolders(const std::function<void(ConversationFolders&)>& edit) {
  {
    const QSignalBlocker blocker(m_list->selectionModel());
    m_model.editFolders(edit);
  }
  m_list->doItemsLayout();
  select(m_open);
}

void ConversationSidebar::setClosed(const QString& folder, bool closed) {
  editFolders([&](ConversationFolders& folders) { folders.setClosed(folder, closed); });
}

void ConversationSidebar::addFolders(QMenu& menu, ConversationId id) {
  const QString now = m_model.folders().folderOf(id);
  const auto move = [this, id](const QString& name) { editFolders([&](ConversationFolders& folders) { folders.put(id, name); }); };
  for (const QString& name : m_model.folders().names()) {
    QAction* action = menu.addAction(QString(name).replace(QLatin1Char('&'), QLatin1String("&&")), this, [move, name] { move(name); });
    action->setCheckable(true);
    action->setChecked(name == now);
  }
  menu.addSeparator();
  menu.addAction(tr("&New folder…"), this, [this, move] { askName(tr("New folder"), {}, move); });
  menu.addAction(tr("&Out of the folder"), this, [move] { move({}); })->setEnabled(!now.isEmpty());
}

void ConversationSidebar::showFolderMenu(const QString& folder, const QPoint& at) {
  const bool closed = m_model.folders().isClosed(folder);
  const auto rename = [this, folder](const QString& name) {
    editFolders([&](ConversationFolders& folders) { folders.rename(folder, name); });
  };
  QMenu menu(this);
  menu.addAction(closed ? tr("&Open") : tr("&Close"), this, [this, folder, closed] { setClosed(folder, !closed); });
  menu.addAction(tr("&Rename…"), this, [this, folder, rename] { askName(tr("Rename folder"), folder, rename); });
  menu.addAction(tr("&Dissolve: its chats stay"), this, [rename] { rename({}); });
  menu.exec(m_list->viewport()->mapToGlobal(at));
}

// Blank names are not told.
void ConversationSidebar::askName(const QString& title, const QString& before, const std::function<void(const QString&)>& then) {
  auto* dialog = new QInputDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setWindowTitle(title);
  dialog->setLabelText(tr("Name of the folder:"));
  dialog->setTextValue(before);
  connect(dialog, &QInputDialog::textValueSelected, this, [then](const QString& name) {
    if (!name.trimmed().isEmpty()) then(name);
  });
  dialog->open();
}

void ConversationSidebar::buildPlaces() {
  m_placeList = new QListView;
  m_placeList->setModel(&m_places);
  m_placeList->setItemDelegate(new ConversationDelegate(m_placeList));
  setFocusFrame(m_placeList);
  m_placeList->setAccessibleName(tr("Found in files"));
  m_placeList->setMouseTracking(true);
  m_placeList->setEditTriggers(QAbstractItemView::NoEditTriggers);
  m_placeList->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_placeList->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  m_placeList->viewport()->setAutoFillBackground(false);
  m_placeList->hide();
  connect(&m_places, &QAbstractItemModel::modelReset, this, [this] {
    const bool found = m_places.rowCount() > 0;
    m_placeList->setVisible(found);
    m_list->doItemsLayout();
    // Chats that were found take no more room than they have.
    const int last = m_list->visualRect(m_model.index(m_model.rowCount() - 1)).bottom() + m_list->verticalScrollBar()->value();
    const int frame = m_list->height() - m_list->viewport()->height();
    m_list->setMaximumHeight(found ? frame + std::max(0, last + 1) : QWIDGETSIZE_MAX);
  });
  const auto show = [this](const QModelIndex& index) {
    const app::SearchHit& hit = m_places.at(index.row());
    hit.conversation == 0 ? Q_EMIT aroundRequested(hit.place->path, hit.place->line.startS) : Q_EMIT placeRequested(hit);
  };
  connect(m_placeList, &QAbstractItemView::clicked, this, show);
  connect(m_placeList, &QAbstractItemView::activated, this, show);
  m_placeList->setContextMenuPolicy(Qt::CustomContextMenu);
  connect(m_placeList, &QListView::customContextMenuRequested, this, [this](const QPoint& at) {
    const QModelIndex index = m_placeList->indexAt(at);
    if (!index.isValid()) return;
    const app::SearchHit hit = m_places.at(index.row());
    auto* menu = new QMenu(m_placeList);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    menu->addAction(tr("&Open its chat there"), this, [this, hit] { Q_EMIT placeRequested(hit); })->setEnabled(hit.conversation != 0);
    const auto ask = [this, hit] { Q_EMIT aroundRequested(hit.place->path, hit.place->line.startS); };
    menu->addAction(tr("&Ask about it in a new chat"), this, ask)
        ->setEnabled(hit.place->medium == MediaKind::kVideo && hit.place->line.startS >= 0);
    menu->popup(m_placeList->viewport()->mapToGlobal(at));
  });
}

QSize ConversationSidebar::sizeHint() const { return QSize(theme().px(220), theme().px(300)); }
QSize ConversationSidebar::minimumSizeHint() const {
  return QSize(std::max(theme().px(150), m_new->minimumSizeHint().width() + theme().px(20)), theme().px(120));
}

void ConversationSidebar::select(ConversationId id) {
  m_open = id;
  const int row = id != 0 && m_model.idAt(m_model.rowOf(id)) == id ? m_model.rowOf(id) : -1;  // not in a closed folder
  const QSignalBlocker blocker(m_list->selectionModel());
  if (row < 0) {
    m_list->setCurrentIndex({});
    m_list->clearSelection();
  } else if (m_list->currentIndex().row() != row || !m_list->selectionModel()->hasSelection()) {
    m_list->selectionModel()->setCurrentIndex(m_model.index(row), QItemSelectionModel::ClearAndSelect);
    m_list->scrollTo(m_model.index(row));  // the list itself hears nothing of it
  }
  m_list->viewport()->update();
}

ConversationId ConversationSidebar::selected() const { return m_model.idAt(m_list->currentIndex().row()); }

void ConversationSidebar::showHint() {
  m_hint->setVisible(m_model.rowCount() == 0);
  m_hintText->setText(m_model.showsAll() ? tr("Your chats appear here and stay on this computer.") : tr("No chat has these words."));
}

void ConversationSidebar::renameSelected() {
  if (m_list->currentIndex().isValid()) m_list->edit(m_list->currentIndex());
}

void ConversationSidebar::showAll() { m_search->clear(); }

void ConversationSidebar::step(int rows) {
  const int count = m_model.rowCount();
  if (count == 0) return;
  const int row = m_list->currentIndex().isValid() ? m_list->currentIndex().row() + rows : 0;
  m_list->setCurrentIndex(m_model.index(std::clamp(row, 0, count - 1)));
}

bool ConversationSidebar::eventFilter(QObject* watched, QEvent* event) {
  const bool overList = m_list != nullptr && watched == m_list->viewport();
  if (overList && (event->type() == QEvent::MouseButtonPress || event->type() == QEvent::MouseButtonDblClick)) {
    const auto* mouse = static_cast<QMouseEvent*>(event);
    const QString folder = mouse->button() == Qt::LeftButton ? folderAt(mouse->position().toPoint()) : QString();
    if (folder.isEmpty()) return false;
    setClosed(folder, !m_model.folders().isClosed(folder));
    return true;
  }
  if (watched == m_list && event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    // A click beside the rows leaves the current one current.
    const bool chosen = m_list->selectionModel()->isSelected(m_list->currentIndex());
    if (key->key() == Qt::Key_Delete && chosen && selected() != 0) {
      Q_EMIT deleteRequested(selected());
      return true;
    }
    const QString folder = chosen ? folderOf(m_list->currentIndex()) : QString();
    const bool closed = m_model.folders().isClosed(folder);
    const bool opens = closed && (key->key() == Qt::Key_Right || key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter);
    if (!folder.isEmpty() && (opens || (!closed && key->key() == Qt::Key_Left))) {
      setClosed(folder, !closed);
      for (int each = 0; each < m_model.rowCount(); ++each) {
        if (folderOf(m_model.index(each)) != folder) continue;
        m_list->setCurrentIndex(m_model.index(each));
        break;
      }
      return true;
    }
  }
  if (watched == m_search && event->type() == QEvent::KeyPress) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    const bool toList = key == Qt::Key_Down || key == Qt::Key_Return || key == Qt::Key_Enter;
    if (key == Qt::Key_Escape && !m_search->text().isEmpty()) {
      m_search->clear();
      return true;
    }
    if (toList && m_model.rowCount() > 0) {
      if (!m_list->currentIndex().isValid()) m_list->setCurrentIndex(m_model.index(0));
      m_list->setFocus(Qt::TabFocusReason);
      return true;
    }
  }
  return QWidget::eventFilter(watched, event);
}

void ConversationSidebar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.fillRect(rect(), theme().colors().sidebar);
}

}  // namespace winnow::ui
