#include "ui/theme/rooms.h"

#include <QAction>
#include <QDialog>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPointer>
#include <QShortcut>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>

#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kColumnUnits = 860;

// The control that the page has chosen for the keyboard, or its first.
QWidget* firstOf(QDialog* page) {
  if (page->focusWidget() != nullptr) return page->focusWidget();
  for (QWidget* next = page->nextInFocusChain(); next != page; next = next->nextInFocusChain()) {
    if (page->isAncestorOf(next) && next->isEnabled() && (next->focusPolicy() & Qt::TabFocus) && !next->isHidden()) return next;
  }
  return page;
}

// Keys of the window that a page leaves to it: of menus, zoom, settings, models, help and the end. Those of the chat, which is not seen,
// are the page's own or nobody's.
bool isOfTheWindow(const QKeyEvent& event) {
  const Qt::KeyboardModifiers modifiers = event.modifiers() & ~Qt::KeypadModifier;
  const int key = event.key();
  if (modifiers == Qt::NoModifier || modifiers == Qt::ShiftModifier) return key != Qt::Key_Escape && key != Qt::Key_F2 && key != Qt::Key_F8;
  if (!(modifiers & Qt::ControlModifier)) return true;
  constexpr Qt::Key kShared[] = {Qt::Key_Q, Qt::Key_Comma, Qt::Key_Plus, Qt::Key_Equal, Qt::Key_Minus, Qt::Key_0, Qt::Key_Slash};
  return std::ranges::find(kShared, key) != std::end(kShared) || (key == Qt::Key_O && (modifiers & Qt::ShiftModifier));
}

QDialog* pageOf(const QWidget* room) { return room->findChild<QDialog*>(QString(), Qt::FindDirectChildrenOnly); }

}  // namespace

Rooms::Rooms(QWidget* contents) { addWidget(contents); }

// Pages that end with their window are not left one by one.
Rooms::~Rooms() {
  for (QDialog* page : findChildren<QDialog*>()) page->disconnect(this);
}

QWidget* Rooms::roomOf(const QDialog* page) const {
  for (int i = 1; i < count(); ++i) {
    if (widget(i)->isAncestorOf(page)) return widget(i);
  }
  return nullptr;
}

void Rooms::enter(QDialog* page, RoomWidth width) {
  if (QWidget* room = roomOf(page)) return setCurrentWidget(room);
  for (int i = count() - 1; i > 0; --i) {
    if (QDialog* other = pageOf(widget(i)); other != nullptr && other->metaObject() == page->metaObject()) other->reject();
  }
  auto* room = new QWidget;
  room->installEventFilter(this);
  auto* column = new QVBoxLayout(room);
  setMargins(column, 0, 0, 0, 0);
  column->setSpacing(0);
  auto* top = new QHBoxLayout;
  setMargins(top, 10, 8, 10, 6);
  setSpacing(top, 6);
  auto* back = new QToolButton;
  back->setAutoRaise(true);
  back->setIcon(icon(Glyph::kChevronLeft, IconColor::kMuted));
  back->setToolTip(tr("Back (Esc)"));
  back->setAccessibleName(tr("Back"));
  auto* title = new QLabel(page->windowTitle());
  title->setTextFormat(Qt::PlainText);
  setTextRole(title, TextRole::kHeading);
  top->addWidget(back);
  top->addWidget(title, 1);
  column->addLayout(top);
  page->setParent(room, Qt::Widget);
  page->setAttribute(Qt::WA_Moved);  // else it puts itself into the middle
  auto* middle = new QHBoxLayout;
  middle->addStretch(1);
  middle->addWidget(page, 1000);
  middle->addStretch(1);
  column->addLayout(middle, 1);
  if (width == RoomWidth::kColumn) {
    const auto limit = [page] { page->setMaximumWidth(theme().px(kColumnUnits)); };
    connect(&theme(), &Theme::changed, page, limit);
    limit();
  }
  connect(back, &QToolButton::clicked, page, &QDialog::reject);
  auto* key = new QShortcut(QKeySequence(Qt::ALT | Qt::Key_Left), room);
  key->setContext(Qt::WidgetWithChildrenShortcut);
  connect(key, &QShortcut::activated, page, &QDialog::reject);
  connect(page, &QWidget::windowTitleChanged, title, &QLabel::setText);
  connect(page, &QDialog::finished, this, [this, room] { leave(room); });
  connect(page, &QObject::destroyed, this, [this, room] { leave(room); });
  addWidget(room);
  page->show();
  setCurrentWidget(room);
  firstOf(page)->setFocus(Qt::TabFocusReason);
  Q_EMIT changed();
}

bool Rooms::eventFilter(QObject* room, QEvent* event) {
  if (event->type() != QEvent::ShortcutOverride) return false;
  const auto& key = *static_cast<QKeyEvent*>(event);
  const QKeySequence pressed(key.keyCombination());
  const QList<QAction*> own = room->findChildren<QAction*>();
  const auto takes = [&pressed](const QAction* action) { return action->shortcuts().contains(pressed); };
  if (isOfTheWindow(key) || std::ranges::any_of(own, takes)) return false;
  event->accept();
  return true;
}

// Nothing of a page that goes away may reach for the keyboard after that.
void Rooms::leave(QWidget* room) {
  const int at = indexOf(room);
  if (at < 0) return;
  if (currentIndex() == at) setCurrentIndex(at - 1);
  removeWidget(room);
  room->hide();
  room->deleteLater();
  if (open()) firstOf(pageOf(currentWidget()))->setFocus(Qt::OtherFocusReason);
  Q_EMIT changed();
}

void Rooms::leaveAll() {
  while (open()) {
    const QPointer<QWidget> last = widget(count() - 1);
    if (QDialog* page = pageOf(last)) page->reject();
    if (last && indexOf(last) >= 0) return;  // it stays: it asks something first
  }
}

void enterRoom(QDialog* page, RoomWidth width) {
  QWidget* parent = page->parentWidget();
  auto* rooms = parent == nullptr ? nullptr : parent->window()->findChild<Rooms*>();
  if (rooms != nullptr) return rooms->enter(page, width);
  width == RoomWidth::kWhole ? page->show() : page->open();
}

}  // namespace winnow::ui
