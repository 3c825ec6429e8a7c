#include "ui/video_shelf/shelf_page.h"

#include <QFile>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QLineEdit>
#include <QPushButton>
#include <QTreeWidget>
#include <algorithm>
#include <numeric>
#include <utility>

#include "app/words/attached_words.h"
#include "app/words/display_text.h"
#include "app/words/format_text.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kNumberRole = Qt::UserRole;  // among the rows

enum Column : int { kName = 0, kFacts, kState };

int rankOf(const ShelfRow& row) {
  if (!row.answer || row.answer->verdict == app::Verdict::kNo) return 2;
  return row.answer->verdict == app::Verdict::kYes ? 0 : 1;
}

// Its first; negative: it names none.
double timeOf(const ShelfRow& row) { return row.answer && !row.answer->timesS.empty() ? row.answer->timesS.front() : -1.0; }

QString factsOf(const ShelfRow& row) {
  QStringList facts;
  if (row.video.durationS > 0) facts << app::formatClock(row.video.durationS);
  if (row.isHeard) facts << VideoShelfPage::tr("heard");
  if (row.prepared) facts << VideoShelfPage::tr("prepared");
  return facts.join(QStringLiteral(" · "));
}

QString stateOf(const ShelfRow& row) {
  for (const QString& told : {row.unreadable, row.doing, row.failure}) {
    if (!told.isEmpty()) return told;
  }
  if (row.answer) {
    QStringList parts;
    for (const double time : row.answer->timesS) parts << app::formatClock(time);
    const QString said = app::displayText(QString::fromStdString(row.answer->text)).simplified();
    return parts.isEmpty() ? said : VideoShelfPage::tr("%1 · %2").arg(parts.join(QStringLiteral(", ")), said);
  }
  if (row.prepared) return VideoShelfPage::tr("Ready for questions");
  return row.expectedMs > 0 ? VideoShelfPage::tr("Takes about %1 to prepare").arg(app::formatSeconds(row.expectedMs))
                            : app::formatBytes(row.video.sizeBytes);
}

}  // namespace

VideoShelfPage::VideoShelfPage(const std::vector<ShelfRow>& rows, QWidget* parent) : QDialog(parent), m_rows(rows) {
  setAttribute(Qt::WA_DeleteOnClose);
  auto* layout = new QVBoxLayout(this);
  setMargins(layout, 16, 4, 16, 12);
  setSpacing(layout, 8);
  const auto addRow = [layout] {
    auto* row = new QHBoxLayout;
    setSpacing(row, 8);
    layout->addLayout(row);
    return row;
  };
  const auto addButton = [](QHBoxLayout* row, const QString& text = {}) {
    auto* button = new QPushButton(text);
    button->setAutoDefault(false);
    row->addWidget(button);
    return button;
  };
  QHBoxLayout* top = addRow();
  m_summary = wrappedLabel();
  setMuted(m_summary);
  top->addWidget(m_summary, 1);
  m_prepare = addButton(top);
  m_prepare->setToolTip(tr("Read each video once, in the background: questions are then answered from what is kept"));
  connect(addButton(top, tr("Other folder…")), &QPushButton::clicked, this, &VideoShelfPage::folderRequested);
  m_list = new QTreeWidget;
  m_list->setColumnCount(3);
  m_list->setHeaderHidden(true);
  m_list->setRootIsDecorated(false);
  m_list->setUniformRowHeights(true);
  m_list->setAllColumnsShowFocus(true);
  m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  m_list->header()->setSectionResizeMode(kFacts, QHeaderView::ResizeToContents);
  m_list->setAccessibleName(tr("Videos"));
  setFocusFrame(m_list);
  layout->addWidget(m_list, 1);
  QHBoxLayout* places = addRow();
  m_frame = addButton(places);
  m_frame->setToolTip(tr("Show the frame, and what is known of this video (Enter)"));
  m_more = addButton(places, tr("Ask more in a new chat"));
  m_more->setToolTip(tr("A new chat with half a minute before and after this time attached"));
  places->addStretch(1);
  QHBoxLayout* asking = addRow();
  m_question = new QLineEdit;
  m_question->setPlaceholderText(tr("Which of these shows a green star?"));
  m_question->setAccessibleName(tr("Question to all videos"));
  asking->addWidget(m_question, 1);
  m_ask = addButton(asking);
  setPrimary(m_ask);
  connect(m_prepare, &QPushButton::clicked, this, [this] { Q_EMIT prepareRequested(!m_work.preparing); });
  const auto open = [this] {
    if (current()->unreadable.isEmpty()) Q_EMIT placeRequested(*current(), std::max(0.0, timeOf(*current())));
  };
  connect(m_frame, &QPushButton::clicked, this, open);
  connect(m_list, &QTreeWidget::itemActivated, this, open);
  connect(m_more, &QPushButton::clicked, this, [this] { Q_EMIT aroundRequested(current()->video.path, timeOf(*current())); });
  connect(m_ask, &QPushButton::clicked, this, &VideoShelfPage::askOrStop);
  connect(m_question, &QLineEdit::returnPressed, this, [this] {
    if (!m_work.asking) askOrStop();
  });
  connect(m_question, &QLineEdit::textChanged, this, [this] { setWork(m_work); });
  connect(m_list, &QTreeWidget::currentItemChanged, this, &VideoShelfPage::showTime);
  connect(&theme(), &Theme::changed, this, [this] { std::ranges::for_each(m_rows, [this](const ShelfRow& row) { showRow(row); }); });
  showRows();
}

