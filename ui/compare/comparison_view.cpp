#include "ui/compare/comparison_view.h"

#include <QApplication>
#include <QClipboard>
#include <QEvent>
#include <QHBoxLayout>
#include <QLocale>
#include <QProgressBar>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/words/display_text.h"
#include "app/words/error_text.h"
#include "app/words/format_text.h"
#include "engine/metrics/kept_figures.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/compare/column_view.h"
#include "ui/compare/comparison_verdict.h"
#include "ui/theme/dialog_page.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {
constexpr int kColumnUnits = 210;  // narrower than this an answer cannot be read
constexpr int kAnswerUnits = 60;   // lower than this, too
constexpr int kLowUnits = 380;
constexpr int kVerdictUnits = 460;  // lower than this the verdict has no line of its own
}  // namespace

ComparisonView::ComparisonView(QWidget* parent) : QWidget(parent) {
  setAccessibleName(tr("Comparison"));
  auto* layout = new QVBoxLayout(this);
  setMargins(layout, 12, 0, 12, 6);
  setSpacing(layout, 6);
  auto* top = new QHBoxLayout;
  setSpacing(top, 6);
  m_back = new QToolButton;
  m_back->setAutoRaise(true);
  m_back->setIcon(icon(Glyph::kChevronLeft, IconColor::kMuted));
  m_back->setToolTip(tr("Back to the chat (Esc)"));
  m_back->setAccessibleName(tr("Back to the chat"));
  m_title = new ElidedLabel(Qt::ElideRight);
  setTextRole(m_title, TextRole::kStrong);
  m_stop = new QPushButton(icon(Glyph::kStop), tr("Stop"));
  m_stop->setToolTip(tr("Stop here and keep what was written (Esc)"));
  m_cancel = new QPushButton(tr("Cancel"));
  m_cancel->setToolTip(tr("Discard the comparison and keep the question"));
  top->addWidget(m_back);
  top->addWidget(m_title, 1);
  m_copy = new QToolButton;
  m_copy->setAutoRaise(true);
  m_copy->setIcon(icon(Glyph::kCopy, IconColor::kMuted));
  m_copy->setToolTip(tr("Copy figures and answers as a table"));
  m_copy->setAccessibleName(tr("Copy figures and answers as a table"));
  top->addWidget(m_copy);
  m_maps = new QToolButton;
  m_maps->setAutoRaise(true);
  m_maps->setIcon(icon(Glyph::kGrid, IconColor::kMuted));
  m_maps->setToolTip(tr("Kept tokens: one map per method, or two compared (Ctrl+T)"));
  m_maps->setAccessibleName(tr("Kept tokens of each method"));
  connect(m_maps, &QToolButton::clicked, this, &ComparisonView::mapsRequested);
  top->addWidget(m_maps);
  top->addWidget(m_stop);
  top->addWidget(m_cancel);
  layout->addLayout(top);
  m_question = new ElidedLabel(Qt::ElideRight);
  m_question->setContentsMargins(theme().px(6), 0, 0, 0);
  layout->addWidget(m_question);
  m_shared = captionLabel();
  m_shared->setContentsMargins(theme().px(6), 0, 0, 0);
  layout->addWidget(m_shared);
  m_verdict = wrappedLabel(QString(), TextRole::kHeading);
  m_verdict->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_verdict->setAccessibleName(tr("What came out"));
  m_verdict->setContentsMargins(theme().px(6), theme().px(2), 0, theme().px(4));
  layout->addWidget(m_verdict);
  m_progress = new QProgressBar;
  m_progress->setTextVisible(false);
  m_progress->setAccessibleName(tr("Progress of the shared reading"));
  m_progress->setFixedHeight(theme().px(6));
  auto* shared = new QHBoxLayout;
  setMargins(shared, 6, 0, 6, 4);
  shared->addWidget(m_progress);
  layout->addLayout(shared);
  m_failure = wrappedLabel();
  m_failure->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  m_failure->setAccessibleName(tr("Why the comparison failed"));
  m_failure->setContentsMargins(theme().px(6), 0, 0, 0);
  layout->addWidget(m_failure);
  m_find = new QPushButton(tr("Find it…"));
  m_find->setToolTip(tr("Then it is compared again"));
  connect(m_find, &QPushButton::clicked, this, &ComparisonView::findFileRequested);
  layout->addWidget(m_find, 0, Qt::AlignLeft);
  m_splitter = new QSplitter(Qt::Horizontal);
  m_splitter->setChildrenCollapsible(false);
  m_splitter->setHandleWidth(theme().px(5));
  m_scroll = scrolling(m_splitter);
  m_scroll->setCornerWidget(new QWidget);  // the style's own is a frame
  layout->addWidget(m_scroll, 1);

  m_alignTimer.setSingleShot(true);
  connect(&m_alignTimer, &QTimer::timeout, this, &ComparisonView::alignHeaders);
  connect(m_splitter, &QSplitter::splitterMoved, this, [this] { m_alignTimer.start(0); });
  connect(m_back, &QToolButton::clicked, this, &ComparisonView::backRequested);
  connect(m_copy, &QToolButton::clicked, this, [this] { QApplication::clipboard()->setText(table()); });
  connect(m_stop, &QPushButton::clicked, this, &ComparisonView::stopRequested);
  connect(m_cancel, &QPushButton::clicked, this, &ComparisonView::cancelRequested);
  connect(&theme(), &Theme::changed, this, [this] {
    m_progress->setFixedHeight(theme().px(6));
    for (ColumnView* column : m_columns) {
      column->setMinimumWidth(theme().px(kColumnUnits));
      column->transcript()->setMinimumHeight(theme().px(kAnswerUnits));
    }
    describe();
    m_alignTimer.start(0);
  });
}

