// How one chat answers: its system prompt and how its answers are drawn. What differs from the settings' defaults stands in bold.
//
// Opened by ui/shell; says what was chosen when it is accepted and changes nothing itself. UI thread only.
#pragma once

#include <QDialog>

#include "app/chats/settings/settings.h"

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace winnow::ui {

class SamplingForm;

// A chat's settings for its answers.
struct ChatAnswering {
  SamplingChoice sampling;  // what is not as the defaults
  QString systemPrompt;

  friend bool operator==(const ChatAnswering&, const ChatAnswering&) = default;
};

class ChatSettingsDialog : public QDialog {
  Q_OBJECT
 public:
  // recommended: by the loaded model; empty: it says nothing.
  ChatSettingsDialog(const ChatAnswering& now, const app::ChatDefaults& defaults, const SamplingChoice& recommended, QWidget* parent);

  ChatAnswering chosen() const;
  SamplingForm* sampling() const { return m_sampling; }
  QPlainTextEdit* systemPrompt() const { return m_systemPrompt; }
  QPushButton* recommendedButton() const { return m_recommendedButton; }
  QPushButton* defaultsButton() const { return m_defaultsButton; }

 Q_SIGNALS:
  void applied(const winnow::ui::ChatAnswering& chosen);

 private:
  void mark();

  app::ChatDefaults m_defaults;
  SamplingChoice m_recommended;
  SamplingForm* m_sampling = nullptr;
  QLabel* m_systemLabel = nullptr;
  QPlainTextEdit* m_systemPrompt = nullptr;
  QPushButton* m_recommendedButton = nullptr;
  QPushButton* m_defaultsButton = nullptr;
};

}  // namespace winnow::ui
