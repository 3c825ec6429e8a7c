#include "ui/settings_view/sampling_form.h"

#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpressionValidator>
#include <QSignalBlocker>
#include <QSpinBox>
#include <algorithm>
#include <cmath>

#include "ui/settings_view/sampling_words.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kDecimals = 3;
constexpr double kSame = 0.0005;  // half of what a field can show

// Without zeros at the end.
class PlainNumberBox : public QDoubleSpinBox {
 public:
  using QDoubleSpinBox::QDoubleSpinBox;
  QString textFromValue(double value) const override { return locale().toString(value, 'g', 9); }
};

QDoubleSpinBox* numberBox(double least, double most, double step) {
  auto* box = new PlainNumberBox;
  box->setDecimals(kDecimals);
  box->setRange(least, most);
  box->setSingleStep(step);
  return box;
}

QSpinBox* wholeBox(int least, int most) {
  auto* box = new QSpinBox;
  box->setRange(least, most);
  return box;
}

template <class Value>
bool same(const std::optional<Value>& a, const std::optional<Value>& b) {
  return a == b;
}
bool same(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() == b.has_value() && (!a || std::abs(*a - *b) < kSame);
}

}  // namespace

QWidget* SamplingForm::addRow(QFormLayout& form, const QString& label, const QString& help, QWidget* field) {
  auto* name = new QLabel(label);
  name->setBuddy(field);
  name->setToolTip(help);
  field->setToolTip(help);
  QString plain = label;
  field->setAccessibleName(plain.remove(u'&'));
  field->setAccessibleDescription(help);
  form.addRow(name, field);
  m_labels.at(m_rows++) = name;
  return field;
}

SamplingForm::SamplingForm(QFormLayout& form, int mostNewTokens, QObject* parent) : QObject(parent) {
  m_temperature = numberBox(0.0, Sampling::kMostTemperature, 0.1);
  m_temperature->setSpecialValueText(tr("0: always the likeliest"));
  addRow(form, tr("&Temperature"), tr("0 takes the likeliest token each time; higher values draw more freely."), m_temperature);
  m_topK = wholeBox(0, Sampling::kMostTopK);
  m_topK->setSpecialValueText(tr("off"));
  addRow(form, tr("Top-&k"), tr("Draws among so many of the likeliest tokens only."), m_topK);
  m_topP = numberBox(0.0, 1.0, 0.05);
  addRow(form, tr("Top-&p"), tr("Draws among the likeliest tokens that together reach this probability; 1 is off."), m_topP);
  m_minP = numberBox(0.0, 1.0, 0.01);
  m_minP->setSpecialValueText(tr("off"));
  addRow(form, tr("&Min-p"), tr("Leaves out tokens that are less likely than this share of the likeliest."), m_minP);
  m_penalty = numberBox(Sampling::kLeastRepetitionPenalty, Sampling::kMostRepetitionPenalty, 0.05);
  addRow(form, tr("&Repetition penalty"), tr("Above 1, tokens that have come before become less likely; 1 is off."), m_penalty);
  m_seed = new QLineEdit;
  m_seed->setValidator(new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{0,19}")), m_seed));
  m_seed->setPlaceholderText(tr("another one for each answer"));
  addRow(form, tr("&Seed"), tr("The same seed draws the same answer again. Empty: another one for each answer."), m_seed);
  m_longest = wholeBox(1, mostNewTokens);
  addRow(form, tr("&Longest answer, in tokens"), tr("An answer that reaches it is cut there and can be continued."), m_longest);
  for (QDoubleSpinBox* box : {m_temperature, m_topP, m_minP, m_penalty})
    connect(box, &QDoubleSpinBox::valueChanged, this, &SamplingForm::changed);
  for (QSpinBox* box : {m_topK, m_longest}) connect(box, &QSpinBox::valueChanged, this, &SamplingForm::changed);
  connect(m_seed, &QLineEdit::textChanged, this, &SamplingForm::changed);
}

SamplingChoice SamplingForm::values() const {
  SamplingChoice values;
  values.temperature = m_temperature->value();
  values.top_k = m_topK->value();
  values.top_p = m_topP->value();
  values.min_p = m_minP->value();
  values.repetition_penalty = m_penalty->value();
  bool number = false;
  if (const quint64 seed = m_seed->text().toULongLong(&number); number) values.seed = seed;
  values.max_new_tokens = m_longest->value();
  return values;
}

void SamplingForm::setValues(const SamplingChoice& values) {
  {
    const QSignalBlocker blocker(this);
    if (values.temperature) m_temperature->setValue(*values.temperature);
    if (values.top_k) m_topK->setValue(*values.top_k);
    if (values.top_p) m_topP->setValue(*values.top_p);
    if (values.min_p) m_minP->setValue(*values.min_p);
    if (values.repetition_penalty) m_penalty->setValue(*values.repetition_penalty);
    m_seed->setText(values.seed ? QString::number(*values.seed) : QString());
    if (values.max_new_tokens) m_longest->setValue(*values.max_new_tokens);
  }
  Q_EMIT changed();
}

SamplingChoice SamplingForm::differing(const SamplingChoice& defaults) const {
  SamplingChoice differing = values();
  const auto keep = [](auto& value, const auto& otherwise) {
    if (same(value, otherwise)) value.reset();
  };
  keep(differing.temperature, defaults.temperature);
  keep(differing.top_k, defaults.top_k);
  keep(differing.top_p, defaults.top_p);
  keep(differing.min_p, defaults.min_p);
  keep(differing.repetition_penalty, defaults.repetition_penalty);
  keep(differing.seed, defaults.seed);
  keep(differing.max_new_tokens, defaults.max_new_tokens);
  return differing;
}

void SamplingForm::mark(const SamplingChoice& defaults) {
  std::size_t row = 0;
  const SamplingChoice differs = differing(defaults);
  visit_choices(differs, [&](const SamplingField&, const auto& value) {
    setTextRole(m_labels.at(row++), value ? TextRole::kStrong : TextRole::kBody);
  });
}

}  // namespace winnow::ui
