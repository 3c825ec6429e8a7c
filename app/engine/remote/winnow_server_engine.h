// Another machine's Winnow in the engine's place, with all that an engine can do but what needs files or a camera there.
//
// Made by connect_to_server.h. A request goes as it is, its files by their hashes, and what comes back are the engine's own events:
// methods, plans, comparisons, kept maps and figures are those of that machine. Stop is told beside the answer, which then ends as it does
// there; who cancels hangs up. A connection that is lost fails the request; what had come was passed on. Errors: as Engine says; faults of
// servers. Threads: one.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>

#include "app/engine/remote/server_connection.h"
#include "app/media/files/media_file.h"
#include "engine/api/engine.h"

namespace winnow::app {

// The files of requests to another machine's Winnow: each is hashed, sent there once, and named by its hash from then on.
//
// A file that is there already is not sent; a transfer that broke off goes on where it ended. Errors: Exception (those of MediaFile, faults
// of servers), Interrupted.
class CarriedMedia {
 public:
  explicit CarriedMedia(ServerConnection& connection) : m_connection(connection) {}  // outlives this

  // The name that the file of this path has there, where it is by now.
  std::string carry(const std::string& path, const InterruptToken& interrupt);
  // Looks again whether a file is there: the server has made room.
  void forgetWhatIsThere() { m_there.clear(); }

 private:
  struct Known {
    std::string version;  // of the file that was hashed
    std::string sha256;
  };
  std::string hashOf(const MediaFile& file, const InterruptToken& interrupt);
  void send(const MediaFile& file, const std::string& sha256, const InterruptToken& interrupt);

  ServerConnection& m_connection;
  std::map<std::string, Known> m_known;  // by path
  std::set<std::string> m_there;         // hashes
};

class WinnowServerEngine final : public Engine {
 public:
  explicit WinnowServerEngine(std::unique_ptr<ServerConnection> connection);
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override;

 private:
  class Answer;

  void load(RequestId id, EventSink& sink, const InterruptToken& interrupt);
  void forward(const Request& request, Answer& answer, const InterruptToken& interrupt);
  enum class Sent : int { kAnswered = 1, kMediaMissing = 2 };
  Sent send(const Request& request, Answer& answer, const InterruptToken& interrupt);
  std::string path(const char* what) const;

  const std::unique_ptr<ServerConnection> m_connection;
  CarriedMedia m_media;
  std::string m_name;  // of the model that was loaded
  std::string m_mark;  // likewise: no other one is to answer
};

// True if what answers there is a Winnow that can be asked so. Throws Exception(kServerNotUnderstood) for one of another version.
bool isWinnowServer(ServerConnection& connection, const InterruptToken& interrupt);

}  // namespace winnow::app
