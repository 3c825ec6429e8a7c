#include "app/evaluation/importers.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::array<std::pair<DatasetFormat, std::string_view>, 6> kFormats = {{{DatasetFormat::kWinnow, "winnow"},
                                                                                 {DatasetFormat::kMileBench, "milebench"},
                                                                                 {DatasetFormat::kDocVqa, "docvqa"},
                                                                                 {DatasetFormat::kTextVqa, "textvqa"},
                                                                                 {DatasetFormat::kChartQa, "chartqa"},
                                                                                 {DatasetFormat::kAi2d, "ai2d"}}};
constexpr const char* kShortAnswer = "\nAnswer the question using a single word or phrase.";
constexpr const char* kOptionLetter = "\nAnswer with the option's letter from the given choices directly.";

std::string lettered(const std::vector<std::string>& options) {
  std::string text;
  for (std::size_t i = 0; i < options.size(); ++i) text.append("\n").append(1, static_cast<char>('A' + i)).append(". ").append(options[i]);
  return text;
}

std::string letter(std::size_t option) { return std::string(1, static_cast<char>('A' + option)); }

std::string textOf(const ordered_json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

// What every format's entries are turned into items with.
class Importer {
 public:
  Importer(const fs::path& file, const fs::path& images, const DatasetOptions& options)
      : m_file(file), m_images(images), m_options(options) {}

  const fs::path& images() const { return m_images; }

  MediaRequest image(const std::string& name) const { return mediaRequest((m_images / name).string(), m_options.frames, m_options.kindOf); }

  // Runs `make` on every entry; whatever does not fit is refused with the entry's number, from 1.
  template <typename Make>
  void each(const ordered_json& entries, const Make& make) {
    if (!entries.is_array())
      throw Exception(ErrorCode::kInvalidArgument, m_file.string(), "has no list of questions where this format has one");
    int number = 0;
    for (const ordered_json& entry : entries) {
      ++number;
      try {
        EvaluationItem item = make(entry);
        if (item.golds.empty()) throw Exception(ErrorCode::kInvalidArgument, "", "has no answers");
        m_items.push_back(std::move(item));
      } catch (const ordered_json::exception& problem) {
        throw Exception(ErrorCode::kInvalidArgument, m_file.string() + ": entry " + std::to_string(number), problem.what());
      } catch (const Exception& problem) {
        throw Exception(ErrorCode::kInvalidArgument, m_file.string() + ": entry " + std::to_string(number), problem.what());
      }
    }
  }

  std::vector<EvaluationItem> take() { return std::move(m_items); }

 private:
  const fs::path m_file;
  const fs::path m_images;
  const DatasetOptions& m_options;
  std::vector<EvaluationItem> m_items;
};

ordered_json parsed(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream || !fs::is_regular_file(file)) throw Exception(ErrorCode::kFileNotFound, file.string(), "cannot be opened");
  try {
    return ordered_json::parse(stream);
  } catch (const ordered_json::exception& problem) {
    throw Exception(ErrorCode::kInvalidArgument, file.string(), problem.what());
  }
}

const ordered_json& listOf(const ordered_json& whole, const fs::path& file) {
  if (!whole.is_object() || !whole.contains("data")) throw Exception(ErrorCode::kInvalidArgument, file.string(), "has no \"data\"");
  return whole["data"];
}

std::vector<EvaluationItem> mileBench(const ordered_json& whole, const fs::path& file, Importer importer) {
  const ordered_json meta = whole.is_object() && whole.contains("meta_data") ? whole["meta_data"] : ordered_json::object();
  importer.each(listOf(whole, file), [&](const ordered_json& entry) {
    const ordered_json& task = entry.at("task_instance");
    EvaluationItem item;
    item.id = textOf(entry.at("sample_id"));
    for (const ordered_json& name : task.at("images_path")) item.media.push_back(importer.image(name.get<std::string>()));
    if (item.media.empty()) throw Exception(ErrorCode::kInvalidArgument, "", "names no media");
    const std::size_t instruction = entry.value("task_instruction_id", std::size_t{0});
    if (meta.contains("task_instruction")) item.question = meta.at("task_instruction").at(instruction).get<std::string>() + "\n";
    item.question += task.at("context").get<std::string>();
    const std::string response = textOf(entry.at("response"));
    if (!task.contains("choice_list") || !task.at("choice_list").is_array() || task.at("choice_list").empty()) {
      item.golds = {response};
      item.metric = AnswerMetric::kRougeL;
      return item;
    }
    const auto choices = task.at("choice_list").get<std::vector<std::string>>();
    const auto right = std::find(choices.begin(), choices.end(), response);
    if (right == choices.end()) throw Exception(ErrorCode::kInvalidArgument, "", "the response is none of the choices");
    item.question += "\nChoice list:" + lettered(choices) + kOptionLetter;
    item.golds = {letter(static_cast<std::size_t>(right - choices.begin()))};
    item.metric = AnswerMetric::kAccuracy;
    return item;
  });
  return importer.take();
}