void VideoShelfPage::setWork(const ShelfWork& work) {
  if (work.question != m_work.question) m_question->setText(work.question);
  m_work = work;
  setWindowTitle(tr("Videos of “%1”").arg(work.folder));
  m_summary->setText(work.obstacle.isEmpty() ? work.summary : tr("%1 · %2").arg(work.summary, work.obstacle));
  m_prepare->setText(work.preparing ? tr("Pause preparing") : tr("Prepare all"));
  m_prepare->setIcon(icon(work.preparing ? Glyph::kPause : Glyph::kPlay));
  m_ask->setText(work.asking ? tr("Stop") : tr("Ask all"));
  m_ask->setEnabled(work.asking || (work.obstacle.isEmpty() && !m_question->text().trimmed().isEmpty()));
}

void VideoShelfPage::showRows() {
  std::vector<std::size_t> order(m_rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [this](std::size_t row) { return rankOf(m_rows[row]); });
  {
    const QSignalBlocker quiet(m_list);
    m_list->clear();
    m_items.assign(m_rows.size(), nullptr);
    for (const std::size_t row : order) {
      auto* item = m_items[row] = new QTreeWidgetItem(m_list);
      item->setData(kName, kNumberRole, QVariant::fromValue(row));
      showRow(m_rows[row]);
    }
    m_list->setCurrentItem(m_list->topLevelItem(0));
  }
  showTime();
}

void VideoShelfPage::showRow(const ShelfRow& row) {
  QTreeWidgetItem* item = m_items[static_cast<std::size_t>(&row - m_rows.data())];
  const bool yes = rankOf(row) == 0, no = row.answer && row.answer->verdict == app::Verdict::kNo;
  item->setText(kName, app::displayText(app::attachedName(QFile::decodeName(row.video.path))));
  item->setText(kFacts, factsOf(row));
  item->setText(kState, stateOf(row));
  item->setIcon(kName, icon(yes ? Glyph::kCheck : Glyph::kFilm, yes ? IconColor::kText : IconColor::kMuted));
  item->setSizeHint(kName, QSize(0, theme().px(30)));
  for (int column = 0; column < m_list->columnCount(); ++column) {
    const bool strong = yes && column == kName;
    item->setFont(column, theme().font(strong ? TextRole::kStrong : TextRole::kBody));
    item->setForeground(column, no || column == kFacts ? theme().colors().mutedText : theme().colors().text);
    item->setToolTip(column, item->text(column).toHtmlEscaped());
  }
  if (&row == current()) showTime();
}

void VideoShelfPage::resizeEvent(QResizeEvent* event) {
  QDialog::resizeEvent(event);
  m_list->setColumnWidth(kName, width() * 3 / 10);
}

const ShelfRow* VideoShelfPage::current() const {
  const QTreeWidgetItem* item = m_list->currentItem();
  return item != nullptr ? &m_rows[item->data(kName, kNumberRole).toUInt()] : nullptr;
}

void VideoShelfPage::showTime() {
  const ShelfRow* row = current();
  const double atS = row != nullptr ? timeOf(*row) : -1;
  m_frame->setVisible(atS >= 0);
  m_frame->setText(tr("Show %1").arg(app::formatClock(atS)));
  m_more->setVisible(atS >= 0);
}

void VideoShelfPage::askOrStop() {
  if (m_work.asking) return Q_EMIT stopRequested();
  if (m_ask->isEnabled()) Q_EMIT askRequested(m_question->text().trimmed());
}

}  // namespace winnow::ui
