// The attachments of the next question of a chat in the terminal.
//
// A file is looked at when it is attached: what cannot be read, or is of a kind that the model does not take, is refused then and not with
// every question that follows. Used by chat_command.cpp. Errors: Exception; nothing is attached then. Main thread only.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/programs/cli/turn_options.h"
#include "engine/models/model_info.h"

namespace winnow::cli {

class ChatAttachments {
 public:
  // Takes the traits of the model that will read them.
  void set_traits(const ModelTraits& traits) { traits_ = traits; }

  // The files that the command line names.
  void add_all(const TurnOptions& options);
  // typed: a path as people paste it; behind that of a video, how many frames.
  void add_image(std::string_view typed, const TurnOptions& options);
  void add_video(std::string_view typed, const TurnOptions& options);
  void add_document(std::string_view typed, const TurnOptions& options);
  // Its number in list(), or all without one.
  void detach(std::string_view number);
  void clear() { media_.clear(); }
  // Called with the videos and documents that are to be attached, before they are: puts what is said in them beside them.
  void hear_with(std::function<void(TurnOptions& options)> hear) { hear_ = std::move(hear); }

  const std::vector<MediaRequest>& media() const { return media_; }
  // "attached: 1 clip.mp4 (8 frames), 2 report.txt".
  std::string list() const;

 private:
  void add(MediaRequest request);
  TurnOptions heard(TurnOptions options) const;

  std::function<void(TurnOptions& options)> hear_;
  ModelTraits traits_;
  std::vector<MediaRequest> media_;
};

}  // namespace winnow::cli
