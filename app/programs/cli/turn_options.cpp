#include "app/programs/cli/turn_options.h"

#include <QDate>
#include <QFile>
#include <QRandomGenerator>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/engine/remote/server_address.h"
#include "app/ground/recipes/method_texts.h"
#include "app/ground/recipes/recipe_json.h"
#include "app/ground/resources/bundled_files.h"
#include "app/media/files/typed_path.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/document_passwords.h"
#include "app/programs/cli/media_options.h"
#include "app/programs/cli/media_reading.h"
#include "app/programs/cli/option_checks.h"
#include "app/programs/cli/pin_options.h"
#include "app/words/folder_files.h"
#include "engine/api/engine.h"
#include "engine/media/frame_count.h"
#include "engine/messages/choice_words.h"
#include "engine/recipes/method_info.h"

namespace winnow::cli {
namespace {

constexpr ChoiceWord<app::PaperForm> kPaperFormWords[] = {
    {"auto", app::PaperForm::kByModel}, {"text", app::PaperForm::kText}, {"pages", app::PaperForm::kPages}};

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const MethodInfo& method : list_methods()) names.push_back(method.name);
  return names;
}

// An option whose values are the words of a table.
template <class Value, class Words>
void add_words(CLI::App& command, const std::string& name, Value& into, const Words& words, const std::string& help) {
  std::vector<std::string> names;
  std::string otherwise;
  for (const auto& each : words) {
    names.emplace_back(each.word);
    if (each.value == into) otherwise = each.word;
  }
  const auto take = [&into, &words](const std::string& word) {
    for (const auto& each : words) {
      if (word == each.word) into = each.value;
    }
  };
  command.add_option_function<std::string>(name, take, help)->check(CLI::IsMember(names))->default_str(otherwise);
}

// A folder among them is its files of that kind, by their names.
void take_files(MediaKind kind, const std::vector<std::string>& typed, std::vector<std::string>& into) {
  into.clear();
  for (const std::string& each : typed) {
    const std::string path = each == "-" && kind == MediaKind::kDocument ? standard_input_file() : app::typedPath(each);
    std::error_code failed;
    if (!std::filesystem::is_directory(path, failed)) {
      into.push_back(path);
      continue;
    }
    const std::size_t before = into.size();
    for (const app::FolderFile& file : app::filesIn(QFile::decodeName(QByteArray::fromStdString(path)))) {
      if (file.kind == kind) into.push_back(file.path.toStdString());
    }
    if (into.size() == before) throw Exception(ErrorCode::kFileNotFound, path, "the folder holds no file of that kind");
  }
}

CLI::Option* add_files(CLI::App& command, const char* name, MediaKind kind, std::vector<std::string>& into, const char* help) {
  const auto take = [&into, kind](const std::vector<std::string>& typed) { take_files(kind, typed, into); };
  return command.add_option_function<std::vector<std::string>>(name, take, help)->take_all()->expected(1)->allow_extra_args(false);
}

}  // namespace

std::string think_problem(const std::string& word) {
  if (word == "on" || word == "off") return {};
  const bool number = !word.empty() && word.size() < 8 && word.find_first_not_of("0123456789") == std::string::npos;
  return number && std::stoi(word) >= 1 && std::stoi(word) <= kMostTokens ? std::string() : "must be on, off or a number of tokens";
}

void set_think(Sampling& sampling, const std::string& word) {
  sampling.thought_tokens = word == "on" ? Sampling::kMostNewTokens : word == "off" ? 0 : std::stoi(word);
}

std::string think_word(const Sampling& sampling) {
  if (sampling.thought_tokens == Sampling::kAsManyThoughtsAsTheModel) return {};
  if (sampling.thought_tokens == 0) return "off";
  return sampling.thought_tokens >= Sampling::kMostNewTokens ? "on" : std::to_string(sampling.thought_tokens);
}

std::string option_of(std::string setting) {
  std::replace(setting.begin(), setting.end(), '_', '-');
  return "--" + setting;
}

