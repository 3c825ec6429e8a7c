#include "ui/shell/notice_bar.h"

#include <QApplication>
#include <QClipboard>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>

#include "ui/theme/icons.h"
#include "ui/theme/theme.h"
#include "ui/words/error_text.h"

namespace winnow::ui {

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent) {
  auto* layout = new QHBoxLayout(this);
  setMargins(layout, 14, 6, 8, 6);
  m_text = new QLabel;
  m_text->setWordWrap(true);
  m_text->setTextFormat(Qt::PlainText);
  m_action = new QPushButton(tr("Undo"));
  m_details = new QPushButton(tr("Copy details"));
  m_close = new QToolButton;
  m_close->setAutoRaise(true);
  m_close->setIcon(icon(Glyph::kClose, IconColor::kMuted));
  m_close->setToolTip(tr("Close"));
  m_close->setAccessibleName(tr("Close this message"));
  layout->addWidget(m_text, 1);
  layout->addWidget(m_details);
  layout->addWidget(m_action);
  layout->addWidget(m_close);
  m_timer.setSingleShot(true);
  connect(&m_timer, &QTimer::timeout, this, &NoticeBar::dismiss);
  connect(m_close, &QToolButton::clicked, this, &NoticeBar::dismiss);
  connect(m_action, &QPushButton::clicked, this, [this] {
    dismiss();
    Q_EMIT actionTriggered();
  });
  connect(m_details, &QPushButton::clicked, this, [this] { QApplication::clipboard()->setText(m_detailText); });
  hide();
}

void NoticeBar::showMessage(const QString& text, const QString& action, int durationMs) {
  m_error = false;
  m_text->setText(text);
  if (!action.isEmpty()) m_action->setText(action);
  m_action->setVisible(!action.isEmpty());
  m_details->hide();
  durationMs > 0 ? m_timer.start(durationMs) : m_timer.stop();
  show();
  update();
}

void NoticeBar::showError(const Error& error) {
  const ErrorText text = describeError(error);
  m_error = true;
  m_detailText = text.cause + QLatin1Char('\n') + text.remedy + QLatin1Char('\n') + text.details;
  m_text->setText(text.cause + QLatin1Char(' ') + text.remedy);
  m_text->setToolTip(text.details.toHtmlEscaped());
  m_action->hide();
  m_details->show();
  m_timer.stop();
  show();
  update();
}

void NoticeBar::dismiss() {
  m_timer.stop();
  hide();
}

QString NoticeBar::text() const { return isHidden() ? QString() : m_text->text(); }

void NoticeBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  painter.setBrush(m_error ? c.dangerSoft : c.raised);
  painter.setPen(QPen(m_error ? c.danger : c.border, 1));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), theme().cornerRadius(), theme().cornerRadius());
}

}  // namespace winnow::ui
