#include "ui/recipes/before_field.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>

#include "app/ground/recipes/method_texts.h"
#include "ui/recipes/recipe_words.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

BeforeField::BeforeField(QWidget* parent) : QWidget(parent) {
  const app::SettingText& text = *app::settingText("before");
  m_method = new QComboBox;
  m_method->setObjectName(QStringLiteral("before"));
  m_method->setAccessibleName(settingTitle(text));
  m_method->setAccessibleDescription(settingHelp(text));
  m_method->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  m_method->setMinimumContentsLength(12);
  for (std::size_t i = 0; i < std::size(kBeforeWords); ++i) m_method->addItem(settingChoice(text, i), int(kBeforeWords[i].value));
  m_share = new QDoubleSpinBox;
  m_share->setObjectName(QStringLiteral("before share"));
  m_share->setRange(0.1, 100.0);
  m_share->setDecimals(1);
  m_share->setSuffix(tr(" %"));
  m_share->setValue(100.0 * m_exactShare);
  m_share->setAccessibleName(tr("Share of each image and video to read, in percent"));
  auto* help = captionLabel(settingHelp(text));
  auto* row = new QHBoxLayout;
  row->addWidget(m_method, 1);
  row->addWidget(m_share);
  auto* column = new QVBoxLayout(this);
  column->setContentsMargins(0, 0, 0, 0);
  setSpacing(column, 3);
  column->addLayout(row);
  column->addWidget(help);
  connect(m_method, &QComboBox::currentIndexChanged, this, [this] {
    showShare();
    Q_EMIT changed();
  });
  connect(m_share, &QDoubleSpinBox::valueChanged, this, [this](double percent) {
    m_exactShare = percent / 100.0;
    Q_EMIT changed();
  });
  showShare();
}

BeforeDecoder BeforeField::value() const {
  const BeforeDecoder before{static_cast<BeforeMethod>(m_method->currentData().toInt())};
  if (before.method == BeforeMethod::kNone) return before;
  return {before.method, before.by_pixels() ? m_threshold : m_exactShare};
}

void BeforeField::setValue(const BeforeDecoder& before) {
  m_method->setCurrentIndex(std::max(0, m_method->findData(int(before.method))));
  if (before.by_pixels()) m_threshold = before.amount;
  if (before.by_pixels() || before.method == BeforeMethod::kNone) return;
  m_share->setValue(100.0 * before.amount);
  m_exactShare = before.amount;
}

void BeforeField::showShare() {
  const BeforeMethod method = value().method;
  m_share->setVisible(method != BeforeMethod::kNone && method != BeforeMethod::kPixelPrune);
}

}  // namespace winnow::ui
