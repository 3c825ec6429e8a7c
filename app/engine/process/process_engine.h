// An engine in a process of its own (winnow-engine), which may end without the program: by a damaged file, the GPU, the lack of memory.
//
// Started when this object is made, without waiting for it, and anew at the first request after it has ended. A request that it ends at,
// or that finds it gone, fails with kEngineCrashed, kEngineOutOfMemory or kEngineSilent: what it had read is lost, and whoever counts on
// it is told once. A LoadModel, which frees what was read in any case, starts the process anew by itself.
// One whose GPU has failed (kDeviceFailed), or that says that it is out of memory for good (kEngineOutOfMemory), is ended behind its
// answer: such a fault stays with its process. The model that was loaded is loaded again before the next request, under that request's id;
// if it is another one by now, the request fails with kModelFileChanged. It is told the passwords of documents before a request. An
// interrupt is sent at once and has to be answered within a time; nothing else has a limit. Requests that wait are sent while others run,
// and share what becomes of the process. Errors: kInternal where the program is missing. Threads: one. An event reaches the sink as soon as
// it is sent.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/ground/worker/worker_process.h"
#include "app/media/files/passwords.h"
#include "engine/api/engine.h"

namespace winnow::app {

struct EngineProcessSettings {
  std::string program;  // absolute path
  std::chrono::milliseconds interruptPatience{20'000};
  std::vector<std::string> arguments{};
  std::chrono::milliseconds startPatience{150'000};  // it loads libraries, and on a busy machine that may take long
  const Passwords* passwords = nullptr;              // of encrypted documents, which each process is told. They outlive the engine
};

class ProcessEngine final : public Engine {
 public:
  explicit ProcessEngine(EngineProcessSettings settings);
  ~ProcessEngine() override;
  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override;
  void handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& waiting) override;

  pid_t pid() const { return m_worker ? m_worker->pid() : -1; }

 private:
  class Delivery;
  struct Model {
    LoadModel load;
    std::vector<std::uint8_t> info;  // encoded
  };

  using Deliveries = std::list<Delivery>;  // the first is of the request that was handled, the others of those beside it

  void run(const Request& request, Deliveries& deliveries, const InterruptToken& interrupt, Waiting& waiting);
  void start();
  std::optional<Error> loss(const RequestBody& body);
  bool greeted(const InterruptToken& interrupt);
  void takeHello(const ChannelMessage& message);
  void reload(RequestId id, Deliveries& deliveries, const InterruptToken& interrupt);
  void send(const Request& request, Delivery& delivery, const InterruptToken& interrupt);
  void ask(const Request& request, Deliveries& deliveries, const InterruptToken& interrupt, Waiting& waiting);
  std::optional<ChannelMessage> nextMessage(Deliveries& deliveries, Waiting& waiting);
  void hear(const ChannelMessage& message, Deliveries& deliveries);
  Error ended(ChannelBroken::Cause cause);
  void forgetProcess();

  const EngineProcessSettings m_settings;
  std::unique_ptr<WorkerProcess> m_worker;  // null: not started, or ended
  std::chrono::steady_clock::time_point m_latestHello;
  bool m_greeted = false;             // it has said hello
  bool m_loaded = false;              // it has the model
  std::uint64_t m_toldPasswords = 0;  // Passwords::since(), of this process
  std::optional<Model> m_model;       // the last one that was loaded, in whichever process
  std::optional<Error> m_untold;      // how a process ended that no request has failed with
};

}  // namespace winnow::app
