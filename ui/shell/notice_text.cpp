#include "ui/shell/notice_text.h"

#include <QLabel>
#include <QScrollBar>
#include <algorithm>

#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kLeastLines = 2;

}  // namespace

NoticeText::NoticeText(QWidget* parent) : QScrollArea(parent) {
  m_label = new QLabel;
  m_label->setWordWrap(true);
  m_label->setTextFormat(Qt::PlainText);
  m_label->setAlignment(Qt::AlignLeft | Qt::AlignTop);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
  setFocusPolicy(Qt::NoFocus);
  setAccessibleName(tr("Message"));
  setWidgetResizable(true);
  setWidget(m_label);
  for (QWidget* ground : {viewport(), static_cast<QWidget*>(m_label)}) ground->setAutoFillBackground(false);
  connect(&theme(), &Theme::changed, this, &NoticeText::fit);
}

void NoticeText::setText(const QString& text, const QString& details) {
  m_label->setText(text);
  m_label->setToolTip(details.toHtmlEscaped());
  verticalScrollBar()->setValue(0);
  fit();
}

QString NoticeText::text() const { return m_label->text(); }

QSize NoticeText::sizeHint() const { return {m_label->minimumSizeHint().width(), std::max(0, m_label->heightForWidth(width()))}; }

QSize NoticeText::minimumSizeHint() const {
  return {m_label->minimumSizeHint().width(), std::min(sizeHint().height(), kLeastLines * m_label->fontMetrics().lineSpacing())};
}

// The width tells how high the words are, and the height whether all of them are seen.
void NoticeText::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  fit();
}

void NoticeText::fit() {
  const bool scrolls = height() < sizeHint().height();
  setVerticalScrollBarPolicy(scrolls ? Qt::ScrollBarAlwaysOn : Qt::ScrollBarAlwaysOff);
  setFocusPolicy(scrolls ? Qt::StrongFocus : Qt::NoFocus);  // its arrows scroll
  updateGeometry();
}

}  // namespace winnow::ui
