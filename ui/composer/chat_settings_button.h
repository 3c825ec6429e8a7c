// Opens the settings of the chat on screen; a dot says that they are not the defaults, the tool tip which.
//
// Used by the composer; ui/shell tells it what differs and opens the dialog. UI thread only.
#pragma once

#include <QStringList>
#include <QToolButton>

namespace winnow::ui {

class ChatSettingsButton : public QToolButton {
  Q_OBJECT
 public:
  explicit ChatSettingsButton(QWidget* parent = nullptr);

  // In words; empty: all is as the settings have it.
  void setDiffering(const QStringList& words);
  bool differs() const { return m_differs; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  bool m_differs = false;
};

}  // namespace winnow::ui
