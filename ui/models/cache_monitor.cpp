#include "ui/models/cache_monitor.h"

#include <QCoreApplication>
#include <algorithm>

#include "app/chats/chat/server_answer.h"
#include "app/ground/notices/notice_text.h"
#include "app/words/display_text.h"
#include "app/words/format_text.h"

namespace winnow::ui {
namespace {

class MonitorWords {
  Q_DECLARE_TR_FUNCTIONS(winnow::ui::MonitorWords)
};

template <typename Member>
double meanOver(const std::vector<LayerFigures>& layers, Member member) {
  if (layers.empty()) return 0.0;
  double sum = 0.0;
  for (const LayerFigures& layer : layers) sum += layer.*member;
  return sum / static_cast<double>(layers.size());
}

// From slots and bytes as they are now.
void measure(CacheFigures& figures) {
  TokenCounts tokens{.thread_visual = figures.visualTokens, .thread_text = figures.textTokens};
  figures.keptShare = kept_share(figures.slots, tokens);
  figures.keptOfAll = kept_of_all(figures.slots, tokens);
  figures.held = held_bytes(figures.kv, figures.slots);
}

}  // namespace

QString phaseText(Phase phase, quint64 done, quint64 total) {
  const bool known = total > 0;
  switch (phase) {
    case Phase::kLoadWeights:
      return known ? MonitorWords::tr("Loading the model: %1").arg(app::formatShare(std::min(1.0, double(done) / double(total))))
                   : MonitorWords::tr("Loading the model");
    case Phase::kDecodeMedia:
      return known ? MonitorWords::tr("Decoding the video: %1 of %2").arg(done).arg(total) : MonitorWords::tr("Starting");
    case Phase::kEncodeFrames:
      return known ? MonitorWords::tr("Encoding frames: %1 of %2").arg(done).arg(total) : MonitorWords::tr("Encoding frames");
    case Phase::kPrefill:
      return known ? MonitorWords::tr("Reading the prompt: %1").arg(app::formatShare(std::min(1.0, double(done) / double(total))))
                   : MonitorWords::tr("Reading the prompt");
    case Phase::kCompress:
      return known ? MonitorWords::tr("Compressing the cache: %1 of %2").arg(done).arg(total) : MonitorWords::tr("Compressing");
    case Phase::kDecode: return MonitorWords::tr("Writing the answer");
    case Phase::kProbe: return MonitorWords::tr("Deciding what to keep");
  }
  return MonitorWords::tr("Working");
}

QString notesText(const std::vector<CompressionNote>& notes, int shortTextTokens) {
  QStringList sentences;
  for (const CompressionNote note : notes) {
    QString clause = QCoreApplication::translate("winnow::app::NoticeTexts", app::cacheNotePattern(note));
    sentences << app::sentenceOf(clause.replace(QLatin1String("%1"), app::formatCount(shortTextTokens)));
  }
  return sentences.join(QLatin1Char(' '));
}

double phaseShare(quint64 done, quint64 total) { return total > 0 ? std::min(1.0, double(done) / double(total)) : -1.0; }

void CacheMonitor::begin(const RecipeSpec& recipe, FiguresOf subject, std::chrono::steady_clock::time_point asked) {
  m_running = CacheFigures();
  m_running.active = true;
  m_running.subject = subject;
  m_running.method = QString::fromStdString(recipe.method);
  m_running.shortTextTokens = recipe.min_event_tokens;
  m_running.kvBits = recipe.kv_bits;
  m_running.phase = Phase::kDecodeMedia;
  m_recorder.begin(asked);
  tellRunning();
}

void CacheMonitor::tellRunning() {
  if (m_followsRunning) Q_EMIT changed();
}

void CacheMonitor::setAttached(app::AttachedKind attached) {
  m_running.attached = attached;
  tellRunning();
}

void CacheMonitor::setCause(const app::Run& run) {
  m_running.makers = app::namedMakers(run);
  m_running.ofNew = app::recipeOfNew(run);
  tellRunning();
}

void CacheMonitor::setWaiting(const QString& what, double share) {
  m_running.waitsFor = what;
  m_running.waitShare = share;
  tellRunning();
}

void CacheMonitor::showRunning() {
  m_followsRunning = true;
  Q_EMIT changed();
}

void CacheMonitor::setEarlierTurns(std::vector<app::TurnTimeline> turns) {
  // One without a timeline, such as an answer taken from a comparison, keeps its number among the others.
  const bool any = std::any_of(turns.begin(), turns.end(), [](const app::TurnTimeline& turn) { return !turn.empty(); });
  m_earlier = any ? std::move(turns) : std::vector<app::TurnTimeline>();
  Q_EMIT changed();
}

std::vector<app::TurnTimeline> CacheMonitor::turns() const {
  std::vector<app::TurnTimeline> turns = m_earlier;
  if (m_followsRunning && !m_recorder.timeline().empty()) turns.push_back(m_recorder.timeline());
  return turns;
}

std::vector<double> CacheMonitor::speedHistory() const {
  std::vector<double> speeds;
  for (const app::TimelinePoint& point : (m_followsRunning ? m_recorder.timeline() : m_storedTurn).points) {
    if (point.tokensPerS > 0.0) speeds.push_back(point.tokensPerS);
  }
  return speeds;
}

void CacheMonitor::clear() {
  m_stored = CacheFigures();
  m_earlier.clear();
  m_storedTurn = {};
  m_followsRunning = false;
  Q_EMIT changed();
}

void CacheMonitor::take(const EventBody& event) {
  CacheFigures& f = m_running;
  m_recorder.take(event);
  f.waitsFor.clear();
  if (const auto* progress = std::get_if<Progress>(&event)) {
    f.phase = progress->phase;
    f.phaseDone = progress->done;
    f.phaseTotal = progress->total;
  } else if (const auto* report = std::get_if<CacheReport>(&event)) {
    f.hasReport = true;
    f.kv = report->kv_bytes;
    f.layers = report->layers;
    f.slots = slots_of(report->layers);
    f.notes = report->notes;
    f.pinnedTokens = static_cast<qint64>(report->pinned.size());
    f.retainedMass = report->retained_mass;
    const TokenCounts thread = thread_tokens(*report);
    f.visualTokens = thread.thread_visual;
    f.textTokens = thread.thread_text;
  } else if (const auto* sample = std::get_if<DecodeSample>(&event)) {
    f.phase = Phase::kDecode;
    f.generatedTokens = sample->generated_tokens;
    f.tokensPerS = sample->tokens_per_s;
    f.kv.end = sample->kv_bytes_now;
    f.kv.full_end = sample->kv_bytes_full_now;
    if (sample->layers.size() == f.layers.size()) f.slots = sample->layers;
  } else if (const auto* finished = std::get_if<Finished>(&event)) {
    f.active = false;
    if (!finished->restored) {
      const TurnFigures& t = finished->figures;
      f.hasReport = f.hasReport || !t.layers.empty();
      f.kv = t.kv_bytes;
      if (!t.layers.empty()) {
        f.layers = t.layers;
        f.slots = slots_of(t.layers);
      }
      f.promptTokens = t.tokens.thread_text;
      f.cachedTokens = app::serversCachedTokens(t);
      f.generatedTokens = t.tokens.generated;
      f.thoughtTokens = t.tokens.thought;
      f.draftedTokens = t.tokens.drafted;
      f.tokensPerS = t.tokens_per_s;
      f.ttftMs = t.timings_ms.ttft;
      f.timings = t.timings_ms;
    }
  } else if (std::holds_alternative<Failed>(event)) {
    f.active = false;
  } else {
    return;
  }
  measure(f);
  tellRunning();
}

void CacheMonitor::setByServer(bool byServer) { m_running.byServer = byServer; }

void CacheMonitor::showStored(const app::Run& run, app::AttachedKind attached, FiguresOf subject, std::optional<EarlierAnswer> earlier) {
  const TurnFigures& figures = run.figures;
  CacheFigures f;
  f.hasReport = !figures.layers.empty();
  f.byServer = app::isServersAnswer(run);
  f.promptTokens = figures.tokens.thread_text;
  f.cachedTokens = app::serversCachedTokens(figures);
  f.subject = subject;
  f.earlier = earlier;
  f.method = QString::fromStdString(figures.method);
  f.makers = app::namedMakers(run);
  f.ofNew = app::recipeOfNew(run);
  f.kv = figures.kv_bytes;
  f.shortTextTokens = run.recipe.spec.min_event_tokens;
  f.kvBits = run.recipe.spec.kv_bits;
  f.layers = figures.layers;
  f.slots = slots_of(figures.layers);
  f.notes = figures.notes;
  f.visualTokens = figures.tokens.thread_visual;
  f.textTokens = figures.tokens.thread_text;
  f.attached = attached;
  // Later turns of older versions counted their own tokens alone: how many there were in all is not known.
  if (keptVisual(f) > double(f.visualTokens)) f.visualTokens = 0;
  if (keptText(f) > double(f.textTokens)) f.textTokens = 0;
  f.pinnedTokens = figures.tokens.pinned;
  f.generatedTokens = figures.tokens.generated;
  f.thoughtTokens = figures.tokens.thought;
  f.draftedTokens = figures.tokens.drafted;
  f.tokensPerS = figures.tokens_per_s;
  f.ttftMs = figures.timings_ms.ttft;
  f.timings = figures.timings_ms;
  measure(f);
  m_stored = std::move(f);
  m_storedTurn = run.timeline;
  m_followsRunning = false;
  Q_EMIT changed();
}

double CacheMonitor::keptVisual(const CacheFigures& figures) { return meanOver(figures.layers, &LayerFigures::kept_visual); }
double CacheMonitor::keptText(const CacheFigures& figures) { return meanOver(figures.layers, &LayerFigures::kept_text); }

}  // namespace winnow::ui
