// Everything that one model folder gives: the network, its tokenizer, its chat template, the ids that end an answer.
//
// Made by load_folder(), owned by the engine, replaced as a whole: a folder that is refused leaves the old model running.
// Errors: Exception or Interrupted. A folder that is no model, lacks a file or holds another format has codes of its own (kNoModel and
// its like), so that nobody takes them for those of an attachment. Engine thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/device/free_memory.h"
#include "engine/generation/context/document_memo.h"
#include "engine/generation/context/feature_cache.h"
#include "engine/messages/requests.h"
#include "engine/metrics/machine_speed.h"
#include "engine/models/vision_language_model.h"
#include "engine/text/chat_template.h"
#include "engine/text/thought_tags.h"
#include "engine/text/tokenizer.h"
#include "engine/weights/tensor_file.h"

namespace winnow {

struct LoadedModel {
  std::unique_ptr<VisionLanguageModel> network;
  std::shared_ptr<const Tokenizer> tokenizer;  // the network has it, too
  std::unique_ptr<ChatTemplate> chat_template;
  std::unique_ptr<ChatTemplate> video_template;  // of threads with a video; null: the same
  std::set<std::int64_t> stop_token_ids;
  std::optional<FoundTags> thoughts;  // the marks around them; nothing: it is not known to think
  FeatureCache features{std::int64_t{256} << 20};
  DocumentMemo documents;
  MachineSpeed speed;
  // The files that weights are read from. What lives is looked at where it lies, for as long as the model is.
  std::vector<std::weak_ptr<const TensorFile>> files;

  // What was computed is the model's: nobody wrote to its files. Throws kModelFileChanged naming the file. A system call for each file.
  void require_unchanged() const;
};

// The network's, and what the chat template adds.
ModelInfo model_info(const LoadedModel& model);

// Names what speeds were measured with.
std::string speed_key(const ModelInfo& model);

struct LoadHooks {                                                        // each may be empty
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // bytes as stored
  // Before the first weight is read: what they take at most, and where. May free what is in the way, and refuse.
  std::function<void(std::uint64_t bytes, MemoryOf memory)> make_room;
};

std::unique_ptr<LoadedModel> load_folder(const LoadModel& request, const LoadHooks& hooks, const InterruptToken& interrupt);

}  // namespace winnow
