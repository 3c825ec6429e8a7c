// A media process that does by a file's name what a taken one might: "crash.png" at once, "later-crash.png" when its frames are read.
// Everything else is answered as winnow-media does. Its argument: "another-version", or "no-sandbox" of a kernel that refuses one.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <limits>
#include <map>
#include <string>
#include <thread>

#include "app/ground/worker/worker_process.h"
#include "app/media/files/media_opener.h"
#include "app/media/process/media_sandbox.h"
#include "app/media/process/media_server.h"
#include "engine/messages/wire_value.h"

namespace {

using namespace winnow;
using namespace winnow::app;

// Too large, or nothing: what an answer claims.
SourceOpened opened() {
  SourceOpened answer;
  answer.info.widthPx = answer.info.heightPx = 4;
  answer.askedS = answer.shownS = {0.0};
  answer.planned = 1;
  return answer;
}

template <class Answer>
void send(WorkerChannel& channel, MediaMessage kind, const Answer& answer) {
  channel.send(static_cast<std::uint32_t>(kind), wire::encoded_fields(answer));
}

void do_wrong(WorkerChannel& channel, const std::string& name) {
  SourceOpened answer = opened();
  if (name == "crash") std::raise(SIGSEGV);
  if (name == "exit") ::_exit(7);
  if (name == "hang") std::this_thread::sleep_for(std::chrono::hours(1));
  if (name == "garbage") [[maybe_unused]]
    const auto sent = ::write(channel.descriptor(), "this is no message at all, but text", 35);
  if (name == "half") {
    [[maybe_unused]] const auto sent = ::write(channel.descriptor(), "WNM1", 4);
    ::_exit(0);
  }
  if (name == "no-cbor") channel.send(static_cast<std::uint32_t>(MediaMessage::kOpened), std::array<std::uint8_t, 3>{0xff, 0xff, 0xff});
  if (name == "other-answer") send(channel, MediaMessage::kText, DocumentText{});
  if (name == "interrupted") channel.send(static_cast<std::uint32_t>(MediaMessage::kInterrupted), {});
  if (name == "descriptor") channel.send(static_cast<std::uint32_t>(MediaMessage::kOpened), wire::encoded_fields(answer), std::array{1});
  if (name == "huge") answer.info.widthPx = answer.info.heightPx = std::numeric_limits<int>::max();
  if (name == "no-number") answer.askedS = {std::numeric_limits<double>::quiet_NaN()};
  if (name == "many-frames") answer.askedS = answer.shownS = std::vector<double>(100'000, 0.0);
  if (name == "no-text") answer.info.codec = "\xFF\xFE";
  if (name == "long-name") answer.info.codec = std::string(100'000, 'a');
  if (name == "other-kind") answer.info.kind = MediaKind::kVideo;
  if (name == "wrong-error") send(channel, MediaMessage::kFailed, Error{ErrorCode::kDamagedFile, "", "\xFF"});
  if (name == "no-pixels") send(channel, MediaMessage::kFrames, FramesRead{{{0.0, 0.0, 64, 48}}, 0, answer.info, {}});
  if (name == "large-frame") send(channel, MediaMessage::kFrames, FramesRead{{{0.0, 0.0, 30'000, 30'000}}, 0, answer.info, {}});
  send(channel, MediaMessage::kOpened, answer);
}

}  // namespace

int main(int argc, char** argv) {
  WorkerChannel channel{OpenFile(WorkerProcess::kChannelDescriptor)};
  std::map<std::uint64_t, std::string> later;
  try {
    auto first = channel.receive(std::chrono::milliseconds(-1));
    const auto begin = wire::decoded_fields<BeginReading>(first->bytes);
    prepareReading();
    const std::string kind = argc > 1 ? argv[1] : "";
    const std::uint32_t version = kMediaProtocolVersion + (kind == "another-version" ? 1 : 0);
    send(channel, MediaMessage::kReady, ReadyToRead{version, kind == "no-sandbox" ? SandboxReport() : enterSandbox(begin.memoryBytes)});
    MediaServer server(channel, begin.limits, std::move(first->files.front()));
    try {
      while (true) {
        auto message = channel.receive(std::chrono::milliseconds(-1));
        const auto kind = static_cast<MediaMessage>(message->kind);
        std::string name;
        if (kind == MediaMessage::kOpen) {
          const auto ask = wire::decoded_fields<AskFile>(message->bytes);
          name = ask.request.path.substr(ask.request.path.rfind('/') + 1);
          name = name.substr(0, name.rfind('.'));
          if (name.starts_with("later-")) later[ask.source] = std::exchange(name, "sound").substr(6);
          if (name.starts_with("sound")) name.clear();
        }
        if (kind == MediaMessage::kReadFrames) name = later[wire::decoded_fields<AskFrames>(message->bytes).source];
        name.empty() ? server.take(std::move(*message)) : do_wrong(channel, name);
      }
    } catch (const std::exception&) {
      ::_exit(0);
    }
  } catch (const std::exception&) {
    return 3;
  }
}
