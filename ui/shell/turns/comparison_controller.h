// Comparisons between the window, the store and the engine: ask, stream, stop, save, open again, use an answer.
//
// Used by chat_page.h, beside chat_session.h, which sends the question (saved before the engine starts, as always) and is told what
// the comparison adds to the chat. A comparison is saved when it has ended, unless it was cancelled. One runs at a time; the user may look
// at other chats meanwhile. Every call returns at once. UI thread only.
#pragma once

#include <QObject>
#include <functional>
#include <memory>

#include "app/chats/chat/chat_store.h"
#include "app/engine/host/engine_host.h"
#include "ui/compare/comparison_model.h"
#include "ui/shell/turns/chat_session.h"

namespace winnow::ui {

class ComparisonView;
class TranscriptView;
struct WindowServices;

class ComparisonController : public QObject {
  Q_OBJECT
 public:
  // Comparisons are shown in `view` and opened from the transcript. All of them outlive it.
  ComparisonController(const WindowServices& services, ChatSession& session, ComparisonView& view, TranscriptView& transcript,
                       QObject* parent = nullptr);

  // The question in the composer, or, without text, the last one on screen again.
  void compare(const QString& text, const QList<app::Attachment>& attachments, const std::vector<app::NamedRecipe>& recipes,
               ColumnOrder order);
  void repeat();             // the one that is shown, under its methods
  bool canAskAgain() const;  // there is a question on screen
  // A question of the chat. After a comparison whose answers nobody chose from, one of them becomes the chat's first: that of the chat's
  // own method, which stays its method. Where that was not compared it is the reference's, and the question reads everything again.
  void send(const QString& text, const QList<app::Attachment>& attachments);

  void open(app::MessageId question, int index);  // an entry of a question on screen
  void stop();
  void cancel();
  void useAnswer(int column);    // of the comparison that is shown
  void showFigures(int column);  // of the comparison that is shown, in the live cache panel

  app::MessageId question() const { return running() ? m_runningModel->comparison().question : 0; }  // being compared; 0: none
  bool running() const { return m_request != 0; }
  bool runningHere() const { return running() && m_conversation == m_session.chat.id(); }

 Q_SIGNALS:
  void shown();                             // another one is in the view, which is to be seen
  void answerChosen(const QString& label);  // the chat on screen goes on from it
  void stateChanged();
  void problem(const winnow::Error& error);

 private:
  void begin(const app::TurnIds& ids, const QList<app::StoredMessage>& thread);
  void onEvent(const Event& event);
  void watch(const Event& event);
  void finish();
  void onUsed(app::RequestToken token, const app::TurnIds& ids);
  void show(const std::shared_ptr<ComparisonModel>& model);
  std::shared_ptr<ComparisonModel> makeModel() const;

  app::EngineHost& m_engine;
  app::ChatStore& m_store;
  ChatSession& m_session;
  ComparisonView& m_view;
  std::vector<MethodInfo> m_methods;
  std::vector<app::NamedRecipe> m_recipes;  // of the next comparison
  ColumnOrder m_order = ColumnOrder::kOneAfterAnother;
  RequestId m_request = 0;
  ConversationId m_conversation = 0;  // of the request
  std::shared_ptr<ComparisonModel> m_runningModel;
  std::shared_ptr<ComparisonModel> m_last;  // whose columns the engine may still have
  QList<app::StoredMessage> m_thread;       // what the engine was given for it
  std::shared_ptr<ComparisonModel> m_shown;
  app::RequestToken m_saving = 0;
  std::shared_ptr<ComparisonModel> m_savingModel;
  app::RequestToken m_using = 0;
  int m_usedColumn = -1;
  app::RequestToken m_reloading = 0;  // of the chat that has got the answer
  QMetaObject::Connection m_whenReloaded;
  std::function<void()> m_afterUse;  // once the chat has the answer
};

}  // namespace winnow::ui
