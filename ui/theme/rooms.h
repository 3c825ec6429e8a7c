// Pages that take the place of the window's contents, with their name and a way back: models, settings, methods, kept tokens.
//
// A page is a QDialog that is put into the window instead of beside it: its buttons, its result and its Esc are as before. One of each
// kind; the newest is seen, and what it covered comes back when it ends. Used by ui/shell, who owns the window, and by whoever opens a
// page. UI thread only.
#pragma once

#include <QStackedWidget>

class QDialog;

namespace winnow::ui {

enum class RoomWidth : int { kColumn = 1, kWhole = 2 };  // a form and a list, or a picture

class Rooms : public QStackedWidget {
  Q_OBJECT
 public:
  // contents: of the window without a page. Becomes its parent.
  explicit Rooms(QWidget* contents);
  ~Rooms() override;

  // Shows the page, whose window this is; one of its kind that is open ends.
  void enter(QDialog* page, RoomWidth width);
  bool open() const { return count() > 1; }
  void leaveAll();  // as Esc does in each

  QSize minimumSizeHint() const override { return widget(0)->minimumSizeHint(); }

 Q_SIGNALS:
  void changed();  // one was entered or left

 protected:
  bool eventFilter(QObject* room, QEvent* event) override;

 private:
  QWidget* roomOf(const QDialog* page) const;  // null: it has none
  void leave(QWidget* room);
};

// In its window's rooms, or as a window of its own where there are none.
void enterRoom(QDialog* page, RoomWidth width = RoomWidth::kColumn);

}  // namespace winnow::ui
