#include "ui/composer/encoding_choice.h"

#include <QActionGroup>
#include <QHBoxLayout>
#include <QLabel>
#include <QMenu>
#include <QPushButton>

#include "ui/theme/theme.h"

namespace winnow::ui {

EncodingChoice::EncodingChoice(const QStringList& encodings, QWidget* parent) : QWidget(parent) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  setSpacing(row, 6);
  m_label = new QLabel;
  m_label->setTextFormat(Qt::PlainText);
  setTextRole(m_label, TextRole::kCaption);
  setMuted(m_label);
  m_menu = new QMenu(this);
  auto* group = new QActionGroup(m_menu);
  const auto add = [this, group](const QString& label, const QByteArray& encoding) {
    QAction* action = m_menu->addAction(label, this, [this, encoding] { Q_EMIT chosen(encoding); });
    action->setCheckable(true);
    action->setActionGroup(group);
    action->setData(encoding);
  };
  add(tr("Detect automatically"), {});
  m_menu->addSeparator();
  for (const QString& encoding : encodings) add(encoding, encoding.toLatin1());
  m_change = new QPushButton(tr("Change"));
  m_change->setAccessibleName(tr("Change the encoding"));
  m_change->setMenu(m_menu);
  setTextRole(m_change, TextRole::kCaption);
  row->addWidget(m_label);
  row->addWidget(m_change);
  row->addStretch(1);
  hide();
}

QString EncodingChoice::text() const { return isHidden() ? QString() : m_label->text(); }

void EncodingChoice::show(const QString& read, const QByteArray& chosen, Found found) {
  m_label->setText(found == Found::kByGuess ? tr("Encoding, guessed: %1").arg(read) : tr("Encoding: %1").arg(read));
  for (QAction* action : m_menu->actions()) action->setChecked(!action->isSeparator() && action->data().toByteArray() == chosen);
  QWidget::show();
}

}  // namespace winnow::ui
