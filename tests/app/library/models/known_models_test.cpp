// The table of known models: it keeps to its schema, names families that run, and offers what fits.
#include "app/library/models/known_models.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "app/library/hub/hub_place.h"
#include "engine/api/model_kinds.h"
#include "tests/support/source_folder.h"

namespace winnow::app {
namespace {

using nlohmann::json;

constexpr qint64 kGib = qint64{1} << 30;

json resource(const char* name) {
  std::ifstream stream(source_folder() + "/resources/" + name);
  return json::parse(stream);
}

QString resources() { return QString::fromStdString(source_folder() + "/resources"); }

// As much of JSON Schema as models.schema.json uses.
void expectRowFits(const json& schema, const json& row) {
  const std::string where = row.value("repository", "a row");
  for (const json& name : schema["required"]) EXPECT_TRUE(row.contains(name.get<std::string>())) << where << ": " << name;
  for (const auto& [name, value] : row.items()) {
    ASSERT_TRUE(schema["properties"].contains(name)) << where << "." << name;
    const json& rule = schema["properties"][name];
    if (rule.contains("enum")) {
      EXPECT_NE(std::find(rule["enum"].begin(), rule["enum"].end(), value), rule["enum"].end()) << where << "." << name;
    } else if (rule["type"] == "string") {
      EXPECT_TRUE(value.is_string() && !value.get<std::string>().empty()) << where << "." << name;
    } else {
      EXPECT_TRUE(rule["type"] == "integer" ? value.is_number_integer() : value.is_number()) << where << "." << name;
      EXPECT_GE(value, rule["minimum"]) << where << "." << name;
      EXPECT_LE(value, rule["maximum"]) << where << "." << name;
    }
  }
}

TEST(KnownModels, TheTableKeepsToItsSchema) {
  const json table = resource("models.json");
  const json schema = resource("models.schema.json");
  EXPECT_EQ(table["format"], schema["properties"]["format"]["const"]);
  EXPECT_EQ(table["version"], schema["properties"]["version"]["const"]);
  for (const json& row : table["models"]) expectRowFits(schema["properties"]["models"]["items"], row);
}

TEST(KnownModels, ADozenSeeAndSixRead) {
  const std::vector<KnownModel> models = knownModels(resources());
  EXPECT_EQ(models.size(), resource("models.json")["models"].size());
  const auto count = [&](Sight sight) { return std::ranges::count(models, sight, &KnownModel::sight); };
  EXPECT_GE(count(Sight::kVideos) + count(Sight::kImages), 12);
  EXPECT_GE(count(Sight::kVideos), 6);
  EXPECT_GE(count(Sight::kNothing), 6);
  std::set<QString> names;
  for (const KnownModel& each : models) EXPECT_TRUE(names.insert(each.repository).second) << each.repository.toStdString();
}

// A family that does not run, or sees less than the table promises, would be found out after gigabytes.
TEST(KnownModels, EveryFamilyRunsAndSeesWhatIsPromised) {
  for (const KnownModel& each : knownModels(resources())) {
    EXPECT_TRUE(readHubName(each.repository).has_value()) << each.repository.toStdString();
    Json config = {{"model_type", each.family.toStdString()}};
    if (each.sight != Sight::kNothing) config["vision_config"] = Json::object();
    const auto family = known_family(JsonObject(config, "config.json"));
    ASSERT_TRUE(family.has_value()) << each.family.toStdString();
    EXPECT_EQ(family->sees, each.sight != Sight::kNothing) << each.repository.toStdString();
    EXPECT_TRUE(family->reads_videos || each.sight != Sight::kVideos) << each.repository.toStdString();
    EXPECT_EQ(each.tokensPerFrame > 0, family->sees) << each.repository.toStdString();
  }
}

TEST(KnownModels, TheBestThatSeesIsTheLargestThatFits) {
  const std::vector<KnownModel> models = knownModels(resources());
  qint64 before = 0;
  for (const qint64 memory : {2, 4, 8, 16, 32, 64}) {
    const KnownModel* best = bestThatSees(models, {memory * kGib});
    ASSERT_NE(best, nullptr) << memory;
    EXPECT_EQ(best->sight, Sight::kVideos);
    EXPECT_LE(memoryNeed(*best).total(), memory * kGib * 3 / 4) << "other programs run beside it";
    EXPECT_GE(best->downloadBytes, before) << "more memory, no smaller model";
    before = best->downloadBytes;
  }
  EXPECT_EQ(bestThatSees(models, {kGib / 4}), nullptr);
  EXPECT_TRUE(knownModels(QStringLiteral("/nowhere")).empty());
}

// 0.85 words a token, 0.95 of what reading alone does: with 20 GB a second 16.15 GB of words.
TEST(KnownModels, WordsASecondFollowFromWhatATokenReads) {
  KnownModel model{.sight = Sight::kVideos, .downloadBytes = 3'000'000'000};
  MachineMemory memory{64 * kGib, 0, 20e9};
  EXPECT_NEAR(wordsPerSecond(model, memory).value(), 16.15 / 3.0, 1e-9);
  model.activeBytes = 1'000'000'000;
  EXPECT_NEAR(wordsPerSecond(model, memory).value(), 16.15, 1e-9) << "a mixture of experts";
  // 64 frames of 200 tokens and 512 of text, 100 kB each: 1.3312 GB, a fifth of which is kept.
  model.tokensPerFrame = 200;
  model.kvBytesPerToken = 100'000;
  EXPECT_NEAR(wordsPerSecond(model, memory).value(), 16.15 / (1.0 + 0.26624), 1e-6);
  EXPECT_FALSE(wordsPerSecond(model, {64 * kGib, 0, 0.0})) << "nobody has measured";
  EXPECT_FALSE(wordsPerSecond(model, {64 * kGib, 24 * kGib, 20e9})) << "the GPU answers";
  EXPECT_TRUE(wordsPerSecond(model, {64 * kGib, kGib, 20e9})) << "which has no room for it";
}

TEST(KnownModels, TheBestWithoutAGpuIsTheLargestThatAnswersSoon) {
  const std::vector<KnownModel> models = knownModels(resources());
  const auto best = [&](double gigabytesPerSecond) { return bestThatSees(models, {64 * kGib, 0, gigabytesPerSecond * 1e9}); };
  for (const double speed : {4.0, 10.0, 20.0, 60.0}) {
    const MachineMemory memory{64 * kGib, 0, speed * 1e9};
    const KnownModel* offered = best(speed);
    ASSERT_NE(offered, nullptr);
    EXPECT_GE(wordsPerSecond(*offered, memory).value(), kReadableWordsPerSecond) << offered->name.toStdString();
    for (const KnownModel& each : models) {
      const bool larger = each.sight == Sight::kVideos && each.downloadBytes > offered->downloadBytes;
      EXPECT_FALSE(larger && wordsPerSecond(each, memory).value() >= kReadableWordsPerSecond) << each.name.toStdString() << " at " << speed;
    }
  }
  EXPECT_GT(best(60.0)->downloadBytes, best(4.0)->downloadBytes);
  EXPECT_EQ(best(0.5)->name, QStringLiteral("SmolVLM2 256M Video")) << "none is fast enough: the fastest";
  EXPECT_EQ(best(0.0), bestThatSees(models, {64 * kGib})) << "not measured: the largest that fits";
}

// Any machine that runs this reads more than a tenth of a gigabyte a second, and none more than ten terabytes.
TEST(MemorySpeed, IsThatOfAMachine) {
  const double speed = memoryBytesPerSecond();
  EXPECT_GT(speed, 1e8);
  EXPECT_LT(speed, 1e13);
}

TEST(KnownModels, OnAGpuTheBestIsTheLargestThatFitsThere) {
  const auto model = [](qint64 downloadBytes) { return KnownModel{.sight = Sight::kVideos, .downloadBytes = downloadBytes}; };
  // With a tenth and 1 GiB to work in: 2.1, 6.4 and 21.0 GiB.
  const std::vector<KnownModel> models = {model(kGib), model(49 * kGib / 10), model(182 * kGib / 10)};
  const auto best = [&](qint64 memory, qint64 gpu) { return bestThatSees(models, {memory * kGib, gpu * kGib}); };
  EXPECT_EQ(best(64, 0), &models[2]);
  EXPECT_EQ(best(64, 24), &models[2]);
  EXPECT_EQ(best(64, 8), &models[1]) << "the larger one would be read by the processor";
  EXPECT_EQ(best(64, 4), &models[0]);
  EXPECT_EQ(best(64, 1), &models[2]) << "a GPU that takes none of them";
  EXPECT_EQ(best(4, 24), &models[2]) << "which the machine's memory would not hold";
}

}  // namespace
}  // namespace winnow::app
