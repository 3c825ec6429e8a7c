#include "ui/inspector/timeline_page.h"

#include <QAction>
#include <QHeaderView>
#include <QPushButton>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>

#include "ui/inspector/chart_export.h"
#include "ui/inspector/timeline_chart.h"
#include "ui/models/timeline_table_model.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {

namespace {

// Columns are as wide as their figures. Those that have room share what is left of it, so that none is cut at the right; the others are a
// scroll away.
class FigureTable : public QTableView {
 public:
  void fit() {
    const QHeaderView& header = *horizontalHeader();
    std::vector<int> widths;
    for (int column = 0; column < header.count(); ++column)
      widths.push_back(std::max({sizeHintForColumn(column), header.sectionSizeHint(column), header.minimumSectionSize()}));
    int used = 0;
    int whole = 0;
    while (whole < header.count() && used + widths[static_cast<std::size_t>(whole)] <= viewport()->width())
      used += widths[static_cast<std::size_t>(whole++)];
    for (int column = 0; column < whole; ++column) {
      const int share = (viewport()->width() - used) / (whole - column);
      widths[static_cast<std::size_t>(column)] += share;
      used += share;
    }
    for (int column = 0; column < header.count(); ++column) setColumnWidth(column, widths[static_cast<std::size_t>(column)]);
  }

 protected:
  void resizeEvent(QResizeEvent* event) override {
    QTableView::resizeEvent(event);
    fit();
  }
};

}  // namespace

QTableView* newFigureTable(QAbstractItemModel* model, const QString& name) {
  auto* table = new FigureTable;
  table->setModel(model);
  const auto fit = [table] { table->fit(); };
  QObject::connect(model, &QAbstractItemModel::modelReset, table, fit);
  QObject::connect(model, &QAbstractItemModel::layoutChanged, table, fit);
  QObject::connect(model, &QAbstractItemModel::rowsInserted, table, fit);
  QObject::connect(model, &QAbstractItemModel::dataChanged, table, fit);
  setFocusFrame(table);
  table->setAccessibleName(name);
  setTextRole(table, TextRole::kCaption);
  setTextRole(table->horizontalHeader(), TextRole::kCaption);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->setShowGrid(false);
  table->setAlternatingRowColors(true);
  table->verticalHeader()->hide();
  table->horizontalHeader()->setSectionResizeMode(QHeaderView::Fixed);
  table->setHorizontalScrollMode(QAbstractItemView::ScrollPerItem);
  table->horizontalHeader()->setHighlightSections(false);
  const auto size = [table] {
    table->verticalHeader()->setDefaultSectionSize(theme().px(26));
    table->horizontalHeader()->setMinimumSectionSize(theme().px(46));
    table->fit();
  };
  QObject::connect(&theme(), &Theme::changed, table, size);
  size();
  auto* copy = new QAction(TimelinePage::tr("Copy"), table);
  copy->setShortcut(QKeySequence::Copy);
  copy->setShortcutContext(Qt::WidgetShortcut);
  table->addAction(copy);
  table->setContextMenuPolicy(Qt::ActionsContextMenu);
  QObject::connect(copy, &QAction::triggered, table, [table] { copyNumbers(*table->model(), table->selectionModel()->selectedIndexes()); });
  return table;
}

TimelinePage::TimelinePage(TimelineTableModel& model, QWidget* parent) : QScrollArea(parent), m_model(model) {
  setAccessibleName(tr("Cache over time"));
  setFocusFrame(this);
  setWidgetResizable(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  setMargins(layout, 16, 12, 16, 12);
  setSpacing(layout, 8);
  m_chart = new TimelineChart;
  offerExports(m_chart, &m_model, QStringLiteral("cache-over-time"));
  layout->addWidget(m_chart);
  auto* words =
      captionLabel(tr("Bytes of keys and values in use, from when a question was read to its answer’s end. Every turn has the same width; "
                      "below it, how long it took. Circle: question read, at the peak so far. Triangle: compressed. Square: first eviction "
                      "while writing."));
  layout->addWidget(words);
  m_table = newFigureTable(&m_model, tr("Cache over time, as a table"));
  m_table->setMinimumHeight(theme().px(150));
  layout->addWidget(m_table, 1);
  auto* copy = new QPushButton(icon(Glyph::kCopy), tr("Copy table"));
  connect(copy, &QPushButton::clicked, this, [this] { copyNumbers(m_model); });
  layout->addWidget(copy, 0, Qt::AlignLeft);
  setWidget(page);
}

void TimelinePage::setTurns(std::vector<app::TurnTimeline> turns) {
  m_model.setTurns(turns);
  m_chart->setTurns(std::move(turns));
}

}  // namespace winnow::ui
