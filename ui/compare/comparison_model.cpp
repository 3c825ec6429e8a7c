#include "ui/compare/comparison_model.h"

#include <algorithm>

#include "app/words/error_text.h"
#include "ui/compare/differing_words.h"
#include "ui/models/cache_monitor.h"
#include "ui/recipes/recipe_words.h"

namespace winnow::ui {

void ComparisonModel::begin(const std::vector<app::NamedRecipe>& recipes, ColumnOrder order, app::MessageId question, const app::Run& run) {
  m_comparison = {};
  m_comparison.question = question;
  m_comparison.order = order;
  for (const app::NamedRecipe& recipe : recipes) {
    app::ComparedAnswer answer;
    answer.run = run;
    answer.run.recipe = recipe;
    m_comparison.columns.push_back(std::move(answer));
  }
  m_progress.assign(recipes.size(), {});
  m_phase = phaseText(Phase::kDecodeMedia, 0, 0);
  m_phaseShare = -1.0;
  m_running = true;
  m_cancelled = false;
}

void ComparisonModel::show(const app::Comparison& saved) {
  m_comparison = saved;
  m_progress.assign(saved.columns.size(), {});
  for (std::size_t i = 0; i < m_progress.size(); ++i) {
    m_progress[i].stage = ColumnStage::kDone;
    m_progress[i].hasReport = saved.columns[i].hasFigures;
    m_progress[i].held = held_bytes(saved.columns[i].run.figures);
    m_progress[i].keptShare = kept_share(saved.columns[i].run.figures);
    m_progress[i].tokensPerS = saved.columns[i].run.figures.tokens_per_s;
  }
  m_running = false;
  m_cancelled = false;
  for (int i = 0; i < columns(); ++i) markWords(i);
}

void ComparisonModel::setSaved(const app::Comparison& saved) {
  m_comparison.id = saved.id;
  m_comparison.createdMs = saved.createdMs;
  for (int i = 0; i < columns(); ++i) Q_EMIT columnChanged(i);
}

void ComparisonModel::setUsed(int column, app::MessageId answer) {
  m_comparison.columns[static_cast<std::size_t>(column)].usedAs = answer;
  Q_EMIT columnChanged(column);
}

QString ComparisonModel::label(int column) const { return recipesLabel(m_methods, app::namedMakers(answer(column).run)); }

QString ComparisonModel::whenItCompresses(int column) const {
  const std::optional<RecipeTraits> traits = describe(answer(column).run.recipe.spec);
  return traits ? phaseWords(traits->phase).toLower() : QString();
}

int ComparisonModel::reference() const {
  const auto full = std::find_if(m_comparison.columns.begin(), m_comparison.columns.end(),
                                 [](const app::ComparedAnswer& each) { return keeps_everything(each.run.recipe.spec); });
  return full == m_comparison.columns.end() ? 0 : static_cast<int>(full - m_comparison.columns.begin());
}

bool ComparisonModel::canBeUsed(int column) const {
  const app::ColumnState state = answer(column).state;
  return m_comparison.id != 0 && (state == app::ColumnState::kAnswered || state == app::ColumnState::kStopped) &&
         !answer(column).text.isEmpty();
}

std::optional<Error> ComparisonModel::failure() const {
  if (m_comparison.failure.isEmpty()) return std::nullopt;
  return app::parseFailure(m_comparison.failureCode, m_comparison.failure);
}

double ComparisonModel::visionMs() const {
  for (const app::ComparedAnswer& each : m_comparison.columns) {
    const TimingsMs& t = each.run.figures.timings_ms;
    if (each.hasFigures && each.sharesPrefill) return t.media + t.preprocess + t.vision;
  }
  return -1.0;
}

double ComparisonModel::prefillMs() const {
  for (const app::ComparedAnswer& each : m_comparison.columns) {
    if (each.hasFigures && each.sharesPrefill) return each.run.figures.timings_ms.prefill;
  }
  return -1.0;
}

void ComparisonModel::take(const Event& event) {
  if (!m_running) return;
  if (event.column == Event::kNoColumn) {
    takeShared(event.body);
  } else if (event.column >= 0 && event.column < columns()) {
    takeColumn(event.column, event.body);
  }
}

void ComparisonModel::takeShared(const EventBody& body) {
  if (const auto* progress = std::get_if<Progress>(&body)) {
    m_phase = phaseText(progress->phase, progress->done, progress->total);
    m_phaseShare = ui::phaseShare(progress->done, progress->total);
    Q_EMIT commonChanged();
  } else if (const auto* compared = std::get_if<Compared>(&body)) {
    m_comparison.totals = *compared;
    end();
  } else if (const auto* finished = std::get_if<Finished>(&body)) {
    m_cancelled = finished->restored;
    end();
  } else if (const auto* failed = std::get_if<Failed>(&body)) {
    m_comparison.failure = app::failureText(failed->error);
    m_comparison.failureCode = failed->error.code;
    // The error names no column: it is that of the ones at work.
    for (std::size_t i = 0; i < m_progress.size(); ++i) {
      const ColumnStage stage = m_progress[i].stage;
      if (stage == ColumnStage::kReading || stage == ColumnStage::kWriting) m_comparison.columns[i].state = app::ColumnState::kFailed;
    }
    end();
  }
}

void ComparisonModel::end() {
  m_running = false;
  m_phase.clear();
  for (ColumnProgress& progress : m_progress) progress.stage = ColumnStage::kDone;
  for (int i = 0; i < columns(); ++i) {
    markWords(i);
    Q_EMIT columnChanged(i);
  }
  Q_EMIT commonChanged();
}

void ComparisonModel::takeColumn(int column, const EventBody& body) {
  app::ComparedAnswer& answer = m_comparison.columns[static_cast<std::size_t>(column)];
  ColumnProgress& progress = m_progress[static_cast<std::size_t>(column)];
  if (const auto* started = std::get_if<ColumnStarted>(&body)) {
    answer.sharesPrefill = started->shares_prefill;
    progress.stage = ColumnStage::kReading;
    m_phase.clear();
    Q_EMIT commonChanged();
  } else if (const auto* report = std::get_if<CacheReport>(&body)) {
    progress.hasReport = true;
    progress.held = held_bytes(report->kv_bytes, {});
    progress.keptShare = kept_share(slots_of(report->layers), thread_tokens(*report));
    answer.run.makers = app::runMakers(report->makers, answer.run.recipe, {});
    answer.keptMap = std::make_shared<const app::KeptMap>(app::KeptMap::fromReport(*report));
  } else if (const auto* delta = std::get_if<TextDelta>(&body)) {
    const QString text = QString::fromUtf8(delta->text.data(), static_cast<qsizetype>(delta->text.size()));
    const bool first = progress.stage != ColumnStage::kWriting;
    progress.stage = ColumnStage::kWriting;
    (delta->kind == TextKind::kThought ? answer.thought : answer.text) += text;
    if (delta->kind == TextKind::kThought) {
      Q_EMIT thoughtAdded(column, text);
    } else {
      Q_EMIT textAdded(column, text);
      markAllAfter(column);
    }
    if (!first) return;
  } else if (const auto* sample = std::get_if<DecodeSample>(&body)) {
    progress.tokensPerS = sample->tokens_per_s;
  } else if (const auto* finished = std::get_if<Finished>(&body)) {
    answer.state = finished->reason == StopReason::kInterrupted ? app::ColumnState::kStopped : app::ColumnState::kAnswered;
    answer.text = QString::fromStdString(finished->answer);
    answer.thought = QString::fromStdString(finished->thought);
    answer.hasFigures = finished->figures.kv_bytes.full > 0;
    answer.run.figures = finished->figures;
    answer.run.stopReason = finished->reason;
    if (answer.hasFigures) {
      progress.held = held_bytes(finished->figures);
      progress.keptShare = kept_share(finished->figures);
      progress.tokensPerS = finished->figures.tokens_per_s;
    }
    progress.stage = ColumnStage::kChecking;
    markAllAfter(column);
  } else if (const auto* scored = std::get_if<Scored>(&body)) {
    answer.run.agreement = scored->agreement;
    answer.run.selection = scored->selection;
    progress.stage = ColumnStage::kDone;
  } else {
    return;
  }
  Q_EMIT columnChanged(column);
}

void ComparisonModel::markWords(int column) {
  std::vector<TextMark> marks;
  const int other = reference();
  if (column != other) {
    const auto written = [this](int i) {
      const ColumnStage stage = progress(i).stage;
      return WrittenText{answer(i).text, stage == ColumnStage::kChecking ||
                                             (stage == ColumnStage::kDone && answer(i).state == app::ColumnState::kAnswered)};
    };
    if (!answer(other).text.isEmpty()) marks = differingWords(written(column), written(other), label(other));
  }
  ColumnProgress& progress = m_progress[static_cast<std::size_t>(column)];
  if (marks == progress.marks) return;
  progress.marks = std::move(marks);
  Q_EMIT marksChanged(column);
}

void ComparisonModel::markAllAfter(int column) {
  if (column != reference()) return markWords(column);
  for (int i = 0; i < columns(); ++i) markWords(i);
}

}  // namespace winnow::ui
