#include "ui/shell/model/model_offer_box.h"

#include <QHBoxLayout>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

ModelOfferBox::ModelOfferBox(QWidget* parent) : QWidget(parent) {
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  setSpacing(column, 6);
  m_button = new QPushButton(tr("Try again"));  // also what is hidden has a name
  column->addWidget(m_button, 0, Qt::AlignLeft);
  auto* row = new QHBoxLayout;
  setSpacing(row, 10);
  m_bar = new QProgressBar;
  m_bar->setTextVisible(false);
  m_bar->setAccessibleName(tr("Download progress of the model"));
  m_cancel = new QPushButton(tr("Cancel"));
  row->addWidget(m_bar, 1);
  row->addWidget(m_cancel);
  column->addLayout(row);
  m_words = captionLabel();
  column->addWidget(m_words);
  connect(m_button, &QPushButton::clicked, this, &ModelOfferBox::accepted);
  connect(m_cancel, &QPushButton::clicked, this, &ModelOfferBox::cancelled);
  show(State::kNothing, {});
}

void ModelOfferBox::setWanted(bool wanted) {
  m_wanted = wanted;
  show(m_state, m_words->text());
}

void ModelOfferBox::showOffer(const QString& label, const QString& note) {
  m_button->setText(label);
  show(State::kOffer, note);
}

void ModelOfferBox::showProgress(const QString& words, int percent) {
  m_bar->setRange(0, percent < 0 ? 0 : 100);
  m_bar->setValue(percent);
  m_bar->setAccessibleDescription(words);
  show(State::kRunning, words);
}

void ModelOfferBox::showFault(const app::ErrorText& text) {
  m_button->setText(tr("Try again"));
  m_words->setToolTip(text.details.toHtmlEscaped());
  show(State::kFault, text.cause + QLatin1Char(' ') + text.remedy);
}

void ModelOfferBox::show(State state, const QString& words) {
  const bool focused = m_button->hasFocus() || m_cancel->hasFocus();
  m_state = state;
  m_words->setText(words);
  if (state != State::kFault) m_words->setToolTip({});
  const bool running = state == State::kRunning;
  m_bar->setVisible(running);
  m_words->setVisible(!words.isEmpty());
  const bool shown = running || (m_wanted && state != State::kNothing);
  QWidget* one = running ? m_cancel : m_button;
  one->show();
  // The keyboard focus moves to where the other button was.
  if (focused && shown) one->setFocus(Qt::OtherFocusReason);
  (running ? m_button : m_cancel)->hide();
  setVisible(shown);
}

}  // namespace winnow::ui
