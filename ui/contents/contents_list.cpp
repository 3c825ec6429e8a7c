#include "ui/contents/contents_list.h"

#include <QKeyEvent>
#include <QPainter>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <algorithm>

#include "app/words/display_text.h"
#include "app/words/format_text.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kTimeRole = Qt::UserRole + 1;
constexpr int kDescribedRole = Qt::UserRole + 2;
constexpr int kWrapped = Qt::AlignLeft | Qt::AlignTop | Qt::TextWordWrap;

// The time on the left, the words beside it in as many lines as they need.
class LineDelegate : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const auto* view = static_cast<const QListView*>(option.widget);
    const int width = view != nullptr ? view->viewport()->width() : option.rect.width();
    const QRect words = wordsIn(QRect(0, 0, width, 0), index);
    const int height =
        QFontMetrics(fontOf(index)).boundingRect(words.x(), 0, words.width(), 1 << 16, kWrapped, index.data().toString()).height();
    return QSize(width, height + theme().px(10));
  }

  void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override {
    const Colors& c = theme().colors();
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    const bool chosen = option.state & QStyle::State_Selected;
    if (chosen || (option.state & QStyle::State_MouseOver)) {
      painter->setPen(chosen && (option.state & QStyle::State_HasFocus) ? QPen(c.accent, 1.5) : QPen(Qt::NoPen));
      painter->setBrush(chosen ? c.accentSoft : c.hover);
      painter->drawRoundedRect(QRectF(option.rect).adjusted(1, 1, -1, -1), theme().smallRadius(), theme().smallRadius());
    }
    const QRect words = wordsIn(option.rect, index);
    painter->setFont(theme().font(TextRole::kCaptionStrong));
    painter->setPen(c.link);
    painter->drawText(QRect(option.rect.x() + theme().px(10), words.y(), words.x() - option.rect.x() - theme().px(18), words.height()),
                      Qt::AlignRight | Qt::AlignTop, index.data(kTimeRole).toString());
    painter->setFont(fontOf(index));
    painter->setPen(index.data(kDescribedRole).toBool() ? c.mutedText : c.text);
    painter->drawText(words, kWrapped, index.data().toString());
    painter->restore();
  }

 private:
  static QFont fontOf(const QModelIndex& index) {
    QFont font = theme().font(TextRole::kBody);
    font.setItalic(index.data(kDescribedRole).toBool());
    return font;
  }
  static QRect wordsIn(const QRect& row, const QModelIndex&) {
    const int time = QFontMetrics(theme().font(TextRole::kCaptionStrong)).horizontalAdvance(QStringLiteral("0:00:00")) + theme().px(18);
    return row.adjusted(time, theme().px(5), -theme().px(10), -theme().px(5));
  }
};

}  // namespace

ContentsList::ContentsList(QWidget* parent) : QListView(parent) {
  m_rows = new QStandardItemModel(this);
  setModel(m_rows);
  setItemDelegate(new LineDelegate(this));
  setSelectionMode(QAbstractItemView::ContiguousSelection);
  setEditTriggers(QAbstractItemView::NoEditTriggers);
  setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  setMouseTracking(true);
  setFocusFrame(this);
  setAccessibleName(tr("Contents"));
  connect(selectionModel(), &QItemSelectionModel::selectionChanged, this, &ContentsList::stretchChanged);
  connect(&theme(), &Theme::changed, this, [this] { doItemsLayout(); });
}

void ContentsList::setLines(const QList<app::FileLine>& lines) {
  m_rows->clear();
  m_lines.clear();
  for (const app::FileLine& line : lines) {
    if (line.startS < 0) continue;
    m_lines.append(line);
    const bool described = line.kind == app::LineKind::kDescribed;
    const QString time = app::formatClock(line.startS);
    auto* row = new QStandardItem(app::displayText(line.text).simplified());
    row->setData(time, kTimeRole);
    row->setData(described, kDescribedRole);
    row->setData((described ? tr("%1, as the model described it: %2") : tr("%1: %2")).arg(time, row->text()), Qt::AccessibleTextRole);
    m_rows->appendRow(row);
  }
  if (!m_lines.isEmpty()) setCurrentIndex(m_rows->index(0, 0));
}

QList<app::FileLine> ContentsList::chosen() const {
  QList<int> rows;
  for (const QModelIndex& index : selectionModel()->selectedIndexes()) rows << index.row();
  std::sort(rows.begin(), rows.end());
  QList<app::FileLine> lines;
  for (const int row : rows) lines << m_lines[row];
  return lines;
}

std::optional<std::pair<double, double>> ContentsList::stretch() const {
  const QList<app::FileLine> lines = chosen();
  if (lines.isEmpty()) return std::nullopt;
  double to = 0;
  for (const app::FileLine& line : lines) to = std::max({to, line.startS, line.endS});
  return std::pair(lines.first().startS, to);
}

void ContentsList::goTo(double seconds) {
  int row = 0;
  for (int i = 0; i < m_lines.size(); ++i) {
    if (m_lines[i].startS <= seconds) row = i;
  }
  if (m_lines.isEmpty()) return;
  setCurrentIndex(m_rows->index(row, 0));
  scrollTo(m_rows->index(row, 0), QAbstractItemView::PositionAtCenter);
}

// Letters and Copy are the page's: lists look for rows that begin so, and copy one.
void ContentsList::keyPressEvent(QKeyEvent* event) {
  const bool typed = (event->modifiers() & ~Qt::ShiftModifier) == Qt::NoModifier && !event->text().isEmpty() && event->text()[0].isPrint();
  typed || event->matches(QKeySequence::Copy) ? event->ignore() : QListView::keyPressEvent(event);
}

void ContentsList::resizeEvent(QResizeEvent* event) {
  QListView::resizeEvent(event);
  scheduleDelayedItemsLayout();  // lines wrap otherwise
}

}  // namespace winnow::ui
