// The documents of model folders, as data. Each *_configs.json of a family's folder has:
// - "folders": their documents by file name, or "like" another folder with changes.
// - "read": rows, each a folder ("of"; else "published") with changes, and what it is read "as" (shown_config.h; null: not there).
// - "refused": rows with the code of the error. It has the "words", else "<file>: <key.path>:" of the only change.
// Changes are a "patch" (RFC 7386), then members "without", then values to "set"; places are JSON pointers that begin with a file's name.
// "each" of several places with "values" stands for as many rows, "or_missing" for one more of each place.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "engine/models/config/generation_defaults.h"
#include "engine/models/config/winnow_sidecar.h"
#include "engine/models/families/falcon_config.h"
#include "engine/models/families/gemma3_text_config.h"
#include "engine/models/families/glm4v_config.h"
#include "engine/models/families/internvl_chat_config.h"
#include "engine/models/families/lfm2_text_config.h"
#include "engine/models/families/qwen3_5_config.h"
#include "tests/engine/models/shown_config.h"
#include "tests/support/config_exercise.h"
#include "tests/support/expect_error.h"
#include "tests/support/source_folder.h"

namespace winnow::test::model_configs_test {
namespace {

constexpr std::string_view kEnding = "_configs.json";

JsonObject root_of(const ModelPackage& package) { return package.required(ModelPart::kConfig).root(); }

template <auto read>
Json folder_by(const ModelPackage& package, const std::string&) {
  return ShownConfig::of(read(package));
}
template <auto parse>
Json text_by(const ModelPackage& package, const std::string&) {
  return {{"text", ShownConfig::of(parse(root_of(package)))}};
}

// By the file's name. type: the folder's, before a row changes it.
using Reader = Json (*)(const ModelPackage& package, const std::string& type);
const std::map<std::string, Reader> kReaders = {
    {"decoder", text_by<[](const JsonObject& text) { return parse_decoder_config(text, "llama"); }>},
    {"falcon", text_by<parse_falcon_config>},
    {"gemma3", folder_by<read_gemma3>},
    {"gemma3_text", text_by<parse_gemma3_config>},
    {"gemma4", folder_by<read_gemma4>},
    {"glm4v", folder_by<read_glm4v>},
    {"internvl", folder_by<read_internvl>},
    {"internvl_chat", folder_by<read_internvl_chat>},
    {"lfm2_text", text_by<parse_lfm2_config>},
    {"lfm2_vl", folder_by<read_lfm2_vl>},
    {"llava", [](const ModelPackage& package, const std::string& type) { return ShownConfig::of(read_llava(package, type)); }},
    {"llava_onevision", folder_by<read_llava_onevision>},
    {"minicpmv", folder_by<read_minicpmv>},
    {"mistral3", folder_by<read_mistral3>},
    {"qwen2_vl", folder_by<read_qwen2_vl>},
    {"qwen3_5", folder_by<read_qwen3_5>},
    {"qwen3_vl", folder_by<read_qwen3_vl>},
    {"smolvlm", folder_by<read_smolvlm>},
};

std::vector<std::string> files() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(source_folder() + "/tests/engine/models"))
    if (entry.path().string().ends_with(kEnding)) found.push_back(entry.path().string());
  std::ranges::sort(found);
  return found;
}

std::string family_of(const std::string& file) {
  const std::string name = std::filesystem::path(file).filename();
  return name.substr(0, name.size() - kEnding.size());
}

class ModelConfigs : public ::testing::TestWithParam<std::string> {
 protected:
  // Documents by file name.
  Json folder(const std::string& name) const {
    const Json& told = rows_.at("folders").at(name);
    return told.contains("like") ? changed(folder(told.at("like")), told) : told.at("documents");
  }

  static Json changed(Json documents, const Json& told) {
    if (told.contains("patch")) documents.merge_patch(told["patch"]);
    for (const std::string& place : told.value("without", std::vector<std::string>())) {
      const Json::json_pointer pointer(place);
      documents.at(pointer.parent_pointer()).erase(pointer.back());
    }
    const Json values = told.value("set", Json::object());
    for (const auto& [pointer, value] : values.items()) documents[Json::json_pointer(pointer)] = value;
    return documents;
  }

  static std::string folder_of(const Json& row) { return row.value("of", "published"); }

