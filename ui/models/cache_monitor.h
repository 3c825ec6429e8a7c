// What the live cache panel and the status bar show: the engine's own figures of one request, gathered from its events.
//
// Fed by ui/shell/answer_run; read by the inspector. Draws nothing and counts nothing itself. `changed` may come often; views
// thin it out. UI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <vector>

#include "app/chat/conversation.h"
#include "engine/messages/events.h"
#include "ui/models/timeline_recorder.h"
#include "ui/words/attached_words.h"

namespace winnow::ui {

struct CacheFigures {
  bool active = false;     // a request is running
  bool hasReport = false;  // a compression event was seen, or stored figures were shown
  QString method;
  double retention = 1.0;
  Phase phase = Phase::kLoadWeights;
  quint64 phaseDone = 0;
  quint64 phaseTotal = 0;
  KvBytes kv;
  qint64 fullBytes = 0;                         // what the same tokens take uncompressed, those of the answer included
  int shortTextTokens = 0;                      // of the recipe: text of fewer tokens is kept whole
  int kvBits = 0;                               // of the recipe: of a stored number; 0, 32: as it suits the model
  std::vector<LayerFigures> layers;             // at the event
  std::vector<SlotCounts> slots;                // per layer, now: what was written joins, what decoding evicts leaves
  qint64 visualTokens = 0;                      // of the prompt: of what is attached
  AttachedKind attached = AttachedKind::kBoth;  // what that is
  qint64 textTokens = 0;                        // of the prompt, system included
  qint64 generatedTokens = 0;
  double tokensPerS = 0.0;
  double ttftMs = 0.0;  // of the finished turn
  TimingsMs timings;
  qint64 pinnedTokens = 0;  // that no layer may drop
  std::vector<CompressionNote> notes;
  std::vector<RetainedMass> retainedMass;  // of the last event that scored anything
};

class CacheMonitor : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  const CacheFigures& figures() const { return m_figures; }
  void begin(const RecipeSpec& recipe);
  void take(const EventBody& event);
  // Of an answer read from the database; attached: in its thread.
  void showStored(const app::Run& run, AttachedKind attached = AttachedKind::kPictures);
  void clear();
  // The turns before the present one; with showStored() and clear(): all of them.
  void setEarlierTurns(std::vector<app::TurnTimeline> turns);
  // Of the request that runs or ended last, whatever is shown.
  const app::TurnTimeline& recorded() const { return m_recorder.timeline(); }
  // Everything that the timeline shows, oldest first.
  std::vector<app::TurnTimeline> turns() const;
  // Tokens per second of the turn shown, oldest first.
  std::vector<double> speedHistory() const;

  static double keptVisual(const CacheFigures& figures);  // mean over layers, slots per kv head
  static double keptText(const CacheFigures& figures);
  static double keptShare(const CacheFigures& figures);  // bytes in use over bytes of the full cache

 Q_SIGNALS:
  void changed();

 private:
  CacheFigures m_figures;
  TimelineRecorder m_recorder;
  app::TurnTimeline m_stored;  // of the answer read from the database
  std::vector<app::TurnTimeline> m_earlier;
  bool m_live = false;  // the recorded turn is one of those shown
};

// "Decoding video 41/64", for the transcript, the panel and the status bar; share in 0..1 or negative.
QString phaseText(Phase phase, quint64 done, quint64 total);
double phaseShare(quint64 done, quint64 total);
// One line about where compression did otherwise than asked; empty without notes. shortTextTokens: RecipeSpec::min_event_tokens.
QString notesText(const std::vector<CompressionNote>& notes, int shortTextTokens);

}  // namespace winnow::ui
