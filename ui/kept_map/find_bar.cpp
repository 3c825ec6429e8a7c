#include "ui/kept_map/find_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include "ui/kept_map/token_text_view.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

FindBar::FindBar(TokenTextView& text, QWidget* parent) : QWidget(parent), m_text(text) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  setSpacing(layout, 6);
  m_box = new QLineEdit;
  m_box->setPlaceholderText(tr("Find words, or :12 for line 12"));
  m_box->setAccessibleName(tr("Find in the text"));
  m_count = new QLabel;
  setTextRole(m_count, TextRole::kCaption);
  setMuted(m_count);
  layout->addWidget(m_box, 1);
  layout->addWidget(m_count);
  const auto button = [&](Glyph glyph, const QString& name) {
    auto* made = new QToolButton;
    made->setAutoRaise(true);
    made->setIcon(icon(glyph, IconColor::kMuted));
    made->setToolTip(name);
    made->setAccessibleName(name);
    layout->addWidget(made);
    return made;
  };
  connect(button(Glyph::kChevronLeft, tr("Previous place (Shift+Enter)")), &QToolButton::clicked, this, [this] { m_text.stepFound(-1); });
  connect(button(Glyph::kChevronRight, tr("Next place (Enter)")), &QToolButton::clicked, this, [this] { m_text.stepFound(1); });
  connect(button(Glyph::kClose, tr("Close (Esc)")), &QToolButton::clicked, this, &FindBar::close);
  connect(m_box, &QLineEdit::textChanged, &m_text, &TokenTextView::find);
  connect(&m_text, &TokenTextView::foundChanged, this, &FindBar::showCount);
  hide();
}

void FindBar::open() {
  show();
  m_box->setFocus();
  m_box->selectAll();
  m_text.find(m_box->text());
}

void FindBar::close() {
  hide();
  m_text.find({});
  m_text.setFocus();
}

QString FindBar::countText() const { return m_count->text(); }

void FindBar::showCount() {
  const int found = m_text.foundCount();
  m_count->setText(m_box->text().trimmed().isEmpty() ? QString()
                   : found == 0                      ? tr("Not found")
                                                     : tr("%1 of %2").arg(m_text.foundIndex() + 1).arg(found));
}

void FindBar::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    m_text.stepFound(event->modifiers().testFlag(Qt::ShiftModifier) ? -1 : 1);
  } else if (event->key() == Qt::Key_Escape) {
    close();
  } else {
    QWidget::keyPressEvent(event);
  }
}

}  // namespace winnow::ui