namespace {

// A server in the engine's place: three options that become one place of a model.
void add_server_options(CLI::App& command, LoadModel& options) {
  const auto address = std::make_shared<app::ServerAddress>();
  const auto place = [address, &options] {
    if (!address->url.empty()) options.folder = app::textOf(*address);
  };
  const auto take_url = [address, place](const std::string& text) {
    const app::ServerAddress typed = app::serverAddressOf(text);
    address->url = typed.url;
    if (!typed.model.empty()) address->model = typed.model;
    if (typed.key != app::KeySource()) address->key = typed.key;
    place();
  };
  const auto take_model = [address, place](const std::string& name) {
    address->model = name;
    place();
  };
  const auto take_key = [address, place](app::KeySource::Kind kind) {
    return [address, place, kind](const std::string& name) {
      address->key = {kind, name};
      place();
    };
  };
  auto* server = command.add_option_function<std::string>(
      "--server", take_url, "instead of --model: a server with an OpenAI-compatible API answers, http://localhost:8000/v1");
  server->excludes("--model")->excludes("--mmproj");
  command.add_option_function<std::string>("--server-model", take_model, "name of the model there; default: the first that it lists")
      ->needs(server);
  auto* file = command
                   .add_option_function<std::string>("--key-file", take_key(app::KeySource::Kind::kFile),
                                                     "file whose first line is the key for the server")
                   ->check(file_name_problem)
                   ->needs(server);
  command.add_option_function<std::string>("--key-env", take_key(app::KeySource::Kind::kEnvironment), "environment variable that holds it")
      ->needs(server)
      ->excludes(file);
}

}  // namespace

void add_model_options(CLI::App& command, LoadModel& options) {
  command.add_option("--model", options.folder, "a GGUF file or a Hugging Face folder; default: the bundled demo model")
      ->transform(app::typedPath);
  command
      .add_option("--mmproj", options.projector,
                  "vision encoder of a GGUF file; default: the file beside the model (*mmproj*.gguf), or Ollama's")
      ->transform(app::typedPath);
  add_device_options(command, options);
  add_words(command, "--vision-dtype", options.vision, kVisionWords, "of the vision encoder: " + listed(kVisionWords));
  add_server_options(command, options);
}

void add_device_options(CLI::App& command, LoadModel& options) {
  add_words(command, "--device", options.device, kDeviceWords, listed(kDeviceWords));
  add_words(command, "--dtype", options.format, kWeightWords, listed(kWeightWords));
}

void add_media_options(CLI::App& command, TurnOptions& options) {
  add_files(command, "--image", MediaKind::kImage, options.images, "an image, or a folder of images; may be repeated");
  add_files(command, "--video", MediaKind::kVideo, options.videos, "a video, or a folder of videos; may be repeated");
  add_files(command, "--document", MediaKind::kDocument, options.documents,
            "a text or a PDF, or a folder of them; -: standard input; may be repeated");
  command.add_option("--document-tokens", options.document_tokens, "read only the first N tokens of each document; 0: all")
      ->check(whole_number(0, kMostTokens))
      ->capture_default_str();
  add_pages_option(command, options);
  add_password_option(command);
  add_words(command, "--document-as", options.document_as, kPaperFormWords,
            "how a PDF is read: " + listed(kPaperFormWords) + "; auto: few pages as pictures, by a model that sees");
  command.add_flag("--ocr", options.ocr, "read the text of scans, PDFs without any, by Tesseract where it is installed");
  add_frame_options(command, options);
  add_detail_options(command, options.detail);
  command.add_option("--from", options.plan.from_s, "start of the range to read, in seconds")->check(number(0.0, kLongestS));
  command.add_option("--to", options.plan.to_s, "end of the range to read, in seconds")->check(number_above_zero(kLongestS));
  add_subtitle_option(command, options);
  add_encoding_option(command, options.encoding);
  command
      .add_option(
          "--pin", options.pins,
          "always keep these seconds of the video (12.0-15.5), of the second attachment (2:12.0-15.5), or all of it (2); may be repeated")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->check(pin_problem);
}

void add_frame_options(CLI::App& command, TurnOptions& options) {
  auto* frames =
      command.add_option("--frames", options.plan.frame_count, "number of frames, evenly spread; repeated pictures are taken once")
          ->check(whole_number(1, kMostFrames))
          ->capture_default_str();
  command.add_option("--every", options.plan.every_s, "instead of --frames: one frame every S seconds")
      ->check(number_above_zero(kLongestS))
      ->excludes(frames);
}

void add_method_options(CLI::App& command, TurnOptions& options) {
  // First of all: options are applied in the order of their definition, so that what is given beside the file counts.
  command.add_option_function<std::string>(
      "--recipe",
      [&options](const std::string& file) {
        options.recipe = app::readRecipeFile(file).spec;
        options.sampling.seed = options.recipe.seed;
        options.seed_given = options.recipe.seed != 0;
        options.recipe_file = file;
      },
      "a recipe saved by the window (resources/recipe.schema.json); other options override it");
  command.add_option("--method", options.recipe.method, "compression method (see: winnow-cli methods)")
      ->check(CLI::IsMember(method_names()))
      ->capture_default_str();
  add_recipe_options(command, options);
}

