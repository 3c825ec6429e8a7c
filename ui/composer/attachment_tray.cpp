#include "ui/composer/attachment_tray.h"

#include <QApplication>
#include <QGridLayout>
#include <QPushButton>
#include <QResizeEvent>
#include <QScrollBar>
#include <QSpinBox>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/composer/detail_choice.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr std::size_t kSeveral = 3;  // files from which they can be removed in one go
constexpr std::size_t kMany = 5;     // images from which they stand in a grid
constexpr int kTileUnits = 124;      // the width of one, with what is between

}  // namespace

AttachmentTray::AttachmentTray(MediaPreview& preview, QWidget* parent) : QScrollArea(parent), m_preview(preview) {
  setFrameShape(QFrame::NoFrame);
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setFocusPolicy(Qt::NoFocus);
  setAccessibleName(tr("Attachments"));
  setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
  viewport()->setAutoFillBackground(false);
  m_header = new QWidget(this);
  auto* above = new QVBoxLayout(m_header);
  above->setContentsMargins(0, 0, 0, 0);
  setSpacing(above, 6);
  m_content = new QWidget;
  m_content->setAutoFillBackground(false);
  m_layout = new QVBoxLayout(m_content);
  m_layout->setContentsMargins(0, 0, 0, 0);
  setSpacing(m_layout, 6);
  m_count = lineLabel(QString(), TextRole::kCaptionStrong);
  m_gridBox = new QWidget;
  m_grid = new QGridLayout(m_gridBox);
  m_grid->setContentsMargins(0, 0, 0, 0);
  setSpacing(m_grid, 6);
  m_layout->addWidget(m_gridBox);
  m_gridBox->hide();
  m_count->hide();
  m_pictureDetail = new DetailChoice(MediaKind::kImage);
  m_frameDetail = new DetailChoice(MediaKind::kVideo);
  m_removeAll = new QPushButton(tr("Remove all"));
  setTextRole(m_removeAll, TextRole::kCaption);
  connect(m_removeAll, &QPushButton::clicked, this, &AttachmentTray::clear);
  auto* first = new QHBoxLayout;
  setSpacing(first, 8);
  first->addWidget(m_count);
  first->addStretch(1);
  first->addWidget(m_removeAll);
  above->addLayout(first);
  m_details = new QHBoxLayout;
  setSpacing(m_details, 8);
  m_details->addWidget(m_pictureDetail);
  m_details->addWidget(m_frameDetail);
  above->addLayout(m_details);
  for (DetailChoice* choice : {m_pictureDetail, m_frameDetail}) connect(choice, &DetailChoice::chosen, this, &AttachmentTray::changed);
  m_layout->addStretch(1);
  setWidget(m_content);
  m_content->setAutoFillBackground(false);
  connect(verticalScrollBar(), &QScrollBar::rangeChanged, this, &AttachmentTray::follow);
  connect(verticalScrollBar(), &QScrollBar::actionTriggered, this, [this] { m_followed = nullptr; });
  hide();
}

QString AttachmentTray::add(app::Attachment attachment) {
  if (count() >= app::kMaxAttachments) return tr("You can attach up to %1 files to one question.").arg(app::kMaxAttachments);
  for (AttachmentCard* card : m_cards) {
    if (card->takePage(attachment)) return {};
    if (card->attachment().path == attachment.path) return tr("This file is already attached.");
  }
  auto* card = new AttachmentCard(m_preview, std::move(attachment), m_hearing);
  card->suit(m_traits);
  m_cards.push_back(card);
  connect(card, &AttachmentCard::removeRequested, this, [this, card] { remove(card); });
  m_followed = card;
  connect(card, &AttachmentCard::changed, this, [this, card] {
    if (m_followed != card) m_followed = nullptr;
    arrange();
    adjust();
    Q_EMIT changed();
  });
  connect(card, &AttachmentCard::frameActivated, this, &AttachmentTray::frameActivated);
  connect(card, &AttachmentCard::contentsRequested, this, &AttachmentTray::contentsRequested);
  show();
  arrange();
  adjust();
  Q_EMIT changed();
  return {};
}

