#include "ui/composer/method_control.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QFrame>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLabel>
#include <QScreen>
#include <QSlider>
#include <QSpinBox>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "ui/shell/format_text.h"
#include "ui/theme/icons.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {
bool keepsAll(const QString& method) { return method == QLatin1String("full"); }
}  // namespace

MethodControl::MethodControl(std::vector<MethodInfo> methods, QWidget* parent) : QToolButton(parent), m_methods(std::move(methods)) {
  setAutoRaise(true);
  setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  setIcon(ui::icon(Glyph::kChip, IconColor::kMuted));
  setToolTip(tr("Cache method and how much is kept (Ctrl+M)"));

  m_card = new QFrame(this, Qt::Popup);
  m_card->setFrameShape(QFrame::StyledPanel);
  m_card->setAccessibleName(tr("Cache method"));
  auto* layout = new QVBoxLayout(m_card);
  setMargins(layout, 16, 16, 16, 16);
  setSpacing(layout, 8);
  auto* title = new QLabel(tr("Cache method"));
  setTextRole(title, TextRole::kStrong);
  layout->addWidget(title);
  m_box = new QComboBox;
  m_box->setAccessibleName(tr("Cache method"));
  m_box->view()->setAccessibleName(tr("Cache methods"));
  for (const MethodInfo& method : m_methods) {
    m_box->addItem(QString::fromStdString(method.title.empty() ? method.name : method.title), QString::fromStdString(method.name));
  }
  layout->addWidget(m_box);
  m_about = new QLabel;
  m_about->setWordWrap(true);
  m_about->setTextFormat(Qt::PlainText);
  setTextRole(m_about, TextRole::kCaption);
  setMuted(m_about);
  layout->addWidget(m_about);
  m_share = new QLabel(tr("Share of the cache to keep"));
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

  connect(this, &QToolButton::clicked, this, &MethodControl::openCard);
  connect(m_box, &QComboBox::activated, this, [this](int index) {
    setChoice(m_box->itemData(index).toString(), m_retention);
    Q_EMIT choiceChanged(m_method, m_retention);
  });
  const auto choose = [this](int percent) {
    if (percent == qRound(m_retention * 100)) return;
    setChoice(m_method, percent / 100.0);
    Q_EMIT choiceChanged(m_method, m_retention);
  };
  connect(m_slider, &QSlider::valueChanged, this, choose);
  connect(m_spin, &QSpinBox::valueChanged, this, choose);
  describe();
}

const MethodInfo* MethodControl::info() const {
  const auto found =
      std::find_if(m_methods.begin(), m_methods.end(), [this](const MethodInfo& m) { return QString::fromStdString(m.name) == m_method; });
  return found == m_methods.end() ? nullptr : &*found;
}

void MethodControl::setChoice(const QString& method, double retention) {
  m_method = method;
  m_retention = std::clamp(retention, 0.01, 1.0);
  describe();
}

void MethodControl::stepRetention(int percent) {
  const int now = std::clamp(qRound(m_retention * 100) + percent, 1, 100);
  if (now == qRound(m_retention * 100) || keepsAll(m_method)) return;
  setChoice(m_method, now / 100.0);
  Q_EMIT choiceChanged(m_method, m_retention);
}

QString MethodControl::label(const QString& title, const QString& method, double retention) {
  return keepsAll(method) ? title : QStringLiteral("%1 · %2").arg(title, formatShare(retention));
}

void MethodControl::describe() {
  const MethodInfo* method = info();
  const QString title = method != nullptr && !method->title.empty() ? QString::fromStdString(method->title) : m_method;
  setText(label(title, m_method, m_retention));
  setAccessibleName(tr("Cache method: %1").arg(text()));
  const int index = m_box->findData(m_method);
  if (index >= 0) m_box->setCurrentIndex(index);
  const bool full = keepsAll(m_method);
  for (QWidget* widget : {static_cast<QWidget*>(m_slider), static_cast<QWidget*>(m_spin), static_cast<QWidget*>(m_share)})
    widget->setEnabled(!full);
  const int percent = full ? 100 : qRound(m_retention * 100);
  m_slider->blockSignals(true);
  m_spin->blockSignals(true);
  m_slider->setValue(percent);
  m_spin->setValue(percent);
  m_slider->blockSignals(false);
  m_spin->blockSignals(false);
  QStringList about;
  if (full) {
    about << tr("Keeps everything. The reference for quality, and the largest cache.");
  } else if (method != nullptr) {
    if (!method->source.empty()) about << QString::fromStdString(method->source);
    about << (method->phase == "decode" ? tr("Works on every new word.") : tr("Works once, after the question was read."));
    if (method->query_aware) about << tr("Chooses by the present question; a later, different question may miss what was dropped.");
    if (method->merges) about << tr("Folds dropped entries into kept ones.");
  }
  m_about->setText(about.join(QLatin1Char('\n')));
  updateGeometry();
}

QSize MethodControl::sizeHint() const {
  const QSize base = QToolButton::sizeHint();
  return QSize(base.width() + theme().px(8), std::max(base.height(), theme().px(32)));
}

void MethodControl::openCard() {
  m_card->setFixedWidth(std::min(theme().px(340), window()->width() - theme().px(16)));
  m_card->adjustSize();
  const QScreen* screen = this->screen();
  QPoint at = mapToGlobal(QPoint(0, -m_card->height() - theme().px(6)));
  if (screen != nullptr) {
    const QRect room = screen->availableGeometry();
    at.setX(std::clamp(at.x(), room.left(), std::max(room.left(), room.right() - m_card->width())));
    if (at.y() < room.top()) at = QPoint(at.x(), mapToGlobal(QPoint(0, height() + theme().px(6))).y());
  }
  m_card->move(at);
  m_card->show();
  m_box->setFocus();
}

}  // namespace winnow::ui
