// The figures of the live cache panel and the status bar: the engine's own figures of the request that runs, gathered from its events, or
// those of an answer that was saved.
//
// Fed by ui/shell/answer_run and comparison_controller, who also say which of both is shown: what runs goes on being gathered while
// another chat is on screen. Read by the inspector. Draws nothing and counts nothing itself. `changed` may come often; views thin it out.
// UI thread only.
#pragma once

#include <QObject>
#include <QString>
#include <chrono>
#include <optional>
#include <vector>

#include "app/chats/chat/conversation.h"
#include "app/words/attached_words.h"
#include "engine/messages/events.h"
#include "engine/metrics/kept_figures.h"
#include "ui/models/timeline_recorder.h"

namespace winnow::ui {

// Whose figures they are.
enum class FiguresOf : int { kAnswer = 1, kColumn = 2 };

// An answer of a chat that has later ones.
struct EarlierAnswer {
  app::MessageId id = 0;
  int number = 0;  // among the answers on screen, from 1
};

struct CacheFigures {
  bool active = false;     // a request is running
  bool hasReport = false;  // a compression event was seen, or stored figures were shown
  bool byServer = false;   // a server answers: of its cache only promptTokens and cachedTokens are known, at the end
  FiguresOf subject = FiguresOf::kAnswer;
  std::optional<EarlierAnswer> earlier;   // not set: the last answer of its chat
  QString method;                         // that was asked for
  QList<app::NamedRecipe> makers;         // that the cache is called by (app::namedMakers); empty: not told yet
  std::optional<app::NamedRecipe> ofNew;  // that holds for what is new only
  Phase phase = Phase::kLoadWeights;
  quint64 phaseDone = 0;
  quint64 phaseTotal = 0;
  QString waitsFor;  // before the first phase; empty: it is at work
  double waitShare = 0.0;
  KvBytes kv;
  HeldBytes held;                                          // what of it is whose
  double keptShare = 1.0;                                  // engine's kept_share()
  double keptOfAll = 1.0;                                  // engine's kept_of_all()
  int shortTextTokens = 0;                                 // of the recipe: text of fewer tokens is kept whole
  int kvBits = 0;                                          // of the recipe: of a stored number; 0, 32: as it suits the model
  std::vector<LayerFigures> layers;                        // at the event
  std::vector<SlotCounts> slots;                           // per layer, now: what was written joins, what decoding evicts leaves
  qint64 visualTokens = 0;                                 // of the prompt: of what is attached
  app::AttachedKind attached = app::AttachedKind::kMixed;  // what that is
  qint64 textTokens = 0;                                   // of the prompt, system included
  qint64 generatedTokens = 0;
  qint64 thoughtTokens = 0;  // of them, of the finished turn
  qint64 draftedTokens = 0;  // likewise
  double tokensPerS = 0.0;
  double ttftMs = 0.0;  // of the finished turn
  TimingsMs timings;
  qint64 pinnedTokens = 0;  // that no layer may drop
  qint64 promptTokens = 0;  // of a server's answer; 0: not told
  qint64 cachedTokens = 0;  // of them
  std::vector<CompressionNote> notes;
  std::vector<RetainedMass> retainedMass;  // of the last event that scored anything
};

class CacheMonitor : public QObject {
  Q_OBJECT
 public:
  using QObject::QObject;
  const CacheFigures& figures() const { return m_followsRunning ? m_running : m_stored; }
  // A request begins: its events follow. asked: when; the figures shown stay what they are until showRunning().
  void begin(const RecipeSpec& recipe, FiguresOf subject = FiguresOf::kAnswer,
             std::chrono::steady_clock::time_point asked = std::chrono::steady_clock::now());
  void take(const EventBody& event);
  void setAttached(app::AttachedKind attached);  // of the request: in its thread
  void setByServer(bool byServer);               // of the request
  void setCause(const app::Run& run);            // of the request: what it comes from is known
  // Shows what the request waits for before the engine begins on it; its own progress takes the place of that. share: 0..1.
  void setWaiting(const QString& what, double share);
  void showRunning();  // of the request that runs or ended last
  // Shows an answer read from the database; attached: in its thread.
  void showStored(const app::Run& run, app::AttachedKind attached = app::AttachedKind::kMixed, FiguresOf subject = FiguresOf::kAnswer,
                  std::optional<EarlierAnswer> earlier = std::nullopt);
  void clear();  // shows nothing
  // The turns before the one that runs; with showStored() and clear(): all of them.
  void setEarlierTurns(std::vector<app::TurnTimeline> turns);
  // The timeline of the request that runs or ended last, whatever is shown.
  const app::TurnTimeline& recorded() const { return m_recorder.timeline(); }
  // Everything that the timeline shows, oldest first.
  std::vector<app::TurnTimeline> turns() const;
  // Tokens per second of the turn shown, oldest first.
  std::vector<double> speedHistory() const;

  static double keptVisual(const CacheFigures& figures);  // mean over layers, slots per kv head
  static double keptText(const CacheFigures& figures);

 Q_SIGNALS:
  void changed();

 private:
  void tellRunning();

  CacheFigures m_running;
  CacheFigures m_stored;
  bool m_followsRunning = false;
  TimelineRecorder m_recorder;
  app::TurnTimeline m_storedTurn;  // of the answer read from the database
  std::vector<app::TurnTimeline> m_earlier;
};

// "Decoding video 41/64", for the transcript, the panel and the status bar; share in 0..1 or negative.
QString phaseText(Phase phase, quint64 done, quint64 total);
double phaseShare(quint64 done, quint64 total);
// One line about where compression did otherwise than asked; empty without notes. shortTextTokens: RecipeSpec::min_event_tokens.
QString notesText(const std::vector<CompressionNote>& notes, int shortTextTokens);

}  // namespace winnow::ui
