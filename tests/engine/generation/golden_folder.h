// A configuration of tests/golden/llava_onevision as an engine request: its model folder, its pictures, its recorded tensors.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/api/engine.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/memory_media.h"
#include "tests/support/source_folder.h"

namespace winnow::testing {

// A source that is still running, a frame every so often.
inline Message watched_camera(double every_s) {
  FramePlan plan;
  plan.frame_count = 0;
  plan.every_s = every_s;
  return {Role::kUser, {MediaItem{{"camera", MediaKind::kVideo, plan}}}};
}

class GoldenFolder {
 public:
  explicit GoldenFolder(const std::string& name)
      : folder_(source_folder() + "/tests/golden/llava_onevision/" + name), tensors_(folder_ + "/golden.safetensors") {
    std::ifstream stream(folder_ + "/cases.json");
    cases_ = nlohmann::json::parse(stream);
  }

  std::string model_folder() const { return folder_ + "/model"; }
  const test_support::GoldenTensors& tensors() const { return tensors_; }
  const nlohmann::json& cases() const { return cases_; }

  // The recorded question as a user message; its pictures are put into `opener`.
  Message message(const std::string& name, MemoryMediaOpener& opener) const {
    Message message;
    const nlohmann::json& entry = cases_.at(name);
    std::vector<RgbImage> pictures;
    for (std::size_t i = 0; i < entry.at("pictures").size(); ++i) {
      RgbImage picture;
      picture.height_px = entry.at("pictures")[i][0];
      picture.width_px = entry.at("pictures")[i][1];
      const at::Tensor rgb = tensors_.load(name + ".rgb." + std::to_string(i));
      picture.rgb.assign(rgb.const_data_ptr<std::uint8_t>(), rgb.const_data_ptr<std::uint8_t>() + rgb.numel());
      pictures.push_back(std::move(picture));
    }
    if (name == "video") {
      opener.add(name, pictures);
      message.items.emplace_back(MediaItem{{name, MediaKind::kVideo, {}}});
    } else {
      for (std::size_t i = 0; i < pictures.size(); ++i) {
        const std::string path = name + std::to_string(i);
        opener.add(path, {pictures[i]});
        message.items.emplace_back(MediaItem{{path, MediaKind::kImage, {}}});
      }
    }
    for (const nlohmann::json& part : entry.at("messages")[0].at("content")) {
      if (part.at("type") == "text") message.items.emplace_back(TextItem{part.at("text").get<std::string>()});
    }
    return message;
  }

 private:
  std::string folder_;
  test_support::GoldenTensors tensors_;
  nlohmann::json cases_;
};

}  // namespace winnow::testing
