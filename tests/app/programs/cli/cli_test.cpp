// Commands on the demo model: documented JSON, export, mixtures, samples. What it answers is the evaluation's business, not this
// test's.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "app/programs/cli/interrupt_signals.h"
#include "app/programs/cli/session.h"
#include "engine/weights/safetensors.h"
#include "tests/app/programs/cli/command_run.h"
#include "tests/support/gguf_writer.h"

namespace winnow::testing {
namespace {

using nlohmann::json;

std::string sample_video() { return shell_quoted(demo("samples/ten-seconds.mp4")); }

TEST(Cli, SystemSaysWhatAReportOfAFaultNeeds) {
  const ScratchFolder scratch;
  const ProgramRun run = run_command(scratch, "system");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* name :
       {"Winnow: ", "System: ", "CPU: ", "CPU features: ", "Memory: ", "Qt: 6.", "SQLite: 3.", "libtorch: 2.", "FFmpeg: "})
    EXPECT_NE(run.out.find(name), std::string::npos) << name << "\n" << run.out;
}

TEST(Cli, ProbeSaysHowAModelsMakersWouldSampleIt) {
  const ScratchFolder scratch;
  const std::string folder = shell_quoted(demo("model"));
  const json said = json::parse(run_command(scratch, "probe --json " + folder).out);
  EXPECT_EQ(said.at("kind"), "model");
  EXPECT_EQ(said.at("type"), "llava_onevision");
  EXPECT_GT(said.at("weight_bytes").get<std::int64_t>(), 1'000'000);
  EXPECT_EQ(said.at("recommended"), (json{{"temperature", 0.0}})) << "its generation_config.json says do_sample: false";
  const ProgramRun text = run_command(scratch, "probe " + folder);
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_NE(text.out.find("recommended sampling: temperature 0.0\n"), std::string::npos) << text.out;
  EXPECT_EQ(run_command(scratch, "probe " + shell_quoted(scratch.path())).exit_code, 1) << "a folder that is no model";
}

TEST(Cli, ProbeKnowsAGgufFileAndWhatIsMissingOfIt) {
  const ScratchFolder scratch;
  const std::string bytes = test::GgufWriter()
                                .text("general.architecture", "llama")
                                .uint32("llama.block_count", 1)
                                .uint32("llama.context_length", 64)
                                .uint32("llama.embedding_length", 8)
                                .uint32("llama.feed_forward_length", 8)
                                .uint32("llama.attention.head_count", 2)
                                .texts("tokenizer.ggml.tokens", {"a", "b"})
                                .text("tokenizer.chat_template", "{% if enable_thinking %}{{ tools }}{% endif %}<think>")
                                .tensor("token_embd.weight", {8, 2}, 0, std::string(64, '\0'))
                                .bytes();
  const std::string file = shell_quoted(scratch.write("small.gguf", bytes));
  const ProgramRun run = run_command(scratch, "probe --json " + file);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json said = json::parse(run.out);
  EXPECT_EQ(said.at("format"), "GGUF");
  EXPECT_EQ(said.at("type"), "llama");
  EXPECT_EQ(said.at("runs"), true);
  EXPECT_EQ(said.at("reads_images"), false);
  EXPECT_EQ(said.at("context_tokens"), 64);
  EXPECT_EQ(said.at("stored"), (json{{"F32", 64}}));
  EXPECT_EQ(said.at("template_switches"), (json{"enable_thinking", "tools"}));
  ASSERT_EQ(said.at("missing").size(), 1U) << "what kind of vocabulary it is: " << run.out;
  const ProgramRun text = run_command(scratch, "probe " + file);
  for (const char* part :
       {"GGUF model of type", "(F32 100 %)", "reads: text only", "context: 64 tokens", "enable_thinking, tools", "missing: "})
    EXPECT_NE(text.out.find(part), std::string::npos) << part << "\n" << text.out;
  const ProgramRun pointer =
      run_command(scratch, "probe " + shell_quoted(scratch.write("other.gguf", "version https://git-lfs.github.com/spec/v1\nsize 5\n")));
  EXPECT_EQ(pointer.exit_code, 1);
  EXPECT_NE(pointer.err.find("git lfs pull"), std::string::npos) << pointer.err;
}

// README and window say so: what it keeps serves later questions, too.
TEST(Cli, WithoutAMethodItIsSelfStudy) {
  const ScratchFolder scratch;
  const json answer = json::parse(run_command(scratch, "ask --json --frames 4 --max-tokens 2 --video " + sample_video() + " 'What?'").out);
  EXPECT_EQ(answer.at("method"), "self-study");
  EXPECT_EQ(answer.at("retention"), 0.2);
}

TEST(Cli, PlanTellsDocumentsFromPictures) {
  const ScratchFolder scratch;
  std::string words;
  for (int i = 0; i < 60; ++i) words += "A red circle. ";
  const std::string document = " --document " + shell_quoted(scratch.write("a.txt", words));
  const json both =
      json::parse(run_command(scratch, "plan --json --frames 2 --video " + sample_video() + document + " 'What?'").out)["tokens"];
  EXPECT_GT(both.at("visual"), 0);
  EXPECT_GT(both.at("documents"), 60);
  EXPECT_EQ(both.at("visual").get<int>() + both.at("documents").get<int>() + both.at("text").get<int>(), both.at("prompt"));
  const ProgramRun text = run_command(scratch, "plan" + document + " 'What?'");
  EXPECT_NE(text.out.find(" of documents + "), std::string::npos) << text.out;
  EXPECT_EQ(text.out.find("visual"), std::string::npos) << text.out;
}

void no_action(int) {}

// A script sees 130 as for any other stop, not a fault of the engine.
TEST(Cli, CtrlCWhileWeightsLoadIsNoFailure) {
  const ScratchFolder scratch;
  const auto before = std::signal(SIGINT, no_action);
  std::atomic<bool> ended = false;
  std::thread presses([&] {
    while (!ended) {
      std::raise(SIGINT);
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  });
  const ProgramRun run = run_command(scratch, "ask --max-tokens 2 Hello?");
  ended = true;
  presses.join();
  std::signal(SIGINT, before);
  EXPECT_EQ(run.exit_code, 130) << run.err;
  EXPECT_EQ(run.err.find("must be"), std::string::npos) << run.err;
  EXPECT_EQ(run.out, "");
}

// Raises a signal with each word, and keeps how the answer ended.
class SignalAtWords : public EventSink {
 public:
  void on_event(Event event) override {
    if (std::holds_alternative<TextDelta>(event.body)) std::raise(SIGTERM);
    if (const auto* finished = std::get_if<Finished>(&event.body)) reason = finished->reason;
  }

  std::optional<StopReason> reason;
};

// Behind its last word a question asks nobody whether it was stopped: SIGTERM was lost then, and a script saw 0.
TEST(Cli, ASignalBehindTheLastWordStopsWhatFollowsAndIsTheStatus) {
  cli::forget_signals();
  cli::Session session;
  LoadModel load{.folder = demo("model").string()};
  session.load(load);
  Turn turn{.conversation = 1, .messages = {{Role::kUser, {TextItem{"Hello?"}}}}, .sampling = {.max_new_tokens = 1}};
  SignalAtWords last, next;
  session.run(turn, last);
  EXPECT_EQ(last.reason, StopReason::kLength) << "it came too late to be noticed";
  session.run(turn, next);
  EXPECT_EQ(next.reason, StopReason::kInterrupted);
  EXPECT_EQ(cli::status_after_signals(cli::ExitStatus::kAnswered), cli::ExitStatus::kTerminated);
  cli::forget_signals();
}

// The name of another model was written into the file: its answers went on from this one's cache.
TEST(Cli, ASavedCacheIsOfTheModelThatWasLoadedWhateverLiesThereNow) {
  const ScratchFolder scratch;
  std::filesystem::copy(demo("model"), scratch.file("model"), std::filesystem::copy_options::recursive);
  LoadModel load{.folder = scratch.file("model")};
  cli::Session session;
  session.load(load);
  session.fingerprint();
  cli::ConsoleSink sink(cli::AnswerOutput::kSilent);
  Turn turn{.conversation = 1, .messages = {{Role::kUser, {TextItem{"Hello?"}}}}, .sampling = {.max_new_tokens = 2}};
  session.run(turn, sink);
  const std::string weights = scratch.file("model/model.safetensors");
  {
    std::fstream bytes(weights, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(-1, std::ios::end);
    bytes << 'x';
  }
  session.save_cache(scratch.file("cache"));
  EXPECT_NO_THROW(session.load_cache(scratch.file("cache"))) << "this model made it";
  cli::Session other;
  other.load(load);
  EXPECT_THROW(other.load_cache(scratch.file("cache")), Exception);
}

TEST(Cli, ProbeWithoutAFileListsWhatRuns) {
  const ScratchFolder scratch;
  const json said = json::parse(run_command(scratch, "probe --json").out);
  const auto lists = [&](const char* key, const char* name) {
    const auto names = said.at(key).get<std::vector<std::string>>();
    return std::ranges::find(names, name) != names.end();
  };
  EXPECT_TRUE(lists("classes", "Qwen3VLForConditionalGeneration"));
  EXPECT_TRUE(lists("gguf_architectures", "llama"));
}

TEST(Cli, ADayIsADay) {
  const ScratchFolder scratch;
  for (const char* day : {"2026-02-30", "tomorrow", "27.11.2026", ""}) {
    const ProgramRun run = run_command(scratch, "ask --date " + shell_quoted(day) + " hi");
    EXPECT_EQ(run.exit_code, 2) << day;
    EXPECT_NE(run.err.find("must be a day such as 2026-11-27"), std::string::npos) << run.err;
  }
}

TEST(Cli, MethodsListsEveryPresetWithItsParts) {
  const ScratchFolder scratch;
  const ProgramRun run = run_command(scratch, "methods --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json methods = json::parse(run.out);
  std::vector<std::string> names;
  for (const json& method : methods) {
    names.push_back(method.at("name"));
    for (const char* key : {"source", "phase", "query_aware", "merges", "needs", "options"}) EXPECT_TRUE(method.contains(key)) << key;
  }
  for (const char* name : {"full",
                           "meda",
                           "aircache",
                           "vl-cache",
                           "d2o",
                           "ems",
                           "ems-no-position",
                           "streaming-llm",
                           "local-window",
                           "h2o",
                           "snapkv",
                           "pyramidkv",
                           "look-m",
                           "look-m-average",
                           "look-m-weighted",
                           "elastic-cache",
                           "prefixkv",
                           "prefixkv-profile",
                           "cam",
                           "cam-expected",
                           "roco",
                           "fastv",
                           "fastervlm",
                           "ivtp",
                           "random"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

TEST(Cli, PartsAndOptionsOfMethodsCanBeMixed) {
  const ScratchFolder scratch;
  const std::string ask =
      "ask --json --frames 16 --retention 0.3 --max-tokens 8 --video " + sample_video() + " 'What is the first shape?' ";
  const ProgramRun mixed =
      run_command(scratch, ask + "--method vl-cache --allocator meda --reducer average --method-option recent_share=0.2");
  ASSERT_EQ(mixed.exit_code, 0) << mixed.err;
  const json answer = json::parse(mixed.out);
  EXPECT_NEAR(answer["achieved_retention"].get<double>(), 0.3, 0.01);
  for (const json& layer : answer["layers"]) EXPECT_GT(layer["why"]["entropy"].get<double>(), 0.0) << "MEDA's allocator says why";
  const ProgramRun impossible = run_command(scratch, ask + "--method h2o --scorer snapkv");
  EXPECT_EQ(impossible.exit_code, 2);
  EXPECT_NE(impossible.err.find("window-votes cannot"), std::string::npos) << impossible.err;
  EXPECT_EQ(run_command(scratch, ask + "--method vl-cache --method-option nothing=1").exit_code, 2);
  EXPECT_EQ(run_command(scratch, ask + "--method vl-cache --method-option nothing").exit_code, 2);
}

TEST(Cli, ARecipeFileIsTheSameAsItsOptionsAndOptionsBesideItCount) {
  const ScratchFolder scratch;
  write_file(scratch.file("mix.json"), R"({"format": "winnow-recipe", "version": 1, "name": "mix", "method": "vl-cache", "retention": 0.3,
      "options": {"recent_share": 0.2}, "parts": {"allocator": "meda", "reducer": "average"}, "seed": 4})");
  const std::string question = " --json --frames 16 --max-tokens 8 --video " + sample_video() + " 'What is the first shape?'";
  const auto layers = [&](const std::string& arguments) {
    const ProgramRun run = run_command(scratch, "ask " + arguments + question);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const json answer = json::parse(run.out);
    return json{answer["layers"], answer["seed"], answer["retention"]};
  };
  const std::string file = "--recipe " + shell_quoted(scratch.file("mix.json"));
  const std::string mix = "--method vl-cache --allocator meda --reducer average --method-option recent_share=0.2 ";
  EXPECT_EQ(layers(file), layers(mix + "--retention 0.3 --seed 4"));
  EXPECT_EQ(layers(file + " --retention 0.5 --seed 1"), layers(mix + "--retention 0.5 --seed 1"));
  EXPECT_NE(layers(file), layers("--method vl-cache --retention 0.3 --seed 4")) << "the parts make no difference";

  write_file(scratch.file("wrong.json"),
             R"({"format": "winnow-recipe", "version": 1, "method": "vl-cache", "parts": {"allocater": "meda"}})");
  const ProgramRun wrong = run_command(scratch, "ask --recipe " + shell_quoted(scratch.file("wrong.json")) + question);
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_NE(wrong.err.find("wrong.json: parts.allocater is no part"), std::string::npos) << wrong.err;
  const ProgramRun missing = run_command(scratch, "ask --recipe " + shell_quoted(scratch.file("none.json")) + question);
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_NE(missing.err.find("none.json"), std::string::npos) << missing.err;
}

TEST(Cli, ACacheTakesAsManyBytesAsItsBitsSay) {
  constexpr std::int64_t kDemoHeadSize = 32;
  const ScratchFolder scratch;
  const std::string question = " --json --frames 8 --max-tokens 8 --method full --video " + sample_video() + " 'What is the first shape?'";
  const auto kv_bytes = [&](const std::string& arguments) {
    const ProgramRun run = run_command(scratch, "ask " + arguments + question);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out)["kv_bytes"]["after_event"].get<std::int64_t>();
  };
  const std::int64_t slots = kv_bytes("--dtype fp32") / (2 * 4 * kDemoHeadSize);
  EXPECT_EQ(kv_bytes("--dtype fp32 --kv int8"), slots * 2 * (kDemoHeadSize + 4));
  EXPECT_EQ(kv_bytes("--dtype fp32 --kv int4"), slots * 2 * (kDemoHeadSize / 2 + 2));
  EXPECT_EQ(kv_bytes("--dtype fp32 --kv 16-bit"), slots * 2 * 2 * kDemoHeadSize);
  EXPECT_EQ(kv_bytes("--dtype fp32 --kv 32-bit"), slots * 2 * 4 * kDemoHeadSize);
  EXPECT_EQ(kv_bytes("--dtype int8"), slots * 2 * 2 * kDemoHeadSize) << "where matrices take no more, nor does the cache";
  write_file(scratch.file("narrow.json"), R"({"format": "winnow-recipe", "version": 1, "method": "full", "kv": "int8"})");
  const std::string recipe = "--dtype fp32 --recipe " + shell_quoted(scratch.file("narrow.json"));
  EXPECT_EQ(kv_bytes(recipe), slots * 2 * (kDemoHeadSize + 4));
  EXPECT_EQ(kv_bytes(recipe + " --kv model"), slots * 2 * 4 * kDemoHeadSize);
  EXPECT_EQ(run_command(scratch, "ask --kv int3" + question).exit_code, 2);
}

TEST(Cli, ASampledAnswerHasASeedOfItsOwnWhichRepeatsIt) {
  const ScratchFolder scratch;
  const auto answered = [&](const std::string& options) {
    const ProgramRun run = run_command(scratch, "ask --json --method full --max-tokens 12 --temperature 2 " + options + " 'Hello?'");
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out);
  };
  const json first = answered("");
  const json second = answered("");
  EXPECT_NE(first["seed"], second["seed"]);
  const json repeated = answered("--seed " + first["seed"].dump());
  EXPECT_EQ(repeated["answer"], first["answer"]);
}

TEST(Cli, JsonHasTheDocumentedShapeForEveryMethod) {
  const ScratchFolder scratch;
  for (const char* method :
       {"full",         "meda", "aircache", "vl-cache",  "d2o",    "ems",           "ems-no-position", "streaming-llm",
        "local-window", "h2o",  "snapkv",   "pyramidkv", "look-m", "elastic-cache", "prefixkv",        "prefixkv-profile",
        "cam",          "roco", "fastv",    "fastervlm", "ivtp",   "random"}) {
    const ProgramRun run = run_command(scratch, "ask --json --frames 16 --retention 0.5 --max-tokens 12 --seed 3 --method " +
                                                    std::string(method) + " --video " + sample_video() + " 'What is the first shape?'");
    ASSERT_EQ(run.exit_code, 0) << method << ": " << run.err;
    const json answer = json::parse(run.out);  // one object and nothing else
    for (const char* key : {"answer", "model", "device", "dtype", "method", "retention", "seed", "media", "tokens", "kv_bytes", "layers",
                            "timings_ms", "tokens_per_s", "stop_reason", "notes"}) {
      EXPECT_TRUE(answer.contains(key)) << method << ": " << key;
    }
    EXPECT_EQ(answer["method"], method);
    EXPECT_EQ(answer["seed"], 3);
    EXPECT_EQ(answer["media"][0]["frames_s"].size(), 16U);
    const json& bytes = answer["kv_bytes"];
    std::int64_t sum = 0;
    for (const json& layer : answer["layers"]) sum += layer["bytes"].get<std::int64_t>();
    EXPECT_EQ(sum, bytes["after_event"].get<std::int64_t>()) << method;
    EXPECT_EQ(answer["tokens"]["prompt"], answer["tokens"]["visual"].get<int>() + answer["tokens"]["text"].get<int>());
    if (std::string(method) == "full") {
      EXPECT_EQ(bytes["after_event"], bytes["full"]);
    } else {
      EXPECT_LT(bytes["after_event"].get<std::int64_t>(), bytes["full"].get<std::int64_t>()) << method;
    }
  }
}

TEST(Cli, ABudgetBelowTheProtectedTokensIsNoted) {
  const ScratchFolder scratch;
  const std::string arguments =
      "ask --frames 8 --max-tokens 4 --method snapkv --budget 2 --video " + sample_video() + " 'What is the first shape?'";
  EXPECT_EQ(json::parse(run_command(scratch, arguments + " --json").out)["notes"], json({"raised_to_floor"}));
  EXPECT_NE(run_command(scratch, arguments).err.find("note: kept more than asked"), std::string::npos);
}

TEST(Cli, TimeRangeLimitsTheSampling) {
  const ScratchFolder scratch;
  const ProgramRun run =
      run_command(scratch, "ask --json --frames 6 --from 2 --to 5 --max-tokens 4 --video " + sample_video() + " 'What is the last shape?'");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const json& time : json::parse(run.out)["media"][0]["frames_s"]) {
    EXPECT_GE(time.get<double>(), 1.9);
    EXPECT_LE(time.get<double>(), 5.0);
  }
}

TEST(Cli, ExportHoldsWhatWasAskedAndKept) {
  const ScratchFolder scratch;
  const std::filesystem::path file = scratch.file("run.safetensors");
  const ProgramRun run =
      run_command(scratch, "export --dtype fp32 --all-logits --frames 8 --method vl-cache --retention 0.3 --max-tokens 6 --video " +
                               sample_video() + " --out " + shell_quoted(file) + " 'What is the first shape?'");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const SafetensorsFile exported(file.string());
  const std::int64_t n = exported.tensor("input_ids").shape.at(0);
  EXPECT_EQ(exported.tensor("position_ids").shape, (std::vector<std::int64_t>{1, n}));
  EXPECT_EQ(exported.tensor("logits").shape.at(0), n);
  EXPECT_EQ(exported.tensor("pixel_values_videos").shape.at(1), 8);
  EXPECT_EQ(exported.tensor("visual_features").shape.at(0), 8 * 9 + 1);
  const StoredTensor& kept = exported.tensor("kept.0.0");
  std::vector<std::int64_t> indices(static_cast<std::size_t>(kept.shape.at(0)));
  exported.read(kept, 0, std::as_writable_bytes(std::span(indices)));
  EXPECT_TRUE(std::is_sorted(indices.begin(), indices.end()));
  EXPECT_EQ(indices.back(), n - 1) << "the last prompt token is always kept";
}

TEST(Cli, EverySampleIsAnswered) {
  const ScratchFolder scratch;
  const json samples = json::parse(file_text(demo("samples/samples.json")))["samples"];
  ASSERT_GE(samples.size(), 6U);
  for (const json& sample : samples) {
    const std::string file = sample["file"];
    const bool image = sample.value("kind", "video") == "image";
    const ProgramRun run = run_command(scratch, std::string("ask --max-tokens 40 ") + (image ? "--image " : "--video ") +
                                                    shell_quoted(demo("samples/" + file)) + " '" +
                                                    sample["questions"][0]["question"].get<std::string>() + "'");
    EXPECT_EQ(run.exit_code, 0) << file << ": " << run.err;
    EXPECT_GT(run.out.size(), 2U) << file;
  }
}

}  // namespace
}  // namespace winnow::testing
