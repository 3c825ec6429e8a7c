#include "ui/composer/method_control.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSlider>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>
#include <utility>

#include "app/words/format_text.h"
#include "ui/composer/later_choice.h"
#include "ui/recipes/method_texts.h"
#include "ui/recipes/recipe_words.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/popup_card.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {
constexpr int kCardUnits = 340;
}

MethodControl::MethodControl(std::vector<MethodInfo> methods, QWidget* parent) : QToolButton(parent), m_methods(std::move(methods)) {
  setAutoRaise(true);
  setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  setIcon(ui::icon(Glyph::kChip, IconColor::kMuted));

  m_card = new PopupCard(*this, kCardUnits);
  m_card->setAccessibleName(tr("Cache method"));
  QVBoxLayout* layout = m_card->content();
  setMargins(layout, 16, 16, 16, 16);
  setSpacing(layout, 8);
  auto* title = lineLabel(tr("Cache method"), TextRole::kStrong);
  layout->addWidget(title);
  m_pick = new QPushButton;
  m_pick->setIcon(ui::icon(Glyph::kChevronRight, IconColor::kMuted));
  m_pick->setLayoutDirection(isRightToLeft() ? Qt::LeftToRight : Qt::RightToLeft);  // the chevron behind the name
  m_pick->setToolTip(tr("Choose another method or recipe"));
  layout->addWidget(m_pick);
  m_about = captionLabel();
  layout->addWidget(m_about);
  m_share = new QLabel;
  m_share->setWordWrap(true);
  setTextRole(m_share, TextRole::kStrong);
  addGap(layout, 4);
  layout->addWidget(m_share);
  auto* row = new QHBoxLayout;
  setSpacing(row, 12);
  m_slider = new QSlider(Qt::Horizontal);
  m_slider->setRange(1, 100);
  m_slider->setPageStep(10);
  m_slider->setAccessibleName(tr("Share of the cache to keep, in percent"));
  m_spin = new QSpinBox;
  m_spin->setRange(1, 100);
  m_spin->setSuffix(tr(" %"));
  m_spin->setAccessibleName(tr("Share of the cache to keep, in percent"));
  row->addWidget(m_slider, 1);
  row->addWidget(m_spin);
  layout->addLayout(row);
  m_mass = captionLabel();
  m_mass->hide();
  layout->addWidget(m_mass);
  addGap(layout, 4);
  m_change = new QPushButton(ui::icon(Glyph::kPencil), tr("Options and parts…"));
  layout->addWidget(m_change);
  m_forNew = new QPushButton(tr("Use for new chats"));
  m_forNew->setToolTip(tr("What is chosen here holds for this chat only"));
  m_forNew->setObjectName(QStringLiteral("forNewChats"));
  layout->addWidget(m_forNew);
  setNewChatsDiffer(false);

  connect(this, &QToolButton::clicked, this, &MethodControl::openCard);
  connect(m_pick, &QPushButton::clicked, this, [this] {
    m_card->hide();
    Q_EMIT pickRequested();
  });
  connect(m_change, &QPushButton::clicked, this, [this] {
    m_card->hide();
    Q_EMIT changeRequested();
  });
  connect(m_forNew, &QPushButton::clicked, this, &MethodControl::useForNewRequested);
  const auto choose = [this](int percent) {
    if (percent != qRound(retention() * 100)) chooseRetention(percent / 100.0);
  };
  connect(m_slider, &QSlider::valueChanged, this, choose);
  connect(m_spin, &QSpinBox::valueChanged, this, choose);
  describe();
}

LaterChoice* MethodControl::addLaterChoice() {
  m_later = new LaterChoice;
  QVBoxLayout* layout = m_card->content();
  layout->insertWidget(layout->indexOf(m_change), m_later);
  layout->insertSpacing(layout->indexOf(m_change), theme().px(4));
  // The text on its cost may take a line more or less.
  connect(m_later, &LaterChoice::chosen, m_card, &PopupCard::place);
  describe();
  return m_later;
}

void MethodControl::setWatching(const std::optional<app::NamedRecipe>& recipe) {
  m_watching = recipe;
  if (m_later != nullptr) m_later->setWatching(recipe.has_value());
  describe();
}

void MethodControl::setTextAlone(bool textAlone) {
  if (std::exchange(m_textAlone, textAlone) != textAlone) describe();
}

void MethodControl::setLacking(const QString& why) {
  if (std::exchange(m_lacking, why) != why) describe();
}

void MethodControl::setNewChatsDiffer(bool differ) { m_forNew->setVisible(differ); }

void MethodControl::setRecipe(const app::NamedRecipe& recipe) {
  m_recipe = recipe;
  describe();
}

void MethodControl::chooseRetention(double share) {
  m_recipe.spec.retention = share;
  describe();
  Q_EMIT recipeChanged(m_recipe);
}

void MethodControl::setShare(double share) {
  if (m_slider->isEnabled()) chooseRetention(share);
}

