#include "app/cli/turn_options.h"

#include <CLI/CLI.hpp>

#include "app/cli/console_output.h"
#include "app/cli/option_checks.h"
#include "app/cli/pin_options.h"
#include "app/model_library/model_library.h"
#include "app/recipes/recipe_json.h"
#include "engine/api/engine.h"

namespace winnow::cli {
namespace {

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const MethodInfo& method : list_methods()) names.push_back(method.name);
  return names;
}

const char* policy_word(TurnPolicy policy) {
  switch (policy) {
    case TurnPolicy::kSegment:
      return "segment";
    case TurnPolicy::kWhole:
      return "whole";
    case TurnPolicy::kFirstOnly:
      return "first-only";
  }
  return "segment";
}

void take_recipe(const RecipeSpec& recipe, TurnOptions& options) {
  options.method = recipe.method;
  options.retention = recipe.retention;
  options.budget_tokens = recipe.budget_tokens.value_or(0);
  options.min_event_tokens = recipe.min_event_tokens;
  options.method_options.clear();
  for (const auto& [name, value] : recipe.options) options.method_options.push_back(name + "=" + value);
  options.allocator = recipe.allocator;
  options.scorer = recipe.scorer;
  options.reducer = recipe.reducer;
  options.scope = recipe.scope;
  options.granularity = recipe.granularity;
  options.turn_policy = policy_word(recipe.turn_policy);
  options.seed = recipe.seed;
}

}  // namespace

void add_model_options(CLI::App& command, ModelOptions& options) {
  command.add_option("--model", options.folder, "model folder (Hugging Face layout); without it the bundled demo model");
  command.add_option("--device", options.device, "auto, cpu or cuda")->check(CLI::IsMember({"auto", "cpu", "cuda"}))->capture_default_str();
  command.add_option("--dtype", options.dtype, "auto, fp32 or bf16")->check(CLI::IsMember({"auto", "fp32", "bf16"}))->capture_default_str();
}

void add_media_options(CLI::App& command, TurnOptions& options) {
  command.add_option("--image", options.images, "an image; may be repeated")->take_all()->expected(1)->allow_extra_args(false);
  command.add_option("--video", options.videos, "a video; may be repeated")->take_all()->expected(1)->allow_extra_args(false);
  auto* frames = command.add_option("--frames", options.frames, "frames taken, spread evenly")
                     ->check(whole_number(1, kMostFrames))
                     ->capture_default_str();
  command.add_option("--every", options.every_s, "instead of --frames: one frame every S seconds")
      ->check(number_above_zero(kLongestS))
      ->excludes(frames);
  command.add_option("--from", options.from_s, "start of the part that is looked at, in seconds")->check(number(0.0, kLongestS));
  command.add_option("--to", options.to_s, "end of the part that is looked at, in seconds")->check(number_above_zero(kLongestS));
  command
      .add_option("--pin", options.pins,
                  "never drop these seconds of the video (12.0-15.5), of the second image or video (2:12.0-15.5), or all of it (2); may be "
                  "repeated")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->check(pin_problem);
}

void add_method_options(CLI::App& command, TurnOptions& options) {
  // First of all: options are applied in the order of their definition, so that what is given beside the file counts.
  command.add_option_function<std::string>(
      "--recipe",
      [&options](const std::string& file) {
        take_recipe(app::readRecipeFile(file).spec, options);
        options.recipe_file = file;
      },
      "a recipe saved by the window (resources/recipe.schema.json); options given beside it count");
  command.add_option("--method", options.method, "compression method (see: winnow-cli methods)")
      ->check(CLI::IsMember(method_names()))
      ->capture_default_str();
  add_recipe_options(command, options);
}

void add_recipe_options(CLI::App& command, TurnOptions& options) {
  const auto set_retention = [&options](double share) {
    options.retention = share;
    options.budget_tokens = 0;  // of a recipe file
  };
  auto* retention = command.add_option_function<double>("--retention", set_retention, "share of the cache that is kept, in (0, 1]")
                        ->check(share_problem)
                        ->default_str(std::to_string(options.retention).substr(0, 3));
  command.add_option("--budget", options.budget_tokens, "instead of --retention: slots per layer and kv head")
      ->check(whole_number(1, kMostSlots))
      ->excludes(retention);
  command.add_option("--min-event-tokens", options.min_event_tokens, "text-only segments shorter than this are kept whole")
      ->check(whole_number(0, kMostSlots))
      ->capture_default_str();
  command
      .add_option("--method-option", options.method_options,
                  "an option of the method as name=value; may be repeated (see: winnow-cli methods)")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->check([](const std::string& text) {
        return text.find('=', 1) == std::string::npos ? std::string("must be name=value") : std::string();
      });
  command.add_option("--allocator", options.allocator, "share slots among layers as this method (or part) does");
  command.add_option("--scorer", options.scorer, "choose slots as this method (or part) does");
  command.add_option("--reducer", options.reducer, "treat dropped slots as this method (or part) does");
  command.add_option("--scope", options.scope, "which tokens compete")->check(CLI::IsMember({"all", "visual"}));
  command.add_option("--granularity", options.granularity, "one choice per kv head or per layer")->check(CLI::IsMember({"head", "layer"}));
  command
      .add_option("--turn-policy", options.turn_policy,
                  "what is compressed at a question: what it adds (segment), all that the cache holds (whole), or only the first that\n"
                  "brings media (first-only)")
      ->check(CLI::IsMember({"segment", "whole", "first-only"}))
      ->capture_default_str();
}

