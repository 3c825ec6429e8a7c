#include "ui/compare/comparison_setup.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTimer>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/words/display_text.h"
#include "ui/composer/method_control.h"
#include "ui/recipes/method_picker.h"
#include "ui/recipes/recipe_editor.h"
#include "ui/recipes/recipe_words.h"
#include "ui/theme/dialog_page.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/rooms.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kLowWindowUnits = 430;  // of the window
constexpr int kGapUnits = 6;          // to the composer below

// One method of the set: its button and the one that leaves it out, on one ground.
class Chip : public QWidget {
 public:
  using QWidget::QWidget;

 protected:
  void paintEvent(QPaintEvent*) override {
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(theme().colors().raised);
    painter.setPen(QPen(theme().colors().border, 1));
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), theme().cornerRadius(), theme().cornerRadius());
  }
};

// All lines of methods where there is room: QScrollArea's own hint is that of the page it was made with.
class ChipArea : public QScrollArea {
 public:
  QSize sizeHint() const override { return {QScrollArea::sizeHint().width(), maximumHeight()}; }
};

app::NamedRecipe preset(const char* method, double retention) { return {.spec = {.method = method, .retention = retention}}; }

}  // namespace

ComparisonSetup::ComparisonSetup(std::vector<MethodInfo> methods, app::Settings& settings, QWidget* parent)
    : QFrame(parent), m_methods(std::move(methods)), m_settings(settings) {
  setAccessibleName(tr("Methods to compare"));
  auto* layout = new QVBoxLayout(this);
  setMargins(layout, 12, 8, 8, 8 + kGapUnits);
  setSpacing(layout, 6);
  auto* top = new QHBoxLayout;
  m_title = new ElidedLabel(Qt::ElideRight);
  setTextRole(m_title, TextRole::kStrong);
  m_close = new QToolButton;
  m_close->setAutoRaise(true);
  m_close->setIcon(icon(Glyph::kClose, IconColor::kMuted));
  m_close->setToolTip(tr("Close without comparing (Esc)"));
  m_close->setAccessibleName(tr("Close without comparing"));
  top->addWidget(m_title, 1);
  top->addWidget(m_close);
  layout->addLayout(top);
  auto* chips = new QWidget;
  m_grid = new QGridLayout(chips);
  m_grid->setContentsMargins(0, 0, 0, 0);
  setSpacing(m_grid, 6);
  m_chips = scrolling<ChipArea>(chips);
  m_chips->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_chips->viewport()->setAutoFillBackground(false);
  chips->setAutoFillBackground(false);
  m_add = new QToolButton(chips);  // a child from the start: shown without a parent it would be a window
  m_add->setAutoRaise(true);
  m_add->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  m_add->setIcon(icon(Glyph::kPlus, IconColor::kMuted));
  m_add->setText(tr("Add a method"));
  layout->addWidget(m_chips);
  m_problem = wrappedLabel(QString(), TextRole::kCaption);
  m_problem->hide();
  layout->addWidget(m_problem);
  auto* bottom = new QHBoxLayout;
  setSpacing(bottom, 8);
  m_order = new QComboBox;
  m_order->setAccessibleName(tr("How the answers are written"));
  m_order->view()->setAccessibleName(m_order->accessibleName());
  m_order->addItem(tr("One by one (true speed)"), static_cast<int>(ColumnOrder::kOneAfterAnother));
  m_order->addItem(tr("All at once (to watch)"), static_cast<int>(ColumnOrder::kInterleaved));
  m_order->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);  // gives way in a small window
  m_compare = new QPushButton(tr("Compare"));
  setPrimary(m_compare);
  bottom->addWidget(m_order, 10);
  bottom->addStretch(1);
  bottom->addWidget(m_compare);
  layout->addLayout(bottom);

  connect(m_close, &QToolButton::clicked, this, &ComparisonSetup::closeRequested);
  connect(m_add, &QToolButton::clicked, this, [this] {
    addRow(furtherRecipe());
    changed();
    m_rows.back().control->setFocus(Qt::ShortcutFocusReason);
  });
  connect(m_compare, &QPushButton::clicked, this, &ComparisonSetup::compareRequested);
  connect(m_order, &QComboBox::activated, this, [this] { m_settings.setComparisonOrder(order()); });
  connect(&theme(), &Theme::changed, this, [this] {
    changed();
    update();
    // Fonts reach the controls after this signal.
    QTimer::singleShot(0, this, &ComparisonSetup::arrange);
  });
  hide();
}