ComparisonView::~ComparisonView() = default;

void ComparisonView::setModel(std::shared_ptr<ComparisonModel> model, const QString& question, const QString& media) {
  // Columns listen to the model that they were made for: they go first.
  for (ColumnView* column : m_columns) delete column;
  m_columns.clear();
  if (m_model) m_model->disconnect(this);
  m_model = std::move(model);
  m_alone = -1;
  m_question->setText(
      app::displayText(media.isEmpty() ? question.simplified() : QStringLiteral("%1  ·  %2").arg(question.simplified(), media)));
  m_question->setToolTip(app::displayText(question).left(2000).toHtmlEscaped());
  if (!m_model) return;
  // First and last to hear of a change: what scrolls in between is an answer that follows its own end.
  const auto growing = [this](bool on) {
    for (const auto signal : {&ComparisonModel::columnChanged, &ComparisonModel::marksChanged})
      connect(m_model.get(), signal, this, [this, on] { m_growing = on; });
    connect(m_model.get(), &ComparisonModel::textAdded, this, [this, on] { m_growing = on; });
  };
  growing(true);
  QWidget* before = m_back;
  for (int i = 0; i < m_model->columns(); ++i) {
    auto* column = new ColumnView(*m_model, i);
    column->setMinimumWidth(theme().px(kColumnUnits));
    column->transcript()->setMinimumHeight(theme().px(kAnswerUnits));
    m_splitter->addWidget(column);
    m_splitter->setStretchFactor(i, 1);
    m_columns.push_back(column);
    connect(column, &ColumnView::useRequested, this, [this, i] { Q_EMIT useRequested(i); });
    connect(column->header(), &ColumnHeader::aloneRequested, this, [this, i] { showAlone(i); });
    connect(column->header(), &ColumnHeader::stepRequested, this, [this, i](int step) {
      if (m_alone >= 0) return;
      const int next = std::clamp(i + step, 0, static_cast<int>(m_columns.size()) - 1);
      m_columns[static_cast<std::size_t>(next)]->header()->setFocus(Qt::TabFocusReason);
      m_scroll->ensureWidgetVisible(m_columns[static_cast<std::size_t>(next)], 0, 0);
    });
    connect(column->transcript()->verticalScrollBar(), &QScrollBar::valueChanged, this,
            [this, column](int value) { scrollTogether(column, value); });
    for (QWidget* next : {static_cast<QWidget*>(column->header()), static_cast<QWidget*>(column->header()->aloneButton()),
                          static_cast<QWidget*>(column->transcript()), static_cast<QWidget*>(column->useButton())}) {
      setTabOrder(before, next);
      before = next;
    }
    column->header()->installEventFilter(this);
    column->transcript()->installEventFilter(this);
    column->header()->setCompact(low());
    column->show();
  }
  connect(m_model.get(), &ComparisonModel::commonChanged, this, &ComparisonView::describe);
  connect(m_model.get(), &ComparisonModel::columnChanged, this, [this] {
    describe();
    m_alignTimer.start(0);
  });
  growing(false);
  m_splitter->setSizes(QList<int>(static_cast<qsizetype>(m_columns.size()), 1000));
  describe();
  m_alignTimer.start(0);
}

