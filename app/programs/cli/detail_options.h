// --picture-detail and --frame-detail: how many tokens a picture and a frame may take, as the terminal takes it and tells it.
//
// Used by turn_options.h, the commands with options of their own, batch lines and plan. Errors: CLI::ValidationError.
#pragma once

#include <string>
#include <vector>

#include "engine/messages/events.h"
#include "engine/models/model_info.h"

namespace CLI {
class App;
}

namespace winnow::cli {

void add_detail_options(CLI::App& command, MediaDetails& detail);
void add_frame_detail_option(CLI::App& command, MediaDetail& frames);  // alone
// Why the word is no detail; empty if it is one.
std::string detail_problem(const std::string& word);

// Lines for a plan: each picture and video with its tokens and its detail; empty where the plan's first line says as much.
std::string detail_lines(const std::vector<MediaSampled>& media, const ModelInfo& model);
// A note about an image with many tokens that nobody asked for, and what takes fewer; empty for others.
std::string many_tokens_note(const MediaSampled& medium, const ModelInfo& model);

}  // namespace winnow::cli
