// The settings, applied at once: appearance, chat, media and model start-up.
//
// Bound to app/chats/settings; holds no state of its own. UI thread only.
#pragma once

#include <QDialog>

#include "app/chats/settings/settings.h"

namespace winnow::ui {

class SettingsDialog : public QDialog {
  Q_OBJECT
 public:
  explicit SettingsDialog(app::Settings& settings, QWidget* parent = nullptr);
};

}  // namespace winnow::ui