void ComparisonSetup::open(const app::NamedRecipe& current) {
  std::vector<app::NamedRecipe> recipes = m_settings.comparedRecipes();
  if (recipes.size() < std::size_t{kFewest}) {
    recipes = {preset("full", 1.0)};
    recipes.push_back(keeps_everything(current.spec) ? preset("vl-cache", 0.1) : current);
    if (recipes.back().spec.method != "snapkv") recipes.push_back(preset("snapkv", 0.1));
  }
  if (recipes.size() > std::size_t{kMost}) recipes.resize(kMost);
  for (const Row& row : m_rows) delete row.frame;
  m_rows.clear();
  for (const app::NamedRecipe& recipe : recipes) addRow(recipe);
  m_order->setCurrentIndex(m_order->findData(static_cast<int>(m_settings.comparisonOrder())));
  changed();
  show();
}

std::vector<app::NamedRecipe> ComparisonSetup::recipes() const {
  std::vector<app::NamedRecipe> recipes;
  for (const Row& row : m_rows) recipes.push_back(row.control->recipe());
  return recipes;
}

ColumnOrder ComparisonSetup::order() const { return static_cast<ColumnOrder>(m_order->currentData().toInt()); }

void ComparisonSetup::setAsksAgain(bool again) {
  m_asksAgain = again;
  m_title->setText(again ? tr("Compare methods on the last question") : tr("Compare methods on this question"));
}

void ComparisonSetup::setBlocked(const QString& reason) {
  m_blocked = reason;
  m_compare->setEnabled(m_blocked.isEmpty() && m_problemText.isEmpty());
  m_compare->setToolTip(m_blocked.isEmpty() ? tr("Ask once and get an answer with each method (Enter in the box)") : m_blocked);
}

// One that is not there yet, from the common ones.
app::NamedRecipe ComparisonSetup::furtherRecipe() const {
  const std::vector<app::NamedRecipe> present = recipes();
  for (const char* method : {"vl-cache", "snapkv", "aircache", "streaming-llm", "full"}) {
    app::NamedRecipe further = preset(method, 0.1);
    const bool there =
        std::any_of(present.begin(), present.end(), [&](const app::NamedRecipe& each) { return each.spec.method == further.spec.method; });
    if (!there) return further;
  }
  return preset("random", 0.1);
}

void ComparisonSetup::addRow(const app::NamedRecipe& recipe) {
  Row row{.frame = new Chip(m_chips->widget())};
  auto* layout = new QHBoxLayout(row.frame);
  layout->setContentsMargins(0, 0, 0, 0);
  setSpacing(layout, 0);
  row.control = new MethodControl(m_methods);
  row.control->setToolTip(tr("Method and how much is kept"));
  row.remove = new QToolButton;
  row.remove->setAutoRaise(true);
  row.remove->setIcon(icon(Glyph::kClose, IconColor::kMuted));
  row.remove->setToolTip(tr("Remove this method"));
  layout->addWidget(row.control);
  layout->addWidget(row.remove);
  connect(row.control, &MethodControl::recipeChanged, this, &ComparisonSetup::changed);
  connect(row.control, &MethodControl::pickRequested, this, [this, control = row.control] { pick(control); });
  connect(row.control, &MethodControl::changeRequested, this, [this, control = row.control] { change(control, control->recipe()); });
  connect(row.remove, &QToolButton::clicked, this, [this, frame = row.frame] { removeRow(frame); });
  row.control->setRecipe(recipe);
  m_rows.push_back(row);
}

void ComparisonSetup::removeRow(QWidget* frame) {
  if (count() <= kFewest) return;
  std::erase_if(m_rows, [frame](const Row& row) { return row.frame == frame; });
  m_rows.back().control->setFocus(Qt::ShortcutFocusReason);
  frame->hide();
  frame->deleteLater();
  changed();
}

void ComparisonSetup::setRecipe(MethodControl* control, const app::NamedRecipe& recipe) {
  control->setRecipe(recipe);
  changed();
  control->setFocus(Qt::ShortcutFocusReason);
}

void ComparisonSetup::pick(MethodControl* control) {
  auto* picker = new MethodPicker(m_methods, m_settings, control->recipe(), m_model, window());
  // The row may be gone when the dialog ends: connections end with it.
  connect(picker, &MethodPicker::chosen, control, [this, control](const app::NamedRecipe& recipe) { setRecipe(control, recipe); });
  connect(picker, &MethodPicker::changeRequested, control, [this, control](const app::NamedRecipe& recipe) { change(control, recipe); });
  enterRoom(picker);
}

