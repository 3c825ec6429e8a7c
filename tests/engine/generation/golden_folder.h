// A configuration of tests/golden (llava_onevision unless its name says more) as an engine request: its model folder, its pictures, its
// recorded tensors.
#pragma once

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/api/engine.h"
#include "tests/support/golden_path.h"
#include "tests/support/golden_tensors.h"
#include "tests/support/memory_media.h"

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
  explicit GoldenFolder(const std::string& name) : folder_(test_support::golden_folder(name)), tensors_(folder_ + "/golden.safetensors") {
    std::ifstream stream(folder_ + "/cases.json");
    cases_ = nlohmann::json::parse(stream);
  }

  std::string model_folder() const { return folder_ + "/model"; }
  const test_support::GoldenTensors& tensors() const { return tensors_; }
  const nlohmann::json& cases() const { return cases_; }

  // The recorded question as a user message; its pictures are put into `opener`.
  Message message(const std::string& name, MemoryMediaOpener& opener) const { return thread(name, opener).front(); }

  // All messages of the case, the answers between the questions as they were recorded.
  std::vector<Message> thread(const std::string& name, MemoryMediaOpener& opener) const {
    const nlohmann::json& entry = cases_.at(name);
    const std::vector<RgbImage> pictures = pictures_of(name, entry);
    if (entry.contains("attached")) {
      Message message;
      attach(name, entry.at("attached"), pictures, opener, message);
      for (const nlohmann::json& part : entry.at("messages")[0].at("content")) {
        if (part.at("type") == "text") message.items.emplace_back(TextItem{part.at("text").get<std::string>()});
      }
      return {message};
    }
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
        const bool video = type == "video";
        // Of every medium, or all that no image has.
        const std::ptrdiff_t frames = entry.contains("frames") ? entry.at("frames")[medium].get<std::ptrdiff_t>()
                                      : video                  ? std::ssize(pictures) - images
                                                               : 1;
        const std::string path = video ? name : name + std::to_string(medium);
        opener.add(path, {next, next + frames});
        message.items.emplace_back(MediaItem{{path, video ? MediaKind::kVideo : MediaKind::kImage, {}}});
        next += frames;
        ++medium;
      }
    }
    return messages;
  }

 private:
  std::vector<RgbImage> pictures_of(const std::string& name, const nlohmann::json& entry) const {
    std::vector<RgbImage> pictures;
    for (std::size_t i = 0; i < entry.at("pictures").size(); ++i) {
      RgbImage picture;
      picture.height_px = entry.at("pictures")[i][0];
      picture.width_px = entry.at("pictures")[i][1];
      const at::Tensor rgb = tensors_.load(name + ".rgb." + std::to_string(i));
      picture.rgb.assign(rgb.const_data_ptr<std::uint8_t>(), rgb.const_data_ptr<std::uint8_t>() + rgb.numel());
      pictures.push_back(std::move(picture));
    }
    return pictures;
  }

  static std::ptrdiff_t images_in(const nlohmann::json& content) {
    return std::count_if(content.begin(), content.end(), [](const nlohmann::json& part) { return part.at("type") == "image"; });
  }

  // Media one after the other, each with so many of the pictures.
  static void attach(const std::string& name, const nlohmann::json& attached, const std::vector<RgbImage>& pictures,
                     MemoryMediaOpener& opener, Message& message) {
    auto picture = pictures.begin();
    for (const nlohmann::json& item : attached) {
      const std::string path = name + std::to_string(message.items.size());
      const auto end = picture + item.at("pictures").get<std::ptrdiff_t>();
      opener.add(path, {picture, end});
      picture = end;
      MediaRequest request{path, item.at("kind") == "video" ? MediaKind::kVideo : MediaKind::kImage, {}};
      if (request.kind == MediaKind::kVideo) request.plan = {0, item.at("every_s").get<double>()};
      message.items.emplace_back(MediaItem{request});
    }
  }

  std::string folder_;
  test_support::GoldenTensors tensors_;
  nlohmann::json cases_;
};

}  // namespace winnow::testing
