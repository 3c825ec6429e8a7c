#include "ui/composer/page_list.h"

#include <QIcon>
#include <QPainter>
#include <QPixmap>
#include <algorithm>

#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kWidthUnits = 96;
constexpr int kHeightUnits = 124;
constexpr int kRestMs = 60;
constexpr int kHasPicture = Qt::UserRole;

// White paper is seen on a white ground.
QIcon framed(QPixmap page) {
  QPainter painter(&page);
  painter.setPen(theme().colors().border);
  painter.drawRect(page.rect().adjusted(0, 0, -1, -1));
  painter.end();
  return QIcon(page);
}

}  // namespace

PageList::PageList(MediaPreview& preview, const QByteArray& path, QWidget* parent) : QListWidget(parent), m_preview(preview), m_path(path) {
  setFocusFrame(this);
  setAccessibleName(tr("Pages"));
  setViewMode(QListView::IconMode);
  setFlow(QListView::TopToBottom);
  setWrapping(false);
  setMovement(QListView::Static);
  setUniformItemSizes(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  const auto sizes = [this] {
    setIconSize(pictureSize());
    setFixedWidth(theme().px(kWidthUnits + 44));
  };
  connect(&theme(), &Theme::changed, this, sizes);
  sizes();
  m_soon.setSingleShot(true);
  m_soon.setInterval(kRestMs);
  connect(&m_soon, &QTimer::timeout, this, &PageList::ask);
  connect(this, &QListWidget::currentRowChanged, this, [this](int row) {
    if (row >= 0) Q_EMIT chosen(m_pages[static_cast<std::size_t>(row)]);
  });
  connect(&m_preview, &MediaPreview::thumbnailReady, this, [this](PreviewToken token, int index, double, const QImage& image) {
    if (token != m_token || index < 0 || index >= static_cast<int>(m_asked.size())) return;
    QListWidgetItem* const row = item(m_asked[static_cast<std::size_t>(index)]);
    row->setIcon(framed(QPixmap::fromImage(image)));
    row->setData(kHasPicture, true);
  });
  connect(&m_preview, &MediaPreview::finished, this, [this](PreviewToken token) {
    if (token == m_token) m_soon.start();
  });
}

PageList::~PageList() {
  if (m_token != 0) m_preview.cancel(m_token);
}

QSize PageList::pictureSize() const { return {theme().px(kWidthUnits), theme().px(kHeightUnits)}; }

void PageList::setPages(const std::vector<int>& pages) {
  clear();
  m_pages = pages;
  QPixmap blank(pictureSize());
  blank.fill(theme().colors().raised);
  for (const int page : pages) {
    auto* row = new QListWidgetItem(QIcon(blank), QString::number(page), this);
    row->setData(Qt::AccessibleTextRole, tr("Page %1").arg(page));
    row->setTextAlignment(Qt::AlignHCenter);
  }
  m_soon.start();
}

int PageList::page() const { return currentRow() < 0 ? 0 : m_pages[static_cast<std::size_t>(currentRow())]; }

void PageList::choose(int page) {
  const auto found = std::ranges::lower_bound(m_pages, page);
  if (found == m_pages.end()) return;
  setCurrentRow(static_cast<int>(found - m_pages.begin()));
  scrollToItem(currentItem());
}

// Those in view that have no picture yet; what was asked for elsewhere is not wanted any more.
void PageList::ask() {
  std::vector<int> rows;
  std::vector<double> pages;
  for (int row = 0; row < count(); ++row) {
    const QRect place = visualItemRect(item(row));
    if (place.top() > viewport()->height()) break;
    if (place.bottom() < 0 || item(row)->data(kHasPicture).toBool()) continue;
    rows.push_back(row);
    pages.push_back(m_pages[static_cast<std::size_t>(row)]);
  }
  if (rows == m_asked) return;
  if (m_token != 0) m_preview.cancel(m_token);
  m_asked = std::move(rows);
  m_token = pages.empty() ? 0 : m_preview.thumbnails(m_path, MediaKind::kDocument, pages, pictureSize() * devicePixelRatioF());
}

void PageList::resizeEvent(QResizeEvent* event) {
  QListWidget::resizeEvent(event);
  m_soon.start();
}

void PageList::scrollContentsBy(int dx, int dy) {
  QListWidget::scrollContentsBy(dx, dy);
  m_soon.start();
}

}  // namespace winnow::ui
