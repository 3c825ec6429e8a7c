#include "ui/composer/plan_line.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPixmap>
#include <QPushButton>

#include "ui/theme/elided_label.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

PlanLine::PlanLine(QWidget* parent) : QWidget(parent) {
  m_layout = new QHBoxLayout(this);
  setMargins(m_layout, 12, 4, 12, 0);
  setSpacing(m_layout, 6);
  m_mark = new QLabel;
  m_text = wrappedLabel(QString(), TextRole::kCaption);
  m_short = new ElidedLabel(Qt::ElideRight);
  setTextRole(m_short, TextRole::kCaption);
  m_layout->addWidget(m_mark);
  m_layout->addWidget(m_text, 1);
  m_layout->addWidget(m_short, 1);
  connect(&theme(), &Theme::changed, this, &PlanLine::arrange);
  arrange();
}

void PlanLine::setPlan(const PlanView& plan) {
  m_plan = plan;
  // A space keeps the line's height.
  m_text->setText(plan.text.isEmpty() ? QStringLiteral(" ") : plan.text);
  m_short->setText(plan.text);
  QString tip = plan.text + QLatin1Char('\n') + plan.detail;
  tip = plan.text.isEmpty() ? QString() : tip.toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("<br>"));
  for (QWidget* label : {static_cast<QWidget*>(m_text), static_cast<QWidget*>(m_short)}) {
    label->setToolTip(tip);
    label->setAccessibleName(plan.text.isEmpty() ? QString() : tr("Plan for this question: %1").arg(plan.text));
    label->setAccessibleDescription(plan.detail);
  }
  for (QPushButton* button : m_buttons) {
    m_layout->removeWidget(button);
    button->hide();
    button->deleteLater();
  }
  m_buttons.clear();
  for (const PlanRemedy& remedy : plan.remedies) {
    auto* button = new QPushButton(remedy.text);
    button->setAccessibleDescription(tr("Changes your question so that it fits"));
    setTextRole(button, TextRole::kCaption);
    connect(button, &QPushButton::clicked, this, [this, remedy] { Q_EMIT remedyChosen(remedy); });
    m_layout->addWidget(button);
    m_buttons.push_back(button);
  }
  arrange();
}

void PlanLine::setCompact(bool compact) {
  if (compact == m_compact) return;
  m_compact = compact;
  arrange();
}

void PlanLine::arrange() {
  for (QPushButton* button : m_buttons) button->setMaximumHeight(theme().px(26));
  const Colors& c = theme().colors();
  const bool empty = m_plan.text.isEmpty();
  const bool wrong = m_plan.fit == PlanFit::kDoesNotFit;
  const bool tight = m_plan.fit == PlanFit::kTight;
  const QColor color = wrong ? c.danger : tight ? c.warning : c.mutedText;
  // Never by colour alone: the words say it, and a sign stands before them.
  const int side = theme().px(14);
  QPixmap sign(QSize(side, side) * devicePixelRatioF());
  sign.setDevicePixelRatio(devicePixelRatioF());
  sign.fill(Qt::transparent);
  QPainter painter(&sign);
  paintGlyph(painter, Glyph::kWarning, QRectF(0, 0, side, side), color);
  painter.end();
  m_mark->setPixmap(sign);
  m_mark->setVisible((wrong || tight) && !empty);
  m_text->setVisible(!m_compact);
  m_short->setVisible(m_compact && !empty);
  for (QLabel* label : {m_text, static_cast<QLabel*>(m_short)}) {
    QPalette palette = label->palette();
    palette.setColor(QPalette::WindowText, color);
    label->setPalette(palette);
  }
  setVisible(!m_compact || !empty);
}

}  // namespace winnow::ui
