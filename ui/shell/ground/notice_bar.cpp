#include "ui/shell/ground/notice_bar.h"

#include <QApplication>
#include <QClipboard>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QToolButton>
#include <algorithm>
#include <utility>

#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

// The words: all of them where there is room, else a few lines that are scrolled by wheel and keys.
class NoticeText : public QScrollArea {
 public:
  NoticeText() : m_label(new QLabel) {
    m_label->setWordWrap(true);
    m_label->setTextFormat(Qt::PlainText);
    m_label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
    setFrameShape(QFrame::NoFrame);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
    setFocusPolicy(Qt::NoFocus);
    setAccessibleName(NoticeBar::tr("Message"));
    setWidgetResizable(true);
    setWidget(m_label);
    for (QWidget* ground : {viewport(), static_cast<QWidget*>(m_label)}) ground->setAutoFillBackground(false);
    connect(&theme(), &Theme::changed, this, &NoticeText::fit);
  }

  void setText(const QString& text, const QString& details) {
    m_label->setText(text);
    m_label->setToolTip(details.toHtmlEscaped());
    verticalScrollBar()->setValue(0);
    fit();
  }

  QSize sizeHint() const override { return {m_label->minimumSizeHint().width(), std::max(0, m_label->heightForWidth(width()))}; }
  QSize minimumSizeHint() const override {
    constexpr int kLeastLines = 2;
    return {m_label->minimumSizeHint().width(), std::min(sizeHint().height(), kLeastLines * m_label->fontMetrics().lineSpacing())};
  }

 protected:
  // The width tells how high the words are, and the height whether all of them are seen.
  void resizeEvent(QResizeEvent* event) override {
    QScrollArea::resizeEvent(event);
    fit();
  }

 private:
  void fit() {
    const bool scrolls = height() < sizeHint().height();
    setVerticalScrollBarPolicy(scrolls ? Qt::ScrollBarAlwaysOn : Qt::ScrollBarAlwaysOff);
    setFocusPolicy(scrolls ? Qt::StrongFocus : Qt::NoFocus);  // its arrows scroll
    updateGeometry();
  }

  QLabel* m_label;
};

Notice noticeOf(const app::ErrorText& text) {
  Notice notice{.text = text.cause + QLatin1Char(' ') + text.remedy, .error = true};
  if (!text.details.isEmpty()) notice.details = text.cause + QLatin1Char('\n') + text.remedy + QLatin1Char('\n') + text.details;
  return notice;
}

Notice noticeOf(const Error& error, NoticeAbout about) {
  Notice notice = noticeOf(app::describeError(error));
  notice.about = about;
  return notice;
}

NoticeBar::NoticeBar(const QString& name, QWidget* parent) : QFrame(parent) {
  setObjectName(name);
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

void NoticeBar::makeButtons() {
  while (QLayoutItem* item = m_buttons->takeAt(0)) {
    if (item->widget() != nullptr) {
      item->widget()->hide();
      item->widget()->deleteLater();  // it may be the one that was clicked
    }
    delete item;
  }
  for (std::size_t i = 0; i < m_notice.actions.size(); ++i) {
    addButton(m_notice.actions[i].label, [this, i] {
      const std::function<void()> run = m_notice.actions[i].run;
      dismiss();
      run();
    });
  }
  if (!m_notice.details.isEmpty()) addButton(tr("Copy details"), [this] { QApplication::clipboard()->setText(m_notice.details); });
}

void NoticeBar::present(const Notice& notice) {
  if (notice.text.isEmpty()) return dismiss();
  const bool sameButtons = !isHidden() && m_notice.details.isEmpty() == notice.details.isEmpty() &&
                           std::ranges::equal(m_notice.actions, notice.actions, {}, &NoticeAction::label, &NoticeAction::label);
  m_notice = notice;
  m_text->setText(notice.text, notice.details);
  if (!sameButtons) makeButtons();
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

void NoticeBar::dismiss() {
  m_timer.stop();
  hide();
  Q_EMIT changed();
}

void NoticeBar::end(NoticeAbout about) {
  if (shows(about)) dismiss();
}

QPushButton* NoticeBar::button(const QString& label) const {
  for (int i = 0; i < m_buttons->count(); ++i) {
    auto* button = qobject_cast<QPushButton*>(m_buttons->itemAt(i)->widget());
    if (button != nullptr && button->text() == label) return button;
  }
  return nullptr;
}

void NoticeBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  painter.setBrush(m_notice.error ? c.dangerSoft : c.raised);
  painter.setPen(QPen(m_notice.error ? c.danger : c.border, 1));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), theme().cornerRadius(), theme().cornerRadius());
}

}  // namespace winnow::ui
