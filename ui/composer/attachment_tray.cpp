#include "ui/composer/attachment_tray.h"

#include <QPushButton>
#include <QResizeEvent>
#include <QScrollBar>
#include <QSpinBox>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr std::size_t kSeveral = 3;  // files from which they can be removed in one go

}  // namespace

AttachmentTray::AttachmentTray(MediaPreview& preview, QWidget* parent) : QScrollArea(parent), m_preview(preview) {
  setFrameShape(QFrame::NoFrame);
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::NoFocus);
  setAccessibleName(tr("Attachments"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  viewport()->setAutoFillBackground(false);
  m_content = new QWidget;
  m_content->setAutoFillBackground(false);
  m_layout = new QVBoxLayout(m_content);
  m_layout->setContentsMargins(0, 0, 0, 0);
  setSpacing(m_layout, 6);
  m_removeAll = new QPushButton(tr("Remove all"));
  setTextRole(m_removeAll, TextRole::kCaption);
  connect(m_removeAll, &QPushButton::clicked, this, &AttachmentTray::clear);
  m_layout->addWidget(m_removeAll, 0, Qt::AlignRight);
  m_layout->addStretch(1);
  setWidget(m_content);
  m_content->setAutoFillBackground(false);
  connect(verticalScrollBar(), &QScrollBar::rangeChanged, this, &AttachmentTray::followNewest);
  connect(verticalScrollBar(), &QScrollBar::actionTriggered, this, [this] { m_newest = nullptr; });
  hide();
}

QString AttachmentTray::add(app::Attachment attachment) {
  if (count() >= app::kMaxAttachments) return tr("At most %1 files go with one question.").arg(app::kMaxAttachments);
  for (const AttachmentCard* card : m_cards) {
    if (card->attachment().path == attachment.path) return tr("This file is already attached.");
  }
  auto* card = new AttachmentCard(m_preview, std::move(attachment));
  m_cards.push_back(card);
  m_layout->insertWidget(m_layout->indexOf(m_removeAll), card);
  connect(card, &AttachmentCard::removeRequested, this, [this, card] { remove(card); });
  m_newest = card;
  connect(card, &AttachmentCard::changed, this, [this, card] {
    if (m_newest != card) m_newest = nullptr;
    adjust();
    Q_EMIT changed();
  });
  connect(card, &AttachmentCard::frameActivated, this, &AttachmentTray::frameActivated);
  show();
  adjust();
  Q_EMIT changed();
  return {};
}

void AttachmentTray::remove(AttachmentCard* card) {
  m_cards.erase(std::remove(m_cards.begin(), m_cards.end(), card), m_cards.end());
  m_layout->removeWidget(card);
  card->hide();
  card->deleteLater();
  setVisible(!m_cards.empty());
  adjust();
  Q_EMIT changed();
}

void AttachmentTray::clear() {
  for (AttachmentCard* card : m_cards) {
    m_layout->removeWidget(card);
    card->hide();
    card->deleteLater();
  }
  m_cards.clear();
  hide();
  Q_EMIT changed();
}

QList<app::Attachment> AttachmentTray::attachments() const {
  QList<app::Attachment> list;
  for (const AttachmentCard* card : m_cards) {
    if (card->state() != CardState::kRefused) list.append(card->attachment());
  }
  return list;
}

bool AttachmentTray::opening() const {
  return std::any_of(m_cards.begin(), m_cards.end(), [](const AttachmentCard* card) { return card->state() == CardState::kOpening; });
}

int AttachmentTray::refusedCount() const {
  return static_cast<int>(
      std::count_if(m_cards.begin(), m_cards.end(), [](const AttachmentCard* card) { return card->state() == CardState::kRefused; }));
}

void AttachmentTray::judgeDocuments(const QList<DocumentRoom>& rooms) {
  for (AttachmentCard* card : m_cards) {
    for (const DocumentRoom& room : rooms) {
      if (card->attachment().kind == MediaKind::kDocument && card->attachment().path == room.path) card->judge(room);
    }
  }
  adjust();
  Q_EMIT judged();
}

bool AttachmentTray::tooLong() const {
  return std::any_of(m_cards.begin(), m_cards.end(), [](const AttachmentCard* card) { return card->tooLong(); });
}

void AttachmentTray::showFirstRefused() {
  const auto refused =
      std::find_if(m_cards.begin(), m_cards.end(), [](const AttachmentCard* card) { return card->state() == CardState::kRefused; });
  if (refused == m_cards.end()) return;
  m_newest = nullptr;
  ensureWidgetVisible(*refused, 0, 0);
}

void AttachmentTray::followNewest() {
  if (m_newest) ensureWidgetVisible(m_newest, 0, 0);
}

void AttachmentTray::setMaximumShare(int heightPx) {
  if (heightPx == m_maximumHeight) return;
  m_maximumHeight = heightPx;
  adjust();
}

void AttachmentTray::scaleFrames(double factor) {
  for (const AttachmentCard* card : m_cards) {
    if (card->frameCount() != nullptr) card->frameCount()->setValue(static_cast<int>(factor * card->attachment().plan.frame_count));
  }
}

QSize AttachmentTray::sizeHint() const {
  const int width = std::max(viewport()->width(), theme().px(200));
  int height = m_layout->hasHeightForWidth() ? m_layout->heightForWidth(width) : m_layout->sizeHint().height();
  return QSize(theme().px(320), std::min(height, m_maximumHeight));
}

QSize AttachmentTray::minimumSizeHint() const { return QSize(theme().px(160), std::min(sizeHint().height(), theme().px(64))); }

void AttachmentTray::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  if (event->oldSize().width() != event->size().width()) QTimer::singleShot(0, this, [this] { updateGeometry(); });
}

void AttachmentTray::adjust() {
  m_removeAll->setVisible(m_cards.size() >= kSeveral);
  updateGeometry();
  QTimer::singleShot(0, this, [this] {
    updateGeometry();
    followNewest();
  });
}

}  // namespace winnow::ui
