// The API over a scripted engine, and a client that asks it while this thread runs the loop: for tests of what clients read.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/media/files/media_opener.h"
#include "app/programs/server/api_server.h"
#include "tests/app/programs/server/http_client.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/wait_until.h"

namespace winnow::app {

inline std::string bodyOf(const std::string& reply) { return reply.substr(reply.find("\r\n\r\n") + 4); }
inline std::string statusOf(const std::string& reply) { return reply.substr(9, 3); }

class ApiServerTest : public testing::Test {
 protected:
  void start(test::ScriptFunction script = {}) {
    use([script, log = log] { return std::make_unique<test::ScriptedEngine>(script, log); });
  }
  void use(EngineHost::EngineFactory engine) {
    host = std::make_unique<EngineHost>(std::move(engine));
    options.port = 0;
    options.storeFolder = folder.file("store");
    server = std::make_unique<ApiServer>(*host, opener, options);
    ModelInfo model{.name = "tiny", .context_tokens = 4096};
    server->setModel(model);
  }
  // The client sends and waits on another thread, while this one runs the loop.
  std::future<std::string> send(const std::string& bytes) {
    return std::async(std::launch::async, [port = server->port(), bytes] {
      const test::HttpClient client(port);
      client.send(bytes);
      return client.receive();
    });
  }
  std::string ask(const std::string& bytes) {
    std::future<std::string> reply = send(bytes);
    EXPECT_TRUE(test::waitUntil([&] { return reply.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }));
    return reply.get();
  }
  std::string complete(const std::string& body) { return ask(test::request("POST /v1/chat/completions", body)); }
  // The pieces of a stream: what stands behind "data: ".
  static std::vector<std::string> dataOf(const std::string& reply) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; (at = reply.find("data: ", at)) != std::string::npos;) {
      const std::size_t end = reply.find("\n\n", at);
      lines.push_back(reply.substr(at + 6, end - at - 6));
      at = end;
    }
    return lines;
  }

  test::ScratchFolder folder;
  std::shared_ptr<test::ScriptedEngineLog> log = std::make_shared<test::ScriptedEngineLog>();  // shared: outlives the engine
  ApiOptions options;
  FfmpegMediaOpener opener;
  std::unique_ptr<EngineHost> host;
  std::unique_ptr<ApiServer> server;
};

}  // namespace winnow::app
