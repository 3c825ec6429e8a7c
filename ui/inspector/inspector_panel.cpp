#include "ui/inspector/inspector_panel.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "app/words/format_text.h"
#include "ui/inspector/chart_export.h"
#include "ui/inspector/charts.h"
#include "ui/inspector/timeline_chart.h"
#include "ui/inspector/timeline_page.h"
#include "ui/models/cache_monitor.h"
#include "ui/models/layer_table_model.h"
#include "ui/models/timeline_table_model.h"
#include "ui/recipes/method_texts.h"
#include "ui/recipes/recipe_words.h"
#include "ui/theme/dialog_page.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr int kRefreshMs = 100;
constexpr double kLeastPartMs = 0.5;

// Parts below a millisecond are left out; empty if there are no parts.
QString firstWordParts(const TimingsMs& t) {
  const double rest = t.ttft - t.waited - t.media - t.preprocess - t.vision - t.prefill - t.statistics - t.compress;
  const std::pair<QString, double> all[] = {
      {InspectorPanel::tr("waiting"), t.waited},      {InspectorPanel::tr("decoding video"), t.media},
      {InspectorPanel::tr("resizing"), t.preprocess}, {InspectorPanel::tr("encoding frames"), t.vision},
      {InspectorPanel::tr("prefill"), t.prefill},     {InspectorPanel::tr("judging"), t.statistics},
      {InspectorPanel::tr("compressing"), t.compress}};
  QStringList parts;
  for (const auto& [name, ms] : all) {
    if (ms >= kLeastPartMs) parts << QStringLiteral("%1 %2").arg(name, app::formatMilliseconds(ms));
  }
  if (parts.isEmpty()) return {};
  if (rest >= kLeastPartMs) parts << InspectorPanel::tr("other %1").arg(app::formatMilliseconds(rest));
  return InspectorPanel::tr("Of that: %1").arg(parts.join(QStringLiteral(" · ")));
}

// The server's words about its cache.
QString serversCacheText(const CacheFigures& f) {
  if (f.promptTokens == 0) return InspectorPanel::tr("A server answers. It does not say what its cache holds.");
  return InspectorPanel::tr("of the prompt’s %Ln token(s) came from the server’s cache", nullptr, static_cast<int>(f.promptTokens));
}

QString memoryExplained(const KvBytes& kv) {
  QStringList sentences{InspectorPanel::tr("Allocated: %1.").arg(app::formatBytes(kv.allocated)),
                        InspectorPanel::tr("Token positions and other bookkeeping: %1.").arg(app::formatBytes(kv.metadata))};
  if (kv.states > 0) sentences << InspectorPanel::tr("A part of the cache has a fixed size. No method makes it smaller.");
  return sentences.join(QLatin1Char(' '));
}

QLabel* section(const QString& text) { return lineLabel(text, TextRole::kCaptionStrong); }

QString ofWhat(const CacheFigures& f) {
  const QString share = app::formatShare(f.keptShare), ofAll = app::formatShare(f.keptOfAll);
  const QString text =
      InspectorPanel::tr("of %1 without compression · %2 of %3")
          .arg(app::formatBytes(f.kv.full), share, f.visualTokens == 0 ? InspectorPanel::tr("the text") : app::attachedNoun(f.attached));
  return f.visualTokens == 0 || ofAll == share ? text : InspectorPanel::tr("%1, %2 of everything").arg(text, ofAll);
}

}  // namespace

InspectorPanel::InspectorPanel(const CacheMonitor& monitor, std::vector<MethodInfo> methods, QWidget* parent)
    : QWidget(parent), m_monitor(monitor), m_methods(std::move(methods)) {
  setAccessibleName(tr("Live cache"));
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  m_stack = new QStackedWidget;
  layout->addWidget(m_stack);
  m_stack->addWidget(buildEmpty());
  m_tabs = new QTabWidget;
  m_tabs->setDocumentMode(true);
  m_tabs->addTab(buildNow(), tr("Now"));
  m_timelineModel = new TimelineTableModel(this);
  m_timeline = new TimelinePage(*m_timelineModel);
  m_tabs->addTab(m_timeline, tr("Timeline"));
  m_tabs->addTab(buildTable(), tr("Table"));
  offerExports(m_layers, m_model, QStringLiteral("layers"));
  offerExports(m_sparkline, m_timelineModel, QStringLiteral("speed"));
  m_stack->addWidget(m_tabs);
  m_timer.setSingleShot(true);
  m_timer.setInterval(kRefreshMs);
  connect(&m_timer, &QTimer::timeout, this, [this] {
    if (m_dirty) refresh();
  });
  connect(&m_monitor, &CacheMonitor::changed, this, &InspectorPanel::schedule);
  connect(&theme(), &Theme::changed, this, [this] { m_progress->setFixedHeight(theme().px(5)); });
}

