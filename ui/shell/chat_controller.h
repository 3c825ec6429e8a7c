// The conversation between the window, the store and the engine: send, stream, stop, regenerate, switch, load a model.
//
// Used by main_window.h. A question is shown as sent, and the engine started, only when the store has acknowledged it. One answer is
// written at a time; the user may look at other chats meanwhile. Every call returns at once; what happens is told by signals. Events of
// other requests are dropped. UI thread only.
#pragma once

#include <QObject>
#include <optional>
#include <vector>

#include "app/chat/chat_store.h"
#include "app/engine_host/engine_host.h"
#include "app/settings/settings.h"
#include "ui/chat_view/message_content.h"
#include "ui/models/cache_monitor.h"
#include "ui/models/conversation_list_model.h"

namespace winnow::ui {

enum class ModelState : int { kNone = 1, kLoading = 2, kReady = 3, kFailed = 4 };

class ChatController : public QObject {
  Q_OBJECT
 public:
  ChatController(app::EngineHost& engine, app::ChatStore& store, app::Settings& settings, std::vector<MethodInfo> methods,
                 QObject* parent = nullptr);

  void start();  // opens the store unless it is open

  ConversationListModel& conversations() { return m_list; }
  CacheMonitor& monitor() { return m_monitor; }
  ConversationId current() const { return m_current.conversation.id; }
  QString currentTitle() const;
  const app::ConversationOptions& options() const { return m_current.conversation.options; }
  std::vector<MessageContent> currentMessages() const;
  const app::StoredMessage* storedMessage(app::MessageId id) const;
  const app::Draft& draft() const { return m_current.draft; }
  const app::ViewState& viewState() const { return m_current.view; }
  bool storeReady() const { return m_store.isOpen(); }

  void newConversation();
  void openConversation(ConversationId id);
  void rename(ConversationId id, const QString& title);
  void remove(ConversationId id);
  void undoRemove();
  bool canUndoRemove() const { return m_lastDeleted != 0; }

  // The turn that sending this now would ask for. Throws Exception as buildTurn does.
  Turn turnIfSent(const app::Draft& draft) const;
  void send(const QString& text, const QList<app::Attachment>& attachments);
  // The question alone: comparisonReady follows when it is saved.
  void sendToCompare(const QString& text, const QList<app::Attachment>& attachments);
  void stop();
  // A further answer to the question of this answer, or to this question. maxNewTokens: 0: as the settings say.
  void regenerate(app::MessageId message, int maxNewTokens = 0);
  void switchBranch(app::MessageId message, int step);
  // What the composer shows to write a question anew (0: the last one on screen). What is sent next takes its place as a further wording,
  // until cancelEdit() or another chat. Nothing while an answer is being saved or written, or without such a question.
  std::optional<app::Draft> beginEdit(app::MessageId question);
  void cancelEdit() { m_editing = 0; }
  // What the answer that is being written kept of its prompt; null before that is known, and for all other answers.
  app::SharedKeptMap runningKeptMap(app::MessageId answer) const { return m_run && m_run->answer == answer ? m_run->keptMap : nullptr; }
  bool editing() const { return m_editing != 0; }
  bool writingHere() const { return m_run && m_run->conversation == current(); }
  bool busy() const { return m_run.has_value() || m_sending.has_value() || !m_occupied.isEmpty(); }
  // Why a question cannot be sent now; empty: it can.
  QString blockedReason() const;

  // For what else works on the chat: comparisons and checks.
  QList<app::StoredMessage> branch() const;                          // on screen, root first
  QList<app::StoredMessage> threadTo(app::MessageId message) const;  // of the chat on screen
  const QList<app::Comparison>& comparisons() const { return m_current.comparisons; }
  // Throws Exception as buildTurn does.
  Turn turnOf(ConversationId conversation, const QList<app::StoredMessage>& thread, const app::ConversationOptions& options,
              const RecipeSpec& recipe) const;
  void setOccupied(const QString& reason);  // the engine works on something else for the user; empty: no more
  // What was sampled of the media of a thread that the engine was given: kept with it, saved and shown.
  void takeSampled(const MediaSampled& sampled, QList<app::StoredMessage>& thread);
  void setComparing(app::MessageId question);  // 0: none
  void addComparison(const app::Comparison& comparison);
  void setAgreement(app::MessageId answer, const Agreement& agreement);  // shown and saved
  app::RequestToken reload();                                            // what the store knows of the chat on screen

  void setRecipe(const app::NamedRecipe& recipe);
  void saveDraft(const app::Draft& draft);
  void saveView(app::MessageId anchor, double offset);