void add_guard_option(CLI::App& command, TurnOptions& options) {
  command
      .add_option("--guard", options.guard,
                  "a later question sees what earlier ones kept (keep), or everything: read again for it (prefill), or from the full cache "
                  "that stays in\n"
                  "host memory (ram)")
      ->check(CLI::IsMember({"keep", "prefill", "ram"}))
      ->capture_default_str();
}

void add_sampling_options(CLI::App& command, TurnOptions& options) {
  command.add_option("--seed", options.seed, "seed of sampling and of method random")->capture_default_str();
  command.add_option("--max-tokens", options.max_new_tokens, "longest answer in tokens")
      ->check(whole_number(1, kMostTokens))
      ->capture_default_str();
  command.add_option("--temperature", options.temperature, "0: greedy")->check(number(0.0, 100.0))->capture_default_str();
  command.add_option("--top-k", options.top_k, "0: off")->check(whole_number(0, kMostTokens))->capture_default_str();
  command.add_option("--top-p", options.top_p, "1: off")->check(number(0.0, 1.0))->capture_default_str();
  command.add_option("--min-p", options.min_p, "0: off")->check(number(0.0, 1.0))->capture_default_str();
  command.add_option("--repetition-penalty", options.repetition_penalty, "1: off")->check(number_above_zero(1e6))->capture_default_str();
  command.add_option("--stop", options.stop_strings, "end the answer at this text; may be repeated")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command.add_option("--system", options.system_prompt, "system prompt");
}

LoadModel load_request(const ModelOptions& options) {
  LoadModel request;
  request.folder = options.folder.empty() ? app::demoModelFolder().toStdString() : options.folder;
  if (request.folder.empty()) {
    throw Exception(ErrorCode::kFileNotFound, "", "the bundled demo model was not found; name a model folder with --model");
  }
  request.device = options.device == "cpu" ? Device::kCpu : options.device == "cuda" ? Device::kCuda : Device::kAuto;
  request.format = options.dtype == "fp32" ? WeightFormat::kFp32 : options.dtype == "bf16" ? WeightFormat::kBf16 : WeightFormat::kAuto;
  return request;
}

MediaRequest image_request(const std::string& path) {
  MediaRequest request;
  request.path = path;
  request.kind = MediaKind::kImage;
  return request;
}

MediaRequest video_request(const std::string& path, const TurnOptions& options) {
  MediaRequest request;
  request.path = path;
  request.kind = MediaKind::kVideo;
  request.plan.frame_count = options.every_s > 0.0 ? 0 : options.frames;
  request.plan.every_s = options.every_s;
  request.plan.from_s = options.from_s;
  request.plan.to_s = options.to_s;
  return request;
}

RecipeSpec recipe_of(const TurnOptions& options) {
  RecipeSpec recipe;
  recipe.method = options.method;
  recipe.retention = options.method == "full" ? 1.0 : options.retention;
  if (options.budget_tokens > 0) recipe.budget_tokens = options.budget_tokens;
  recipe.min_event_tokens = options.min_event_tokens;
  recipe.seed = options.seed;
  for (const std::string& option : options.method_options) {
    const std::size_t equals = option.find('=');
    recipe.options[option.substr(0, equals)] = option.substr(equals + 1);
  }
  recipe.allocator = options.allocator;
  recipe.scorer = options.scorer;
  recipe.reducer = options.reducer;
  recipe.scope = options.scope;
  recipe.granularity = options.granularity;
  for (const TurnPolicy policy : {TurnPolicy::kWhole, TurnPolicy::kFirstOnly}) {
    if (options.turn_policy == policy_word(policy)) recipe.turn_policy = policy;
  }
  return recipe;
}

Guard guard_of(const TurnOptions& options) {
  if (options.guard == "prefill") return Guard::kPrefill;
  return options.guard == "ram" ? Guard::kRam : Guard::kKeep;
}

Sampling sampling_of(const TurnOptions& options) {
  Sampling sampling;
  sampling.temperature = options.temperature;
  sampling.top_k = options.top_k;
  sampling.top_p = options.top_p;
  sampling.min_p = options.min_p;
  sampling.repetition_penalty = options.repetition_penalty;
  sampling.seed = options.seed;
  sampling.max_new_tokens = options.max_new_tokens;
  sampling.stop_strings = options.stop_strings;
  return sampling;
}

void take_sample(TurnOptions& options, std::string& question) {
  const QList<app::Sample> samples = app::demoSamples();
  for (const app::Sample& sample : samples) {
    if (sample.questions.isEmpty() || sample.kind != MediaKind::kVideo) continue;
    options.images.clear();
    options.videos = {sample.file.toStdString()};
    if (question.empty()) question = sample.questions.first().question.toStdString();
    print_err("%s\n> %s\n", sample.file.toStdString().c_str(), question.c_str());
    return;
  }
  throw Exception(ErrorCode::kFileNotFound, "", "the bundled sample videos were not found");
}

std::vector<Message> first_thread(const TurnOptions& options, const std::string& question) {
  std::vector<Message> thread;
  if (!options.system_prompt.empty()) thread.push_back({Role::kSystem, {TextItem{options.system_prompt}}});
  Message user;
  for (const std::string& path : options.images) user.items.emplace_back(MediaItem{image_request(path)});
  for (const std::string& path : options.videos) user.items.emplace_back(MediaItem{video_request(path, options)});
  user.items.emplace_back(TextItem{question});
  thread.push_back(std::move(user));
  return thread;
}

}  // namespace winnow::cli