void ComparisonView::showAlone(int column) {
  m_alone = column == m_alone ? -1 : column;
  for (int i = 0; i < static_cast<int>(m_columns.size()); ++i) {
    ColumnView* each = m_columns[static_cast<std::size_t>(i)];
    each->setVisible(m_alone < 0 || m_alone == i);
    each->setAlone(m_alone == i);
  }
  if (column >= 0) m_columns[static_cast<std::size_t>(column)]->header()->setFocus(Qt::TabFocusReason);
  m_alignTimer.start(0);
}

QString ComparisonView::sharedText() const { return m_shared->text(); }
QString ComparisonView::verdictText() const { return m_verdict->text(); }
QString ComparisonView::failureText() const { return m_failure->isHidden() ? QString() : m_failure->text(); }

QString ComparisonView::table() const {
  if (!m_model) return {};
  // Plain numbers, as a spreadsheet reads them; a cell is one line.
  const QLocale plain(QLocale::C);
  QStringList lines{QStringList{tr("Method"), tr("Kept, %"), tr("KV bytes"), tr("First word, ms"), tr("Tokens/s"),
                                tr("Agrees with full, %"), tr("KL"), tr("First different word"), tr("Hits, %"), tr("Answer")}
                        .join(QLatin1Char('\t'))};
  for (int i = 0; i < m_model->columns(); ++i) {
    const app::ComparedAnswer& answer = m_model->answer(i);
    const TurnFigures& f = answer.run.figures;
    QStringList cells{m_model->label(i)};
    if (answer.hasFigures) {
      cells << plain.toString(100.0 * kept_share(f), 'f', 2) << QString::number(f.kv_bytes.after_event)
            << plain.toString(f.timings_ms.ttft, 'f', 1) << plain.toString(f.tokens_per_s, 'f', 1);
    } else {
      cells << QString() << QString() << QString() << QString();
    }
    const std::optional<Agreement>& agreement = answer.run.agreement;
    const std::optional<SelectionFigures>& selection = answer.run.selection;
    cells << (agreement ? plain.toString(100.0 * agreement->top1, 'f', 2) : QString())
          << (agreement && agreement->mean_kl ? plain.toString(*agreement->mean_kl, 'g', 6) : QString())
          << (agreement && agreement->first_diverging_word ? QString::number(*agreement->first_diverging_word + 1) : QString())
          << (selection && selection->hit_rate ? plain.toString(100.0 * *selection->hit_rate, 'f', 2) : QString())
          << answer.text.simplified();
    lines << cells.join(QLatin1Char('\t'));
  }
  return lines.join(QLatin1Char('\n')) + QLatin1Char('\n');
}

