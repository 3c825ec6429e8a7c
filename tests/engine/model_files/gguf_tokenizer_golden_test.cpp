// Vocabularies as GGUF files have them against llama.cpp's expected ids, `tokenizers` and SentencePiece (tests/golden/gguf_tokenizer;
// rebuild: tests/golden/make/make_gguf_tokenizer_goldens.py).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/model_files/gguf_tokenizer.h"
#include "engine/text/detokenizer.h"
#include "engine/text/tokenizer.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

using Ids = std::vector<std::int64_t>;
using nlohmann::json;

const std::string kFolder = source_folder() + "/tests/golden/gguf_tokenizer";
const char* const kFolderVariable = "WINNOW_GGUF_VOCABULARIES";

std::optional<std::int64_t> id_of(const json& value) { return value.is_null() ? std::nullopt : std::optional(value.get<std::int64_t>()); }

GgufVocabulary vocabulary_of(const json& line) {
  GgufVocabulary vocabulary;
  vocabulary.path = line["name"];
  vocabulary.model = line["model"];
  vocabulary.pre = line["pre"];
  vocabulary.tokens = line["tokens"].get<std::vector<std::string>>();
  vocabulary.scores = line["scores"].get<std::vector<float>>();
  vocabulary.types = line["types"].get<std::vector<std::int32_t>>();
  vocabulary.merges = line["merges"].get<std::vector<std::string>>();
  vocabulary.bos = id_of(line["bos"]);
  vocabulary.eos = id_of(line["eos"]);
  vocabulary.unknown = id_of(line["unknown"]);
  vocabulary.add_bos = line["add_bos"];
  vocabulary.add_space_prefix = line["add_space_prefix"];
  return vocabulary;
}

// Every case of a file: its ids, its text back, and the same text streamed.
int check_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    ADD_FAILURE() << path << " is empty";
    return 0;
  }
  const auto tokenizer = Tokenizer::from(tokenizer_of(vocabulary_of(json::parse(line))));
  int cases = 0;
  int wrong = 0;
  while (std::getline(file, line)) {
    const json c = json::parse(line);
    const std::string text = c["text"];
    const Ids expected = c["ids"].get<Ids>();
    const Ids ids = tokenizer->encode(text, SpecialText::kAsText);
    Detokenizer stream(*tokenizer, SpecialTokens::kKeep);
    std::string streamed;
    for (const std::int64_t id : expected) streamed += stream.push(id);
    streamed += stream.flush();
    const std::string decoded = tokenizer->decode(expected, SpecialTokens::kKeep);
    ++cases;
    if (ids == expected && decoded == text && streamed == text) continue;
    if (++wrong > 5) continue;
    EXPECT_EQ(ids, expected) << c["text"].dump(-1, ' ', true);
    EXPECT_EQ(decoded, text) << c["text"].dump(-1, ' ', true);
    EXPECT_EQ(streamed, text) << c["text"].dump(-1, ' ', true);
  }
  EXPECT_EQ(wrong, 0) << "of " << cases << " texts";
  return cases;
}

std::vector<std::string> files_of(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".jsonl") names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

TEST(GgufTokenizerGolden, GivesTheIdsOfTheModelsOwnTokenizers) {
  int cases = 0;
  const std::vector<std::string> files = files_of(kFolder);
  EXPECT_GE(files.size(), 9u);
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    cases += check_file(path);
  }
  EXPECT_EQ(cases, json::parse(std::ifstream(kFolder + "/manifest.json"))["cases"].get<int>());
}

TEST(GgufTokenizerGolden, GivesTheSameWithWholeVocabularies) {
  const char* folder = std::getenv(kFolderVariable);
  if (folder == nullptr) GTEST_SKIP() << kFolderVariable << " names no folder of whole vocabularies";
  const std::vector<std::string> files = files_of(folder);
  ASSERT_FALSE(files.empty()) << folder;
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    EXPECT_GT(check_file(path), 0);
  }
}

}  // namespace
}  // namespace winnow
