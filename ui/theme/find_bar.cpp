#include "ui/theme/find_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLineEdit>
#include <QToolButton>

#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

FindBar::FindBar(const QString& hint, const QString& what, QWidget* parent) : QWidget(parent) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  setSpacing(layout, 6);
  m_box = new QLineEdit;
  m_box->setPlaceholderText(hint);
  m_box->setAccessibleName(what);
  m_count = lineLabel(QString(), TextRole::kCaption);
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
  connect(button(Glyph::kChevronLeft, tr("Previous match (Shift+Enter)")), &QToolButton::clicked, this,
          [this] { Q_EMIT stepRequested(-1); });
  connect(button(Glyph::kChevronRight, tr("Next match (Enter)")), &QToolButton::clicked, this, [this] { Q_EMIT stepRequested(1); });
  connect(button(Glyph::kClose, tr("Close (Esc)")), &QToolButton::clicked, this, &FindBar::close);
  connect(m_box, &QLineEdit::textChanged, this, &FindBar::wordsChanged);
  hide();
}

void FindBar::open() {
  show();
  m_box->setFocus();
  m_box->selectAll();
  Q_EMIT wordsChanged(m_box->text());
}

void FindBar::close() {
  hide();
  Q_EMIT wordsChanged({});
  Q_EMIT closed();
}

QString FindBar::countText() const { return m_count->text(); }

void FindBar::showCount(int index, int count) {
  m_count->setText(m_box->text().trimmed().isEmpty() ? QString() : count == 0 ? tr("Not found") : tr("%1 of %2").arg(index + 1).arg(count));
}

// Before Esc is a window's shortcut, it is the bar's.
bool FindBar::event(QEvent* event) {
  const bool mine = event->type() == QEvent::ShortcutOverride && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape;
  if (mine) event->accept();
  return mine || QWidget::event(event);
}

void FindBar::keyPressEvent(QKeyEvent* event) {
  if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
    Q_EMIT stepRequested(event->modifiers().testFlag(Qt::ShiftModifier) ? -1 : 1);
  } else if (event->key() == Qt::Key_Escape) {
    close();
  } else {
    QWidget::keyPressEvent(event);
  }
}

}  // namespace winnow::ui