// The view stays where it is: the focus goes to the card that takes this one's place.
void AttachmentTray::remove(AttachmentCard* card) {
  const auto place = std::find(m_cards.begin(), m_cards.end(), card);
  const bool focused = card->hasFocus() || card->isAncestorOf(QApplication::focusWidget());
  const int at = verticalScrollBar()->value();
  const auto next = m_cards.erase(place);
  const QPointer<AttachmentCard> following = m_cards.empty() ? nullptr : next != m_cards.end() ? *next : m_cards.back();
  if (focused && following != nullptr) following->setFocus();
  m_followed = focused ? following : nullptr;
  if (focused && m_cards.empty()) Q_EMIT emptied();
  card->hide();
  card->deleteLater();
  setVisible(!m_cards.empty());
  arrange();
  adjust();
  verticalScrollBar()->setValue(at);
  Q_EMIT changed();
}

void AttachmentTray::clear() {
  for (AttachmentCard* card : m_cards) {
    card->hide();
    card->deleteLater();
  }
  m_cards.clear();
  arrange();
  hide();
  Q_EMIT changed();
}

QList<app::Attachment> AttachmentTray::attachments() const {
  QList<app::Attachment> list;
  for (const AttachmentCard* card : m_cards) {
    if (card->state() == CardState::kRefused) continue;
    for (app::Attachment& attachment : card->asked()) {
      if (attachment.kind == MediaKind::kImage) attachment.detail = m_pictureDetail->detail();
      if (attachment.kind == MediaKind::kVideo) attachment.detail = m_frameDetail->detail();
      list.append(std::move(attachment));
    }
  }
  return list;
}

bool AttachmentTray::opening() const {
  return std::any_of(m_cards.begin(), m_cards.end(),
                     [](const AttachmentCard* card) { return card->state() == CardState::kOpening || !card->unheard().isEmpty(); });
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
  m_followed = *refused;
  follow();
}

int AttachmentTray::columns() const { return std::max(1, viewport()->width() / theme().px(kTileUnits)); }

// Many images go into the grid, everything else stands below as rows, each in its order. Placing them may change the width, and come here
// again: what is to be is noted first.
void AttachmentTray::arrange() {
  std::vector<AttachmentCard*> tiles;
  std::copy_if(m_cards.begin(), m_cards.end(), std::back_inserter(tiles), [](const AttachmentCard* card) { return card->canBeTile(); });
  if (tiles.size() < kMany) tiles.clear();
  std::vector<AttachmentCard*> rows;
  std::copy_if(m_cards.begin(), m_cards.end(), std::back_inserter(rows),
               [&tiles](AttachmentCard* card) { return std::find(tiles.begin(), tiles.end(), card) == tiles.end(); });
  if (tiles == m_tiles && rows == m_rows && m_columns == columns()) return;
  for (AttachmentCard* card : m_rows) {
    if (std::find(rows.begin(), rows.end(), card) == rows.end()) m_layout->removeWidget(card);
  }
  const std::vector<AttachmentCard*> before = std::exchange(m_tiles, tiles);
  m_rows = rows;
  m_grid->setColumnStretch(std::exchange(m_columns, columns()), 0);
  m_count->setText(tr("%Ln image(s)", nullptr, static_cast<int>(tiles.size())));
  m_count->setVisible(!tiles.empty());
  m_gridBox->setVisible(!tiles.empty());
  placeHeader();
  for (AttachmentCard* card : before) m_grid->removeWidget(card);
  for (std::size_t i = 0; i < tiles.size(); ++i) {
    m_layout->removeWidget(tiles[i]);
    tiles[i]->setForm(CardForm::kTile);
    m_grid->addWidget(tiles[i], static_cast<int>(i) / m_columns, static_cast<int>(i) % m_columns, Qt::AlignLeft);
    tiles[i]->show();
  }
  m_grid->setColumnStretch(m_columns, 1);  // behind the last
  int row = m_layout->indexOf(m_gridBox) + 1;
  for (AttachmentCard* card : rows) {
    const int place = row++;
    if (m_layout->indexOf(card) == place) continue;  // moving it would scroll
    card->setForm(CardForm::kRow);
    m_layout->removeWidget(card);
    m_layout->insertWidget(place, card);
    card->show();
  }
}

