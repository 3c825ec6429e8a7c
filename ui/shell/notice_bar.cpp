#include "ui/shell/notice_bar.h"

#include <QApplication>
#include <QClipboard>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <utility>

#include "ui/shell/notice_text.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

Notice noticeOf(const ErrorText& text) {
  Notice notice;
  notice.error = true;
  notice.text = text.cause + QLatin1Char(' ') + text.remedy;
  if (!text.details.isEmpty()) notice.details = text.cause + QLatin1Char('\n') + text.remedy + QLatin1Char('\n') + text.details;
  return notice;
}

Notice noticeOf(const Error& error) { return noticeOf(describeError(error)); }

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent) {
  m_grid = new QGridLayout(this);
  setMargins(m_grid, 14, 6, 8, 6);
  m_text = new NoticeText;
  m_buttonRow = new QWidget;
  m_buttons = new QHBoxLayout(m_buttonRow);
  m_buttons->setContentsMargins(0, 0, 0, 0);
  m_close = new QToolButton;
  m_close->setAutoRaise(true);
  m_close->setIcon(icon(Glyph::kClose, IconColor::kMuted));
  m_close->setToolTip(tr("Close"));
  m_close->setAccessibleName(tr("Close this message"));
  m_grid->addWidget(m_text, 0, 0);
  m_grid->addWidget(m_close, 0, 2, Qt::AlignTop);
  m_grid->setColumnStretch(0, 1);
  m_timer.setSingleShot(true);
  connect(&m_timer, &QTimer::timeout, this, &NoticeBar::dismiss);
  connect(m_close, &QToolButton::clicked, this, [this] {
    dismiss();
    Q_EMIT closed();
  });
  connect(&theme(), &Theme::changed, this, &NoticeBar::arrange);
  hide();
}

void NoticeBar::addButton(const QString& label, std::function<void()> clicked) {
  auto* button = new QPushButton(label);
  connect(button, &QPushButton::clicked, this, std::move(clicked));
  m_buttons->addWidget(button);
}

void NoticeBar::present(const Notice& notice) {
  while (QLayoutItem* item = m_buttons->takeAt(0)) {
    if (item->widget() != nullptr) {
      item->widget()->hide();
      item->widget()->deleteLater();  // it may be the one that was clicked
    }
    delete item;
  }
  m_error = notice.error;
  m_detailText = notice.details;
  m_text->setText(notice.text, notice.details);
  for (const NoticeAction& action : notice.actions) {
    addButton(action.label, [this, run = action.run] {
      dismiss();
      run();
    });
  }
  if (!notice.details.isEmpty()) addButton(tr("Copy details"), [this] { QApplication::clipboard()->setText(m_detailText); });
  m_close->setVisible(notice.closable);
  notice.durationMs > 0 ? m_timer.start(notice.durationMs) : m_timer.stop();
  arrange();
  show();
  update();
  Q_EMIT changed();
}

// One button stands beside the text; more have a row of their own, or, where that is too narrow, a column.
void NoticeBar::arrange() {
  const bool beside = m_buttons->count() <= 1;
  m_grid->removeWidget(m_buttonRow);
  beside ? m_grid->addWidget(m_buttonRow, 0, 1, Qt::AlignTop) : m_grid->addWidget(m_buttonRow, 1, 0, 1, 3, Qt::AlignLeft);
  m_buttonRow->setVisible(m_buttons->count() > 0);
  m_buttons->setDirection(QBoxLayout::LeftToRight);
  const int room = width() - m_grid->contentsMargins().left() - m_grid->contentsMargins().right();
  if (!beside && m_buttons->sizeHint().width() > room) m_buttons->setDirection(QBoxLayout::TopToBottom);
}

void NoticeBar::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  arrange();
}

void NoticeBar::showMessage(const QString& text, const QString& action, int durationMs) {
  Notice notice;
  notice.text = text;
  notice.durationMs = durationMs;
  if (!action.isEmpty()) notice.actions.push_back({action, [this] { Q_EMIT actionTriggered(); }});
  present(notice);
}

void NoticeBar::showError(const Error& error) { present(noticeOf(error)); }

void NoticeBar::dismiss() {
  m_timer.stop();
  hide();
  Q_EMIT changed();
}

void NoticeBar::setText(const QString& text) { m_text->setText(text, m_detailText); }

QPushButton* NoticeBar::button(const QString& label) const {
  for (int i = 0; i < m_buttons->count(); ++i) {
    auto* button = qobject_cast<QPushButton*>(m_buttons->itemAt(i)->widget());
    if (button != nullptr && button->text() == label) return button;
  }
  return nullptr;
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
