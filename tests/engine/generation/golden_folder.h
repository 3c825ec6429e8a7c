// A configuration of tests/golden (llava_onevision unless its name says more) as an engine request: its model folder, its pictures, its
// recorded tensors.
#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/api/engine.h"
#include "tests/support/golden_cases.h"
#include "tests/support/golden_path.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/memory_media.h"

namespace winnow::testing {

inline constexpr double kTolerance = 1e-4;  // of the largest absolute value: fp32 sums in another order
inline constexpr float kMargin = 1e-3F;     // greedy choices closer than this may differ

// A source that is still running, a frame every so often.
inline Message watched_camera(double every_s) {
  FramePlan plan{.frame_count = 0, .every_s = every_s};
  return {Role::kUser, {MediaItem{{"camera", MediaKind::kVideo, plan}}}};
}

class GoldenFolder {
 public:
  explicit GoldenFolder(const std::string& name) : folder_(test_support::golden_folder(name)), tensors_(folder_ + "/golden.safetensors") {
    std::ifstream stream(folder_ + "/cases.json");
    cases_ = nlohmann::json::parse(stream);
  }

  std::string model_folder() const { return folder_ + "/model"; }
  LoadModel in_fp32() const { return {.folder = model_folder(), .format = WeightFormat::kFp32}; }
  const test_support::GoldenTensors& tensors() const { return tensors_; }
  const nlohmann::json& cases() const { return cases_; }

  // The recorded question as a user message; its pictures are put into `opener`.
  Message message(const std::string& name, MemoryMediaOpener& opener) const { return thread(name, opener).front(); }

  // All messages of the case, the answers between the questions as they were recorded.
  std::vector<Message> thread(const std::string& name, MemoryMediaOpener& opener) const {
    const nlohmann::json& entry = cases_.at(name);
    const std::vector<RgbImage> pictures = test_support::golden_pictures(tensors_, name);
    std::ptrdiff_t images = 0;
    for (const nlohmann::json& recorded : entry.at("messages")) images += images_in(recorded.at("content"));
    auto next = pictures.begin();
    std::size_t medium = 0;
    std::vector<Message> messages;
    for (const nlohmann::json& recorded : entry.at("messages")) {
      Message& message = messages.emplace_back();
      message.role = recorded.at("role") == "assistant" ? Role::kAssistant : Role::kUser;
      for (const nlohmann::json& part : recorded.at("content")) {
        const std::string type = part.at("type");
        if (type == "text") {
          message.items.emplace_back(TextItem{part.at("text").get<std::string>()});
          continue;
        }
        MediaRequest request{name + std::to_string(medium), type == "video" ? MediaKind::kVideo : MediaKind::kImage, {}};
        std::ptrdiff_t count = request.kind == MediaKind::kVideo ? std::ssize(pictures) - images : 1;  // all that no image has
        if (entry.contains("frames")) count = entry.at("frames")[medium].get<std::ptrdiff_t>();
        if (entry.contains("attached")) {
          const nlohmann::json& attached = entry.at("attached")[medium];
          count = attached.at("pictures").get<std::ptrdiff_t>();
          if (request.kind == MediaKind::kVideo) request.plan = {0, attached.at("every_s").get<double>()};
        }
        opener.add(request.path, {next, next + count});
        message.items.emplace_back(MediaItem{request});
        next += count;
        ++medium;
      }
    }
    return messages;
  }

 private:
  static std::ptrdiff_t images_in(const nlohmann::json& content) {
    return std::count_if(content.begin(), content.end(), [](const nlohmann::json& part) { return part.at("type") == "image"; });
  }

  std::string folder_;
  test_support::GoldenTensors tensors_;
  nlohmann::json cases_;
};

}  // namespace winnow::testing