QString AttachmentTray::pictureCount() const { return m_tiles.empty() ? QString() : m_count->text(); }

std::vector<QByteArray> AttachmentTray::images() const {
  std::vector<QByteArray> paths;
  for (const AttachmentCard* card : m_cards) {
    const app::Attachment& attachment = card->attachment();
    if (card->state() == CardState::kReady && attachment.kind == MediaKind::kImage && attachment.pages.first == 0)
      paths.push_back(attachment.path);
  }
  return paths;
}

void AttachmentTray::follow() {
  if (m_followed) ensureWidgetVisible(m_followed, 0, 0);
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

MediaDetails AttachmentTray::details() const { return {m_pictureDetail->detail(), m_frameDetail->detail()}; }

void AttachmentTray::setDetails(const MediaDetails& details) {
  if (details == this->details()) return;
  m_pictureDetail->setDetail(details.pictures);
  m_frameDetail->setDetail(details.frames);
  Q_EMIT changed();
}

void AttachmentTray::offerDetails(const DetailChoices& pictures, const DetailChoices& frames) {
  m_pictureDetail->offer(pictures, holds(MediaKind::kImage));
  m_frameDetail->offer(frames, holds(MediaKind::kVideo));
  placeHeader();
  updateGeometry();
}

void AttachmentTray::suit(const ModelTraits& traits) {
  m_traits = traits;
  for (AttachmentCard* card : m_cards) card->suit(traits);
}

bool AttachmentTray::holds(MediaKind kind) const {
  return std::any_of(m_cards.begin(), m_cards.end(),
                     [kind](const AttachmentCard* card) { return card->state() == CardState::kReady && card->attachment().kind == kind; });
}

int AttachmentTray::headerHeight(int width) const {
  QLayout* layout = m_header->layout();
  const int height = layout->hasHeightForWidth() ? layout->heightForWidth(width) : layout->sizeHint().height();
  return height > 0 ? height + theme().px(6) : 0;
}

void AttachmentTray::placeHeader() {
  const int both = m_pictureDetail->sizeHint().width() + m_frameDetail->sizeHint().width() + m_details->spacing();
  m_details->setDirection(both <= width() ? QBoxLayout::LeftToRight : QBoxLayout::TopToBottom);
  m_header->layout()->activate();
  const int height = headerHeight(width());
  // If it would leave the cards hardly any room, it scrolls with them.
  const bool scrolls = 2 * height > m_maximumHeight;
  if (scrolls != m_content->isAncestorOf(m_header)) {
    m_layout->removeWidget(m_header);
    if (scrolls) m_layout->insertWidget(0, m_header);
    if (!scrolls) m_header->setParent(this);
    m_header->show();
  }
  setViewportMargins(0, scrolls ? 0 : height, 0, 0);
  if (!scrolls) m_header->setGeometry(0, 0, width(), std::max(0, height - theme().px(6)));
}

QSize AttachmentTray::sizeHint() const {
  const int width = std::max(viewport()->width(), theme().px(200));
  int height = m_layout->hasHeightForWidth() ? m_layout->heightForWidth(width) : m_layout->sizeHint().height();
  if (!m_content->isAncestorOf(m_header)) height += headerHeight(width);
  return QSize(theme().px(320), std::min(height, m_maximumHeight));
}

QSize AttachmentTray::minimumSizeHint() const { return QSize(theme().px(160), std::min(sizeHint().height(), theme().px(64))); }

void AttachmentTray::resizeEvent(QResizeEvent* event) {
  QScrollArea::resizeEvent(event);
  placeHeader();
  if (m_columns != columns()) arrange();
  if (event->oldSize().width() != event->size().width()) QTimer::singleShot(0, this, [this] { updateGeometry(); });
}

void AttachmentTray::adjust() {
  offerDetails(m_pictureDetail->choices(), m_frameDetail->choices());
  m_removeAll->setVisible(m_cards.size() >= kSeveral);
  placeHeader();
  updateGeometry();
  QTimer::singleShot(0, this, [this] {
    updateGeometry();
    follow();
  });
}

}  // namespace winnow::ui
