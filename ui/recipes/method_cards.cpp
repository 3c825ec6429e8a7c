#include "ui/recipes/method_cards.h"

#include <QListView>
#include <QPainter>
#include <algorithm>
#include <cmath>

#include "app/words/display_text.h"
#include "ui/recipes/recipe_words.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

QString cardText(const MethodCard& card) {
  QStringList parts{card.title, card.name, groupTitle(card.group)};
  parts << card.tags << card.problem << card.purpose << card.caution << card.source;
  parts.removeAll(QString());
  return parts.join(QStringLiteral(". "));
}

// Lays a card out from top to bottom; paints too when there is a painter. Returns the height. One function, so that both agree.
class CardLayout {
 public:
  CardLayout(const MethodCard& card, bool inUse, const QRectF& room, QPainter* painter)
      : m_card(card), m_inUse(inUse), m_painter(painter), m_left(room.left()), m_width(room.width()), m_y(room.top()) {}

  qreal run() {
    heading();
    tags();
    paragraph(m_card.problem, TextRole::kBody, theme().colors().text);
    paragraph(m_card.purpose, TextRole::kBody, ink());
    paragraph(m_card.caution, TextRole::kCaption, theme().colors().mutedText);
    paragraph(m_card.source, TextRole::kCaption, theme().colors().mutedText);
    return m_y;
  }

 private:
  // A method that cannot be used is grey, except for the reason.
  QColor ink() const { return m_card.problem.isEmpty() ? theme().colors().text : theme().colors().mutedText; }

  void heading() {
    const QFont strong = theme().font(TextRole::kStrong);
    const QFont small = theme().font(TextRole::kCaption);
    const QFontMetricsF metrics(strong), smallMetrics(small);
    const qreal mark = m_inUse ? theme().px(22) : 0.0;
    const qreal name = std::min(m_width * 0.4, std::ceil(smallMetrics.horizontalAdvance(m_card.name)));
    if (m_painter != nullptr) {
      if (m_inUse) paintGlyph(*m_painter, Glyph::kCheck, QRectF(m_left, m_y, theme().px(16), metrics.height()), theme().colors().accent);
      m_painter->setFont(strong);
      m_painter->setPen(ink());
      const qreal title = m_width - mark - name - theme().px(12);
      m_painter->drawText(QRectF(m_left + mark, m_y, title, metrics.height()), Qt::AlignLeft | Qt::AlignVCenter,
                          metrics.elidedText(m_card.title, Qt::ElideRight, title));
      m_painter->setFont(small);
      m_painter->setPen(theme().colors().mutedText);
      m_painter->drawText(QRectF(m_left + m_width - name, m_y, name, metrics.height()), Qt::AlignRight | Qt::AlignVCenter,
                          smallMetrics.elidedText(m_card.name, Qt::ElideRight, name));
    }
    m_y += metrics.height() + theme().px(6);
  }

  void tags() {
    const QFont font = theme().font(TextRole::kCaption);
    const QFontMetricsF metrics(font);
    const qreal high = metrics.height() + theme().px(4);
    const qreal gap = theme().px(6);
    qreal x = 0.0;
    for (const QString& tag : m_card.tags) {
      const qreal wide = std::min(m_width, std::ceil(metrics.horizontalAdvance(tag)) + theme().px(14));
      if (x > 0.0 && x + wide > m_width) {
        x = 0.0;
        m_y += high + theme().px(4);
      }
      if (m_painter != nullptr) {
        const QRectF rect(m_left + x, m_y, wide, high);
        m_painter->setPen(QPen(theme().colors().border, 1));
        m_painter->setBrush(theme().colors().raised);
        m_painter->drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), high / 2, high / 2);
        m_painter->setFont(font);
        m_painter->setPen(ink());
        m_painter->drawText(rect, Qt::AlignCenter, metrics.elidedText(tag, Qt::ElideRight, wide - theme().px(10)));
      }
      x += wide + gap;
    }
    if (!m_card.tags.isEmpty()) m_y += high + theme().px(8);
  }

  void paragraph(const QString& text, TextRole role, const QColor& color) {
    if (text.isEmpty()) return;
    const QFont font = theme().font(role);
    const QRectF bounds = QFontMetricsF(font).boundingRect(QRectF(0, 0, m_width, 1e5), Qt::TextWordWrap, text);
    if (m_painter != nullptr) {
      m_painter->setFont(font);
      m_painter->setPen(color);
      m_painter->drawText(QRectF(m_left, m_y, m_width, bounds.height()), Qt::TextWordWrap, text);
    }
    m_y += bounds.height() + theme().px(4);
  }

  const MethodCard& m_card;
  bool m_inUse;
  QPainter* m_painter;
  qreal m_left;
  qreal m_width;
  qreal m_y;
};

