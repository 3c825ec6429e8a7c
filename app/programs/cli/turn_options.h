// The options that ask, compare, chat, export and batch share: the engine's own structs, and the requests made of them.
//
// Used by the commands; CLI11 fills the structs' members. Paths are bytes, read as
// app/media/files/typed_path.h reads them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/media/files/paper_form.h"
#include "engine/messages/requests.h"
#include "engine/models/model_info.h"

namespace CLI {
class App;
}

namespace winnow::cli {

struct TurnOptions {
  std::vector<std::string> images{};
  std::vector<std::string> videos{};
  std::vector<std::string> documents{};
  std::int64_t document_tokens = 0;  // of every document, from its beginning; 0: all
  std::string encoding{};  // of every document and of subtitles, by a name of app/media/files/text_encoding.h; empty: by their bytes
  PageRange pages{};       // of every document; 0: all
  app::PaperForm document_as = app::PaperForm::kByModel;
  bool model_sees = false;          // as suit_model() found it
  FramePlan plan{};                 // of every video; every_s counts before frame_count
  MediaDetails detail{};            // of every image and every video
  std::string subtitles{};          // as media_options.h reads it
  std::vector<std::string> pins{};  // as pin_options.h reads them
  std::string recipe_file{};        // that the recipe was read from
  RecipeSpec recipe;
  Guard guard = Guard::kKeep;
  Sampling sampling{};
  bool answer_length_given = false;  // by --max-tokens
  bool seed_given = false;           // by --seed, or a recipe's that is not 0
  std::string system_prompt{};
  std::vector<std::string> given{};            // options that the command line named: "--method"
  std::string day{};                           // that chat templates write; empty: today's, of a cache that is gone on from its own
  std::string load_cache{};                    // file of a kept conversation to go on from
  std::string save_cache{};                    // where to keep it afterwards
  bool ocr = false;                            // the text of scans is read from their pictures
  std::map<std::string, std::string> heard{};  // by video or sound: the file of what is said in it; empty: nothing. Of scans their text
};

void add_model_options(CLI::App& command, LoadModel& options);   // an empty folder: the demo model
void add_device_options(CLI::App& command, LoadModel& options);  // of them --device and --dtype alone
void add_media_options(CLI::App& command, TurnOptions& options);
void add_frame_options(CLI::App& command, TurnOptions& options);  // which frames of a video alone
void add_method_options(CLI::App& command, TurnOptions& options);
void add_recipe_options(CLI::App& command, TurnOptions& options);        // all of them but --method
void add_method_option_values(CLI::App& command, TurnOptions& options);  // --method-option alone
void add_word_settings(CLI::App& command, RecipeSpec& recipe);           // settings whose values are words (--kv) alone
void add_sampling_options(CLI::App& command, TurnOptions& options);
void add_think_option(CLI::App& command, Sampling& sampling);
// Checks its words, "on", "off" or a number of tokens: what is wrong with one (empty: nothing), and what it says.
std::string think_problem(const std::string& word);
void set_think(Sampling& sampling, const std::string& word);
std::string think_word(const Sampling& sampling);  // empty: as the model's chat template has it
void add_load_cache_option(CLI::App& command, TurnOptions& options);
void add_save_cache_option(CLI::App& command, TurnOptions& options);
void add_guard_option(CLI::App& command, TurnOptions& options);  // of commands with several turns

// The option of a recipe's setting: "min_event_tokens" -> "--min-event-tokens".
std::string option_of(std::string setting);
// With a seed of its own for each answer that is sampled, where none is given.
Sampling sampling_of(const TurnOptions& options);
// The day that is named, else that on which the program was started.
PromptSettings prompt_settings(const TurnOptions& options);

// With the demo model's folder if none is named.
LoadModel load_request(const LoadModel& options);
// Before anything is read or sent. Throws Exception(kLimitExceeded).
void require_few_media(std::size_t count);
MediaRequest image_request(const std::string& path, const TurnOptions& options);
MediaRequest document_request(const std::string& path, const TurnOptions& options);
// A document as the options and the model have it: its text, or pictures of its pages. Throws Exception(kLimitExceeded) for too many.
std::vector<MediaRequest> document_requests(const std::string& path, const TurnOptions& options);
// plan: instead of the options'; subtitles: as subtitles_for() says.
MediaRequest video_request(const std::string& path, const FramePlan& plan, const std::string& subtitles, const TurnOptions& options);
// Whole paths: what is kept of the media is gone on from in another folder.
void name_media_for_every_folder(TurnOptions& options);
// `full` keeps everything, whatever share the other options ask for.
RecipeSpec recipe_of(const TurnOptions& options);

// System prompt (if any) and one user message: media first, then documents and the question.
std::vector<Message> first_thread(const TurnOptions& options, const std::string& question);
std::vector<Message> first_thread(const TurnOptions& options, const std::vector<Item>& question);
// Throws where thoughts are asked of a model that has none.
void require_thoughts(const Sampling& sampling, const ModelInfo& model);
// Throws where a server runs the model: its cache is not ours. wanted_for: a clause that says what to do.
void require_own_cache(const ModelInfo& model, const std::string& wanted_for);
// Both, and what the options leave to the model that is loaded now: an answer that nobody limits goes on to its end.
void suit_model(TurnOptions& options, const ModelInfo& model);
// The program has one conversation: 1.
Turn turn_of(const TurnOptions& options, std::vector<Message> thread);

}  // namespace winnow::cli
