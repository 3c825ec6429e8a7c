// Questions and their answers: send, stream, stop, answer again, reword.
//
// One of the parts of chat_session.h. A question is shown as sent, and the engine started, only when the store has acknowledged it. One
// answer is written at a time, and comparisons and checks take their turn with it; the user may look at other chats meanwhile. Every call
// returns at once; what happens is told by signals. UI thread only.
#pragma once

#include <QObject>
#include <chrono>
#include <optional>
#include <variant>

#include "app/chats/chat/line_store.h"
#include "app/chats/settings/settings.h"
#include "app/engine/host/engine_host.h"
#include "ui/chat_view/message_presenter.h"
#include "ui/models/cache_monitor.h"

namespace winnow::ui {

class ChatList;
class ModelSession;
class OpenChat;
class QuestionSubject;
struct AskedQuestion;

class AnswerRun : public QObject {
  Q_OBJECT
 public:
  struct Services {
    app::EngineHost& engine;
    app::ChatStore& store;
    app::Settings& settings;
  };
  struct Chats {
    ModelSession& model;
    ChatList& list;
    OpenChat& open;
    const QuestionSubject& subject;
  };
  AnswerRun(Services services, Chats chats, QObject* parent = nullptr);

  CacheMonitor& monitor() { return m_monitor; }
  // Shows figures of the chat on screen: of that answer; 0: of the one being written, else of the last.
  void showFigures(app::MessageId answer = 0);

  // The turn that sending this now would ask for. Throws Exception as buildTurn does.
  Turn turnIfSent(const app::Draft& draft) const;
  // Both throw Exception as buildTurn does.
  Turn turnOf(const AskedQuestion& question) const;
  Turn turnOf(ConversationId conversation, const QList<app::StoredMessage>& thread, const app::ConversationOptions& options,
              const RecipeSpec& recipe) const;

  using Time = std::chrono::steady_clock::time_point;
  void send(const QString& text, const QList<app::Attachment>& attachments);
  // Says when the next question was asked: the time to the first word counts from there. nullopt: from when it is sent.
  void countFrom(std::optional<Time> asked) { m_askedBefore = asked; }
  // The question alone: comparisonReady follows when it is saved.
  void sendToCompare(const QString& text, const QList<app::Attachment>& attachments);
  // Sends a chat's draft, which need not be on screen.
  void sendDraft(const app::LoadedConversation& chat, Time asked);
  // A thought ends, or frames are waited for no longer (AnswerPhase::framesThere), and the answer begins. Nothing if neither can be.
  enum class Stopped : int { kAnswer = 1, kWaiting = 2 };
  void stop(Stopped what = Stopped::kAnswer);
  // A further answer to the question of this answer, or to this question. Going on: it begins with all of this answer, which did not come
  // to its end, and what that went by holds for the rest, too. Alone: it sees what is attached and nothing that was said before. From all:
  // the question is asked again about all frames of its video, of which this answer saw a part.
  enum class Again : int { kAnew = 1, kGoingOn = 2, kAlone = 3, kFromAll = 4 };
  void regenerate(app::MessageId message, Again how = Again::kAnew);
  // The next question of the chat on screen reads everything again, under the recipe that the chat has now.
  void readAgain();
  bool readsAgain() const;
  // Returns what the composer shows to write a question anew (0: the last one on screen). The next question sent takes its place as a
  // further wording, until cancelEdit() or another chat. Nothing while an answer is being saved or written, or without such a question.
  std::optional<app::Draft> beginEdit(app::MessageId question);
  void cancelEdit() { m_editing = 0; }
  bool editing() const { return m_editing != 0; }

  // The map of what the answer being written kept of its prompt; null before that is known, and for all other answers.
  app::SharedKeptMap runningKeptMap(app::MessageId answer) const;
  std::optional<AnswerPhase> phase() const;  // of the answer that is being written
  bool writingHere() const;
  // Shows what the sent question waits for before the engine begins on it; share: 0..1. frames: what was told last of those that are read.
  void showWaiting(const QString& phase, double share, const Progress& frames);
  bool busy() const { return !std::holds_alternative<Idle>(m_state); }
  // Why a question cannot be sent now; empty: it can, once what is being written here has ended.
  QString blockedReason() const;
  bool canSend() const { return !busy() && blockedReason().isEmpty(); }
  void setOccupied(const QString& reason);  // the engine works on something else for the user; empty: no more

