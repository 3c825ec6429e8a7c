#include "ui/composer/paste_offer.h"

#include <QHBoxLayout>
#include <QPushButton>

#include "app/words/format_text.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

PasteOffer::PasteOffer(QWidget* parent) : QWidget(parent) {
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  setSpacing(layout, 8);
  m_words = wrappedLabel(QString(), TextRole::kCaption);
  m_attach = new QPushButton(tr("Attach as document"));
  m_attach->setToolTip(tr("A document is read and compressed once; you can then ask many questions about it"));
  m_keep = new QPushButton(tr("Keep as text"));
  for (QPushButton* button : {m_attach, m_keep}) setTextRole(button, TextRole::kCaption);
  layout->addWidget(m_words, 1);
  layout->addWidget(m_attach);
  layout->addWidget(m_keep);
  connect(m_attach, &QPushButton::clicked, this, &PasteOffer::attach);
  connect(m_keep, &QPushButton::clicked, this, &PasteOffer::dismiss);
  hide();
}

void PasteOffer::offer(const QTextCursor& pasted) {
  m_pasted = pasted;
  const int characters = pasted.selectionEnd() - pasted.selectionStart();
  m_words->setText(tr("You pasted %1 characters.").arg(app::formatCount(characters)));
  show();
}

void PasteOffer::dismiss() {
  m_pasted = {};
  hide();
}

void PasteOffer::attach() {
  QString text = m_pasted.selectedText();
  text.replace(QChar::ParagraphSeparator, QLatin1Char('\n'));
  m_pasted.removeSelectedText();
  dismiss();
  if (!text.trimmed().isEmpty()) Q_EMIT attachChosen(text);
}

}  // namespace winnow::ui
