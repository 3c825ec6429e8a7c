#include "ui/composer/pin_button.h"

#include "ui/theme/icons.h"

namespace winnow::ui {

PinButton::PinButton(const QString& pinWhat, const QString& unpinWhat) : m_pinWhat(pinWhat), m_unpinWhat(unpinWhat) {
  setCheckable(true);
  setAutoRaise(true);
  setIcon(ui::icon(Glyph::kPin));
  setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  hide();
}

void PinButton::offer(const QString& tip, const QString& consequence) {
  const QString words = consequence.isEmpty() ? tip : tip + QLatin1Char(' ') + consequence;
  setToolTip(words);
  setAccessibleDescription(words);
  show();
}

void PinButton::setPinned(bool pinned) {
  setChecked(pinned);
  setText(pinned ? tr("Pinned") : tr("Pin"));
  setAccessibleName(pinned ? m_unpinWhat : m_pinWhat);
}

}  // namespace winnow::ui