// Above the first card of a group.
qreal headingHeight() { return QFontMetricsF(theme().font(TextRole::kCaptionStrong)).height() + theme().px(16); }

int outerMargin() { return theme().px(4); }
int innerMargin() { return theme().px(12); }

}  // namespace

MethodCardModel::MethodCardModel(const std::vector<MethodInfo>& methods, std::optional<ModelTraits> model, QObject* parent)
    : QAbstractListModel(parent), m_methods(grouped(methods)), m_model(std::move(model)) {}

void MethodCardModel::add(MethodCard card) {
  const bool known = findMethod(m_methods, card.recipe.spec.method) != nullptr;
  if (const std::optional<Error> problem = known && m_model ? recipe_problem(card.recipe.spec, *m_model) : std::nullopt) {
    card.problem = tr("Not with this model: %1.").arg(app::displayText(QString::fromStdString(problem->reason)).simplified());
  }
  m_cards.push_back(std::move(card));
}

void MethodCardModel::setRecipes(const std::vector<app::NamedRecipe>& saved, double retention) {
  beginResetModel();
  m_cards.clear();
  const auto other =
      std::find_if(m_methods.begin(), m_methods.end(), [](const MethodInfo& method) { return groupOf(method) > MethodGroup::kSaved; });
  for (auto method = m_methods.begin(); method != other; ++method) addMethod(*method, retention);
  for (const app::NamedRecipe& recipe : saved) {
    MethodCard card{.recipe = recipe, .saved = true, .title = recipeLabel(m_methods, recipe), .name = tr("saved recipe")};
    const QString method = methodTitle(m_methods, recipe.spec.method);
    const QStringList changes = recipeChanges(recipe.spec);
    card.purpose = changes.isEmpty() ? method : tr("%1 with %2").arg(method, changes.join(QStringLiteral(", ")));
    if (const std::optional<RecipeTraits> traits = describe(recipe.spec)) {
      card.tags << phaseWords(traits->phase);
    } else if (findMethod(m_methods, recipe.spec.method) == nullptr) {
      card.caution = tr("This version of Winnow has no method of this name.");
    }
    add(std::move(card));
  }
  for (auto method = other; method != m_methods.end(); ++method) addMethod(*method, retention);
  rebuild();
  endResetModel();
}

void MethodCardModel::addMethod(const MethodInfo& method, double retention) {
  MethodCard card;
  card.recipe.spec.method = method.name;
  card.recipe.spec.retention = retention;
  card.group = groupOf(method);
  card.title = methodTitle(m_methods, method.name);
  card.name = app::displayText(QString::fromStdString(method.name));
  card.tags = methodTags(method);
  if (card.group == MethodGroup::kRecommended) card.tags.prepend(groupTitle(card.group));
  card.purpose = methodPurpose(method.name);
  const QString caution = methodCaution(method.name);
  if (!caution.isEmpty()) card.caution = tr("Limits: %1").arg(caution);
  card.source = app::displayText(QString::fromStdString(method.source));
  add(std::move(card));
}

