// The kind of a server, and what the chosen model can do there: found out once, when it is connected to.
//
// Asked of /v1/models and of what each kind of server has beside it. What is not told counts as possible; the server's refusal is
// remembered then (remote_engine.h). Errors: Exception (faults of servers), Interrupted. Threads: as the connection.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/engine/remote/server_connection.h"

namespace winnow::app {

enum class ServerKind : int {
  kOther = 1,
  kVllm = 2,
  kSglang = 3,
  kLlamaServer = 4,
  kLlamaCppPython = 5,
  kOllama = 6,
  kLmStudio = 7,
  kOpenAi = 8,
  kWinnow = 9,
};
const char* nameOf(ServerKind kind);  // "vLLM"; of kOther "a server"

struct ServerTraits {
  ServerKind kind = ServerKind::kOther;
  std::string model{};             // as it names it
  std::int64_t contextTokens = 0;  // 0: not told
  std::int64_t mostPictures = 0;   // of a request; 0: no limit is known
  bool sees = true;
  bool takesVideos = false;  // video_url
  bool thinks = false;
  bool choosesFrames = false;  // of a video_url: it takes no number of frames
  bool continues = false;      // an answer that was begun
};

// The models that it lists, in its order.
std::vector<std::string> modelsOf(ServerConnection& connection, const InterruptToken& interrupt);

ServerTraits traitsOf(ServerConnection& connection, const InterruptToken& interrupt);

}  // namespace winnow::app
