// tests/golden/tokenizer/drawn.jsonl: tokenizers drawn at random with what `tokenizers` says
// (tests/golden/make/make_drawn_tokenizer_golden.py). The environment variable WINNOW_DRAWN_TOKENIZERS names another file with more of
// them.
#pragma once

#include <cstdlib>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "engine/text/tokenizer.h"
#include "engine/text/tokenizer_file.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::test {

class DrawnTokenizers {
 public:
  DrawnTokenizers() : file_(path()) {
    std::string line;
    if (!std::getline(file_, line)) throw std::runtime_error(path() + " is missing");
    head_ = nlohmann::json::parse(line);
    for (const char* name : {"qwen2_like", "llama_like", "metaspace_like"}) {
      std::ifstream base(folder() + "/" + name + "/tokenizer.json");
      models_[name] = nlohmann::json::parse(base).at("model");
    }
  }

  const nlohmann::json& head() const { return head_; }

  // The next one; false at the end.
  bool next() {
    std::string line;
    if (!std::getline(file_, line)) return false;
    entry_ = nlohmann::json::parse(line);
    nlohmann::json whole = {{"model", models_.at(entry_.at("base").get<std::string>())}};
    for (const char* part : {"added_tokens", "normalizer", "pre_tokenizer", "decoder"}) whole[part] = entry_.at(part);
    const ScratchFolder scratch;
    tokenizer_ = Tokenizer::from(read_tokenizer_file(scratch.write("tokenizer.json", whole.dump())));
    return true;
  }
  const nlohmann::json& entry() const { return entry_; }
  const Tokenizer& tokenizer() const { return *tokenizer_; }

  // For a message: what was drawn.
  std::string description() const {
    std::string out = entry_.at("base");
    for (const char* part : {"normalizer", "pre_tokenizer", "decoder", "added_tokens"}) out += "\n" + entry_.at(part).dump(-1, ' ', true);
    return out;
  }

 private:
  static std::string folder() { return source_folder() + "/tests/golden/tokenizer"; }
  static std::string path() {
    const char* other = std::getenv("WINNOW_DRAWN_TOKENIZERS");
    return other == nullptr ? folder() + "/drawn.jsonl" : other;
  }

  std::ifstream file_;
  nlohmann::json head_;
  nlohmann::json models_;
  nlohmann::json entry_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

}  // namespace winnow::test
