#include "ui/composer/detail_choice.h"

#include <QActionGroup>
#include <QHBoxLayout>
#include <QInputDialog>
#include <QMenu>
#include <QPushButton>

#include "app/words/format_text.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

DetailChoice::DetailChoice(MediaKind kind, QWidget* parent) : QWidget(parent), m_kind(kind) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  m_menu = new QMenu(this);
  m_button = new QPushButton;
  m_button->setIcon(icon(kind == MediaKind::kVideo ? Glyph::kFilm : Glyph::kImage, IconColor::kMuted));
  m_button->setMenu(m_menu);
  m_button->setToolTip(kind == MediaKind::kVideo ? tr("How many tokens each frame of a video may take")
                                                 : tr("How many tokens each picture may take"));
  setTextRole(m_button, TextRole::kCaption);
  row->addWidget(m_button);
  row->addStretch(1);
  showChoice();
  hide();
}

void DetailChoice::offer(const DetailChoices& choices, bool any) {
  // A choice for another model can be taken back.
  setVisible(any && (choices.kind != DetailKind::kFixed || m_detail != MediaDetail()));
  if (choices == m_choices) return;
  m_choices = choices;
  showChoice();
}

void DetailChoice::setDetail(const MediaDetail& detail) {
  if (detail == m_detail) return;
  m_detail = detail;
  showChoice();
}

QString DetailChoice::text() const { return isHidden() ? QString() : m_button->text(); }

void DetailChoice::choose(const MediaDetail& detail) {
  setDetail(detail);
  Q_EMIT chosen(m_detail);
}

void DetailChoice::askNumber() {
  const auto now = static_cast<int>(m_detail.level == DetailLevel::kTokens ? m_detail.tokens : m_choices.medium);
  auto* dialog = new QInputDialog(this);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  dialog->setInputMode(QInputDialog::IntInput);
  dialog->setIntRange(1, static_cast<int>(MediaDetail::kMostTokens));
  dialog->setIntValue(now);
  dialog->setWindowTitle(tr("Detail"));
  dialog->setLabelText(m_kind == MediaKind::kVideo ? tr("Most tokens of a frame:") : tr("Most tokens of a picture:"));
  connect(dialog, &QInputDialog::intValueSelected, this, [this](int tokens) { choose({DetailLevel::kTokens, tokens}); });
  dialog->open();
}

QString DetailChoice::label(const MediaDetail& detail) const {
  const qint64 most = detail.level == DetailLevel::kTokens ? detail.tokens : most_tokens(detail, m_choices);
  const QString tokens = app::formatCount(static_cast<double>(most));
  const bool known = most > 0;  // of a server's model it is not
  switch (detail.level) {
    case DetailLevel::kLow: return !known ? tr("Low") : tr("Low: at most %1 tokens").arg(tokens);
    case DetailLevel::kMedium: return !known ? tr("Medium") : tr("Medium: at most %1 tokens").arg(tokens);
    case DetailLevel::kHigh: return !known ? tr("High") : tr("High: at most %1 tokens").arg(tokens);
    case DetailLevel::kTokens: return tr("At most %1 tokens").arg(tokens);
    case DetailLevel::kAuto: break;
  }
  return tr("As the model has it");
}

void DetailChoice::showChoice() {
  m_menu->clear();
  auto* group = new QActionGroup(m_menu);
  const auto add = [this, group](const MediaDetail& detail) {
    QAction* action = m_menu->addAction(label(detail), this, [this, detail] { choose(detail); });
    action->setCheckable(true);
    action->setActionGroup(group);
    action->setChecked(detail == m_detail);
  };
  for (const DetailLevel level : {DetailLevel::kAuto, DetailLevel::kLow, DetailLevel::kMedium, DetailLevel::kHigh}) add({level});
  if (m_detail.level == DetailLevel::kTokens) add(m_detail);
  m_menu->addSeparator();
  m_menu->addAction(tr("Number of tokens…"), this, &DetailChoice::askNumber);
  const QString now = label(m_detail);
  m_button->setText(m_kind == MediaKind::kVideo ? tr("Frame detail: %1").arg(now) : tr("Picture detail: %1").arg(now));
}

}  // namespace winnow::ui