void MethodControl::storeInEightBits() {
  m_recipe.spec.kv_bits = 8;
  describe();
  Q_EMIT recipeChanged(m_recipe);
}

void MethodControl::readTwice() {
  m_recipe.spec.prefill_passes = 2;
  describe();
  Q_EMIT recipeChanged(m_recipe);
}

void MethodControl::setRetainedMass(const std::vector<RetainedMass>& points) {
  m_points = points;
  describeMass();
}

QString MethodControl::massLine() const { return m_mass->isHidden() ? QString() : m_mass->text(); }

void MethodControl::describeMass() {
  const bool known = !m_points.empty() && m_slider->isEnabled();
  m_mass->setVisible(known);
  if (!known) return;
  const double share = m_recipe.spec.retention;
  const auto above =
      std::find_if(m_points.begin(), m_points.end(), [share](const RetainedMass& point) { return point.retention >= share; });
  double mass = above == m_points.end() ? m_points.back().mass : above->mass;
  if (above != m_points.end() && above != m_points.begin()) {
    const RetainedMass& below = *std::prev(above);
    mass = below.mass + (above->mass - below.mass) * (share - below.retention) / (above->retention - below.retention);
  }
  m_mass->setText(
      tr("This share keeps about %1 of the attention that this method counts. Measured on your last question about the same files.")
          .arg(app::formatShare(mass)));
}

void MethodControl::stepRetention(int percent) {
  const int now = std::clamp(qRound(retention() * 100) + percent, 1, 100);
  if (now == qRound(retention() * 100) || !m_slider->isEnabled()) return;
  chooseRetention(now / 100.0);
}

QString MethodControl::about() const { return m_about->text(); }

void MethodControl::describe() {
  const RecipeSpec& spec = m_recipe.spec;
  setText(m_watching ? tr("Watching: %1").arg(recipeLabel(m_methods, *m_watching)) : recipeLabel(m_methods, m_recipe));
  if (!m_lacking.isEmpty()) setText(tr("The server’s cache"));
  setEnabled(m_lacking.isEmpty());
  setToolTip(m_lacking.isEmpty() ? tr("Cache method and how much is kept (Ctrl+M)") : m_lacking.toHtmlEscaped());
  setAccessibleName(m_lacking.isEmpty() ? tr("Cache method: %1").arg(text()) : m_lacking);
  m_pick->setText(recipeTitle(m_methods, m_recipe));
  m_pick->setAccessibleName(tr("Cache method: %1. Choose another").arg(recipeTitle(m_methods, m_recipe)));
  const bool full = keeps_everything(spec);
  const bool byShare = !full && !spec.budget_tokens;
  for (QWidget* widget : {static_cast<QWidget*>(m_slider), static_cast<QWidget*>(m_spin), static_cast<QWidget*>(m_share)})
    widget->setEnabled(byShare);
  m_share->setText(spec.budget_tokens && !full ? tr("Kept: %1 per layer and head").arg(budgetText(spec)) : shareTitle(spec));
  const int percent = full ? 100 : std::clamp(qRound(spec.retention * 100), 1, 100);
  m_slider->blockSignals(true);
  m_spin->blockSignals(true);
  m_slider->setValue(percent);
  m_spin->setValue(percent);
  m_slider->blockSignals(false);
  m_spin->blockSignals(false);
  QStringList about;
  if (m_watching)
    about << tr("The watched source keeps using %1. This setting is for other questions.").arg(recipeLabel(m_methods, *m_watching));
  about << methodPurpose(spec.method);
  const RecipeTraits traits = winnow::describe(spec).value_or(RecipeTraits());
  if (!full && m_textAlone && (traits.before_question || traits.fetches))
    about << tr("This method compresses attachments. This chat has none and keeps everything.");
  if (const MethodInfo* method = findMethod(m_methods, spec.method)) {
    if (!full && method->query_aware)
      about << tr("Keeps what the current question needs. Later questions about something else may miss what was dropped.");
    if (!full) about << methodTags(*method).join(QStringLiteral(" · "));
  }
  const QStringList changes = recipeChanges(spec);
  if (!changes.isEmpty()) about << tr("Changed: %1").arg(changes.join(QStringLiteral(", ")));
  if (m_later != nullptr) m_later->setRecipe(spec);
  about.removeAll(QString());
  m_about->setText(about.join(QStringLiteral("\n\n")));  // thoughts of their own
  describeMass();
  updateGeometry();
}

QSize MethodControl::sizeHint() const {
  const QSize base = QToolButton::sizeHint();
  return QSize(base.width() + theme().px(8), std::max(base.height(), theme().px(32)));
}

void MethodControl::openCard() {
  if (m_lacking.isEmpty()) m_card->open(*m_pick);
}

void MethodControl::openLaterChoice() { m_card->open(m_later != nullptr ? *m_later->box() : static_cast<QWidget&>(*m_pick)); }

}  // namespace winnow::ui