  // What is pinned of a sent question's attachment from now on; the next answer reads the thread again for it.
  void setPins(app::MessageId question, int place, const app::PinnedRanges& pins);

  void setDevice(Device device) { m_device = device; }  // of models loaded from now on
  // Its folder is just called "model": the window says what it is.
  void setDemoModelFolder(const QString& folder) { m_demoModelFolder = folder; }
  void loadModel(const QString& folder);
  ModelState modelState() const { return m_modelState; }
  const ModelInfo& model() const { return m_model; }
  QString modelFolder() const { return m_modelFolder; }
  const std::optional<Error>& modelError() const { return m_modelError; }
  QString modelProgress() const { return m_modelProgress; }

 Q_SIGNALS:
  void storeOpened();
  void conversationShown(const winnow::app::LoadedConversation& loaded);  // everything on screen is replaced
  void titleChanged();
  void messageAdded(const winnow::ui::MessageContent& message);
  void messageChanged(const winnow::ui::MessageContent& message);
  void textAdded(qint64 message, const QString& delta);
  void keptMapKnown(qint64 answer, const winnow::app::SharedKeptMap& map);
  void phaseChanged(qint64 message, const QString& phase, double share);
  void sent();          // acknowledged: the composer may be emptied
  void stateChanged();  // busy, blocked, model
  void modelChanged();
  void conversationRemoved(const QString& title);
  void comparisonReady(const winnow::app::TurnIds& ids, const QList<winnow::app::StoredMessage>& thread);  // saved; thread ends with it
  void problem(const winnow::Error& error);

 private:
  enum class Answers : int { kOne = 1, kCompared = 2 };
  struct Run {
    RequestId request = 0;
    ConversationId conversation = 0;
    app::MessageId question = 0;
    app::MessageId answer = 0;
    QString text;
    QString phase;
    double share = -1.0;
    app::ConversationOptions options;
    app::SharedKeptMap keptMap;
    QList<app::StoredMessage> thread;  // what the engine was given; knows what was sampled of it
  };
  struct Sending {
    int maxNewTokens = 0;  // 0: as the settings say
    app::RequestToken token = 0;
    QString text;
    QList<app::Attachment> attachments;
    QList<app::StoredMessage> thread;  // before the question; for a regeneration: up to and with it
    ConversationId conversation = 0;
    Answers answers = Answers::kOne;
    bool regeneration = false;
    bool rewording = false;  // takes the place of an earlier question
  };

  QList<app::StoredMessage> threadBefore() const;  // what a question that is sent now would follow
  void onOpened(const app::StoreOpened& report);
  void onCreated(app::RequestToken token, const app::Conversation& conversation);
  void onLoaded(app::RequestToken token, const app::LoadedConversation& loaded);
  void onCommitted(app::RequestToken token, const app::TurnIds& ids);
  void onStoreFailed(app::RequestToken token, const Error& error);
  void onModelEvent(const EventBody& body);
  void onRunEvent(const EventBody& body);
  void begin(const QString& text, const QList<app::Attachment>& attachments, Answers answers);
  void beginTurn();
  void startEngine(const app::TurnIds& ids);
  // finished: null: without figures.
  void finish(app::MessageState state, const Finished* finished, const std::optional<Error>& error);
  void showAsNew();
  void showLastFigures();
  void touch(ConversationId id);
  app::StoredMessage* stored(app::MessageId id);
  MessageContent contentOf(const app::StoredMessage& message) const;
  QString planDetail(const app::Attachment& attachment) const;
  QString pinDetail(const app::Attachment& attachment) const;  // " · 3 pinned", or nothing

  app::EngineHost& m_engine;
  app::ChatStore& m_store;
  app::Settings& m_settings;
  std::vector<MethodInfo> m_methods;
  ConversationListModel m_list;
  CacheMonitor m_monitor;
  app::LoadedConversation m_current;
  app::RequestToken m_loading = 0;
  app::RequestToken m_creatingForDraft = 0;
  std::optional<app::Draft> m_draftBeforeCreation;
  ConversationId m_lastDeleted = 0;
  app::MessageId m_editing = 0;  // the question that is written anew
  app::MessageId m_comparing = 0;
  QString m_occupied;
  std::optional<Run> m_run;
  std::optional<Sending> m_sending;

  ModelState m_modelState = ModelState::kNone;
  ModelInfo m_model;
  QString m_modelFolder;
  QString m_modelProgress;
  std::optional<Error> m_modelError;
  RequestId m_modelRequest = 0;
  Device m_device = Device::kAuto;
  QString m_demoModelFolder;
};

}  // namespace winnow::ui
