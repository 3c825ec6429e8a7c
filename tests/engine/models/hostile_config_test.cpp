// The documents of every golden folder, each value in turn replaced by what it should not be: the folder opens with numbers that a network
// can be built of, or is refused in one sentence, and nothing large is taken on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "engine/base/file_bytes.h"
#include "tests/support/config_exercise.h"
#include "tests/support/new_probe.h"
#include "tests/support/source_folder.h"

namespace winnow::test {
namespace {

using Documents = std::map<ModelPart, Json>;

constexpr std::array kParts = {ModelPart::kConfig, ModelPart::kGeneration, ModelPart::kProcessor, ModelPart::kImageProcessor,
                               ModelPart::kVideoProcessor};
constexpr std::uint32_t kSeed = 7;
// The documents have up to 5 KB; a table of positions or layers that a number asks for has its own limit.
constexpr std::size_t kMostBlockBytes = 512 << 10;

struct Folder {
  std::string name;
  ConfigExercise::Family family{};
  Documents documents{};
  std::map<ModelPart, std::string> texts{};
};

// Every folder of tests/golden that has a configuration; tests/engine/speech has those of speech models, which need their tokenizer.
const std::vector<Folder>& folders() {
  static const std::vector<Folder> all = [] {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source_folder() + "/tests/golden")) {
      const bool hears = entry.path().string().find("/golden/whisper/") != std::string::npos;
      if (entry.path().filename() == "config.json" && !hears) paths.push_back(entry.path().parent_path().string());
    }
    std::ranges::sort(paths);
    std::vector<Folder> found;
    for (const std::string& path : paths) {
      Folder folder{.name = path.substr(path.find("/golden/") + 8)};
      for (const ModelPart part : kParts) {
        const std::string file = path + "/" + test::DocumentsAlone::file_name(part);
        if (!std::filesystem::exists(file)) continue;
        folder.texts[part] = read_file_bytes(file, 1 << 20);
        folder.documents[part] = parse_json(folder.texts[part], file);
      }
      folder.family = ConfigExercise::family_of(folder.documents.at(ModelPart::kConfig).at("model_type").get<std::string>());
      found.push_back(std::move(folder));
    }
    return found;
  }();
  return all;
}

void find_values(const Json& value, const Json::json_pointer& at, std::vector<Json::json_pointer>& found) {
  if (!at.empty()) found.push_back(at);
  if (value.is_object()) {
    for (const auto& [key, member] : value.items()) find_values(member, at / key, found);
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < std::min<std::size_t>(value.size(), 3); ++i) find_values(value[i], at / i, found);
  }
}

const std::vector<Json>& wrong_values() {
  static const std::vector<Json> values = {-1,
                                           0,
                                           1,
                                           7,
                                           65'537,
                                           std::int64_t{1} << 40,
                                           std::numeric_limits<std::int64_t>::max(),
                                           std::numeric_limits<std::int64_t>::min(),
                                           std::numeric_limits<std::uint64_t>::max(),
                                           0.5,
                                           -1e308,
                                           1e308,
                                           1e-320,
                                           true,
                                           nullptr,
                                           "",
                                           "another\nline",
                                           std::string(5000, 'x'),
                                           Json::array(),
                                           Json::array({1, -1}),
                                           Json::array({Json::array({1, 1'000'000'000})}),
                                           Json(std::vector<int>(3000, 2)),
                                           Json::object()};
  return values;
}

class HostileConfig : public ::testing::Test {
 protected:
  // what: said of a case that fails.
  template <typename Words>
  void exercise(const Folder& folder, const test::DocumentsAlone& package, const Words& what) {
    ++cases_;
    test::reset_largest_new();
    try {
      opened_ += ConfigExercise::run(folder.family, package) ? 1 : 0;
    } catch (const std::exception& exception) {
      ADD_FAILURE() << folder.name << ", " << what() << ": " << exception.what();
    }
    EXPECT_LE(test::largest_new_bytes(), kMostBlockBytes) << folder.name << ", " << what();
  }

  static std::string words(ModelPart part, const Json::json_pointer& at, const Json& value) {
    return test::DocumentsAlone::file_name(part) + at.to_string() + " = " +
           (value.is_string() ? value.get<std::string>() : value.dump()).substr(0, 40);
  }

  int cases_ = 0;
  int opened_ = 0;
};

TEST_F(HostileConfig, UnchangedFoldersOpen) {
  ASSERT_GE(folders().size(), 48U);
  for (const Folder& folder : folders()) exercise(folder, test::DocumentsAlone(folder.documents), [] { return "unchanged"; });
  EXPECT_EQ(opened_, cases_);
}

TEST_F(HostileConfig, EachValueInTurnIsWrongOrMissing) {
  for (const Folder& folder : folders()) {
    test::DocumentsAlone package(folder.documents);
    for (const ModelPart part : kParts) {
      if (!folder.documents.contains(part)) continue;
      Json& document = package.content(part);
      std::vector<Json::json_pointer> places;
      find_values(document, Json::json_pointer(), places);
      for (const Json::json_pointer& at : places) {
        const Json kept = document.at(at);
        for (const Json& value : wrong_values()) {
          document[at] = value;
          exercise(folder, package, [&] { return words(part, at, value); });
        }
        document[at] = kept;
        Json& parent = document[at.parent_pointer()];
        if (!parent.is_object()) continue;
        parent.erase(at.back());
        exercise(folder, package, [&] { return words(part, at, "missing"); });
        parent[at.back()] = kept;
      }
    }
  }
  EXPECT_GT(opened_, 0) << "most values have others";
  EXPECT_LT(opened_, cases_);
}

TEST_F(HostileConfig, SeveralValuesAreWrongAtOnce) {
  std::mt19937 random(kSeed);
  const auto below = [&](std::size_t n) { return random() % n; };
  for (const Folder& folder : folders()) {
    for (int mutation = 0; mutation < 100; ++mutation) {
      Documents documents = folder.documents;
      std::string what;
      for (std::size_t changes = 2 + below(3); changes > 0; --changes) {
        auto entry = std::next(documents.begin(), static_cast<std::ptrdiff_t>(below(documents.size())));
        std::vector<Json::json_pointer> places;
        find_values(entry->second, Json::json_pointer(), places);
        if (places.empty()) continue;
        const Json::json_pointer at = places[below(places.size())];
        const Json& value = wrong_values()[below(wrong_values().size())];
        entry->second[at] = value;
        what += words(entry->first, at, value) + "; ";
      }
      exercise(folder, test::DocumentsAlone(documents), [&] { return what + "replaced"; });
    }
  }
}

TEST_F(HostileConfig, ADocumentIsCutOffMissingOrNoObject) {
  std::mt19937 random(kSeed);
  for (const Folder& folder : folders()) {
    for (const auto& [part, text] : folder.texts) {
      for (int cut = 0; cut < 20; ++cut) {
        const std::string rest = text.substr(0, random() % text.size());
        EXPECT_FALSE(ConfigExercise::parsed(rest.substr(0, rest.find_last_of('}')), part)) << folder.name;
      }
      Documents documents = folder.documents;
      for (const Json& value : wrong_values()) {
        documents[part] = value;
        exercise(folder, test::DocumentsAlone(documents), [&] { return words(part, Json::json_pointer(), value); });
      }
      documents.erase(part);
      exercise(folder, test::DocumentsAlone(documents), [&] { return test::DocumentsAlone::file_name(part) + " is missing"; });
    }
  }
}

}  // namespace
}  // namespace winnow::test
