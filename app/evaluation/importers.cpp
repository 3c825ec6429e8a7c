#include "app/evaluation/importers.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/file_bytes.h"
#include "engine/base/json_document.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<DatasetFormat, std::string_view>, 6> kFormats = {{{DatasetFormat::kWinnow, "winnow"},
                                                                                 {DatasetFormat::kMileBench, "milebench"},
                                                                                 {DatasetFormat::kDocVqa, "docvqa"},
                                                                                 {DatasetFormat::kTextVqa, "textvqa"},
                                                                                 {DatasetFormat::kChartQa, "chartqa"},
                                                                                 {DatasetFormat::kAi2d, "ai2d"}}};
// The largest benchmark file has some 10^8 bytes.
constexpr JsonLimits kFileLimits{.max_bytes = std::uint64_t{512} << 20, .max_elements = 50'000'000};
constexpr std::size_t kMaxFileText = std::size_t{16} << 20;
constexpr std::size_t kMaxFileEntries = 1'000'000;
constexpr const char* kShortAnswer = "\nAnswer the question using a single word or phrase.";
constexpr const char* kOptionLetter = "\nAnswer with the option's letter from the given choices directly.";

std::string lettered(const std::vector<std::string>& options) {
  std::string text;
  for (std::size_t i = 0; i < options.size(); ++i) text.append("\n").append(1, static_cast<char>('A' + i)).append(". ").append(options[i]);
  return text;
}

std::string letter(std::size_t option) { return std::string(1, static_cast<char>('A' + option)); }

