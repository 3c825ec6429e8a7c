#include "ui/model_library/model_card.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/theme/elided_label.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr char kToneProperty[] = "winnowTone";
constexpr int kBesideUnits = 520;  // below this the buttons stand under the words

}  // namespace

ModelCard::ModelCard(const QString& key, const QString& title, QWidget* parent) : QWidget(parent), m_key(key) {
  m_across = new QHBoxLayout(this);
  setMargins(m_across, 14, 10, 12, 10);
  setSpacing(m_across, 10);
  m_words = new QVBoxLayout;
  setSpacing(m_words, 3);
  m_title = new ElidedLabel(Qt::ElideMiddle, title);
  setTextRole(m_title, TextRole::kStrong);
  m_words->addWidget(m_title);
  m_bar = new QProgressBar;
  m_bar->setTextVisible(false);
  m_bar->setAccessibleName(tr("Progress of %1").arg(title));
  m_bar->hide();
  m_words->addWidget(m_bar);
  m_note = newLine(Tone::kText);
  m_note->hide();
  m_words->addWidget(m_note);
  m_across->addLayout(m_words, 1);
  m_buttons = new QHBoxLayout;
  setSpacing(m_buttons, 6);
  m_across->addLayout(m_buttons);
  m_across->setAlignment(m_buttons, Qt::AlignTop);
  connect(&theme(), &Theme::changed, this, &ModelCard::tint);
}

QString ModelCard::title() const { return m_title->text(); }
QString ModelCard::note() const { return m_note->text(); }

QLabel* ModelCard::newLine(Tone tone) {
  auto* label = wrappedLabel();
  label->setMinimumWidth(1);  // a long word pushes nothing out
  setTextRole(label, TextRole::kCaption);
  setTone(*label, tone);
  return label;
}

void ModelCard::setTone(QLabel& label, Tone tone) {
  label.setProperty(kToneProperty, static_cast<int>(tone));
  tint();
}

void ModelCard::tint() {
  const Colors& c = theme().colors();
  for (QLabel* label : findChildren<QLabel*>()) {
    const QVariant tone = label->property(kToneProperty);
    if (!tone.isValid()) continue;
    QPalette palette = label->palette();
    const auto wanted = static_cast<Tone>(tone.toInt());
    palette.setColor(QPalette::WindowText, wanted == Tone::kWarning ? c.warning
                                           : wanted == Tone::kGood  ? c.success
                                           : wanted == Tone::kMuted ? c.mutedText
                                                                    : c.text);
    label->setPalette(palette);
  }
}

void ModelCard::addLine(const QString& text, Tone tone) {
  if (text.isEmpty()) return;
  QLabel* label = newLine(tone);
  label->setText(text);
  m_words->insertWidget(m_words->indexOf(m_bar), label);
  tint();
}

void ModelCard::setNote(const QString& text, Tone tone) {
  m_note->setText(text);
  m_note->setVisible(!text.isEmpty());
  setTone(*m_note, tone);
}

void ModelCard::showProgress(int percent) {
  m_bar->setRange(0, percent < 0 ? 0 : 100);
  m_bar->setValue(percent);
  m_bar->show();
}

void ModelCard::hideProgress() { m_bar->hide(); }

void ModelCard::clearButtons() {
  while (QLayoutItem* item = m_buttons->takeAt(0)) {
    if (item->widget() != nullptr) {
      item->widget()->hide();
      item->widget()->deleteLater();  // one of them may be the one that was pressed
    }
    delete item;
  }
}

QPushButton* ModelCard::addButton(const QString& text) {
  auto* button = new QPushButton(text);
  button->setAutoDefault(false);
  button->setAccessibleName(QStringLiteral("%1: %2").arg(text, title()));
  m_buttons->addWidget(button);
  button->show();  // now: it may be given the keyboard
  return button;
}

QPushButton* ModelCard::button(int index) const {
  return index < m_buttons->count() ? qobject_cast<QPushButton*>(m_buttons->itemAt(index)->widget()) : nullptr;
}

int ModelCard::buttonCount() const { return m_buttons->count(); }

void ModelCard::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  painter.setBrush(c.surface);
  painter.setPen(QPen(c.border, 1));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), theme().cornerRadius(), theme().cornerRadius());
}

void ModelCard::resizeEvent(QResizeEvent* event) {
  const bool beside = width() >= theme().px(kBesideUnits);
  m_across->setDirection(beside ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  m_across->setAlignment(m_buttons, beside ? Qt::AlignTop : Qt::AlignLeft);
  QWidget::resizeEvent(event);
}

}  // namespace winnow::ui
