// The engine for other programs, by OpenAI's API over HTTP: what they ask is answered one after another by the model that is loaded.
//
// Used by `winnow-cli serve` and by the window. Endpoints are in app/server/README.md. A request waits its turn in a bounded line (429
// beyond it); one whose asker is gone is taken out of the line, or stopped. Nothing of what is asked or answered is logged.
// Errors: the constructor throws those of HttpListener, and Exception(kFileNotFound) for a media folder that is not there.
// Threads: belongs to the thread of the EngineHost. Connections have a thread, and reading requests has
// one; a request that names media of the network is read on one of its own, which waits for them.
#pragma once

#include <QObject>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cache_store/keeping_engine.h"
#include "app/engine_host/engine_host.h"
#include "app/server/api_access.h"
#include "app/server/chat_request.h"
#include "app/server/remote_media.h"

namespace winnow::app {

inline constexpr ConversationId kFirstServedConversation = kFirstUnkeptConversation;

struct ApiOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 8642;  // 0: any that is free
  ApiAccess access;
  RequestDefaults defaults;
  bool lengthGiven = false;  // of an answer, by defaults.sampling
  std::vector<std::string> mediaFolders;
  std::optional<RemoteMediaLimits> remoteMedia;      // nothing: none are fetched
  std::string storeFolder;                           // of media inside requests
  std::int64_t storedBytes = std::int64_t{4} << 30;  // of them, at most
  std::int64_t keptBytes = std::int64_t{4} << 30;    // of the caches of answered threads, at most
  std::size_t mostWaiting = 16;                      // requests
  std::string version;
  HttpLimits limits;
};

class ApiServer : public QObject {
  Q_OBJECT

 public:
  // reader: outlives the server; asked on threads of its own.
  ApiServer(EngineHost& engine, const MediaReader& reader, const ApiOptions& options, QObject* parent = nullptr);
  ~ApiServer() override;

  // Which model answers; nothing: none is loaded, and requests are refused with 503. What was asked of the one before ends with it.
  void setModel(const std::optional<ModelInfo>& model);
  std::uint16_t port() const;
  int requests() const;  // that were asked for an answer so far
  int answered() const;  // of these
  int waiting() const;
  bool isAnswering() const;

 Q_SIGNALS:
  void changed();  // one of the counts above

 private:
  class Work;
  std::unique_ptr<Work> m_work;
};

}  // namespace winnow::app
