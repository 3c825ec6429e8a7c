// The options that ask, compare, chat, export and batch share, and what they mean as engine requests.
//
// Used by the commands; filled by CLI11. Paths are bytes, taken literally.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/messages/requests.h"

namespace CLI {
class App;
}

namespace winnow::cli {

struct ModelOptions {
  std::string folder;  // empty: the demo model
  std::string device = "auto";
  std::string dtype = "auto";
};

struct TurnOptions {
  std::vector<std::string> images;
  std::vector<std::string> videos;
  int frames = 64;
  double every_s = 0.0;  // positive: instead of frames
  double from_s = 0.0;
  double to_s = -1.0;
  std::vector<std::string> pins;  // as pin_options.h reads them
  std::string recipe_file;        // that the recipe was read from
  std::string method = "vl-cache";
  double retention = 0.2;
  int budget_tokens = 0;  // positive: instead of retention
  int min_event_tokens = 256;
  std::vector<std::string> method_options;  // name=value
  std::string allocator, scorer, reducer;   // empty: the method's own
  std::string scope, granularity;
  std::string turn_policy = "segment";
  std::string guard = "keep";
  std::uint64_t seed = 0;
  int max_new_tokens = 256;
  double temperature = 0.0;
  int top_k = 0;
  double top_p = 1.0;
  double min_p = 0.0;
  double repetition_penalty = 1.0;
  std::vector<std::string> stop_strings;
  std::string system_prompt;
};

void add_model_options(CLI::App& command, ModelOptions& options);
void add_media_options(CLI::App& command, TurnOptions& options);
void add_method_options(CLI::App& command, TurnOptions& options);
void add_recipe_options(CLI::App& command, TurnOptions& options);  // all of them but --method
void add_sampling_options(CLI::App& command, TurnOptions& options);
void add_guard_option(CLI::App& command, TurnOptions& options);  // of commands with several turns

LoadModel load_request(const ModelOptions& options);
MediaRequest image_request(const std::string& path);
MediaRequest video_request(const std::string& path, const TurnOptions& options);
RecipeSpec recipe_of(const TurnOptions& options);
Guard guard_of(const TurnOptions& options);
Sampling sampling_of(const TurnOptions& options);

// The first bundled sample video, and its first question unless there is one; says on stderr which.
void take_sample(TurnOptions& options, std::string& question);

// System prompt (if any) and one user message: media first, then the question.
std::vector<Message> first_thread(const TurnOptions& options, const std::string& question);

}  // namespace winnow::cli