void add_method_option_values(CLI::App& command, TurnOptions& options) {
  RecipeSpec& recipe = options.recipe;
  const auto set_options = [&recipe](const std::vector<std::string>& given) {
    recipe.options.clear();  // of a recipe file
    for (const std::string& option : given) recipe.options[option.substr(0, option.find('='))] = option.substr(option.find('=') + 1);
  };
  command
      .add_option_function<std::vector<std::string>>("--method-option", set_options,
                                                     "an option of the method as name=value; may be repeated (see: winnow-cli methods)")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->check([](const std::string& text) {
        return text.find('=', 1) == std::string::npos ? std::string("must be name=value") : std::string();
      });
}

void add_word_settings(CLI::App& command, RecipeSpec& recipe) {
  for (const WholeSetting& setting : kWholeSettings) {
    if (!setting.words.empty())
      add_words(command, option_of(setting.name), recipe.*setting.value, setting.words, app::settingText(setting.name)->terminal);
  }
}

namespace {

void add_before_option(CLI::App& command, RecipeSpec& recipe) {
  command
      .add_option_function<std::string>(
          "--before", [&recipe](const std::string& text) { recipe.before = before_of(text).value(); }, app::settingText("before")->terminal)
      ->check([](const std::string& text) { return before_of(text) ? std::string() : std::string("must be ") + kBeforeForm; })
      ->default_str("none");
}

}  // namespace

void add_recipe_options(CLI::App& command, TurnOptions& options) {
  RecipeSpec& recipe = options.recipe;
  const auto set_retention = [&recipe](double share) {
    recipe.retention = share;
    recipe.budget_tokens.reset();  // of a recipe file
  };
  auto* retention = command.add_option_function<double>("--retention", set_retention, "share of the cache to keep, above 0 and at most 1")
                        ->check(share_problem)
                        ->default_str(std::to_string(recipe.retention).substr(0, 3));
  command.add_option("--budget", recipe.budget_tokens, "instead of --retention: slots per layer and KV head")
      ->check(whole_number(1, kMostSlots))
      ->excludes(retention);
  for (const WholeSetting& setting : kWholeSettings) {
    if (!setting.words.empty()) continue;
    command.add_option(option_of(setting.name), recipe.*setting.value, app::settingText(setting.name)->terminal)
        ->check(whole_number(setting.least, std::min(setting.most, kMostSlots)))
        ->capture_default_str();
  }
  add_word_settings(command, recipe);
  add_before_option(command, recipe);
  add_method_option_values(command, options);
  command.add_option("--allocator", recipe.allocator, "divide slots among layers like this method (or part)");
  command.add_option("--scorer", recipe.scorer, "choose slots like this method (or part)");
  command.add_option("--reducer", recipe.reducer, "treat dropped slots like this method (or part)");
  command.add_option("--scope", recipe.scope, "which tokens compete")->check(CLI::IsMember({"all", "visual"}));
  command.add_option("--granularity", recipe.granularity, "choose per KV head or per layer")->check(CLI::IsMember({"head", "layer"}));
  add_words(command, "--turn-policy", recipe.turn_policy, kTurnPolicyWords,
            "what each question compresses: what it adds (segment), the whole cache (whole), or only at the first question with\nmedia "
            "(first-only)");
}

void add_guard_option(CLI::App& command, TurnOptions& options) {
  add_words(command, "--guard", options.guard, kGuardWords,
            "what a later question sees: what earlier ones kept (keep), everything, read again (prefill), everything, from a full cache "
            "in\nhost memory (ram), or the media alone, without earlier questions (alone)");
}

void add_load_cache_option(CLI::App& command, TurnOptions& options) {
  command
      .add_option("--load-cache", options.load_cache,
                  "continue from a file that --save-cache wrote, with its media, recipe and pins; nothing is read again")
      ->check(file_name_problem);
}

void add_save_cache_option(CLI::App& command, TurnOptions& options) {
  command.add_option("--save-cache", options.save_cache, "save the compressed cache to this file (safetensors), for --load-cache")
      ->check(file_name_problem);
}

