#include "ui/recipes/recipe_editor.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QDoubleSpinBox>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QRegularExpressionValidator>
#include <QScrollArea>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>

#include "app/words/display_text.h"
#include "ui/recipes/before_field.h"
#include "ui/recipes/method_texts.h"
#include "ui/recipes/option_field.h"
#include "ui/recipes/recipe_words.h"
#include "ui/theme/dialog_page.h"
#include "ui/theme/file_dialog.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kByShare = 0;
constexpr int kBySlots = 1;
constexpr int kMostTokens = 1 << 24;

QLabel* section(const QString& text) { return lineLabel(text, TextRole::kHeading); }

// Labels of one width, so that all fields begin on one line.
QLabel* fieldName(const QString& text) {
  auto* label = wrappedLabel(text);
  label->setFixedWidth(theme().px(140));
  return label;
}

// A control over its help.
QWidget* withHelp(QWidget* control, QLabel* help) {
  auto* both = new QWidget;
  auto* column = new QVBoxLayout(both);
  column->setContentsMargins(0, 0, 0, 0);
  setSpacing(column, 3);
  column->addWidget(control);
  column->addWidget(help);
  return both;
}

QComboBox* comboBox(const QString& name, const char* objectName) {
  auto* box = new QComboBox;
  box->setAccessibleName(name);
  box->setObjectName(QLatin1String(objectName));
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(18);
  return box;
}

// The setting that a refusal names, as this dialog calls it.
QString settingName(const std::string& subject) {
  const QString part = partTitle(subject);
  if (!part.isEmpty()) return part;
  if (const app::SettingText* setting = app::settingText(subject)) return settingTitle(*setting);
  if (subject == "turn_policy") return RecipeEditor::tr("Compressed turns");
  if (subject == "retention" || subject == "budget") return RecipeEditor::tr("Budget");
  if (subject == "profile") return RecipeEditor::tr("Option profile");
  return RecipeEditor::tr("Method");
}

}  // namespace

RecipeEditor::RecipeEditor(const std::vector<MethodInfo>& methods, app::Settings& settings, const app::NamedRecipe& start,
                           ModelTraits model, QWidget* parent)
    : QDialog(parent), m_methods(methods), m_partList(list_parts()), m_settings(settings), m_model(std::move(model)) {
  setWindowTitle(tr("Recipe"));
  setAttribute(Qt::WA_DeleteOnClose);
  auto* outer = new QVBoxLayout(this);
  auto* page = new QWidget;
  m_form = formOn(page);
  m_form->setHorizontalSpacing(theme().px(16));
  buildForm();
  m_scroll = scrolling(page);
  m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  outer->addWidget(m_scroll, 1);

  m_verdict = wrappedLabel();
  m_verdict->setAccessibleName(tr("Verdict"));
  outer->addWidget(m_verdict);

  m_export = new QPushButton(tr("Export…"));
  m_save = new QPushButton(tr("Save"));
  auto* cancel = new QPushButton(tr("Cancel"));
  m_use = new QPushButton(tr("Use"));
  setPrimary(m_use);
  m_use->setDefault(true);
  for (QPushButton* button : {m_export, m_save, cancel}) button->setAutoDefault(false);
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(m_export);
  buttons->addStretch(1);
  for (QPushButton* button : {cancel, m_save, m_use}) buttons->addWidget(button);
  outer->addLayout(buttons);
  connect(m_export, &QPushButton::clicked, this, &RecipeEditor::browse);
  connect(m_save, &QPushButton::clicked, this, &RecipeEditor::save);
  connect(m_use, &QPushButton::clicked, this, &RecipeEditor::use);
  connect(cancel, &QPushButton::clicked, this, &RecipeEditor::reject);
  if (parent != nullptr) {
    resize(std::min(theme().px(640), parent->window()->width() - theme().px(24)),
           std::min(theme().px(700), parent->window()->height() - theme().px(24)));
  }
  connect(&theme(), &Theme::changed, this, &RecipeEditor::judge);
  fill(start);
  m_method->setFocus();
}

