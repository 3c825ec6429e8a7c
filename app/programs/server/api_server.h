// The engine for other programs, by OpenAI's API over HTTP: what they ask is answered by the model that is loaded, a few at a time.
//
// Used by `winnow-cli serve` and by the window. Endpoints are in app/programs/server/README.md. A request waits its turn in a bounded line
// (429 beyond it); one whose asker is gone is taken out of the line, or stopped. Nothing of what is asked or answered is logged. Errors:
// the constructor throws those of HttpListener, and Exception(kFileNotFound) for a media folder that is not there. Threads: belongs to the
// thread of the EngineHost. Connections have a thread, and reading requests has one (request_reader.h).
#pragma once

#include <QObject>
#include <cstdint>
#include <memory>
#include <optional>

#include "app/engine/host/engine_host.h"
#include "app/media/files/media_reader.h"
#include "app/programs/server/api_options.h"

namespace winnow::app {

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
