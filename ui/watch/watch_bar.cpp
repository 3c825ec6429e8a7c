#include "ui/watch/watch_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"
#include "ui/watch/watch_strip.h"

namespace winnow::ui {
namespace {

constexpr int kNarrowUnits = 560;  // below this the words stand above the buttons
constexpr int kLowUnits = 480;     // of the window, below which there is no room for a picture
constexpr int kGapUnits = 6;       // to the box below, which is there only while the bar is

}  // namespace

WatchBar::WatchBar(QWidget* parent) : QFrame(parent) {
  setAccessibleName(tr("Watched source"));
  auto* column = new QVBoxLayout(this);
  setMargins(column, 12, 8, 8, 8 + kGapUnits);
  setSpacing(column, 4);
  m_row = new QBoxLayout(QBoxLayout::LeftToRight);
  setSpacing(m_row, 6);
  auto* buttons = new QHBoxLayout;
  setSpacing(buttons, 6);
  m_text = wrappedLabel();
  m_notice = wrappedLabel(QString(), TextRole::kCaption);
  m_strip = new WatchStrip;
  m_picture = new QLabel;
  m_picture->setAccessibleName(tr("Latest frame"));
  m_again = new QPushButton(tr("Watch again"));
  m_description = new QPushButton(tr("What is kept…"));
  m_pause = new QPushButton;
  m_stop = new QPushButton(tr("Stop"));
  m_stop->setAccessibleName(tr("Stop watching"));
  m_close = new QToolButton;
  m_close->setAutoRaise(true);
  m_close->setIcon(icon(Glyph::kClose, IconColor::kMuted));
  m_close->setToolTip(tr("Close: later questions are no longer about it"));
  m_close->setAccessibleName(tr("Close the watched source"));
  buttons->addWidget(m_description);
  buttons->addWidget(m_again);
  buttons->addWidget(m_pause);
  buttons->addWidget(m_stop);
  buttons->addWidget(m_close, 0, Qt::AlignTop);
  auto* seen = new QHBoxLayout;
  setSpacing(seen, 8);
  seen->addWidget(m_picture, 0, Qt::AlignTop);
  seen->addWidget(m_text, 1);
  m_row->addLayout(seen, 1);
  m_row->addLayout(buttons);
  column->addLayout(m_row);
  column->addWidget(m_strip);
  column->addWidget(m_notice);
  connect(m_description, &QPushButton::clicked, this, &WatchBar::descriptionRequested);
  connect(m_pause, &QPushButton::clicked, this, &WatchBar::pauseToggled);
  connect(m_stop, &QPushButton::clicked, this, &WatchBar::stopRequested);
  connect(m_again, &QPushButton::clicked, this, &WatchBar::againRequested);
  connect(m_close, &QToolButton::clicked, this, &WatchBar::closeRequested);
  connect(&theme(), &Theme::changed, this, &WatchBar::arrange);
  arrange();
}

void WatchBar::setView(const WatchView& view) {
  if (view == m_view) return;
  m_view = view;
  arrange();
}

void WatchBar::arrange() {
  const bool paused = m_view.stage == WatchView::Stage::kPaused;
  const bool reads = paused || m_view.stage == WatchView::Stage::kRunning;
  m_text->setText(m_view.text);
  m_notice->setText(m_view.notice);
  m_notice->setVisible(!m_view.notice.isEmpty());
  QPalette palette = m_notice->palette();
  palette.setColor(QPalette::WindowText, theme().colors().mutedText);
  m_notice->setPalette(palette);
  m_strip->setShares(m_view.shares);
  m_strip->setVisible(!m_view.shares.empty());
  m_description->setVisible(m_view.described);
  if (!m_view.picture.isNull()) {
    const QSize room(theme().px(96), theme().px(54));
    m_picture->setPixmap(QPixmap::fromImage(m_view.picture.scaled(room, Qt::KeepAspectRatio, Qt::SmoothTransformation)));
  }
  showPicture();
  m_again->setVisible(m_view.again);
  m_pause->setText(paused ? tr("Resume") : tr("Pause"));
  m_pause->setAccessibleName(paused ? tr("Resume watching") : tr("Pause watching"));
  m_pause->setVisible(reads);
  m_stop->setVisible(reads);
  m_close->setVisible(m_view.stage == WatchView::Stage::kEnded);
  setVisible(m_view.stage != WatchView::Stage::kNone);
  update();
}

// In a low window the words come first.
void WatchBar::showPicture() { m_picture->setVisible(!m_view.picture.isNull() && window()->height() >= theme().px(kLowUnits)); }

void WatchBar::resizeEvent(QResizeEvent* event) {
  QFrame::resizeEvent(event);
  showPicture();
  m_row->setDirection(width() < theme().px(kNarrowUnits) ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void WatchBar::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  painter.setBrush(c.raised);
  painter.setPen(c.border);
  painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5 - theme().px(kGapUnits)), theme().cornerRadius(),
                          theme().cornerRadius());
}

}  // namespace winnow::ui
