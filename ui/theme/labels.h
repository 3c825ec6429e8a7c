// Labels as this program has them, made in one expression. The layout that takes one owns it. UI thread only.
#pragma once

#include <QLabel>

#include "ui/theme/theme.h"

namespace winnow::ui {

// One line in the font of a role.
inline QLabel* lineLabel(const QString& text, TextRole role) {
  auto* label = new QLabel(text);
  setTextRole(label, role);
  return label;
}

// Takes as many lines as the text needs at the width that there is. Plain text, whatever characters a name or an answer brings into it.
inline QLabel* wrappedLabel(const QString& text = {}, TextRole role = TextRole::kBody) {
  auto* label = new QLabel(text);
  label->setWordWrap(true);
  label->setTextFormat(Qt::PlainText);
  if (role != TextRole::kBody) setTextRole(label, role);
  return label;
}

// A remark beside the thing itself: small, muted, wrapped.
inline QLabel* captionLabel(const QString& text = {}) {
  QLabel* label = wrappedLabel(text, TextRole::kCaption);
  setMuted(label);
  return label;
}

}  // namespace winnow::ui
