// The settings, applied at once: appearance, chat, media and model start-up.
//
// Bound to app/settings; holds no state of its own. UI thread only.
#pragma once

#include <QDialog>

#include "app/settings/settings.h"

namespace winnow::ui {

class SettingsDialog : public QDialog {
  Q_OBJECT
 public:
  explicit SettingsDialog(app::Settings& settings, QWidget* parent = nullptr);
};

}  // namespace winnow::ui
