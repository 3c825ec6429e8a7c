#include "ui/composer/preparation_line.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>

#include "ui/theme/elided_label.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

PreparationLine::PreparationLine(QWidget* parent) : QWidget(parent) {
  auto* layout = new QHBoxLayout(this);
  setMargins(layout, 12, 4, 12, 0);
  setSpacing(layout, 8);
  m_text = wrappedLabel(QString(), TextRole::kCaption);
  m_short = new ElidedLabel(Qt::ElideRight);
  setTextRole(m_short, TextRole::kCaption);
  m_bar = new QProgressBar;
  m_bar->setRange(0, 1000);
  m_bar->setTextVisible(false);
  m_button = new QPushButton;
  setTextRole(m_button, TextRole::kCaption);
  layout->addWidget(m_text, 1);
  layout->addWidget(m_short, 1);
  layout->addWidget(m_bar);
  layout->addWidget(m_button);
  connect(m_button, &QPushButton::clicked, this,
          [this] { m_view.text.isEmpty() ? Q_EMIT idleActionTriggered() : Q_EMIT actionTriggered(); });
  connect(&theme(), &Theme::changed, this, &PreparationLine::arrange);
  arrange();
}

void PreparationLine::setView(const PreparationView& view) {
  if (view == m_view) return;
  m_view = view;
  arrange();
}

void PreparationLine::setIdleText(const QString& text, const QString& action) {
  if (text == m_idleText && action == m_idleAction) return;
  m_idleText = text;
  m_idleAction = action;
  arrange();
}

void PreparationLine::setCompact(bool compact) {
  if (compact == m_compact) return;
  m_compact = compact;
  arrange();
}

void PreparationLine::arrange() {
  const bool idle = m_view.text.isEmpty();
  const QString& text = idle ? m_idleText : m_view.text;
  const QString action = !idle ? m_view.action : text.isEmpty() ? QString() : m_idleAction;
  for (QLabel* label : {m_text, static_cast<QLabel*>(m_short)}) {
    label->setText(text);
    label->setAccessibleName(text);
    QPalette palette = label->palette();
    palette.setColor(QPalette::WindowText, theme().colors().mutedText);
    label->setPalette(palette);
  }
  m_text->setVisible(!m_compact);
  m_short->setVisible(m_compact);
  m_short->setToolTip(text);
  m_bar->setVisible(m_view.share >= 0.0);
  m_bar->setValue(qRound(1000 * std::max(0.0, m_view.share)));
  m_bar->setFixedSize(theme().px(120), theme().px(6));
  m_bar->setAccessibleName(tr("Preparing"));
  m_button->setText(action);
  m_button->setAccessibleName(action.isEmpty() ? tr("Preparation") : action);
  m_button->setMaximumHeight(theme().px(26));
  m_button->setVisible(!action.isEmpty());
  setVisible(!text.isEmpty());
}

}  // namespace winnow::ui