void add_sampling_options(CLI::App& command, TurnOptions& options) {
  Sampling& sampling = options.sampling;
  const auto set_seed = [&options](std::uint64_t seed) {
    options.sampling.seed = options.recipe.seed = seed;
    options.seed_given = true;
  };
  command.add_option_function<std::uint64_t>(
      "--seed", set_seed, "seed of sampling and of random methods; default: a new one for each sampled answer, shown by --json");
  const auto set_longest = [&options](int tokens) {
    options.sampling.max_new_tokens = tokens;
    options.answer_length_given = true;
  };
  command
      .add_option_function<int>("--max-tokens", set_longest,
                                "cut the answer after N tokens, thinking included; default: it goes on to\nits end")
      ->check(whole_number(1, kMostTokens));
  add_think_option(command, sampling);
  command.add_option("--temperature", sampling.temperature, "sampling temperature; 0: greedy")
      ->check(number(0.0, Sampling::kMostTemperature))
      ->capture_default_str();
  command.add_option("--top-k", sampling.top_k, "sample from the K most likely tokens; 0: off")
      ->check(whole_number(0, Sampling::kMostTopK))
      ->capture_default_str();
  command.add_option("--top-p", sampling.top_p, "sample from the most likely tokens that reach this probability; 1: off")
      ->check(number(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--min-p", sampling.min_p, "leave out tokens below this share of the most likely one; 0: off")
      ->check(number(0.0, 1.0))
      ->capture_default_str();
  command.add_option("--repetition-penalty", sampling.repetition_penalty, "make repeated tokens less likely; 1: off")
      ->check(number_above_zero(Sampling::kMostRepetitionPenalty))
      ->capture_default_str();
  command.add_option("--stop", sampling.stop_strings, "stop the answer at this text; may be repeated")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  command.add_option("--system", options.system_prompt, "system prompt");
  command.add_option("--date", options.day, "the day for chat templates that write one, such as 2026-11-27; default: today")
      ->check(day_problem);
}

Sampling sampling_of(const TurnOptions& options) {
  Sampling sampling = options.sampling;
  if (!options.seed_given && sampling.temperature > 0.0) sampling.seed = QRandomGenerator::system()->generate();
  return sampling;
}

PromptSettings prompt_settings(const TurnOptions& options) {
  // One day for the whole run: a chat over midnight stays the same chat.
  static const std::string today = QDate::currentDate().toString(Qt::ISODate).toStdString();
  return {.thinking = thinking_of(options.sampling), .day = options.day.empty() ? today : options.day};
}

void add_think_option(CLI::App& command, Sampling& sampling) {
  const auto take = [&sampling](const std::string& word) { set_think(sampling, word); };
  command
      .add_option_function<std::string>(
          "--think", take, "whether the model thinks before it answers: on, off, or at most N tokens; default: as in its chat\ntemplate")
      ->check(think_problem);
}

LoadModel load_request(const LoadModel& options) {
  LoadModel request = options;
  if (request.folder.empty()) request.folder = app::demoModelFolder().toStdString();
  if (request.folder.empty()) {
    throw Exception(ErrorCode::kFileNotFound, "", "the bundled demo model is missing; name a model with --model");
  }
  return request;
}

void require_few_media(std::size_t count) {
  if (count <= kMostMedia) return;
  throw Exception(
      ErrorCode::kLimitExceeded, "",
      std::to_string(count) + " images, videos and documents are attached, and a question takes at most " + std::to_string(kMostMedia));
}

MediaRequest image_request(const std::string& path, const TurnOptions& options) {
  note_missing_sandbox();
  MediaRequest request{path, MediaKind::kImage, {}};
  request.detail = options.detail.pictures;
  return request;
}

MediaRequest document_request(const std::string& path, const TurnOptions& options) {
  note_missing_sandbox();
  unlock_document(path);
  MediaRequest request{path, MediaKind::kDocument, {}};
  request.most_tokens = options.document_tokens;
  request.encoding = options.encoding;
  request.pages = options.pages;
  if (const auto heard = options.heard.find(path); heard != options.heard.end()) {
    request.subtitles = heard->second;
    request.encoding.clear();
  }
  return request;
}

std::vector<MediaRequest> document_requests(const std::string& path, const TurnOptions& options) {
  const MediaRequest text = document_request(path, options);
  if (!text.subtitles.empty()) return {text};
  const bool asked = options.document_as == app::PaperForm::kPages;
  if (options.document_as == app::PaperForm::kText || (!asked && !options.model_sees)) return {text};
  const app::MediaInfo info = unlocking([&] { return media_reader().openSource(text, {})->info(); });
  const bool named = options.pages.first > 0;
  const int first = named ? options.pages.first : 1;
  const int last = static_cast<int>(std::min<std::int64_t>(info.pages, named ? options.pages.last : info.pages));
  if (asked && info.pages == 0) throw Exception(ErrorCode::kInvalidArgument, path, "only a PDF can be read as pages: save it as PDF");
  const int count = info.pages == 0 ? 0 : last - first + 1;
  if (!asked && !app::seenAsPages(count, info.words)) return {text};
  require_few_media(static_cast<std::size_t>(count));
  std::vector<MediaRequest> pages;
  for (int page = first; page <= last; ++page) {
    pages.push_back(image_request(path, options));
    pages.back().pages = {page, page};
  }
  if (!asked)
    print_err("%s: %d page%s as pictures; --document-as text reads its text\n", printable_line(path).c_str(), count, count == 1 ? "" : "s");
  return pages;
}

MediaRequest video_request(const std::string& path, const FramePlan& plan, const std::string& subtitles, const TurnOptions& options) {
  note_missing_sandbox();
  MediaRequest request{path, MediaKind::kVideo, plan};
  request.detail = options.detail.frames;
  request.subtitles = subtitles;
  if (!subtitles.empty()) request.encoding = options.encoding;
  if (plan.every_s > 0.0) request.plan.frame_count = 0;
  return request;
}

void name_media_for_every_folder(TurnOptions& options) {
  const auto absolute = [](std::string& path) {
    std::error_code failed;  // the folder is gone: the name stays as it is
    const std::filesystem::path whole = std::filesystem::absolute(path, failed);
    if (!failed && !path.empty()) path = whole.lexically_normal().string();
  };
  for (std::vector<std::string>* paths : {&options.images, &options.videos, &options.documents}) std::ranges::for_each(*paths, absolute);
  if (options.subtitles != "auto" && options.subtitles != "none") absolute(options.subtitles);
}

RecipeSpec recipe_of(const TurnOptions& options) { return with_its_share(options.recipe); }

std::vector<Message> first_thread(const TurnOptions& options, const std::string& question) {
  return first_thread(options, std::vector<Item>{TextItem{question}});
}

std::vector<Message> first_thread(const TurnOptions& options, const std::vector<Item>& question) {
  require_few_media(options.images.size() + options.videos.size() + options.documents.size());
  std::vector<Message> thread;
  if (!options.system_prompt.empty()) thread.push_back({Role::kSystem, {TextItem{options.system_prompt}}});
  Message user;
  for (const std::string& path : options.images) user.items.emplace_back(MediaItem{image_request(path, options)});
  for (const std::string& path : options.videos)
    user.items.emplace_back(MediaItem{video_request(path, options.plan, subtitles_for(path, options), options)});
  for (const std::string& path : options.documents) {
    for (MediaRequest& request : document_requests(path, options)) user.items.emplace_back(MediaItem{std::move(request)});
  }
  user.items.insert(user.items.end(), question.begin(), question.end());
  thread.push_back(std::move(user));
  return thread;
}

void require_thoughts(const Sampling& sampling, const ModelInfo& model) {
  if (!model.thinks && sampling.thought_tokens > 0)
    throw Exception(ErrorCode::kInvalidArgument, "--think", "this model does not think before it answers (leave the option out)");
}

void require_own_cache(const ModelInfo& model, const std::string& wanted_for) {
  if (!can(model, Ability::kCompress)) throw Exception(ErrorCode::kNotAble, model.server, "the cache is the server's: " + wanted_for);
}

void suit_model(TurnOptions& options, const ModelInfo& model) {
  const bool asks_cache = options.recipe != RecipeSpec() || !options.pins.empty() || options.guard != Guard::kKeep;
  if (asks_cache) require_own_cache(model, "leave out --method, its settings, --pin and --guard");
  if (can(model, Ability::kCompress)) require_thoughts(options.sampling, model);
  if (!options.answer_length_given) answer_to_the_end(options.sampling, model);
  options.model_sees = model.traits.sees;
}

// The guard compresses a full cache anew for every question, which not every method leaves.
void require_full_cache(const TurnOptions& options) {
  RecipeSpec again = options.recipe;
  again.turn_policy = TurnPolicy::kWhole;  // as the engine does under this guard
  if (options.guard != Guard::kRam || recipe_problem(options.recipe) || !recipe_problem(again)) return;
  const bool before = describe(options.recipe).value_or(RecipeTraits()).before_question;
  throw Exception(ErrorCode::kInvalidArgument, "--guard ram",
                  before
                      ? options.recipe.method + " compresses before the question and keeps the same for every question; leave --guard out"
                      : options.recipe.method +
                            " drops tokens before the cache holds them, so there is no full cache to keep; "
                            "use --guard prefill");
}

Turn turn_of(const TurnOptions& options, std::vector<Message> thread) {
  require_full_cache(options);
  std::vector<Pin> pins = pins_of(options.pins, thread);
  Turn turn{1, std::move(thread), sampling_of(options), recipe_of(options), options.guard, std::move(pins)};
  turn.prompt = prompt_settings(options);
  return turn;
}

}  // namespace winnow::cli