QSize InspectorPanel::sizeHint() const { return QSize(theme().px(330), theme().px(400)); }
QSize InspectorPanel::minimumSizeHint() const { return QSize(theme().px(190), theme().px(120)); }

QWidget* InspectorPanel::buildEmpty() {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  setMargins(layout, 24, 24, 24, 24);
  auto* mark = new QLabel;
  mark->setPixmap(icon(Glyph::kChip, IconColor::kMuted).pixmap(32, 32));
  mark->setAlignment(Qt::AlignCenter);
  auto* title = new QLabel(tr("Nothing in the cache yet"));
  title->setAlignment(Qt::AlignCenter);
  title->setWordWrap(true);
  setTextRole(title, TextRole::kStrong);
  auto* words = captionLabel(tr("Ask a question to see what each layer of the model keeps and drops."));
  words->setAlignment(Qt::AlignCenter);
  layout->addStretch(1);
  layout->addWidget(mark);
  layout->addWidget(title);
  layout->addWidget(words);
  layout->addStretch(2);
  // Narrow docks and large text: the page scrolls rather than clips.
  QScrollArea* scroll = scrolling(page);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  return scroll;
}

QWidget* InspectorPanel::buildNow() {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  setMargins(layout, 16, 12, 16, 16);
  setSpacing(layout, 6);

  m_phase = new QLabel;
  m_phase->setWordWrap(true);
  setTextRole(m_phase, TextRole::kStrong);
  m_progress = new QProgressBar;
  m_progress->setTextVisible(false);
  m_progress->setFixedHeight(theme().px(5));
  m_progress->setAccessibleName(tr("Progress of this phase"));
  layout->addWidget(m_phase);
  m_toLast = new QPushButton(icon(Glyph::kChevronLeft), tr("Back to the last answer"));
  connect(m_toLast, &QPushButton::clicked, this, &InspectorPanel::lastAnswerRequested);
  layout->addWidget(m_toLast, 0, Qt::AlignLeft);
  m_ofNew = captionLabel();
  layout->addWidget(m_ofNew);
  layout->addWidget(m_progress);
  addGap(layout, 10);

  m_notYet = captionLabel(tr("Figures follow when the prompt is read."));
  layout->addWidget(m_notYet);
  const auto add = [this, layout](QWidget* widget) {
    layout->addWidget(widget);
    m_ofReport << widget;
  };
  const auto own = [this, add](QWidget* widget) {
    add(widget);
    m_ofOwnCache << widget;
  };
  add(section(tr("Cache")));
  m_bytes = lineLabel(QString(), TextRole::kDisplay);
  m_bytesDetail = captionLabel();
  add(m_bytes);
  add(m_bytesDetail);
  m_memory = new MemoryBar;
  own(m_memory);
  m_memoryDetail = captionLabel();
  layout->addWidget(m_memoryDetail);
  m_pinned = captionLabel();
  layout->addWidget(m_pinned);
  m_notes = captionLabel();
  layout->addWidget(m_notes);
  addGap(layout, 10);

  own(section(tr("Kept, mean over layers")));
  m_keptVisual = new KeptBar(KeptBar::Kind::kVisual);
  m_keptText = new KeptBar(KeptBar::Kind::kText);
  layout->addWidget(m_keptVisual);
  own(m_keptText);
  auto* map = new QPushButton(icon(Glyph::kGrid), tr("Kept tokens…"));
  map->setToolTip(tr("What each layer kept of every frame or word (Ctrl+T)"));
  connect(map, &QPushButton::clicked, this, [this] {
    const std::optional<EarlierAnswer>& earlier = m_monitor.figures().earlier;
    Q_EMIT keptMapRequested(earlier ? earlier->id : 0);
  });
  addGap(layout, 4);
  layout->addWidget(map, 0, Qt::AlignLeft);
  m_ofOwnCache << map;
  m_ofReport << map;
  addGap(layout, 10);

  add(section(tr("Speed")));
  auto* speed = new QHBoxLayout;
  setSpacing(speed, 12);
  m_speed = lineLabel(QString(), TextRole::kTitle);
  m_sparkline = new Sparkline;
  speed->addWidget(m_speed);
  speed->addWidget(m_sparkline, 1);
  m_ofReport << m_speed << m_sparkline;
  layout->addLayout(speed);
  m_firstToken = captionLabel();
  add(m_firstToken);
  m_firstParts = captionLabel();
  layout->addWidget(m_firstParts);
  addGap(layout, 10);

  own(section(tr("Layers")));
  own(captionLabel(
      tr("One bar per layer, from layer 0. Outline: limit. Fill: in use; blue for attachments, orange for text, green for the answer.")));
  m_layers = new LayerBars;
  own(m_layers);
  m_why = captionLabel();
  layout->addWidget(m_why);
  layout->addStretch(1);

  QScrollArea* scroll = keyboardScrolling(page);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll->setAccessibleName(tr("Cache figures"));
  return scroll;
}

