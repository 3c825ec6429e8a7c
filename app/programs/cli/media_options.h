// How media are read, as the terminal takes it: --subtitles, which subtitles of a video stand between its frames; --encoding, of documents
// and subtitles; --picture-detail and --frame-detail, how many tokens each may take.
//
// Used by turn_options.h and by what makes requests of media. Errors: Exception(kInvalidArgument), CLI::ValidationError.
#pragma once

#include <string>
#include <vector>

#include "app/programs/cli/turn_options.h"
#include "engine/messages/events.h"
#include "engine/models/model_info.h"

namespace CLI {
class App;
}

namespace winnow::cli {

void add_subtitle_option(CLI::App& command, TurnOptions& options);

// The value of MediaRequest::subtitles: those asked for. Not asked (an empty option): none, and standard error says if there are some;
// "none": none; "auto": those beside the video or inside it, and standard error says if there are none; else the file named, for the only
// video.
std::string subtitles_for(const std::string& video, const TurnOptions& options);

// True if what is said in a video is to be heard: no subtitles are named, or none are found where they were looked for.
bool wants_speech(const std::string& video, const TurnOptions& options);

// --pages: which pages of every document are read.
//
// Why the words are no pages ("3", "3-7"); empty if they are.
std::string pages_problem(const std::string& words);
void add_pages_option(CLI::App& command, TurnOptions& options);
// ", page 3" or ", pages 3-7".
std::string page_words(const PageRange& pages);

// --encoding: what documents and subtitles are read in, as the terminal takes it.

// into: receives a name of app/media/files/text_encoding.h, of one that people write ("cp1251").
void add_encoding_option(CLI::App& command, std::string& into);

// --picture-detail and --frame-detail: how many tokens a picture and a frame may take, as the terminal takes it and tells it.
//
// Errors: CLI::ValidationError.
void add_detail_options(CLI::App& command, MediaDetails& detail);
void add_frame_detail_option(CLI::App& command, MediaDetail& frames);  // alone
// Why the word is no detail; empty if it is one.
std::string detail_problem(const std::string& word);

// Lines for a plan: each picture and video with its tokens and its detail; empty where the plan's first line says as much.
std::string detail_lines(const std::vector<MediaSampled>& media, const ModelInfo& model);
// A note about an image with many tokens that nobody asked for, and what takes fewer; empty for others.
std::string many_tokens_note(const MediaSampled& medium, const ModelInfo& model);

}  // namespace winnow::cli