void RecipeEditor::buildForm() {
  const auto judged = [this] { judge(); };
  m_name = new QLineEdit;
  m_name->setMaxLength(60);
  m_name->setPlaceholderText(tr("Name (needed to save)"));
  m_name->setAccessibleName(tr("Name of the recipe"));
  m_name->setObjectName(QStringLiteral("name"));
  m_form->addRow(fieldName(tr("Name")), m_name);
  connect(m_name, &QLineEdit::textChanged, this, judged);

  m_method = comboBox(tr("Method to start from"), "method");
  for (const MethodInfo& method : grouped(m_methods))
    m_method->addItem(methodTitle(m_methods, method.name), QString::fromStdString(method.name));
  m_methodHelp = captionLabel();
  m_form->addRow(fieldName(tr("Start from")), withHelp(m_method, m_methodHelp));
  connect(m_method, &QComboBox::currentIndexChanged, this, &RecipeEditor::methodChanged);

  m_budgetKind = comboBox(tr("Kind of budget"), "budget kind");
  m_budgetKind->addItem(tr("A share of the cache"));
  m_budgetKind->addItem(tr("A number of slots per layer and head"));
  m_budgetKind->setMinimumContentsLength(8);  // shares its line with the number: both have to fit with wide letters too
  m_share = new QDoubleSpinBox;
  m_share->setRange(0.1, 100.0);
  m_share->setDecimals(1);
  m_share->setSuffix(tr(" %"));
  m_share->setAccessibleName(tr("Share of the cache to keep, in percent"));
  m_share->setObjectName(QStringLiteral("share"));
  m_slots = new QSpinBox;
  m_slots->setRange(1, kMostTokens);
  m_slots->setGroupSeparatorShown(true);
  m_slots->setAccessibleName(tr("Slots per layer and key-value head"));
  m_slots->setObjectName(QStringLiteral("slots"));
  auto* budget = new QWidget;
  auto* row = new QHBoxLayout(budget);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(m_budgetKind, 1);
  row->addWidget(m_share);
  row->addWidget(m_slots);
  m_form->addRow(fieldName(tr("Budget")), budget);
  connect(m_budgetKind, &QComboBox::currentIndexChanged, this, judged);
  connect(m_share, &QDoubleSpinBox::valueChanged, this, [this](double percent) {
    if (!m_filling) m_exactRetention = percent / 100.0;
    judge();
  });
  connect(m_slots, &QSpinBox::valueChanged, this, judged);

  m_before = new BeforeField;
  m_form->addRow(fieldName(settingTitle(*app::settingText("before"))), m_before);
  connect(m_before, &BeforeField::changed, this, judged);

  m_form->addRow(section(tr("Options of the method")));
  m_noOptions = captionLabel(tr("This method has no options."));
  m_form->addRow(m_noOptions);

  m_form->addRow(section(tr("Parts")));
  for (const auto& [kind, field] : kPartSettings) {
    Part part{kind, field, comboBox(partTitle(kind), kind), captionLabel()};
    m_form->addRow(fieldName(partTitle(kind)), withHelp(part.box, part.help));
    connect(part.box, &QComboBox::currentIndexChanged, this, judged);
    m_parts.push_back(part);
  }

  m_form->addRow(section(tr("When")));
  m_turns = comboBox(tr("Compressed turns"), "turns");
  m_turns->addItem(tr("What each question adds"), int(TurnPolicy::kSegment));
  m_turns->addItem(tr("Everything, at each question"), int(TurnPolicy::kWhole));
  m_turns->addItem(tr("Only the first question with pictures"), int(TurnPolicy::kFirstOnly));
  m_form->addRow(fieldName(tr("Compressed turns")), m_turns);
  connect(m_turns, &QComboBox::currentIndexChanged, this, judged);
  for (const WholeSetting& setting : kWholeSettings) {
    const app::SettingText& text = *app::settingText(setting.name);
    QLabel* help = captionLabel(settingHelp(text));
    m_form->addRow(fieldName(settingTitle(text)), withHelp(fieldOf(setting, text), help));
  }
  m_seed = new QLineEdit;
  m_seed->setValidator(new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{1,20}")), m_seed));
  m_seed->setAccessibleName(tr("Seed"));
  m_seed->setObjectName(QStringLiteral("seed"));
  QLabel* seedHelp = captionLabel(tr("Only for methods that draw random numbers."));
  m_form->addRow(fieldName(tr("Seed")), withHelp(m_seed, seedHelp));
  connect(m_seed, &QLineEdit::textChanged, this, judged);
}

QWidget* RecipeEditor::fieldOf(const WholeSetting& setting, const app::SettingText& text) {
  QWidget* field = nullptr;
  if (setting.words.empty()) {
    auto* number = new QSpinBox;
    number->setRange(setting.least, std::min(setting.most, kMostTokens));
    number->setGroupSeparatorShown(true);
    number->setAccessibleName(settingTitle(text));
    number->setObjectName(QLatin1String(setting.name));
    connect(number, &QSpinBox::valueChanged, this, [this] { judge(); });
    m_numbers.push_back({setting.value, number});
    field = number;
  } else {
    auto* choice = comboBox(settingTitle(text), setting.name);
    for (std::size_t i = 0; i < setting.words.size(); ++i) choice->addItem(settingChoice(text, i), setting.words[i].value);
    connect(choice, &QComboBox::currentIndexChanged, this, [this] { judge(); });
    m_choices.push_back({setting.value, choice});
    field = choice;
  }
  field->setAccessibleDescription(settingHelp(text));
  return field;
}

void RecipeEditor::fill(const app::NamedRecipe& recipe) {
  m_filling = true;
  const RecipeSpec& spec = recipe.spec;
  m_name->setText(QString::fromStdString(recipe.name));
  m_method->setCurrentIndex(std::max(0, m_method->findData(QString::fromStdString(spec.method))));
  m_budgetKind->setCurrentIndex(spec.budget_tokens ? kBySlots : kByShare);
  m_exactRetention = spec.retention;
  m_share->setValue(spec.retention * 100.0);
  m_slots->setValue(spec.budget_tokens.value_or(256));
  m_before->setValue(spec.before);
  m_turns->setCurrentIndex(std::max(0, m_turns->findData(int(spec.turn_policy))));
  for (const Number& number : m_numbers) number.box->setValue(spec.*number.field);
  for (const Choice& choice : m_choices) choice.box->setCurrentIndex(std::max(0, choice.box->findData(spec.*choice.field)));
  m_seed->setText(QString::number(static_cast<qulonglong>(spec.seed)));
  fillOptions(spec);
  fillParts(spec);
  m_filling = false;
  judge();
}

void RecipeEditor::methodChanged() {
  if (m_filling) return;
  m_filling = true;
  RecipeSpec spec = recipe().spec;
  spec.options.clear();  // of the method before
  fillOptions(spec);
  fillParts(spec);  // parts from elsewhere stay
  m_filling = false;
  judge();
}

void RecipeEditor::fillOptions(const RecipeSpec& spec) {
  while (!m_options.empty()) removeOption(m_options.size() - 1);
  showOptions(spec);
}

void RecipeEditor::removeOption(std::size_t at) {
  m_form->removeRow(m_options[at]);
  m_options.erase(m_options.begin() + static_cast<std::ptrdiff_t>(at));
}

// Fields that stay keep their place, their text and the focus.
void RecipeEditor::showOptions(const RecipeSpec& spec) {
  const std::vector<OptionInfo> wanted = method_options(m_method->currentData().toString().toStdString(), spec.options);
  for (std::size_t at = m_options.size(); at-- > 0;) {
    if (std::find(wanted.begin(), wanted.end(), m_options[at]->option()) == wanted.end()) removeOption(at);
  }
  int above = -1;
  m_form->getWidgetPosition(m_noOptions, &above, nullptr);
  for (std::size_t at = 0; at < wanted.size(); ++at) {
    const OptionInfo& option = wanted[at];
    if (at < m_options.size() && m_options[at]->option() == option) continue;
    auto* field = new OptionField(option);
    if (const auto set = spec.options.find(option.name); set != spec.options.end()) field->setValue(set->second);
    connect(field, &OptionField::changed, this, &RecipeEditor::optionChanged);
    QLabel* name = fieldName(optionTitle(option.name));
    name->setToolTip(QString::fromStdString(option.name));  // as in recipe files and the terminal
    m_form->insertRow(above + 1 + static_cast<int>(at), name, field);
    m_options.insert(m_options.begin() + static_cast<std::ptrdiff_t>(at), field);
  }
  QWidget* before = m_slots;
  for (const OptionField* field : m_options) {
    setTabOrder(before, field->control());
    before = field->control();
  }
  m_noOptions->setVisible(m_options.empty());
  settleForm();
}

// New rows know their heights once they are shown. A form asked for its height in between takes its old places for settled (Qt 6.4), so
// that rows stay squeezed: the page gets its height first, and then its rows their places.
void RecipeEditor::settleForm() {
  if (!isVisible()) return;
  for (OptionField* field : m_options) field->show();
  QCoreApplication::sendPostedEvents(nullptr, QEvent::LayoutRequest);
  m_form->invalidate();
  m_form->activate();
}

void RecipeEditor::optionChanged() {
  if (m_filling) return;
  showOptions(recipe().spec);
  judge();
}

void RecipeEditor::fillParts(const RecipeSpec& spec) {
  const std::string method = m_method->currentData().toString().toStdString();
  for (const Part& part : m_parts) {
    part.box->clear();
    QString own;
    for (const PartInfo& info : m_partList) {
      if (info.kind == part.kind && std::find(info.presets.begin(), info.presets.end(), method) != info.presets.end())
        own = QString::fromStdString(info.name);
    }
    part.box->addItem(own.isEmpty() ? tr("The method's own") : tr("The method's own: %1").arg(own), QString());
    for (const PartInfo& info : m_partList) {
      if (info.kind != part.kind) continue;
      const QString name = QString::fromStdString(info.name);
      part.box->addItem(name, name);
      // Options that belong to a score (protected tokens) or to merging (thresholds) differ between methods that have the same part.
      const bool differs = std::string(part.kind) == "scorer" || std::string(part.kind) == "reducer";
      if (!differs || info.presets.size() < 2 || info.name == "drop") continue;
      for (const std::string& preset : info.presets) {
        part.box->addItem(tr("%1, as in %2").arg(name, methodTitle(m_methods, preset)), QString::fromStdString(preset));
      }
    }
    const QString wanted = QString::fromStdString(spec.*part.field);
    if (part.box->findData(wanted) < 0) part.box->addItem(app::displayText(wanted), wanted);
    part.box->setCurrentIndex(part.box->findData(wanted));
  }
}

QComboBox* RecipeEditor::partBox(const std::string& kind) const {
  for (const Part& part : m_parts) {
    if (kind == part.kind) return part.box;
  }
  return nullptr;
}

app::NamedRecipe RecipeEditor::recipe() const {
  app::NamedRecipe recipe{.name = m_name->text().simplified().toStdString()};
  RecipeSpec& spec = recipe.spec;
  spec.method = m_method->currentData().toString().toStdString();
  spec.retention = m_exactRetention;
  if (m_budgetKind->currentIndex() == kBySlots) spec.budget_tokens = m_slots->value();
  spec.before = m_before->value();
  for (const Number& number : m_numbers) spec.*number.field = number.box->value();
  for (const Choice& choice : m_choices) spec.*choice.field = choice.box->currentData().toInt();
  spec.turn_policy = static_cast<TurnPolicy>(m_turns->currentData().toInt());
  spec.seed = m_seed->text().toULongLong();
  for (const OptionField* field : m_options) {
    if (!field->isDefault()) spec.options[field->option().name] = field->value();
  }
  for (const Part& part : m_parts) spec.*part.field = part.box->currentData().toString().toStdString();
  return recipe;
}

QString RecipeEditor::verdict() const { return m_verdict->text(); }

void RecipeEditor::tell(const QString& text, bool warning) {
  m_verdict->setText(text);
  QPalette palette = m_verdict->palette();
  palette.setColor(QPalette::WindowText, warning ? theme().colors().danger : theme().colors().mutedText);
  m_verdict->setPalette(palette);
}

void RecipeEditor::judge() {
  if (m_filling) return;
  const app::NamedRecipe now = recipe();
  m_methodHelp->setText(methodPurpose(now.spec.method));
  m_share->setVisible(m_budgetKind->currentIndex() == kByShare);
  m_slots->setVisible(m_budgetKind->currentIndex() == kBySlots);
  for (const Part& part : m_parts) {
    std::string name = now.spec.*part.field;
    const std::string& from = name.empty() ? now.spec.method : name;
    for (const PartInfo& info : m_partList) {
      if (info.kind == part.kind && std::find(info.presets.begin(), info.presets.end(), from) != info.presets.end()) name = info.name;
    }
    part.help->setText(partHelp(part.kind, name));
    part.help->setVisible(!part.help->text().isEmpty());
  }
  const std::optional<Error> problem = recipe_problem(now.spec, m_model);
  m_legal = !problem;
  if (problem) {
    QString reason = app::displayText(QString::fromStdString(problem->reason)).simplified();
    tell(tr("%1: %2.").arg(settingName(problem->subject), reason), true);
  } else {
    const std::vector<app::NamedRecipe> saved = m_settings.savedRecipes();
    const auto same = std::find_if(saved.begin(), saved.end(), [&](const app::NamedRecipe& other) { return other.name == now.name; });
    if (now.name.empty())
      tell(tr("These parts fit together."), false);
    else if (same == saved.end())
      tell(tr("These parts fit together. Not saved yet."), false);
    else if (*same == now)
      tell(tr("These parts fit together. Saved."), false);
    else
      tell(tr("These parts fit together. Saving replaces “%1”.").arg(app::displayText(QString::fromStdString(now.name))), false);
  }
  m_use->setEnabled(m_legal);
  m_export->setEnabled(m_legal);
  m_save->setEnabled(m_legal && !now.name.empty());
  m_save->setToolTip(now.name.empty() ? tr("Give it a name first") : QString());
}

void RecipeEditor::save() {
  if (m_settings.saveRecipe(recipe())) {
    judge();
  } else {
    tell(tr("You already have %1 saved recipes, the most Winnow keeps. Delete one first.").arg(app::kMaxSavedRecipes), true);
  }
}

void RecipeEditor::use() {
  if (!m_legal) return;
  app::NamedRecipe chosen = recipe();
  // A name means what is saved under it.
  const std::vector<app::NamedRecipe> saved = m_settings.savedRecipes();
  if (std::find(saved.begin(), saved.end(), chosen) == saved.end()) chosen.name.clear();
  Q_EMIT applied(chosen);
  accept();
}

void RecipeEditor::browse() {
  QFileDialog* dialog = saveDialog(this, tr("Export the recipe"), {});
  dialog->setNameFilters({tr("Recipes (*.json)")});
  dialog->setDefaultSuffix(QStringLiteral("json"));
  connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& file) { exportTo(QFile::encodeName(file)); });
  dialog->open();
}

void RecipeEditor::exportTo(const QByteArray& path) {
  const QString file = app::displayText(QFileInfo(QFile::decodeName(path)).fileName());
  try {
    app::writeRecipeFile(path.toStdString(), recipe());
    tell(tr("Written to “%1”. winnow-cli reads it with --recipe.").arg(file), false);
  } catch (const Exception& exception) {
    tell(tr("“%1” cannot be written: %2.").arg(file, app::displayText(QString::fromStdString(exception.error().reason))), true);
  }
}

}  // namespace winnow::ui