QWidget* InspectorPanel::buildTable() {
  auto* page = new QWidget;
  auto* layout = new QVBoxLayout(page);
  setMargins(layout, 8, 8, 8, 8);
  m_model = new LayerTableModel(this);
  m_sorted = new QSortFilterProxyModel(this);
  m_sorted->setSourceModel(m_model);
  m_sorted->setSortRole(Qt::UserRole);
  m_table = newFigureTable(m_sorted, tr("Figures per layer"));
  m_table->setSortingEnabled(true);
  m_table->sortByColumn(LayerTableModel::kLayer, Qt::AscendingOrder);
  auto* button = new QPushButton(icon(Glyph::kCopy), tr("Copy table"));
  connect(button, &QPushButton::clicked, this, [this] {
    m_table->clearSelection();
    copyTable();
  });
  layout->addWidget(m_table, 1);
  layout->addWidget(button, 0, Qt::AlignLeft);
  return page;
}

void InspectorPanel::copyTable() { copyNumbers(*m_sorted, m_table->selectionModel()->selectedIndexes()); }

QString InspectorPanel::whyLine() const { return m_why->isHidden() ? QString() : m_why->text(); }
QString InspectorPanel::pinnedLine() const { return m_pinned->isHidden() ? QString() : m_pinned->text(); }
QString InspectorPanel::firstWordLine() const { return m_firstParts->isHidden() ? QString() : m_firstParts->text(); }
QString InspectorPanel::notesLine() const { return m_notes->isHidden() ? QString() : m_notes->text(); }

void InspectorPanel::schedule() {
  m_dirty = true;
  if (isVisible() && !m_timer.isActive()) m_timer.start();
}

void InspectorPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (m_dirty) refresh();
}

void InspectorPanel::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  m_timer.stop();
}

QString InspectorPanel::lastAnswerText(const CacheFigures& f) const {
  const QString label = f.byServer ? QString() : recipesLabel(m_methods, f.makers);
  if (f.subject == FiguresOf::kColumn) return tr("Compared · %1").arg(label);
  const QString which = f.earlier ? tr("Answer %1").arg(f.earlier->number) : tr("Last answer");
  return label.isEmpty() ? which : which + QStringLiteral(" · ") + label;
}

