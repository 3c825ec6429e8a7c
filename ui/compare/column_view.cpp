#include "ui/compare/column_view.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QMouseEvent>
#include <QPainter>
#include <QPushButton>
#include <QToolButton>
#include <QVBoxLayout>

#include "app/words/error_text.h"
#include "app/words/format_text.h"
#include "ui/chat_view/agreement_marks.h"
#include "ui/chat_view/transcript_view.h"
#include "ui/models/cache_monitor.h"
#include "ui/theme/elided_label.h"
#include "ui/theme/icons.h"
#include "ui/theme/labels.h"
#include "ui/theme/theme.h"

namespace winnow::ui {
namespace {

constexpr qint64 kAnswerId = 1;  // of the only message in a column

// The header says so if a column was not run, or failed: the model has not ended without a word.
MessageStatus statusOf(const ComparisonModel& model, int column) {
  if (model.progress(column).stage != ColumnStage::kDone && model.progress(column).stage != ColumnStage::kChecking)
    return MessageStatus::kStreaming;
  return model.answer(column).state == app::ColumnState::kAnswered ? MessageStatus::kComplete : MessageStatus::kFailed;
}

// The only figures that stand with the answer itself.
MessageMetrics thoughtMetrics(const app::ComparedAnswer& answer) {
  return {.thoughtTokens = static_cast<int>(answer.run.figures.tokens.thought), .thoughtMs = answer.run.figures.timings_ms.thought};
}

QString speedText(double tokensPerS) { return app::formatFixed(tokensPerS, tokensPerS < 10 ? 1 : 0); }

}  // namespace

ColumnHeader::ColumnHeader(QWidget* parent) : QFrame(parent) {
  setFocusPolicy(Qt::StrongFocus);
  auto* layout = new QVBoxLayout(this);
  setMargins(layout, 12, 8, 8, 8);
  setSpacing(layout, 2);
  auto* top = new QHBoxLayout;
  setSpacing(top, 4);
  m_title = new ElidedLabel(Qt::ElideRight);
  setTextRole(m_title, TextRole::kStrong);
  m_alone = new QToolButton;
  m_alone->setAutoRaise(true);
  m_alone->setCheckable(true);
  m_alone->setIcon(icon(Glyph::kColumns, IconColor::kMuted));
  top->addWidget(m_title, 1);
  top->addWidget(m_alone);
  layout->addLayout(top);
  m_stage = captionLabel();
  m_figures = captionLabel();
  m_agreement = captionLabel();
  m_remark = captionLabel();
  for (QLabel* label : {m_stage, m_figures, m_agreement, m_remark}) layout->addWidget(label);
  layout->addStretch(1);
  connect(m_alone, &QToolButton::clicked, this, &ColumnHeader::aloneRequested);
  setAlone(false);
}

void ColumnHeader::setAlone(bool alone) {
  m_alone->setChecked(alone);
  m_alone->setToolTip(alone ? tr("Show all columns (Enter)") : tr("Show this column alone (Enter)"));
  m_alone->setAccessibleName(alone ? tr("Show all columns") : tr("Show %1 alone").arg(m_title->text()));
}

int ColumnHeader::heightForWidth(int width) const { return layout()->totalHeightForWidth(width); }

QString ColumnHeader::text() const {
  QStringList lines;
  for (const QLabel* label : {m_title, m_stage, m_figures, m_agreement, m_remark}) {
    if (!label->text().isEmpty()) lines << label->text();
  }
  lines << m_details;
  return lines.join(QLatin1Char('\n'));
}

void ColumnHeader::showAgreement(const QString& text, const app::Run& run) {
  QString same;
  m_details.clear();
  if (const std::optional<Agreement>& agreement = run.agreement) {
    same = verdictText(*agreement, agreementMarks(text, *agreement).size());
    m_details << agreementText(*agreement, run.figures.tokens.unread) + QLatin1Char('.')
              << tr("Agreement: the share of tokens at which the full cache picks the same one.")
              << divergenceText(*agreement) + QLatin1Char('.');
    if (agreement->first_diverging_word) m_details << tr("First different word: %1.").arg(*agreement->first_diverging_word + 1);
  }
  if (const std::optional<SelectionFigures>& selection = run.selection; selection && selection->hit_rate) {
    m_details << tr("Kept %1 of what mattered.").arg(app::formatShare(*selection->hit_rate))
              << tr("What mattered: the tokens that the full cache’s first answer token attends to most.");
  }
  m_agreement->setText(same);
}

void ColumnHeader::describe(const ComparisonModel& model, int column) {
  const app::ComparedAnswer& answer = model.answer(column);
  const ColumnProgress& progress = model.progress(column);
  const TurnFigures& figures = answer.run.figures;
  m_title->setText(model.label(column));
  setAlone(m_alone->isChecked());

  QString stage;
  switch (progress.stage) {
    case ColumnStage::kWaiting: stage = tr("Waiting"); break;
    case ColumnStage::kReading: stage = answer.sharesPrefill ? tr("Compressing") : tr("Reading"); break;
    case ColumnStage::kWriting: stage = tr("Writing"); break;
    case ColumnStage::kChecking: stage = tr("Checking against the full cache"); break;
    case ColumnStage::kDone:
      switch (answer.state) {
        case app::ColumnState::kAnswered: break;
        case app::ColumnState::kStopped: stage = tr("Stopped here. The answer so far is kept."); break;
        case app::ColumnState::kFailed: stage = tr("Failed. The reason is shown above."); break;
        case app::ColumnState::kLeftOut: stage = tr("Not run: the comparison ended first."); break;
      }
      break;
  }
  m_stage->setText(stage);

  showAgreement(answer.text, answer.run);
  if (model.reference() == column && model.columns() > 1) {
    m_agreement->clear();
    m_details << tr("The other answers are compared with this one.");
  }
  QStringList line;
  if (progress.hasReport) {
    line << app::formatBytes(progress.held.prompt);
    m_details << tr("Cache %1 · %2 kept").arg(app::formatBytes(progress.held.prompt), app::formatShare(progress.keptShare));
  }
  if (answer.hasFigures) {
    line << app::formatMilliseconds(figures.timings_ms.ttft);
    m_details << tr("%1 to first word").arg(line.last());
  }
  if (progress.tokensPerS > 0) line << tr("%1 tok/s").arg(speedText(progress.tokensPerS));
  m_figures->setText(line.join(QStringLiteral(" · ")));
  if (!answer.sharesPrefill) m_details << tr("Read separately: %1.").arg(model.whenItCompresses(column));

  QStringList remarks;
  if (answer.run.stopReason == StopReason::kLength)
    remarks << tr("Stopped at the limit of %Ln token(s).", nullptr, static_cast<int>(figures.tokens.generated));
  if (const QString notes = notesText(figures.notes, answer.run.recipe.spec.min_event_tokens); !notes.isEmpty()) remarks << notes;
  if (answer.usedAs != 0) remarks << tr("This answer is in the chat.");
  m_remark->setText(remarks.join(QLatin1Char(' ')));
  setAccessibleName(tr("Column %1: %2").arg(column + 1).arg(text()));
  arrange();
}

void ColumnHeader::setCompact(bool compact) {
  if (compact == m_compact) return;
  m_compact = compact;
  arrange();
}

void ColumnHeader::arrange() {
  QLabel* only = m_stage->text().isEmpty() ? m_figures : m_stage;
  for (QLabel* label : {m_stage, m_figures, m_agreement, m_remark})
    label->setVisible(!label->text().isEmpty() && (!m_compact || label == only));
  setToolTip(text().toHtmlEscaped().replace(QLatin1Char('\n'), QLatin1String("<br>")));
  updateGeometry();
}

void ColumnHeader::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) Q_EMIT aloneRequested();
}

