// Which files of a repository are taken, and why.
#include "app/library/hub/hub_choice.h"

#include <gtest/gtest.h>

#include <optional>

#include "app/library/downloads/download_fault.h"

namespace winnow::app {
namespace {

constexpr qint64 kGb = 1'000'000'000;

HubFile file(const char* path, double gb = 1) {
  return {QString::fromLatin1(path), static_cast<qint64>(gb * kGb), BlobHash::kSha256, QByteArray(64, 'a')};
}

// A repository as they are published.
std::vector<HubFile> many() {
  return {file("README.md", 0),       file("M-BF16.gguf", 15),    file("M-IQ4_XS.gguf", 4.3), file("M-Q2_K.gguf", 3),
          file("M-Q4_K_M.gguf", 4.9), file("M-Q4_K_S.gguf", 4.7), file("M-Q8_0.gguf", 8.5),   file("M-UD-Q4_K_XL.gguf", 5),
          file("mmproj-F16.gguf", 1), file("mmproj-F32.gguf", 2), file("mmproj-BF16.gguf", 1)};
}

std::optional<DownloadFault> faultOf(const std::vector<HubFile>& files, const char* tag, qint64 memory) {
  try {
    chooseHubFiles(files, QString::fromLatin1(tag), memory);
  } catch (const DownloadError& error) {
    return error.fault();
  }
  return std::nullopt;
}

TEST(HubChoice, NamesTheQuantisationOfAFile) {
  const std::pair<const char*, const char*> names[] = {{"Qwen2.5-VL-7B-Instruct-Q4_K_M.gguf", "Q4_K_M"},
                                                       {"SmolLM2-135M-Instruct.Q4_1.gguf", "Q4_1"},
                                                       {"gemma-3-4b-it-q4_0.gguf", "Q4_0"},
                                                       {"M-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"},
                                                       {"model-f16.gguf", "F16"},
                                                       {"Q8_0/M-Q8_0-00001-of-00002.gguf", "Q8_0"},
                                                       {"Llama-3.2-3B.gguf", ""},
                                                       {"mmproj-BF16.gguf", "BF16"},
                                                       {"M.i1-IQ3_XXS.gguf", "IQ3_XXS"}};
  for (const auto& [name, quantisation] : names) EXPECT_EQ(quantisationOf(QString::fromLatin1(name)).toStdString(), quantisation) << name;
}

TEST(HubChoice, TakesTheUsualOneWhereItFits) {
  const HubSelection chosen = chooseHubFiles(many(), {}, 16 * kGb);
  EXPECT_EQ(chosen.opened, QStringLiteral("M-Q4_K_M.gguf"));
  EXPECT_EQ(chosen.choice.reason, ChoiceReason::kUsual);
  EXPECT_EQ(chosen.choice.projector, QStringLiteral("mmproj-F16.gguf"));
  ASSERT_EQ(chosen.files.size(), 2U);
}

TEST(HubChoice, TakesTheLargestThatFitsWhereItDoesNot) {
  const HubSelection chosen = chooseHubFiles(many(), {}, qint64{6'800} * kGb / 1000);
  EXPECT_EQ(chosen.opened, QStringLiteral("M-Q4_K_S.gguf"));
  EXPECT_EQ(chosen.choice.reason, ChoiceReason::kSmaller);
  const auto fault = faultOf(many(), "", 2 * kGb);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->problem, DownloadProblem::kTooLarge);
  EXPECT_GT(fault->bytes, 3 * kGb);
  EXPECT_TRUE(fault->choices.contains(QStringLiteral("Q2_K")));
}

TEST(HubChoice, OfASmallModelLosesNothing) {
  const std::vector<HubFile> small = {file("S-Q4_K_M.gguf", 0.4), file("S-Q8_0.gguf", 0.6), file("S-F16.gguf", 1.2)};
  EXPECT_EQ(chooseHubFiles(small, {}, 16 * kGb).opened, QStringLiteral("S-Q8_0.gguf"));
  EXPECT_EQ(chooseHubFiles(small, {}, 16 * kGb).choice.reason, ChoiceReason::kSmall);
  EXPECT_EQ(chooseHubFiles(small, {}, 4 * kGb).opened, QStringLiteral("S-Q4_K_M.gguf")) << "of little memory it would be too much";
}

TEST(HubChoice, AQuantisationIsAWholeWordInAnyCase) {
  EXPECT_EQ(chooseHubFiles(many(), QStringLiteral("q8_0"), 0).opened, QStringLiteral("M-Q8_0.gguf"));
  EXPECT_EQ(chooseHubFiles(many(), QStringLiteral("UD-Q4_K_XL"), 0).opened, QStringLiteral("M-UD-Q4_K_XL.gguf"));
  EXPECT_EQ(chooseHubFiles(many(), QStringLiteral("M-Q2_K.gguf"), 0).opened, QStringLiteral("M-Q2_K.gguf"));
  EXPECT_EQ(chooseHubFiles(many(), QStringLiteral("Q8_0"), kGb).opened, QStringLiteral("M-Q8_0.gguf"))
      << "who names it gets it, fit or not";
  const auto missing = faultOf(many(), "Q4_K", 0);
  ASSERT_TRUE(missing.has_value()) << "Q4_K_M is another one";
  EXPECT_EQ(missing->problem, DownloadProblem::kNoSuchFile);
  EXPECT_TRUE(missing->choices.contains(QStringLiteral("Q4_K_M")));
}

TEST(HubChoice, ATagThatFitsTwoFilesIsRefusedWithBoth) {
  const std::vector<HubFile> files = {file("M-I-COMPACT.gguf"), file("M-COMPACT.gguf"), file("M-Q8_0.gguf")};
  const auto fault = faultOf(files, "compact", 0);
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->problem, DownloadProblem::kAmbiguous);
  EXPECT_EQ(fault->choices, (QStringList{QStringLiteral("M-COMPACT.gguf"), QStringLiteral("M-I-COMPACT.gguf")}));
  EXPECT_EQ(chooseHubFiles(files, fault->choices.first(), 0).opened, QStringLiteral("M-COMPACT.gguf")) << "what it lists can be typed";
}

TEST(HubChoice, AnUnslothNameIsNotMeantByThePlainOne) {
  const std::vector<HubFile> files = {file("M-Q4_K_M.gguf"), file("M-UD-Q4_K_M.gguf")};
  EXPECT_EQ(chooseHubFiles(files, QStringLiteral("Q4_K_M"), 0).opened, QStringLiteral("M-Q4_K_M.gguf"));
}

TEST(HubChoice, ASplitFileThatIsNotWholeIsNone) {
  const std::vector<HubFile> files = {file("M-Q8_0-00001-of-00003.gguf"), file("M-Q8_0-00003-of-00003.gguf"), file("M-Q2_K.gguf")};
  EXPECT_EQ(chooseHubFiles(files, {}, 0).opened, QStringLiteral("M-Q2_K.gguf"));
}

TEST(HubChoice, AFolderWithoutItsShardsIsRefused) {
  const std::vector<HubFile> files = {file("model-00001-of-00002.safetensors")};
  for (const char* index :
       {R"({"weight_map":{"a":"model-00001-of-00002.safetensors","b":"model-00002-of-00002.safetensors"}})",
        R"({"weight_map":{"a":"../model.safetensors"}})", R"({"weight_map":{"a":"model.bin"}})", R"({"weight_map":{"a":3}})", "x"}) {
    EXPECT_THROW(shardsOf(index, files), DownloadError) << index;
  }
  EXPECT_EQ(shardsOf(R"({"weight_map":{"a":"model-00001-of-00002.safetensors"}})", files).size(), 1U);
}

TEST(HubChoice, AProjectorIsTheOneThatIsNamedAfterTheModel) {
  const std::vector<HubFile> two = {file("Qwen2-VL-2B-Instruct-Q4_K_M.gguf"), file("Qwen2-VL-7B-Instruct-Q4_K_M.gguf"),
                                    file("mmproj-Qwen2-VL-2B-Instruct-f32.gguf"), file("mmproj-Qwen2-VL-7B-Instruct-f16.gguf"),
                                    file("mmproj-model-f16.gguf")};
  EXPECT_EQ(chooseHubFiles(two, QStringLiteral("Qwen2-VL-2B-Instruct-Q4_K_M.gguf"), 0).choice.projector,
            QStringLiteral("mmproj-Qwen2-VL-2B-Instruct-f32.gguf"));
  EXPECT_EQ(chooseHubFiles(two, QStringLiteral("Qwen2-VL-7B-Instruct-Q4_K_M.gguf"), 0).choice.projector,
            QStringLiteral("mmproj-Qwen2-VL-7B-Instruct-f16.gguf"));
}

TEST(HubChoice, APartThatIsMissingIsNamed) {
  std::vector<HubFile> files = {file("M-Q8_0-00001-of-00003.gguf"), file("M-Q8_0-00003-of-00003.gguf")};
  const char* const kWhy = "it lacks a part of the model, M-Q8_0-00002-of-00003.gguf";
  for (const char* tag : {"", "Q8_0"}) {
    const auto fault = faultOf(files, tag, 0);
    ASSERT_TRUE(fault.has_value());
    EXPECT_EQ(fault->problem, DownloadProblem::kNotReadable);
    EXPECT_EQ(fault->reason.toStdString(), kWhy);
  }
  files.push_back(file("M-Q4_K_M.gguf"));
  EXPECT_EQ(chooseHubFiles(files, {}, 0).opened, QStringLiteral("M-Q4_K_M.gguf"));
  EXPECT_EQ(faultOf(files, "Q8_0", 0)->reason.toStdString(), kWhy);
  EXPECT_EQ(faultOf(files, "Q6_K", 0)->problem, DownloadProblem::kNoSuchFile);
}

}  // namespace
}  // namespace winnow::app