std::string textOf(const JsonObject& entry, const char* key) {
  const Json& value = entry.value(key);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// What every format's entries are turned into items with.
class Importer {
 public:
  Importer(const fs::path& file, const fs::path& images, const DatasetOptions& options)
      : m_file(file), m_images(images), m_options(options) {}

  const fs::path& images() const { return m_images; }

  MediaRequest image(const std::string& name) const { return mediaRequest((m_images / name).string(), m_options.frames, m_options.kindOf); }

  // Runs `make` on every entry; whatever does not fit is refused with the entry's number, from 1.
  template <typename Make>
  void each(const Json& entries, const Make& make) {
    if (!entries.is_array())
      throw Exception(ErrorCode::kInvalidArgument, m_file.string(), "has no list of questions where this format has one");
    int number = 0;
    for (const Json& entry : entries) {
      const std::string where = m_file.string() + ": entry " + std::to_string(++number);
      try {
        EvaluationItem item = make(JsonObject(entry, where));
        if (item.golds.empty()) throw Exception(ErrorCode::kInvalidArgument, "", "has no answers");
        m_items.push_back(std::move(item));
      } catch (const Exception& problem) {
        const std::string told = problem.what();
        throw Exception(ErrorCode::kInvalidArgument, where, told.starts_with(where + ": ") ? told.substr(where.size() + 2) : told);
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

// parse: parse_json or parse_ordered_json
template <typename Parse>
auto parsed(const fs::path& file, const Parse& parse) {
  const std::string text = read_file_bytes(file.string(), kFileLimits.max_bytes);
  try {
    return parse(text, file.string(), kFileLimits);
  } catch (const Exception& problem) {
    throw Exception(ErrorCode::kInvalidArgument, file.string(), problem.error().reason);
  }
}

Json parsed(const fs::path& file) { return parsed(file, parse_json); }

const Json& listOf(const Json& whole, const fs::path& file) {
  if (!whole.is_object() || !whole.contains("data")) throw Exception(ErrorCode::kInvalidArgument, file.string(), "has no \"data\"");
  return whole["data"];
}

std::vector<EvaluationItem> mileBench(const Json& whole, const fs::path& file, Importer importer) {
  std::vector<std::string> instructions;
  if (whole.is_object() && whole.contains("meta_data")) {
    const JsonObject meta(whole["meta_data"], file.string(), "meta_data");
    if (meta.has("task_instruction")) instructions = meta.strings("task_instruction", kMaxFileText, kMaxFileEntries);
  }
  importer.each(listOf(whole, file), [&](const JsonObject& entry) {
    const JsonObject task = entry.object("task_instance");
    EvaluationItem item;
    item.id = textOf(entry, "sample_id");
    for (const std::string& name : task.strings("images_path", kMaxFileText, kMaxFileEntries)) item.media.push_back(importer.image(name));
    if (item.media.empty()) throw Exception(ErrorCode::kInvalidArgument, "", "names no media");
    if (!instructions.empty()) {
      const auto last = static_cast<std::int64_t>(instructions.size()) - 1;
      item.question = instructions[static_cast<std::size_t>(entry.integer("task_instruction_id", 0, last, 0))] + "\n";
    }
    item.question += task.string("context", kMaxFileText);
    const std::string response = textOf(entry, "response");
    const bool chooses = task.has("choice_list") && task.value("choice_list").is_array() && !task.value("choice_list").empty();
    if (!chooses) {
      item.golds = {response};
      item.metric = AnswerMetric::kRougeL;
      return item;
    }
    const auto choices = task.strings("choice_list", kMaxFileText, kMaxFileEntries);
    const auto right = std::find(choices.begin(), choices.end(), response);
    if (right == choices.end()) throw Exception(ErrorCode::kInvalidArgument, "", "the response is none of the choices");
    item.question += "\nChoice list:" + lettered(choices) + kOptionLetter;
    item.golds = {letter(static_cast<std::size_t>(right - choices.begin()))};
    item.metric = AnswerMetric::kAccuracy;
    return item;
  });
  return importer.take();
}

std::vector<EvaluationItem> docVqa(const Json& whole, const fs::path& file, Importer importer) {
  importer.each(listOf(whole, file), [&](const JsonObject& entry) {
    EvaluationItem item;
    item.id = textOf(entry, "questionId");
    item.media = {importer.image(entry.string("image", kMaxFileText))};
    item.question = entry.string("question", kMaxFileText) + kShortAnswer;
    item.golds = entry.strings("answers", kMaxFileText, kMaxFileEntries);
    item.metric = AnswerMetric::kAnls;
    return item;
  });
  return importer.take();
}

std::vector<EvaluationItem> textVqa(const Json& whole, const fs::path& file, Importer importer) {
  importer.each(listOf(whole, file), [&](const JsonObject& entry) {
    EvaluationItem item;
    item.id = textOf(entry, "question_id");
    item.media = {importer.image(entry.string("image_id", kMaxFileText) + ".jpg")};
    item.question = entry.string("question", kMaxFileText) + kShortAnswer;
    item.golds = entry.strings("answers", kMaxFileText, kMaxFileEntries);
    item.metric = AnswerMetric::kVqa;
    return item;
  });
  return importer.take();
}

std::vector<EvaluationItem> chartQa(const Json& whole, Importer importer) {
  int number = 0;
  importer.each(whole, [&](const JsonObject& entry) {
    EvaluationItem item;
    item.id = std::to_string(++number);  // the files have no ids
    item.media = {importer.image(entry.string("imgname", kMaxFileText))};
    item.question = entry.string("query", kMaxFileText) + kShortAnswer;
    item.golds = {textOf(entry, "label")};
    item.metric = AnswerMetric::kRelaxed;
    return item;
  });
  return importer.take();
}

std::vector<EvaluationItem> ai2dFile(const fs::path& file, Importer importer) {
  const auto whole = parsed(file, parse_ordered_json);  // questions are asked in the order of the file
  if (!whole.is_object() || !whole.contains("questions") || !whole["questions"].is_object() || !whole.contains("imageName")) {
    throw Exception(ErrorCode::kInvalidArgument, file.string(), "has no \"imageName\" with \"questions\"");
  }
  if (!whole["imageName"].is_string()) throw Exception(ErrorCode::kInvalidArgument, file.string(), "imageName: it must be a string");
  Json entries = Json::array();
  for (const auto& [question, facts] : whole["questions"].items()) entries.push_back({{"question", question}, {"facts", Json(facts)}});
  importer.each(entries, [&](const JsonObject& entry) {
    const JsonObject facts = entry.object("facts");
    const auto choices = facts.strings("answerTexts", kMaxFileText, kMaxFileEntries);
    const auto right = static_cast<std::size_t>(facts.integer("correctAnswer", 0, kMaxFileEntries));
    if (right >= choices.size()) throw Exception(ErrorCode::kInvalidArgument, "", "the correct answer is none of the choices");
    EvaluationItem item;
    item.id = textOf(facts, "questionId");
    item.media = {importer.image(whole["imageName"].get<std::string>())};
    item.question = entry.string("question", kMaxFileText) + lettered(choices) + kOptionLetter;
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
    for (EvaluationItem& item : ai2dFile(file, Importer(file, images, options))) items.push_back(std::move(item));
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
