#include "ui/settings_view/sampling_form.h"

#include <QComboBox>
#include <QCoreApplication>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QRegularExpressionValidator>
#include <QSignalBlocker>
#include <QSpinBox>
#include <algorithm>
#include <cmath>

#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kDecimals = 3;
constexpr int kThoughtLimit = 512;  // that is offered first

// Rows of the choice of thoughts.
enum class Thinks : int { kAsTheModel = 0, kOff = 1, kOn = 2, kLimited = 3 };
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
  box->setGroupSeparatorShown(true);
  return box;
}

template <class Value>
bool same(const std::optional<Value>& a, const std::optional<Value>& b) {
  return a == b;
}
bool same(const std::optional<double>& a, const std::optional<double>& b) {
  return a.has_value() == b.has_value() && (!a || std::abs(*a - *b) < kSame);
}

class SamplingWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::SamplingWords)
};

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
  m_temperature->setSpecialValueText(tr("0 (always the most likely word)"));
  addRow(form, tr("&Temperature"), tr("0 always takes the most likely token. Higher values vary the answer more."), m_temperature);
  m_topK = wholeBox(0, Sampling::kMostTopK);
  m_topK->setSpecialValueText(tr("off"));
  addRow(form, tr("Top-&k"), tr("Samples from this many of the most likely tokens."), m_topK);
  m_topP = numberBox(0.0, 1.0, 0.05);
  addRow(form, tr("Top-&p"), tr("Samples from the most likely tokens that together reach this probability. 1 turns it off."), m_topP);
  m_minP = numberBox(0.0, 1.0, 0.01);
  m_minP->setSpecialValueText(tr("off"));
  addRow(form, tr("&Min-p"), tr("Leaves out tokens less likely than this share of the most likely one."), m_minP);
  m_penalty = numberBox(Sampling::kLeastRepetitionPenalty, Sampling::kMostRepetitionPenalty, 0.05);
  addRow(form, tr("&Repetition penalty"), tr("Values above 1 make repeated tokens less likely. 1 turns it off."), m_penalty);
  m_seed = new QLineEdit;
  m_seed->setValidator(new QRegularExpressionValidator(QRegularExpression(QStringLiteral("[0-9]{0,19}")), m_seed));
  m_seed->setPlaceholderText(tr("different for each answer"));
  addRow(form, tr("&Seed"), tr("The same seed samples the same answer again. Leave empty for a different one each time."), m_seed);
  m_longest = wholeBox(Sampling::kToTheEnd, mostNewTokens);
  m_longest->setSpecialValueText(tr("to its end (at most %L1)").arg(Sampling::kLongestUnasked));
  m_longest->setSingleStep(256);
  addRow(form, tr("&Longest answer, in tokens"),
         tr("An answer that reaches this length is cut and can be continued. 0 lets it go on to its end."), m_longest);
  auto* thoughts = new QWidget;
  auto* row = new QHBoxLayout(thoughts);
  row->setContentsMargins(0, 0, 0, 0);
  m_thinks = new QComboBox;
  m_thinks->addItems({tr("model's default"), tr("off"), tr("on"), tr("on, at most")});
  m_thoughtTokens = wholeBox(1, mostNewTokens);
  m_thoughtTokens->setValue(kThoughtLimit);
  m_thoughtTokens->setAccessibleName(tr("Most tokens for thinking"));
  m_thoughtTokens->hide();
  row->addWidget(m_thinks, 1);
  row->addWidget(m_thoughtTokens, 1);
  thoughts->setFocusProxy(m_thinks);
  m_thinks->setAccessibleName(tr("Thinking"));
  addRow(form, tr("T&hinking"),
         tr("Whether the model thinks before it answers, and for how many tokens at most. They count towards the longest answer."),
         thoughts);
  connect(m_thinks, &QComboBox::currentIndexChanged, this, [this](int choice) {
    m_thoughtTokens->setVisible(choice == static_cast<int>(Thinks::kLimited));
    Q_EMIT changed();
  });
  connect(m_thoughtTokens, &QSpinBox::valueChanged, this, &SamplingForm::changed);
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
  switch (static_cast<Thinks>(m_thinks->currentIndex())) {
    case Thinks::kAsTheModel: values.thought_tokens = Sampling::kAsManyThoughtsAsTheModel; break;
    case Thinks::kOff: values.thought_tokens = 0; break;
    case Thinks::kOn: values.thought_tokens = Sampling::kMostNewTokens; break;
    case Thinks::kLimited: values.thought_tokens = m_thoughtTokens->value(); break;
  }
  return values;
}

void SamplingForm::showThoughts(int tokens) {
  const Thinks choice = tokens < 0                           ? Thinks::kAsTheModel
                        : tokens == 0                        ? Thinks::kOff
                        : tokens == Sampling::kMostNewTokens ? Thinks::kOn
                                                             : Thinks::kLimited;
  m_thinks->setCurrentIndex(static_cast<int>(choice));
  if (choice == Thinks::kLimited) m_thoughtTokens->setValue(tokens);
}

void SamplingForm::setThinkingShown(bool shown) {
  m_thinks->parentWidget()->setVisible(shown);
  m_labels.back()->setVisible(shown);
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
    if (values.thought_tokens) showThoughts(*values.thought_tokens);
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
  keep(differing.thought_tokens, defaults.thought_tokens);
  return differing;
}

void SamplingForm::mark(const SamplingChoice& defaults) {
  std::size_t row = 0;
  const SamplingChoice differs = differing(defaults);
  visit_choices(differs, [&](const SamplingField&, const auto& value) {
    setTextRole(m_labels.at(row++), value ? TextRole::kStrong : TextRole::kBody);
  });
}

QString plainNumber(double value) { return QString::number(value, 'g', 6); }

QStringList samplingWords(const SamplingChoice& choice) {
  QStringList words;
  if (choice.temperature == 0.0) {
    words << SamplingWords::tr("always the most likely token");
  } else if (choice.temperature) {
    words << SamplingWords::tr("temperature %1").arg(plainNumber(*choice.temperature));
  }
  if (choice.top_k) words << (*choice.top_k == 0 ? SamplingWords::tr("no top-k") : SamplingWords::tr("top-k %1").arg(*choice.top_k));
  if (choice.top_p) words << SamplingWords::tr("top-p %1").arg(plainNumber(*choice.top_p));
  if (choice.min_p) words << SamplingWords::tr("min-p %1").arg(plainNumber(*choice.min_p));
  if (choice.repetition_penalty) words << SamplingWords::tr("repetition penalty %1").arg(plainNumber(*choice.repetition_penalty));
  if (choice.seed) words << SamplingWords::tr("seed %1").arg(*choice.seed);
  if (choice.max_new_tokens == Sampling::kToTheEnd) {
    words << SamplingWords::tr("answers to their end");
  } else if (choice.max_new_tokens) {
    words << SamplingWords::tr("at most %Ln token(s)", nullptr, *choice.max_new_tokens);
  }
  if (choice.thought_tokens == Sampling::kAsManyThoughtsAsTheModel) {
    words << SamplingWords::tr("thinking as the model's default");
  } else if (choice.thought_tokens == 0) {
    words << SamplingWords::tr("thinking off");
  } else if (choice.thought_tokens == Sampling::kMostNewTokens) {
    words << SamplingWords::tr("thinking on");
  } else if (choice.thought_tokens) {
    words << SamplingWords::tr("thinking for at most %Ln token(s)", nullptr, *choice.thought_tokens);
  }
  return words;
}

}  // namespace winnow::ui