std::vector<EvaluationItem> docVqa(const ordered_json& whole, const fs::path& file, Importer importer) {
  importer.each(listOf(whole, file), [&](const ordered_json& entry) {
    EvaluationItem item;
    item.id = textOf(entry.at("questionId"));
    item.media = {importer.image(entry.at("image").get<std::string>())};
    item.question = entry.at("question").get<std::string>() + kShortAnswer;
    item.golds = entry.at("answers").get<std::vector<std::string>>();
    item.metric = AnswerMetric::kAnls;
    return item;
  });
  return importer.take();
}

std::vector<EvaluationItem> textVqa(const ordered_json& whole, const fs::path& file, Importer importer) {
  importer.each(listOf(whole, file), [&](const ordered_json& entry) {
    EvaluationItem item;
    item.id = textOf(entry.at("question_id"));
    item.media = {importer.image(entry.at("image_id").get<std::string>() + ".jpg")};
    item.question = entry.at("question").get<std::string>() + kShortAnswer;
    item.golds = entry.at("answers").get<std::vector<std::string>>();
    item.metric = AnswerMetric::kVqa;
    return item;
  });
  return importer.take();
}

std::vector<EvaluationItem> chartQa(const ordered_json& whole, Importer importer) {
  int number = 0;
  importer.each(whole, [&](const ordered_json& entry) {
    EvaluationItem item;
    item.id = std::to_string(++number);  // the files have no ids
    item.media = {importer.image(entry.at("imgname").get<std::string>())};
    item.question = entry.at("query").get<std::string>() + kShortAnswer;
    item.golds = {textOf(entry.at("label"))};
    item.metric = AnswerMetric::kRelaxed;
    return item;
  });
  return importer.take();
}

std::vector<EvaluationItem> ai2dFile(const ordered_json& whole, const fs::path& file, Importer importer) {
  if (!whole.is_object() || !whole.contains("questions") || !whole["questions"].is_object() || !whole.contains("imageName")) {
    throw Exception(ErrorCode::kInvalidArgument, file.string(), "has no \"imageName\" with \"questions\"");
  }
  ordered_json entries = ordered_json::array();
  for (const auto& [question, facts] : whole["questions"].items()) entries.push_back({{"question", question}, {"facts", facts}});
  importer.each(entries, [&](const ordered_json& entry) {
    const ordered_json& facts = entry.at("facts");
    const auto choices = facts.at("answerTexts").get<std::vector<std::string>>();
    const auto right = facts.at("correctAnswer").get<std::size_t>();
    if (right >= choices.size()) throw Exception(ErrorCode::kInvalidArgument, "", "the correct answer is none of the choices");
    EvaluationItem item;
    item.id = textOf(facts.at("questionId"));
    item.media = {importer.image(whole["imageName"].get<std::string>())};
    item.question = entry.at("question").get<std::string>() + lettered(choices) + kOptionLetter;
    item.golds = {letter(right)};
    item.metric = AnswerMetric::kAccuracy;
    return item;
  });
  return importer.take();
}

std::vector<EvaluationItem> ai2d(const fs::path& path, const std::string& imageFolder, const DatasetOptions& options) {
  std::vector<fs::path> files;
  if (fs::is_directory(path)) {
    for (const fs::directory_entry& entry : fs::directory_iterator(path)) {
      if (entry.path().extension() == ".json") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
  } else {
    files.push_back(path);
  }
  std::vector<EvaluationItem> items;
  for (const fs::path& file : files) {
    const fs::path images = imageFolder.empty() ? file.parent_path().parent_path() / "images" : fs::path(imageFolder);
    for (EvaluationItem& item : ai2dFile(parsed(file), file, Importer(file, images, options))) items.push_back(std::move(item));
  }
  return items;
}

}  // namespace

std::optional<DatasetFormat> datasetFormat(std::string_view name) {
  for (const auto& [format, known] : kFormats) {
    if (known == name) return format;
  }
  return std::nullopt;
}

std::vector<std::string> datasetFormatNames() {
  std::vector<std::string> names;
  for (const auto& [format, name] : kFormats) names.emplace_back(name);
  return names;
}

Dataset importDataset(const std::string& path, DatasetFormat format, const std::string& imageFolder, const DatasetOptions& options) {
  const fs::path file = path;
  const auto importer = [&](const char* usual) {
    return Importer(file, imageFolder.empty() ? file.parent_path() / usual : fs::path(imageFolder), options);
  };
  switch (format) {
    case DatasetFormat::kWinnow:
      return readDataset(path, options);
    case DatasetFormat::kMileBench:
      return finishedDataset(path, mileBench(parsed(file), file, importer("images")));
    case DatasetFormat::kDocVqa:
      return finishedDataset(path, docVqa(parsed(file), file, importer("")));
    case DatasetFormat::kTextVqa:
      return finishedDataset(path, textVqa(parsed(file), file, importer("train_images")));
    case DatasetFormat::kChartQa:
      return finishedDataset(path, chartQa(parsed(file), importer("png")));
    case DatasetFormat::kAi2d:
      return finishedDataset(path, ai2d(file, imageFolder, options));
  }
  throw Exception(ErrorCode::kInvalidArgument, path, "is of no known format");
}

}  // namespace winnow::app
