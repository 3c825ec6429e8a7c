#include <QEventLoop>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "app/chats/settings/app_folders.h"
#include "app/engine/host/engine_host.h"
#include "app/ground/threads/interrupt_notifier.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/interrupt_signals.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/media_reading.h"
#include "app/programs/cli/option_checks.h"
#include "app/programs/cli/session.h"
#include "app/programs/server/api_server.h"
#include "engine/base/file_bytes.h"

namespace winnow::cli {
namespace {

constexpr std::size_t kMostKeyBytes = 4096;

struct ServeOptions : CommandOptions {
  std::string host = "127.0.0.1";
  int port = 8642;
  std::string key_file;
  std::vector<std::string> origins;
  std::vector<std::string> media_folders;
  bool remote_media = false;
  int waiting = 16;
  int at_once = 4;
};

// The first line; whoever edits a file by hand ends it with one.
std::string key_of(const std::string& file) {
  std::string key = read_file_bytes(file, kMostKeyBytes);
  key.erase(std::min(key.find_first_of("\r\n"), key.size()));
  if (key.empty()) throw Exception(ErrorCode::kInvalidArgument, file, "its first line must be the key");
  return key;
}

app::ApiOptions api_options(const ServeOptions& options) {
  const bool own_machine = options.host == "127.0.0.1" || options.host == "::1";
  if (!own_machine && options.key_file.empty())
    throw CLI::ValidationError("--host", "other machines can reach this address: --api-key-file is needed, too");
  app::ApiOptions api{.address = options.host, .port = static_cast<std::uint16_t>(options.port)};
  if (!options.key_file.empty()) api.access.key = key_of(options.key_file);
  api.access.origins = options.origins;
  api.defaults.recipe = recipe_of(options.turn);
  api.defaults.sampling = options.turn.sampling;
  api.defaults.seedGiven = options.turn.seed_given;
  api.defaults.plan = options.turn.plan;
  api.defaults.detail = options.turn.detail;
  if (api.defaults.plan.every_s > 0.0) api.defaults.plan.frame_count = 0;
  api.lengthGiven = options.turn.answer_length_given;
  api.mediaFolders = options.media_folders;
  api.storeFolder = (app::AppFolders::standard().cache + QStringLiteral("/served")).toLocal8Bit().toStdString();
  api.hearing = [listen = options.listen] { return hearing_request({}, listen); };
  if (options.remote_media) api.remoteMedia.emplace();
  api.mostWaiting = static_cast<std::size_t>(options.waiting);
  api.atOnce = static_cast<std::size_t>(options.at_once);
  api.version = WINNOW_VERSION;
  return api;
}

ExitStatus run_serve(const ServeOptions& options) {
  const app::ApiOptions api = api_options(options);
  const LoadModel load = load_request(options.model);
  note_missing_sandbox();
  app::EngineHost host(session_engine);
  app::ApiServer server(host, media_reader(), api);
  InterruptSource interrupt;
  const InterruptOnSignal on_signal(interrupt);
  QEventLoop loop;
  const app::InterruptNotifier on_interrupt(interrupt.token(), Interrupt::kNone, [&] { loop.quit(); });
  ConsoleSink sink(AnswerOutput::kSilent);
  std::optional<Error> failed;
  host.post(load, &server, [&](const Event& event) {
    sink.on_event(event);
    if (const auto* failure = std::get_if<Failed>(&event.body)) failed = failure->error;
    if (!sink.model) return failed ? loop.quit() : void();
    server.setModel(*sink.model);
    const std::string place = options.host.find(':') == std::string::npos ? options.host : "[" + options.host + "]";
    print_err("%s answers at http://%s:%d/v1 (Ctrl+C ends)\n", sink.model->name.c_str(), place.c_str(), server.port());
  });
  loop.exec();
  if (failed) throw Exception(*failed);
  return ExitStatus::kInterrupted;
}

}  // namespace

RunCommand add_serve(CLI::App& command) {
  const auto options = std::make_shared<ServeOptions>();
  add_model_options(command, options->model);
  add_frame_options(command, options->turn);
  add_detail_options(command, options->turn.detail);
  add_method_options(command, options->turn);
  add_sampling_options(command, options->turn);
  add_speech_options(command, options->listen, "--speech-model");
  command.add_option("--host", options->host, "numeric address to listen on; any but loopback needs --api-key-file")->capture_default_str();
  command.add_option("--port", options->port, "port to listen on; 0: any that is free")
      ->check(whole_number(0, 65535))
      ->capture_default_str();
  command.add_option("--api-key-file", options->key_file, "file whose first line is the key that requests must name")
      ->check(file_name_problem);
  command.add_option("--allow-origin", options->origins, "origin of web pages that may ask, http://localhost:3000; may be repeated")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command.add_option("--media-folder", options->media_folders, "folder whose files requests may name by file://; may be repeated")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->check(file_name_problem);
  command.add_flag("--allow-remote-media", options->remote_media,
                   "fetch pictures and videos that requests name by http:// or https:// from public addresses");
  command.add_option("--at-once", options->at_once, "answers that are decoded together, each step reading the weights once")
      ->check(whole_number(1, 8))
      ->capture_default_str();
  command.add_option("--queue", options->waiting, "requests that may wait for their turn")
      ->check(whole_number(1, 10'000))
      ->capture_default_str();
  return [options] { return run_serve(*options); };
}

}  // namespace winnow::cli
