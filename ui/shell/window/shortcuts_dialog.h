// The actions by keys, as a list that scrolls: it fits any window.
//
// Used by main_window.h. Deletes itself when closed. UI thread only.
#pragma once

#include <QDialog>
#include <vector>

namespace winnow::ui {

struct Shortcut {
  QString what;
  QString keys;
};

class ShortcutsDialog : public QDialog {
  Q_OBJECT
 public:
  explicit ShortcutsDialog(const std::vector<Shortcut>& shortcuts, QWidget* parent);
};

}  // namespace winnow::ui