 Q_SIGNALS:
  void textAdded(qint64 message, const QString& delta);
  void thoughtAdded(qint64 message, const QString& delta);
  void keptMapKnown(qint64 answer, const winnow::app::SharedKeptMap& map);
  void phaseChanged(qint64 message, const QString& phase, double share);
  void sent();          // acknowledged: the composer may be emptied
  void partTaken();     // what is still read of the attachments is not waited for
  void stateChanged();  // busy, blocked, model, chat
  void comparisonReady(const winnow::app::TurnIds& ids, const QList<winnow::app::StoredMessage>& thread);  // saved; thread ends with it

 private:
  enum class Asks : int { kQuestion = 1, kWording = 2, kComparison = 3, kComparisonOfWording = 4, kAnswerAgain = 5 };
  // The state at any time: one of these four.
  struct Idle {};
  struct Occupied {
    QString reason;
  };
  struct Saving {
    Asks asks = Asks::kQuestion;
    ConversationId conversation = 0;  // 0: it is being created
    Time asked{};
    app::RequestToken token = 0;
    QString text{};
    QList<app::Attachment> attachments{};
    QList<app::StoredMessage> thread{};  // before the question; to answer again: up to and with it
    Again how = Again::kAnew;
    std::optional<app::StoredMessage> cut{};  // the answer that is to go on
    app::MessageId leaf = 0;                  // to answer again: what the chat ended in
  };
  struct Writing {
    RequestId request = 0;
    ConversationId conversation = 0;
    app::Run run{};  // what the answer comes from; its makers when the engine has told them
    app::AnswerSoFar said{};
    std::optional<app::StoredMessage> cut{};  // what it goes on from; `said` begins with its texts
    app::MessageId earlier = 0;               // what the chat ended in while there was another answer; 0: this is the first
    AnswerPhase phase;                        // and which answer it is
    app::SharedKeptMap keptMap{};
    Turn turn{};                           // what the engine was asked
    std::optional<TurnFigures> figures{};  // of what was written before this request
    bool thoughtEnds = false;              // it was stopped for the answer to begin
    app::AnswerSoFar begun() const {       // written before
      app::AnswerSoFar begun;
      if (cut) begun.text = cut->text;
      if (cut) begun.thought = cut->thought;
      return begun;
    }
    bool wordsCame() const { return said.text.size() > begun().text.size() || said.thought.size() > begun().thought.size(); }
    QList<app::StoredMessage> thread;  // what the engine was given; knows what was sampled of it
  };

  struct ReadAgain {
    ConversationId conversation = 0;
    RecipeSpec recipe;
  };

  static bool compares(Asks asks) { return asks == Asks::kComparison || asks == Asks::kComparisonOfWording; }
  static bool rewords(Asks asks) { return asks == Asks::kWording || asks == Asks::kComparisonOfWording; }
  bool writingElsewhere() const { return writing() != nullptr && !writingHere(); }
  const Writing* writing() const { return std::get_if<Writing>(&m_state); }
  QList<app::StoredMessage> threadBefore() const;  // what a question that is sent now would follow
  void begin(Saving saving);
  void post(Saving saving);
  void beginTurn(ConversationId conversation);
  void abandonSaving();
  void onCommitted(app::RequestToken token, const app::TurnIds& ids);
  void compareAfter(const Saving& saved, const app::TurnIds& ids);
  void answerAfter(const Saving& saved, const app::TurnIds& ids);
  void onEvent(const Event& event);
  void onText(const TextDelta& delta);
  void onFinished(const Finished& finished);
  void answerNow(const Finished& thought);
  void noteFrames(const Progress& frames);
  void answerFromPart();
  void noteCause();  // of what is being written: saved, shown
  // finished: null: without figures.
  void finish(app::MessageState state, const Finished* finished, const std::optional<Error>& error);
  void withdraw(const Writing& run);
  void onAboutToShow();
  void onReplaced();

  app::EngineHost& m_engine;
  app::ChatStore& m_store;
  app::LineStore m_lines;
  app::Settings& m_settings;
  ModelSession& m_model;
  ChatList& m_list;
  OpenChat& m_chat;
  const QuestionSubject& m_subject;
  CacheMonitor m_monitor;
  std::variant<Idle, Occupied, Saving, Writing> m_state;
  app::FinishedTurn m_finished;  // the last one: a chat that was read from the store meanwhile does not have it
  std::optional<ReadAgain> m_readAgain;
  std::optional<Time> m_askedBefore;
  app::MessageId m_editing = 0;    // the question that is written anew
  ConversationId m_editingIn = 0;  // its chat
};

}  // namespace winnow::ui
