#include "ui/shell/turns/chat_settings.h"

#include <QRandomGenerator>

#include "ui/composer/chat_settings_button.h"
#include "ui/composer/composer.h"
#include "ui/composer/thinking_choice.h"
#include "ui/settings_view/chat_settings_dialog.h"
#include "ui/settings_view/sampling_form.h"
#include "ui/shell/turns/chat_session.h"

namespace winnow::ui {
namespace {

Sampling standardSampling(const app::Settings& settings) { return with_choice(Sampling(), settings.chatDefaults().sampling); }

}  // namespace

Sampling samplingFor(const app::ConversationOptions& options, const app::Settings& settings, const ModelInfo& model) {
  Sampling sampling = with_choice(standardSampling(settings), options.sampling);
  if (!sampling.limit_chosen()) answer_to_the_end(sampling, model);
  const bool seeded = settings.chatDefaults().sampling.seed || options.sampling.seed;
  if (sampling.temperature > 0.0 && !seeded) sampling.seed = QRandomGenerator::global()->generate64();
  return sampling;
}

ChatSettings::ChatSettings(ChatSession& session, app::Settings& settings, Composer& composer, QObject* parent)
    : QObject(parent), m_session(session), m_settings(settings), m_composer(composer) {
  connect(m_composer.answering().settings, &ChatSettingsButton::clicked, this, &ChatSettings::open);
  connect(m_composer.answering().thinking, &ThinkingChoice::chosen, this, [this](int tokens) {
    const app::ConversationOptions& options = m_session.chat.options();
    SamplingChoice sampling = options.sampling;
    sampling.thought_tokens = tokens;
    if (tokens == standardSampling(m_settings).thought_tokens) sampling.thought_tokens.reset();
    apply({sampling, options.systemPrompt});
  });
  connect(&m_session.model, &ModelSession::changed, this, &ChatSettings::describe);
  connect(&m_session.chat, &OpenChat::shown, this, &ChatSettings::describe);
  connect(&m_session.chat, &OpenChat::stateChanged, this, &ChatSettings::describe);
  connect(&m_settings, &app::Settings::changed, this, &ChatSettings::describe);
  describe();
}

void ChatSettings::open() {
  const app::ConversationOptions& options = m_session.chat.options();
  auto* dialog = new ChatSettingsDialog({options.sampling, options.systemPrompt}, m_settings.chatDefaults(),
                                        m_session.model.info().recommended, m_composer.window());
  dialog->sampling()->setThinkingShown(m_session.model.info().thinks);
  // Applies to the chat that it was opened for: another may be shown by the time it is accepted.
  connect(dialog, &ChatSettingsDialog::applied, this, [this, id = m_session.chat.id()](const ChatAnswering& chosen) {
    if (m_session.chat.id() == id) apply(chosen);
  });
  dialog->open();
}

void ChatSettings::apply(const ChatAnswering& chosen) {
  app::ConversationOptions options = m_session.chat.options();
  if (ChatAnswering{options.sampling, options.systemPrompt} == chosen) return;
  options.sampling = chosen.sampling;
  options.systemPrompt = chosen.systemPrompt;
  m_session.chat.setOptions(options);
}

void ChatSettings::describe() {
  const app::ConversationOptions& options = m_session.chat.options();
  QStringList words = samplingWords(options.sampling);
  const QString standard = m_settings.chatDefaults().systemPrompt;
  if (options.systemPrompt != standard) words.prepend(options.systemPrompt.isEmpty() ? tr("no system prompt") : tr("a system prompt"));
  m_composer.answering().settings->setDiffering(words);
  m_composer.answering().thinking->setTokens(with_choice(standardSampling(m_settings), options.sampling).thought_tokens);
  m_composer.answering().thinking->setVisible(m_session.model.state() == ModelState::kReady && m_session.model.info().thinks);
}

}  // namespace winnow::ui
