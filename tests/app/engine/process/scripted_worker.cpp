// An engine's process for tests: speaks the protocol of app/engine/process/engine_protocol.h with a scripted engine, and misbehaves when it
// is told to. A question tells it ("crash", "crash after text", ...; kMisdeeds), or its argument, for what happens before any request.
// Where it also has the name of a file, it misbehaves only as often as the file has bytes, each of which it takes away first.
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "app/engine/process/engine_protocol.h"
#include "app/engine/process/engine_service.h"
#include "app/ground/worker/engine_end.h"
#include "app/ground/worker/worker_process.h"
#include "engine/messages/wire.h"
#include "tests/support/scripted_engine.h"

namespace winnow::testing {
namespace {

using app::EngineMessage;
using app::WorkerChannel;
using app::WorkerProcess;

void writeRaw(const void* bytes, std::size_t count) {
  [[maybe_unused]] const auto written = ::write(WorkerProcess::kChannelDescriptor, bytes, count);
}

struct Header {
  std::uint32_t mark = 0x314d4e57, kind = static_cast<std::uint32_t>(EngineMessage::kEvent);
  std::uint64_t bytes = 0;
  std::uint32_t files = 0, unused = 0;
};

void writeMessage(EngineMessage kind, std::span<const std::uint8_t> bytes) {
  const Header header{.kind = static_cast<std::uint32_t>(kind), .bytes = bytes.size()};
  writeRaw(&header, sizeof header);
  writeRaw(bytes.data(), bytes.size());
}

[[noreturn]] void hang() {
  while (true) ::pause();
}

void crash() {
  ::prctl(PR_SET_DUMPABLE, 0);
  ::signal(SIGSEGV, SIG_DFL);
  ::raise(SIGSEGV);
}

// What it does in place of an answer.
const std::map<std::string, std::function<void(RequestId)>>& misdeeds() {
  static const std::map<std::string, std::function<void(RequestId)>> all = {
      {"crash", [](RequestId) { crash(); }},
      {"exit 0", [](RequestId) { ::_exit(0); }},
      {"no memory", [](RequestId) { ::_exit(app::kNoMemoryStatus); }},
      {"hang", [](RequestId) { hang(); }},
      {"garbage", [](RequestId) { writeRaw("this is no message at all", 25), hang(); }},
      {"garbage inside",
       [](RequestId) {
         writeMessage(EngineMessage::kEvent, std::vector<std::uint8_t>{0xff, 0x00, 0x13}), hang();
       }},
      {"half a message",
       [](RequestId) {
         const Header header{.bytes = 1000};
         writeRaw(&header, sizeof header);
         writeRaw("half", 4);
         ::_exit(0);
       }},
      {"too much",
       [](RequestId) {
         const Header header{.bytes = WorkerChannel::kMostBytes + 1};
         writeRaw(&header, sizeof header);
         hang();
       }},
      {"another's event",
       [](RequestId id) {
         writeMessage(EngineMessage::kEvent, encoded(Event{id + 1, TextDelta{"not mine"}})), hang();
       }},
      {"another's end", [](RequestId id) { writeMessage(EngineMessage::kReturned, app::bytesOf(id + 1)), hang(); }},
      {"second hello",
       [](RequestId) {
         const std::string hello = app::engineHello();
         writeMessage(EngineMessage::kHello, {reinterpret_cast<const std::uint8_t*>(hello.data()), hello.size()});
         hang();
       }},
  };
  return all;
}

// False: it has misbehaved often enough.
bool mayMisbehave(const char* counter) {
  if (counter == nullptr) return true;
  std::error_code failed;
  const auto left = std::filesystem::file_size(counter, failed);
  if (failed || left == 0) return false;
  std::filesystem::resize_file(counter, left - 1, failed);
  return !failed;
}

std::string questionOf(const Request& request) {
  const Turn* turn = std::get_if<Turn>(&request.body);
  if (const auto* plan = std::get_if<Plan>(&request.body)) turn = &plan->turn;
  if (const auto* prepare = std::get_if<Prepare>(&request.body)) turn = &prepare->turn;
  if (turn == nullptr || turn->messages.empty()) return {};
  for (const Item& item : turn->messages.back().items) {
    if (const auto* text = std::get_if<TextItem>(&item)) return text->text;
  }
  return {};
}

// Does what its questions say, or answers them as a scripted engine.
class MisbehavingEngine final : public Engine {
 public:
  MisbehavingEngine(const char* counter, const app::Passwords& passwords)
      : counter_(counter), passwords_(passwords), scripted_({}, std::make_shared<test::ScriptedEngineLog>()) {}

