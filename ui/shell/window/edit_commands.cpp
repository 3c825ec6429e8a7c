#include "ui/shell/window/edit_commands.h"

#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QKeyEvent>
#include <QLineEdit>
#include <QMenu>
#include <QMenuBar>
#include <QMimeData>
#include <QPlainTextEdit>
#include <algorithm>

#include "ui/chat_view/transcript_view.h"

namespace winnow::ui {
namespace {

struct Abilities {
  bool undo = false;
  bool redo = false;
  bool cut = false;
  bool copy = false;
  bool paste = false;
  bool selectAll = false;
};

bool clipboardHolds() {
  const QMimeData* held = QApplication::clipboard()->mimeData();
  return held != nullptr && !held->formats().isEmpty();
}

Abilities abilitiesOf(const QLineEdit& line) {
  const bool writes = !line.isReadOnly();
  const bool selected = line.hasSelectedText();
  return {writes && line.isUndoAvailable(),
          writes && line.isRedoAvailable(),
          writes && selected,
          selected,
          writes && clipboardHolds(),
          !line.text().isEmpty()};
}

Abilities abilitiesOf(const QPlainTextEdit& text) {
  const bool writes = !text.isReadOnly();
  const bool selected = text.textCursor().hasSelection();
  return {writes && text.document()->isUndoAvailable(),
          writes && text.document()->isRedoAvailable(),
          writes && selected,
          selected,
          writes && clipboardHolds(),
          !text.document()->isEmpty()};
}

bool hasCopyOfItsOwn(const QWidget& widget) {
  const QList<QAction*> actions = widget.actions();
  return std::any_of(actions.begin(), actions.end(),
                     [](const QAction* each) { return each->shortcut() == QKeySequence(QKeySequence::Copy); });
}

Abilities abilitiesOf(const QWidget* widget) {
  if (const auto* line = qobject_cast<const QLineEdit*>(widget)) return abilitiesOf(*line);
  if (const auto* text = qobject_cast<const QPlainTextEdit*>(widget)) return abilitiesOf(*text);
  if (const auto* spin = qobject_cast<const QAbstractSpinBox*>(widget)) return abilitiesOf(*spin->findChild<QLineEdit*>());
  Abilities able;
  if (const auto* transcript = qobject_cast<const TranscriptView*>(widget)) {
    able.copy = !transcript->selectedText().isEmpty() || transcript->focusedMessage() >= 0;
    able.selectAll = transcript->messageCount() > 0;
  } else if (widget != nullptr) {
    able.copy = hasCopyOfItsOwn(*widget);
  }
  return able;
}

}  // namespace

EditCommands::EditCommands(QMenu& menu, QWidget& window) : QObject(&window), m_window(window) {
  // A key of the window's: text boxes take theirs before, and what is left undoes something else.
  m_undo = menu.addAction(tr("&Undo"));
  m_undo->setShortcut(QKeySequence::Undo);
  m_window.addAction(m_undo);
  connect(m_undo, &QAction::triggered, this, &EditCommands::undoOrOther);
  m_redo = add(menu, tr("&Redo"), QKeySequence::Redo);
  menu.addSeparator();
  m_cut = add(menu, tr("Cu&t"), QKeySequence::Cut);
  m_copy = add(menu, tr("&Copy"), QKeySequence::Copy);
  m_paste = menu.addAction(tr("&Paste") + QLatin1Char('\t') + QKeySequence(QKeySequence::Paste).toString(QKeySequence::NativeText));
  connect(m_paste, &QAction::triggered, this, &EditCommands::paste);
  m_selectAll = add(menu, tr("Select &all"), QKeySequence::SelectAll);
  connect(&menu, &QMenu::aboutToShow, this, &EditCommands::update);
  connect(qApp, &QApplication::focusChanged, this, [this](QWidget*, QWidget* now) {
    if (now != nullptr && now->window() == &m_window && qobject_cast<QMenuBar*>(now) == nullptr) m_target = now;
  });
}

// Its key is shown and not registered: who has the focus knows it.
QAction* EditCommands::add(QMenu& menu, const QString& text, QKeySequence::StandardKey key) {
  QAction* action = menu.addAction(text + QLatin1Char('\t') + QKeySequence(key).toString(QKeySequence::NativeText));
  connect(action, &QAction::triggered, this, [this, key] { press(key); });
  return action;
}

void EditCommands::setOtherUndo(const QString& name) {
  m_otherUndo = name;
  m_undo->setText(name.isEmpty() ? tr("&Undo") : name);
  if (!name.isEmpty()) m_undo->setEnabled(true);  // its key
}

void EditCommands::press(QKeySequence::StandardKey key) {
  if (m_target.isNull()) return;
  for (QAction* own : m_target->actions()) {
    if (own->shortcut() == QKeySequence(key)) return own->trigger();
  }
  const QKeySequence keys(key);
  if (keys.isEmpty()) return;
  QKeyEvent event(QEvent::KeyPress, keys[0].key(), keys[0].keyboardModifiers());
  QApplication::sendEvent(m_target, &event);
}

void EditCommands::undoOrOther() {
  if (abilitiesOf(m_target).undo) {
    press(QKeySequence::Undo);
  } else if (!m_otherUndo.isEmpty()) {
    Q_EMIT otherUndoRequested();
  }
}

void EditCommands::paste() {
  if (!abilitiesOf(m_target).paste) Q_EMIT pasteElsewhere();
  press(QKeySequence::Paste);
}

void EditCommands::update() {
  const Abilities able = abilitiesOf(m_target);
  m_undo->setText(able.undo || m_otherUndo.isEmpty() ? tr("&Undo") : m_otherUndo);
  m_undo->setEnabled(able.undo || !m_otherUndo.isEmpty());
  m_redo->setEnabled(able.redo);
  m_cut->setEnabled(able.cut);
  m_copy->setEnabled(able.copy);
  m_paste->setEnabled(clipboardHolds());
  m_selectAll->setEnabled(able.selectAll);
}

}  // namespace winnow::ui