  Json read(const std::string& name, const Json& documents) const {
    std::map<ModelPart, Json> parts;
    for (int part = 1; part <= static_cast<int>(ModelPart::kWinnow); ++part) {
      const auto found = documents.find(test::DocumentsAlone::file_name(static_cast<ModelPart>(part)));
      if (found != documents.end()) parts[static_cast<ModelPart>(part)] = *found;
    }
    const test::DocumentsAlone package(std::move(parts));
    const Json config = folder(name).value("config.json", Json::object());
    Json shown = kReaders.at(family_of(GetParam()))(package, config.value("model_type", family_of(GetParam())));
    const Json& text = shown["text"];
    const GenerationDefaults generation = read_generation_defaults(package, text["vocabulary"]);
    shown["generation"] = {{"eos", generation.eos_token_ids}, {"pad", generation.pad_token_id.value_or(-1)}};
    shown["generation"]["bos"] = generation.bos_token_id.value_or(-1);
    shown["generation"]["sampling"] = Json::array();
    const SamplingChoice sampling = read_recommended_sampling(package);
    visit_choices(sampling, [&](const SamplingField& field, const auto& choice) {
      if (choice) shown["generation"]["sampling"].push_back({field.name, *choice});
    });
    const WinnowSidecar sidecar = read_winnow_sidecar(package);
    require_fit(sidecar, text["layers"], text["kv_heads"], package.subject(ModelPart::kWinnow));
    shown["sidecar"] = {{"time_instruction", sidecar.time_instruction}, {"video_frames", sidecar.video_frames}};
    shown["sidecar"]["prefixkv_profile"] = Json::array();
    for (const auto& [retention, shares] : sidecar.prefixkv_profile) shown["sidecar"]["prefixkv_profile"].push_back({retention, shares});
    shown["sidecar"]["kvzip_head_scores"] = sidecar.kvzip_head_scores;
    return shown;
  }

  // "/config.json/text_config/layers" is about "config.json: text_config.layers:".
  static std::string subject(const std::string& pointer) {
    const std::size_t key = pointer.find('/', 1);
    std::string path = pointer.substr(key + 1);
    std::ranges::replace(path, '/', '.');
    return pointer.substr(1, key - 1) + ": " + path + ":";
  }

  void expect_refused(const Json& row) const {
    SCOPED_TRACE(row.dump());
    static const std::map<std::string, ErrorCode> kCodes = {{"damaged", ErrorCode::kDamagedFile},
                                                            {"limit", ErrorCode::kLimitExceeded},
                                                            {"unsupported", ErrorCode::kUnsupportedModel},
                                                            {"not_found", ErrorCode::kFileNotFound}};
    const Json documents = changed(folder(folder_of(row)), row);
    const std::string words = row.contains("words") ? row["words"].get<std::string>() : subject(row.at("set").begin().key());
    test::expect_error(kCodes.at(row.at("refused")), words, [&] { read(folder_of(row), documents); });
  }

  const Json rows_ = load_json(GetParam());
};

// All of `expected` is in `found`, members of objects one by one.
void expect_shown(const Json& expected, const Json& found, const std::string& at) {
  if (!expected.is_object()) {
    EXPECT_EQ(expected, found) << at;
    return;
  }
  for (const auto& [key, value] : expected.items()) expect_shown(value, found.value(key, Json()), at + "/" + key);
}

TEST_P(ModelConfigs, AreReadAsTheirRowsSay) {
  for (const Json& row : rows_.at("read")) {
    SCOPED_TRACE(row.dump());
    try {
      expect_shown(row.at("as"), read(folder_of(row), changed(folder(folder_of(row)), row)), "");
    } catch (const Exception& exception) {
      ADD_FAILURE() << exception.what();
    }
  }
}

TEST_P(ModelConfigs, AreRefusedByWhatIsWrong) {
  for (Json row : rows_.at("refused")) {
    if (!row.contains("each")) {
      expect_refused(row);
      continue;
    }
    for (const Json& pointer : row["each"]) {
      for (const Json& value : row["values"]) {
        row["set"] = Json::object({{pointer.get<std::string>(), value}});
        expect_refused(row);
      }
      if (!row.value("or_missing", false)) continue;
      row["words"] = subject(pointer);
      row["without"] = {pointer};
      row.erase("set");
      expect_refused(row);
      row.erase("without");
      row.erase("words");
    }
  }
}

// More values, of the golden folders: hostile_config_test.cpp.
TEST_P(ModelConfigs, WithAnyMemberOfAnyTypeAreReadOrRefused) {
  const Json values = Json::parse(R"([null, true, 0, -1, 1e300, "x", [], {}, [[]], 18446744073709551615])");
  for (const auto& [name, told] : rows_.at("folders").items()) {
    const Json documents = folder(name);
    const Json members = documents.flatten();
    for (const auto& [pointer, kept] : members.items()) {
      for (const Json& value : values) {
        Json document = documents;
        document[Json::json_pointer(pointer)] = value;
        try {
          read(name, document);
        } catch (const Exception& exception) {
          EXPECT_NE(exception.error().code, ErrorCode::kInternal) << name << ", " << pointer << " = " << value << ": " << exception.what();
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, ModelConfigs, ::testing::ValuesIn(files()), [](const auto& info) { return family_of(info.param); });

}  // namespace
}  // namespace winnow::test::model_configs_test