void ColumnHeader::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Space: Q_EMIT aloneRequested(); return;
    case Qt::Key_Left:
    case Qt::Key_Right: Q_EMIT stepRequested((event->key() == Qt::Key_Right) != isRightToLeft() ? 1 : -1); return;
    default: QFrame::keyPressEvent(event);
  }
}

void ColumnHeader::focusInEvent(QFocusEvent* event) {
  QFrame::focusInEvent(event);
  update();
}

void ColumnHeader::focusOutEvent(QFocusEvent* event) {
  QFrame::focusOutEvent(event);
  update();
}

void ColumnHeader::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const Colors& c = theme().colors();
  painter.setBrush(c.surface);
  painter.setPen(QPen(hasFocus() ? c.accent : c.border, hasFocus() ? 1.6 : 1.0));
  painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), theme().cornerRadius(), theme().cornerRadius());
}

ColumnView::ColumnView(ComparisonModel& model, int column, QWidget* parent) : QWidget(parent), m_model(model), m_column(column) {
  auto* layout = new QVBoxLayout(this);
  setMargins(layout, 4, 0, 4, 0);
  setSpacing(layout, 6);
  m_header = new ColumnHeader;
  m_transcript = new TranscriptView;
  m_use = new QPushButton(icon(Glyph::kCheck), tr("Use this answer"));
  m_use->setToolTip(tr("Puts this answer in the chat; your next question continues from it"));
  layout->addWidget(m_header);
  layout->addWidget(m_transcript, 1);
  auto* row = new QHBoxLayout;
  row->addStretch(1);
  row->addWidget(m_use);
  row->addStretch(1);
  layout->addLayout(row);

  MessageContent content;
  content.id = kAnswerId;
  content.bare = true;
  content.text = model.answer(column).text;
  content.thought = model.answer(column).thought;
  content.metrics = thoughtMetrics(model.answer(column));
  content.marks = model.progress(column).marks;
  content.roleLabel = model.label(column);
  content.status = statusOf(model, column);
  m_transcript->setMessages({content});
  m_transcript->restoreAnchor({kAnswerId, -1e6});  // from its beginning
  m_transcript->setAccessibleName(tr("Answer of %1").arg(model.label(column)));

  connect(m_use, &QPushButton::clicked, this, &ColumnView::useRequested);
  connect(&model, &ComparisonModel::textAdded, this, [this](int changed, const QString& delta) {
    if (changed == m_column) m_transcript->appendText(kAnswerId, delta);
  });
  connect(&model, &ComparisonModel::thoughtAdded, this, [this](int changed, const QString& delta) {
    if (changed == m_column) m_transcript->appendThought(kAnswerId, delta);
  });
  connect(&model, &ComparisonModel::marksChanged, this, [this](int changed) {
    if (changed == m_column) m_transcript->setMarks(kAnswerId, m_model.progress(m_column).marks);
  });
  connect(&model, &ComparisonModel::columnChanged, this, [this](int changed) {
    if (changed == m_column) describe();
  });
  describe();
}

void ColumnView::describe() {
  m_header->describe(m_model, m_column);
  // The streamed text is the answer, unless a stop string was cut off its end.
  const app::ComparedAnswer& answer = m_model.answer(m_column);
  const MessageContent& shown = m_transcript->messageAt(0);
  const MessageMetrics metrics = thoughtMetrics(answer);
  if (shown.text != answer.text || shown.thought != answer.thought || shown.metrics.thoughtTokens != metrics.thoughtTokens ||
      shown.status != statusOf(m_model, m_column)) {
    MessageContent content = shown;
    content.text = answer.text;
    content.thought = answer.thought;
    content.metrics = metrics;
    content.status = statusOf(m_model, m_column);
    content.marks = m_model.progress(m_column).marks;
    m_transcript->updateMessage(content);
  }
  const bool used = answer.usedAs != 0;
  m_use->setText(used ? tr("Show in the chat") : tr("Use this answer"));
  m_use->setAccessibleName(used ? tr("Show the answer of %1 in the chat").arg(m_model.label(m_column))
                                : tr("Use the answer of %1").arg(m_model.label(m_column)));
  m_use->setEnabled(m_model.canBeUsed(m_column));
}

}  // namespace winnow::ui