  // "gather 3": takes in two others that come within a second, then answers or misbehaves at each.
  void handle_together(const Request& request, EventSink& sink, const InterruptToken& interrupt, Waiting& waiting) override {
    constexpr std::string_view kGather = "gather ";
    const std::string question = questionOf(request);
    std::vector<AskedRequest> others;
    if (question.starts_with(kGather)) {
      const auto count = static_cast<std::size_t>(std::stoi(question.substr(kGather.size())));
      const auto latest = std::chrono::steady_clock::now() + std::chrono::seconds(1);
      while (others.size() + 1 < count && std::chrono::steady_clock::now() < latest) {
        if (auto next = waiting.next([](const Request&) { return true; })) others.push_back(*std::move(next));
      }
    }
    for (const AskedRequest& each : others) handle(each.request, *each.sink, each.interrupt);
    handle(request, sink, interrupt);
  }

  void handle(const Request& request, EventSink& sink, const InterruptToken& interrupt) override {
    const auto say = [&](EventBody body) { sink.on_event({request.id, std::move(body)}); };
    std::string question = questionOf(request);
    if (const auto* load = std::get_if<LoadModel>(&request.body)) {
      question = std::filesystem::path(load->folder).filename();
      if (question == "changing") {  // as if its files had been replaced by the next process's time
        ModelInfo info{.folder = load->folder, .layers = ::getpid()};
        return say(ModelLoaded{info});
      }
    }
    constexpr std::string_view kAfterText = " after text", kAfterEnd = " after the end", kPasswordOf = "password of ";
    if (question.ends_with(kAfterText) && mayMisbehave(counter_)) {
      say(TextDelta{"so far"});
      question.resize(question.size() - kAfterText.size());
      misdeeds().at(question)(request.id);
    } else if (question.ends_with(kAfterEnd) && mayMisbehave(counter_)) {
      say(Finished{});
      question.resize(question.size() - kAfterEnd.size());
      misdeeds().at(question)(request.id);
    } else if (const auto found = misdeeds().find(question); found != misdeeds().end() && mayMisbehave(counter_)) {
      MediaSampled sampled{.path = "film.mp4"};
      say(std::move(sampled));
      say(Progress{Phase::kPrefill, 1, 2});
      found->second(request.id);
    } else if (question == "GPU fault" && mayMisbehave(counter_)) {
      say(Failed{{ErrorCode::kDeviceFailed, "", "an illegal memory access was encountered"}});
    } else if (question == "flood") {  // until it is interrupted, and longer than anybody listens
      for (int i = 0; !interrupt.requested() && i < 100'000; ++i) say(TextDelta{std::string(10'000, 'x')});
      Finished finished{.reason = StopReason::kInterrupted};
      say(std::move(finished));
    } else if (question == "wait") {  // until it is interrupted
      say(TextDelta{"so far"});
      while (!interrupt.requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      Finished finished{.reason = StopReason::kInterrupted, .restored = interrupt.state() == Interrupt::kCancel, .answer = "so far"};
      say(std::move(finished));
    } else if (question.starts_with(kPasswordOf)) {
      Finished finished{.answer = passwords_.of(question.substr(kPasswordOf.size()))};
      say(std::move(finished));
    } else {
      scripted_.handle(request, sink, interrupt);
    }
  }

 private:
  const char* const counter_;
  const app::Passwords& passwords_;
  test::ScriptedEngine scripted_;
};

}  // namespace
}  // namespace winnow::testing

// scripted-worker [at the start: "another version" | a misdeed | ""] [counter]
int main(int argc, char** argv) {
  using namespace winnow;
  using namespace winnow::testing;
  const std::string first = argc > 1 ? argv[1] : "";
  const char* const counter = argc > 2 ? argv[2] : nullptr;
  if (!first.empty() && mayMisbehave(counter)) {
    if (first == "another version") {
      writeMessage(EngineMessage::kHello, std::vector<std::uint8_t>{'w', 'i', 'r', 'e', ' ', '9'});
      hang();
    }
    misdeeds().at(first)(0);
  }
  app::Passwords passwords;
  app::serveEngine(
      app::OpenFile(WorkerProcess::kChannelDescriptor), [&] { return std::make_unique<MisbehavingEngine>(counter, passwords); }, passwords);
}