void ComparisonView::describe() {
  if (!m_model) return;
  const ComparisonModel& model = *m_model;
  const Compared& totals = model.comparison().totals;
  const bool apart = model.comparison().order == ColumnOrder::kOneAfterAnother;
  m_title->setText(tr("Comparison of %Ln method(s)", nullptr, model.columns()) + QStringLiteral(" · ") +
                   (apart ? tr("one by one: true speed") : tr("all at once: speeds cannot be compared")));
  m_stop->setVisible(model.running());
  m_cancel->setVisible(model.running());
  QStringList shared;
  if (model.running() && !model.phase().isEmpty()) shared << tr("Once for all: %1").arg(model.phase());
  if (model.visionMs() > 0) {
    shared << tr("Read once for all: vision encoder %1, prefill %2")
                  .arg(app::formatMilliseconds(model.visionMs()), app::formatMilliseconds(model.prefillMs()));
  } else if (model.visionMs() == 0) {  // of a text
    shared << tr("Read once for all: prefill %1").arg(app::formatMilliseconds(model.prefillMs()));
  }
  if (!model.running() && totals.prefills > 0) {
    shared << tr("%Ln prefill(s)", nullptr, static_cast<int>(totals.prefills));
    if (totals.shared_prefix_bytes > 0) {
      shared << tr("shared prefix %1, stored once").arg(app::formatBytes(totals.shared_prefix_bytes))
             << tr("all caches together %1").arg(app::formatBytes(totals.allocated_bytes));
    }
    if (totals.stopped) shared << tr("stopped");
  }
  m_shared->setText(shared.join(QStringLiteral(" · ")));
  m_shared->setVisible(!shared.isEmpty() && model.running());
  m_question->setVisible(!low());
  m_title->setToolTip(model.running() ? QString() : m_shared->text().toHtmlEscaped());
  m_verdict->setText(comparisonVerdict(model));
  const bool instead = height() < theme().px(kVerdictUnits);  // of the title
  if (instead && !m_verdict->text().isEmpty()) m_title->setText(m_verdict->text());
  m_verdict->setVisible(!instead && !m_verdict->text().isEmpty());
  m_progress->setVisible(model.running() && !model.phase().isEmpty());
  if (model.phaseShare() >= 0) {
    m_progress->setRange(0, 1000);
    m_progress->setValue(qRound(model.phaseShare() * 1000));
  } else {
    m_progress->setRange(0, 0);
  }
  QString failure;
  const QString repair = model.failure() ? app::repairOf(*model.failure()) : QString();
  if (!repair.isEmpty()) m_find->setText(repair);  // hidden, it keeps its last words: its name
  m_find->setVisible(!repair.isEmpty());
  if (const std::optional<Error> error = model.failure()) {
    const app::ErrorText text = app::describeError(*error);
    failure = text.cause + QLatin1Char(' ') + text.remedy;
    m_failure->setToolTip(text.details.toHtmlEscaped());
  } else if (model.cancelled()) {
    failure = tr("Cancelled. Nothing was kept; your question is in the chat.");
  }
  m_failure->setText(failure);
  m_failure->setVisible(!failure.isEmpty());
  QPalette palette = m_failure->palette();
  palette.setColor(QPalette::WindowText, model.cancelled() ? theme().colors().mutedText : theme().colors().danger);
  m_failure->setPalette(palette);
}

void ComparisonView::alignHeaders() {
  int height = 0;
  for (const ColumnView* column : m_columns) {
    if (!column->isHidden()) height = std::max(height, column->header()->heightForWidth(std::max(1, column->header()->width())));
  }
  for (ColumnView* column : m_columns) column->header()->setFixedHeight(height);
}

void ComparisonView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  for (ColumnView* column : m_columns) column->header()->setCompact(low());
  describe();
  m_alignTimer.start(0);
}

bool ComparisonView::low() const { return height() < theme().px(kLowUnits); }

bool ComparisonView::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::FocusIn) {
    for (int i = 0; i < static_cast<int>(m_columns.size()); ++i) {
      const ColumnView* column = m_columns[static_cast<std::size_t>(i)];
      if (watched == column->header() || watched == column->transcript()) Q_EMIT columnFocused(i);
    }
  }
  return QWidget::eventFilter(watched, event);
}

void ComparisonView::scrollTogether(const ColumnView* source, int value) {
  if (m_scrolling || m_growing) return;
  m_scrolling = true;
  for (ColumnView* column : m_columns) {
    if (column != source) column->transcript()->verticalScrollBar()->setValue(value);
  }
  m_scrolling = false;
}

}  // namespace winnow::ui