void ComparisonSetup::change(MethodControl* control, const app::NamedRecipe& start) {
  auto* editor = new RecipeEditor(m_methods, m_settings, start, m_model.value_or(ModelTraits()), window());
  connect(editor, &RecipeEditor::applied, control, [this, control](const app::NamedRecipe& recipe) { setRecipe(control, recipe); });
  enterRoom(editor);
}

void ComparisonSetup::changed() {
  m_problemText.clear();
  const std::vector<app::NamedRecipe> all = recipes();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RecipeSpec& spec = all[i].spec;
    const bool twice = std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i), [&](const app::NamedRecipe& other) {
      return other.spec == spec || (keeps_everything(other.spec) && keeps_everything(spec));
    });
    if (twice) {
      m_problemText = tr("%1 is listed twice.").arg(recipeLabel(m_methods, all[i]));
    } else if (const std::optional<Error> problem = recipe_problem(spec, m_model.value_or(ModelTraits()))) {
      m_problemText =
          tr("%1 cannot be used: %2.").arg(recipeLabel(m_methods, all[i]), app::displayText(QString::fromStdString(problem->reason)));
    }
    if (!m_problemText.isEmpty()) break;
  }
  m_problem->setText(m_problemText);
  m_problem->setVisible(!m_problemText.isEmpty());
  QPalette palette = m_problem->palette();
  palette.setColor(QPalette::WindowText, theme().colors().danger);
  m_problem->setPalette(palette);
  for (const Row& row : m_rows) {
    row.remove->setEnabled(count() > kFewest);
    row.remove->setAccessibleName(tr("Remove %1").arg(row.control->text()));
  }
  m_add->setVisible(count() < kMost);
  if (m_problemText.isEmpty() && !all.empty()) m_settings.setComparedRecipes(all);
  setAsksAgain(m_asksAgain);
  setBlocked(m_blocked);
  arrange();
}

// Puts as many side by side as fit.
void ComparisonSetup::arrange() {
  if (m_rows.empty()) return;  // never opened
  std::vector<QWidget*> items;
  int widest = 1;
  for (const Row& row : m_rows) items.push_back(row.frame);
  if (!m_add->isHidden()) items.push_back(m_add);
  for (const QWidget* item : items) widest = std::max(widest, item->sizeHint().width() + m_grid->spacing());
  const int room =
      width() - layout()->contentsMargins().left() - layout()->contentsMargins().right() - m_chips->verticalScrollBar()->sizeHint().width();
  const int perLine = std::clamp(room / widest, 1, static_cast<int>(items.size()));
  while (m_grid->count() > 0) delete m_grid->takeAt(0);
  for (int column = 0; column < m_grid->columnCount(); ++column) m_grid->setColumnStretch(column, 0);
  QWidget* before = nullptr;
  for (int i = 0; i < static_cast<int>(items.size()); ++i) {
    m_grid->addWidget(items[static_cast<std::size_t>(i)], i / perLine, i % perLine, Qt::AlignLeft | Qt::AlignVCenter);
    items[static_cast<std::size_t>(i)]->show();
    if (before != nullptr) setTabOrder(before, items[static_cast<std::size_t>(i)]);
    before = items[static_cast<std::size_t>(i)];
  }
  m_grid->setColumnStretch(perLine, 1);
  m_title->setVisible(!low());
  m_close->setVisible(!low());
  const int lines = (static_cast<int>(items.size()) + perLine - 1) / perLine;
  int line = 1;
  for (const QWidget* item : items) line = std::max(line, item->sizeHint().height());
  const int all = lines * line + (lines - 1) * m_grid->spacing();
  m_chips->setMinimumHeight(line);
  m_chips->setMaximumHeight(all);
  m_order->setMaximumWidth(m_order->fontMetrics().horizontalAdvance(m_order->itemText(0)) + theme().px(56));
  updateGeometry();
}

bool ComparisonSetup::low() const { return window()->height() < theme().px(kLowWindowUnits); }

void ComparisonSetup::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  arrange();
}

void ComparisonSetup::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  painter.setBrush(c.surface);
  painter.setPen(QPen(c.border, 1));
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5 - theme().px(kGapUnits)), theme().px(14), theme().px(14));
}

}  // namespace winnow::ui
