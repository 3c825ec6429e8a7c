// The actions that everybody expects of an Edit menu: undo, redo, cut, copy, paste, select all, for whatever has the focus.
//
// Made by commands.h. A widget is sent the keys that it knows already, so that a menu and a key never differ; what a box of text does not
// need of them (Ctrl+Z with nothing to undo) is told by a signal. UI thread only.
#pragma once

#include <QKeySequence>
#include <QObject>
#include <QPointer>

class QAction;
class QMenu;
class QWidget;

namespace winnow::ui {

class EditCommands : public QObject {
  Q_OBJECT
 public:
  // Adds its entries to the menu.
  EditCommands(QMenu& menu, QWidget& window);

  // Something else than text can be undone, and is called so; empty: nothing can.
  void setOtherUndo(const QString& name);
  QAction* undo() const { return m_undo; }

 Q_SIGNALS:
  void otherUndoRequested();
  void pasteElsewhere();  // nothing with the focus takes text: give the focus to what does

 private:
  QAction* add(QMenu& menu, const QString& text, QKeySequence::StandardKey key);
  void press(QKeySequence::StandardKey key);
  void undoOrOther();
  void paste();
  void update();  // what can be done, while the menu is open

  QWidget& m_window;
  QPointer<QWidget> m_target;  // that had the focus last, in this window; menus take it for a while
  QString m_otherUndo;
  QAction* m_undo = nullptr;
  QAction* m_redo = nullptr;
  QAction* m_cut = nullptr;
  QAction* m_copy = nullptr;
  QAction* m_paste = nullptr;
  QAction* m_selectAll = nullptr;
};

}  // namespace winnow::ui