void InspectorPanel::refresh() {
  m_dirty = false;
  ++m_refreshes;
  const CacheFigures& f = m_monitor.figures();
  const bool anything = f.active || f.hasReport || f.byServer;
  m_stack->setCurrentIndex(anything ? 1 : 0);
  if (!anything) return;
  const QString dash = QStringLiteral("–");
  const bool waits = !f.waitsFor.isEmpty();
  m_phase->setText(waits ? f.waitsFor : f.active ? phaseText(f.phase, f.phaseDone, f.phaseTotal) : lastAnswerText(f));
  m_ofNew->setText(f.ofNew ? tr("New files: %1").arg(recipeLabel(m_methods, *f.ofNew)) : QString());
  m_ofNew->setVisible(f.ofNew.has_value());
  m_toLast->setVisible(f.earlier.has_value());
  m_progress->setVisible(f.active);
  const bool known = waits || (f.phaseTotal > 0 && f.phase != Phase::kDecode);
  m_progress->setRange(0, known ? 1000 : 0);
  if (known) m_progress->setValue(static_cast<int>(1000.0 * (waits ? f.waitShare : phaseShare(f.phaseDone, f.phaseTotal))));

  const bool told = f.hasReport || f.byServer;  // else it is still read
  for (QWidget* widget : m_ofReport) widget->setVisible(told && !(f.byServer && m_ofOwnCache.contains(widget)));
  m_notYet->setVisible(!told);
  m_bytes->setText(f.byServer && f.promptTokens > 0
                       ? app::formatShare(static_cast<double>(f.cachedTokens) / static_cast<double>(f.promptTokens))
                   : f.hasReport ? app::formatBytes(f.held.prompt)
                                 : dash);
  m_bytesDetail->setText(f.byServer ? serversCacheText(f) : f.hasReport ? ofWhat(f) : QString());
  m_memory->setBytes(f.held.prompt, f.kv.full);
  QStringList memory;
  if (f.held.answer > 0) memory << tr("Answer: %1 more").arg(app::formatBytes(f.held.answer));
  memory << tr("Peak %1").arg(app::formatBytes(peak_bytes(f.kv)));
  if (f.kv.states > 0) memory << tr("States: %1").arg(app::formatBytes(f.kv.states));
  if (f.kvBits > 0 && f.kvBits < 32) memory << tr("%1-bit cache").arg(f.kvBits);
  m_memoryDetail->setText(f.hasReport ? memory.join(QStringLiteral(" · ")) : QString());
  m_memoryDetail->setToolTip(memoryExplained(f.kv));
  m_memoryDetail->setVisible(f.hasReport);
  m_pinned->setText(f.pinnedTokens > 0 ? tr("Pinned: %Ln token(s) in every layer", nullptr, static_cast<int>(f.pinnedTokens)) : QString());
  m_pinned->setVisible(f.pinnedTokens > 0);
  m_notes->setText(notesText(f.notes, f.shortTextTokens));
  m_notes->setVisible(!f.notes.empty());
  m_keptVisual->setLabel(app::attachedLabel(f.attached));
  m_keptVisual->setVisible(f.hasReport && !f.byServer && (f.visualTokens > 0 || f.attached != app::AttachedKind::kNothing));
  m_layers->setAttachedLabel(app::attachedLabel(f.attached));
  m_model->setAttached(f.attached);
  m_timeline->chart()->setAttached(f.attached);
  m_keptVisual->setValues(CacheMonitor::keptVisual(f), double(f.visualTokens));
  m_keptText->setValues(CacheMonitor::keptText(f), double(f.textTokens));
  m_speed->setText(f.tokensPerS > 0 ? app::formatSpeed(f.tokensPerS) : dash);
  m_sparkline->setValues(m_monitor.speedHistory());
  QString written = f.ttftMs > 0 ? tr("First word after %1 · %Ln token(s) written", nullptr, static_cast<int>(f.generatedTokens))
                                       .arg(app::formatMilliseconds(f.ttftMs))
                                 : tr("%Ln token(s) written", nullptr, static_cast<int>(f.generatedTokens));
  if (f.thoughtTokens > 0)
    written +=
        tr(", %Ln of them thinking (%1)", nullptr, static_cast<int>(f.thoughtTokens)).arg(app::formatMilliseconds(f.timings.thought));
  if (f.draftedTokens > 0) written += tr(", %Ln of them guessed ahead", nullptr, static_cast<int>(f.draftedTokens));
  m_firstToken->setText(written);
  const QString parts = f.ttftMs > 0 ? firstWordParts(f.timings) : QString();
  m_firstParts->setText(parts);
  m_firstParts->setVisible(!parts.isEmpty());
  m_timeline->setTurns(m_monitor.turns());
  m_layers->setLayers(f.layers, f.slots);
  m_model->setLayers(f.layers, f.slots);
  QStringList why;
  for (const auto& [name, value] : f.layers.empty() ? decltype(LayerFigures::why){} : f.layers.front().why) {
    why << QStringLiteral("%1: %2").arg(reasonTitle(name), reasonHelp(name));
  }
  m_why->setText(why.isEmpty() ? QString()
                               : tr("What decides each layer's budget (figures in the table): %1").arg(why.join(QLatin1Char(' '))));
  m_why->setVisible(!why.isEmpty());
  m_timer.start();
}

}  // namespace winnow::ui
