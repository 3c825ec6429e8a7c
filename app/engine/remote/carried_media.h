// The files of requests to another machine's Winnow: each is hashed, sent there once, and named by its hash from then on.
//
// Used by winnow_server_engine.h. A file that is there already is not sent; a transfer that broke off goes on where it ended.
// Errors: Exception (those of MediaFile, faults of servers), Interrupted. Threads: as the connection.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "app/engine/remote/server_connection.h"
#include "app/media/files/media_file.h"

namespace winnow::app {

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

}  // namespace winnow::app