void MethodCardModel::setFilter(const QString& words) {
  const QStringList wanted = words.simplified().split(QLatin1Char(' '), Qt::SkipEmptyParts);
  if (wanted == m_words) return;
  beginResetModel();
  m_words = wanted;
  rebuild();
  endResetModel();
}

void MethodCardModel::rebuild() {
  m_shown.clear();
  for (std::size_t i = 0; i < m_cards.size(); ++i) {
    const QString text = cardText(m_cards[i]);
    const bool all =
        std::all_of(m_words.begin(), m_words.end(), [&](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
    if (all) m_shown.push_back(i);
  }
}

bool MethodCardModel::same(const MethodCard& card, const app::NamedRecipe& recipe) const {
  if (card.saved) return card.recipe.name == recipe.name;
  // A name that is not saved (any more) stands for nothing.
  const bool named = !recipe.name.empty() && std::any_of(m_cards.begin(), m_cards.end(), [&](const MethodCard& other) {
    return other.saved && other.recipe.name == recipe.name;
  });
  return !named && card.recipe.spec.method == recipe.spec.method;
}

int MethodCardModel::rowOf(const app::NamedRecipe& recipe) const {
  for (int row = 0; row < rowCount(); ++row) {
    if (same(card(row), recipe)) return row;
  }
  return -1;
}

void MethodCardModel::setInUse(const app::NamedRecipe& recipe) { m_inUse = recipe; }
bool MethodCardModel::isInUse(int row) const { return same(card(row), m_inUse); }

int MethodCardModel::rowCount(const QModelIndex& parent) const { return parent.isValid() ? 0 : static_cast<int>(m_shown.size()); }

QVariant MethodCardModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid() || index.row() >= rowCount()) return {};
  if (role == Qt::DisplayRole) return card(index.row()).title;
  if (role == Qt::AccessibleTextRole) return cardText(card(index.row())) + (isInUse(index.row()) ? tr(". In use.") : QString());
  return {};
}

void MethodCardDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const {
  painter->save();
  painter->setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  const bool selected = option.state & QStyle::State_Selected;
  QRectF frame = QRectF(option.rect).adjusted(outerMargin(), outerMargin(), -outerMargin(), -outerMargin());
  if (m_model.beginsGroup(index.row())) {
    painter->setFont(theme().font(TextRole::kCaptionStrong));
    painter->setPen(c.mutedText);
    const QRectF heading(frame.left() + theme().px(4), frame.top(), frame.width() - theme().px(8), headingHeight());
    painter->drawText(
        heading, Qt::AlignLeft | Qt::AlignVCenter,
        QFontMetricsF(painter->font()).elidedText(groupTitle(m_model.card(index.row()).group), Qt::ElideRight, heading.width()));
    frame.setTop(heading.bottom());
  }
  painter->setPen(QPen(selected ? c.accent : c.border, selected ? 1.6 : 1.0));
  painter->setBrush(selected ? c.accentSoft : (option.state & QStyle::State_MouseOver) ? c.hover : c.surface);
  painter->drawRoundedRect(frame.adjusted(1, 1, -1, -1), theme().cornerRadius(), theme().cornerRadius());
  const qreal in = innerMargin();
  CardLayout(m_model.card(index.row()), m_model.isInUse(index.row()), frame.adjusted(in, in, -in, -in), painter).run();
  painter->restore();
}

QSize MethodCardDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const {
  const auto* view = qobject_cast<const QListView*>(option.widget);
  const int width = std::max(theme().px(160), view != nullptr ? view->viewport()->width() : theme().px(480));
  const qreal in = innerMargin() + outerMargin();
  const qreal height = CardLayout(m_model.card(index.row()), m_model.isInUse(index.row()), QRectF(0, 0, width - 2 * in, 0), nullptr).run();
  const qreal heading = m_model.beginsGroup(index.row()) ? headingHeight() : 0;
  return QSize(width, static_cast<int>(std::ceil(height + 2 * in + heading)));
}

}  // namespace winnow::ui
