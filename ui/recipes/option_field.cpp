#include "ui/recipes/option_field.h"

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <limits>
#include <utility>

#include "ui/recipes/method_texts.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr double kLeast = std::numeric_limits<int>::min();
constexpr double kMost = std::numeric_limits<int>::max();

}  // namespace

OptionField::OptionField(OptionInfo option, QWidget* parent) : QWidget(parent), m_option(std::move(option)) {
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  setSpacing(layout, 3);
  const QString name = QString::fromStdString(m_option.name);
  switch (m_option.type) {
    case OptionType::kWhole:
      m_number = new QSpinBox;
      m_number->setRange(static_cast<int>(std::max(kLeast, m_option.low)), static_cast<int>(std::min(kMost, m_option.high)));
      m_number->setGroupSeparatorShown(true);
      m_number->setSingleStep(m_option.odd ? 2 : 1);
      connect(m_number, &QSpinBox::valueChanged, this, &OptionField::changed);
      break;
    case OptionType::kChoice:
      m_words = new QComboBox;
      for (const std::string& word : m_option.words) m_words->addItem(QString::fromStdString(word));
      connect(m_words, &QComboBox::currentIndexChanged, this, &OptionField::changed);
      break;
    case OptionType::kFlag:
      m_flag = new QCheckBox(tr("On"));
      connect(m_flag, &QCheckBox::toggled, this, &OptionField::changed);
      break;
    case OptionType::kReal:
    case OptionType::kProfile:
    case OptionType::kHeadTable:
    case OptionType::kSentences:
      m_text = new QLineEdit;
      if (m_option.type == OptionType::kReal) m_text->setPlaceholderText(QString::fromStdString(m_option.otherwise));
      connect(m_text, &QLineEdit::textChanged, this, &OptionField::changed);
      break;
  }
  control()->setAccessibleName(name);
  const QString help = optionHelp(m_option.name);
  control()->setAccessibleDescription(help);
  control()->setObjectName(QStringLiteral("option:") + name);
  layout->addWidget(control(), 0, m_text != nullptr ? Qt::Alignment() : Qt::AlignLeft);
  QString ordinary = QString::fromStdString(m_option.otherwise);
  if (m_flag != nullptr) ordinary = m_option.otherwise == "true" ? tr("on") : tr("off");
  auto* caption = captionLabel(ordinary.isEmpty() ? help : tr("%1 Default: %2.").arg(help, ordinary));
  layout->addWidget(caption);
  setValue(m_option.otherwise);
}

QWidget* OptionField::control() const {
  if (m_number != nullptr) return m_number;
  if (m_words != nullptr) return m_words;
  if (m_flag != nullptr) return m_flag;
  return m_text;
}

std::string OptionField::value() const {
  if (m_number != nullptr) return std::to_string(m_number->value());
  if (m_words != nullptr) return m_words->currentText().toStdString();
  if (m_flag != nullptr) return m_flag->isChecked() ? "true" : "false";
  const QString text = m_text->text().trimmed();
  return text.isEmpty() ? m_option.otherwise : text.toStdString();
}

void OptionField::setValue(const std::string& text) {
  const QString shown = QString::fromStdString(text);
  if (m_number != nullptr) m_number->setValue(shown.toInt());
  if (m_words != nullptr) m_words->setCurrentText(shown);
  if (m_flag != nullptr) m_flag->setChecked(text == "true");
  if (m_text != nullptr) m_text->setText(shown);
}

}  // namespace winnow::ui
