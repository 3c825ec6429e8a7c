#include "ui/settings_view/chat_settings_dialog.h"

#include <QDialogButtonBox>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/settings_view/sampling_form.h"
#include "ui/theme/dialog_page.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

ChatSettingsDialog::ChatSettingsDialog(const ChatAnswering& now, const app::ChatDefaults& defaults, const SamplingChoice& recommended,
                                       QWidget* parent)
    : QDialog(parent), m_defaults(defaults), m_recommended(recommended) {
  setWindowTitle(tr("Chat settings"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* outer = new QVBoxLayout(this);
  auto* page = new QWidget;
  QFormLayout* form = formOn(page);
  m_systemPrompt = new QPlainTextEdit(now.systemPrompt);
  setFocusFrame(m_systemPrompt);
  m_systemPrompt->setPlaceholderText(tr("Instructions for the model before the chat begins. Leave empty to use the model's own."));
  m_systemPrompt->setTabChangesFocus(true);
  m_systemPrompt->setAccessibleName(tr("System prompt"));
  m_systemPrompt->setFixedHeight(theme().px(84));
  m_systemLabel = new QLabel(tr("S&ystem prompt"));
  m_systemLabel->setBuddy(m_systemPrompt);
  form->addRow(m_systemLabel, m_systemPrompt);
  form->addRow(captionLabel(tr("After a change of the system prompt, the next question reads the whole chat again.")));
  m_sampling = new SamplingForm(*form, app::Settings::kMostNewTokens, this);
  auto* model = captionLabel(m_recommended.empty()
                                 ? tr("This model has no recommended settings.")
                                 : tr("The model's makers recommend: %1.").arg(samplingWords(m_recommended).join(QStringLiteral(", "))));
  form->addRow(model);
  outer->addWidget(scrolling(page), 1);

  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel);
  m_recommendedButton = buttons->addButton(tr("R&ecommended"), QDialogButtonBox::ResetRole);
  m_recommendedButton->setToolTip(tr("Uses what the model's makers recommend; everything else is off"));
  m_recommendedButton->setEnabled(!m_recommended.empty());
  m_defaultsButton = buttons->addButton(tr("&Defaults"), QDialogButtonBox::ResetRole);
  m_defaultsButton->setToolTip(tr("Uses the defaults from Settings"));
  for (QPushButton* button : {m_recommendedButton, m_defaultsButton}) button->setAutoDefault(false);
  outer->addWidget(buttons);

  m_sampling->setValues(m_defaults.sampling);
  SamplingChoice shown = now.sampling;
  if (!shown.seed) shown.seed = m_defaults.sampling.seed;
  m_sampling->setValues(shown);
  mark();
  connect(m_sampling, &SamplingForm::changed, this, &ChatSettingsDialog::mark);
  connect(m_systemPrompt, &QPlainTextEdit::textChanged, this, &ChatSettingsDialog::mark);
  connect(m_recommendedButton, &QPushButton::clicked, this, [this] {
    SamplingChoice all = choice_of(with_choice(Sampling(), m_recommended));
    const SamplingChoice own = m_sampling->values();
    all.seed = own.seed;
    all.max_new_tokens = own.max_new_tokens;
    all.thought_tokens = own.thought_tokens;
    m_sampling->setValues(all);
  });
  connect(m_defaultsButton, &QPushButton::clicked, this, [this] {
    m_sampling->setValues(m_defaults.sampling);
    m_systemPrompt->setPlainText(m_defaults.systemPrompt);
  });
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(buttons, &QDialogButtonBox::accepted, this, [this] {
    Q_EMIT applied(chosen());
    accept();
  });
  if (parent != nullptr)
    resize(std::min(theme().px(520), parent->window()->width() - theme().px(24)),
           std::min(theme().px(560), parent->window()->height() - theme().px(24)));
}

ChatAnswering ChatSettingsDialog::chosen() const { return {m_sampling->differing(m_defaults.sampling), m_systemPrompt->toPlainText()}; }

void ChatSettingsDialog::mark() {
  m_sampling->mark(m_defaults.sampling);
  setTextRole(m_systemLabel, m_systemPrompt->toPlainText() == m_defaults.systemPrompt ? TextRole::kBody : TextRole::kStrong);
}

}  // namespace winnow::ui
