// Another machine's Winnow asks here: requests of the engine's own messages over HTTP, answered by a stream of its events.
//
// Part of api_server.h, which routes, reads bodies on its reader's thread and owns the line. What may be asked is a list
// (wire_service.cpp); files are named by their hashes and come through media_uploads.h, so that no path of this machine is told or taken.
// A client is who knows its session, a number that nobody guesses; its conversations are numbered anew, so that none reaches another's, a
// chat's or a thread's. One that is forgotten (kept_conversations.h) costs time and nothing else, since every turn carries its whole
// thread. Format: app/programs/server/README.md. Errors: ApiRefusal, Exception. Threads: read(), has() and take() one, the reader's; the
// rest is of the EngineHost's thread.
#pragma once

#include <QTimer>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/ground/threads/mailbox.h"
#include "app/media/files/media_store.h"
#include "app/programs/server/answer_line.h"
#include "app/programs/server/http_listener.h"
#include "app/programs/server/kept_conversations.h"
#include "app/programs/server/media_uploads.h"
#include "engine/models/model_info.h"

namespace winnow::app {

// The model's facts for clients: without the places of its files, and with what is not done for other machines.
ModelInfo infoForClients(const ModelInfo& model);
// The same model has the same: clients name it with every request, so that none is answered by another.
std::string modelMark(const ModelInfo& model);

class WireService {
 public:
  struct Uses {
    EngineHost& engine;
    AnswerLine& line;
    Mailbox& mailbox;
  };
  WireService(const Uses& uses, MediaStore& store, std::int64_t keptBytes);

  class Asked;
  using SharedAsked = std::shared_ptr<Asked>;

  SharedAsked read(const HttpRequest& request, std::shared_ptr<HttpAnswer> answer, const ModelInfo& model);
  HttpReply has(const std::string& sha256);
  HttpReply take(const std::string& sha256, const HttpRequest& piece);

  // Answered at once, or put into the line, which it has entered. model: the one that is loaded by now.
  void enqueue(const SharedAsked& asked, const std::optional<ModelInfo>& model);
  void stop(const HttpRequest& request);
  std::vector<ConversationId> forgetAll() { return m_conversations.forgetAll(); }

 private:
  struct OfClient {
    std::string session;
    ConversationId theirs = 0;
    friend bool operator==(const OfClient&, const OfClient&) = default;
  };

  bool answeredAtOnce(Asked& asked, const std::optional<ModelInfo>& model);
  void gone(const SharedAsked& asked);
  RequestBody begin(Asked& asked);
  void hear(Asked& asked, const Event& event);
  void end(Asked& asked);
  void sayAlive();

  EngineHost& m_engine;
  AnswerLine& m_line;
  Mailbox& m_mailbox;
  MediaStore& m_store;
  MediaUploads m_uploads;
  KeptConversations<OfClient> m_conversations;
  std::list<std::weak_ptr<Asked>> m_open;
  QTimer m_alive;
};

}  // namespace winnow::app
