// A loaded model: network, tokenizer, chat template, end-of-answer ids.
//
// Made by load_folder(), owned by the engine, replaced as a whole; if a folder is refused, the old model stays. Errors: Exception or
// Interrupted. Faults of the folder have codes of their own (kNoModel and its like), different from those of attachments. Engine thread
// only.
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
  std::shared_ptr<const Tokenizer> tokenizer;  // shared with the network
  std::unique_ptr<ChatTemplate> chat_template;
  std::unique_ptr<ChatTemplate> video_template;  // of threads with a video; null: the same
  std::set<std::int64_t> stop_token_ids;
  std::optional<FoundTags> thoughts;  // markers of reasoning; nullopt: the model has none
  FeatureCache features{std::int64_t{256} << 20};
  DocumentMemo documents;
  MachineSpeed speed;
  // The weight files; those still mapped are used in place while the model lives.
  std::vector<std::weak_ptr<const TensorFile>> files;

  // Throws kModelFileChanged naming the file if a mapped file was modified. One system call per file.
  void require_unchanged() const;
};

// The network's ModelInfo, completed from the chat template.
ModelInfo model_info(const LoadedModel& model);

// The key of speeds measured with this model.
std::string speed_key(const ModelInfo& model);

struct LoadHooks {                                                        // each may be empty
  std::function<void(std::uint64_t done, std::uint64_t total)> progress;  // bytes as stored
  // Called before the first weight is read, with an upper bound of their bytes. May free memory or throw to refuse.
  std::function<void(std::uint64_t bytes, MemoryOf memory)> make_room;
};

std::unique_ptr<LoadedModel> load_folder(const LoadModel& request, const LoadHooks& hooks, const InterruptToken& interrupt);

}  // namespace winnow
