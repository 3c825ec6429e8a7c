#include "ui/composer/chat_settings_button.h"

#include <QPainter>

#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

ChatSettingsButton::ChatSettingsButton(QWidget* parent) : QToolButton(parent) {
  setAutoRaise(true);
  setIcon(ui::icon(Glyph::kSliders));
  setDiffering({});
}

void ChatSettingsButton::setDiffering(const QStringList& words) {
  m_differs = !words.isEmpty();
  const QString own = m_differs ? tr("Set for this chat: %1").arg(words.join(QStringLiteral(", "))) : QString();
  setToolTip(tr("Chat settings (Ctrl+Shift+S)") + (m_differs ? QLatin1Char('\n') + own : QString()));
  setAccessibleName(tr("Chat settings"));
  setAccessibleDescription(own);
  update();
}

void ChatSettingsButton::paintEvent(QPaintEvent* event) {
  QToolButton::paintEvent(event);
  if (!m_differs) return;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme().colors().accent);
  const qreal size = theme().px(7);
  painter.drawEllipse(QRectF(width() - size - theme().px(3), theme().px(3), size, size));
}

}  // namespace winnow::ui
