// Sizes and special tokens of a Whisper model, read from a package's documents and tokenizer (transformers' WhisperConfig and the whisper
// keys of generation_config.json).
//
// Used by whisper_model.h and speech_decoding.h. Special tokens are looked up by their texts, so that .en, multilingual and v3 vocabularies
// need no tables; lists of suppressed tokens come from generation_config.json, else from config.json. Errors: Exception;
// kUnsupportedModel, kDamagedFile, kLimitExceeded with "<file>: <key>" as subject. No torch. Threads: plain function.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/model_files/model_package.h"

namespace winnow {

struct WhisperBlocks {
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t intermediate = 0;
};

struct WhisperTokens {
  std::int64_t start = 0;  // <|startoftranscript|>
  std::int64_t end = 0;    // <|endoftext|>
  std::int64_t transcribe = -1;
  std::int64_t no_timestamps = 0;                                 // <|notimestamps|>: behind <|nospeech|>, before <|0.00|>
  std::vector<std::pair<std::string, std::int64_t>> languages{};  // "en" and the id of <|en|>, by id; empty: English alone
  std::vector<std::int64_t> suppressed{};
  std::vector<std::int64_t> suppressed_first{};  // at an answer's beginning
  std::int64_t latest_first_time = 50;           // in steps of 0.02 s

  std::int64_t first_time() const { return no_timestamps + 1; }
  std::int64_t no_speech() const { return no_timestamps - 1; }
  std::optional<std::int64_t> language(std::string_view code) const;
};

struct WhisperConfig {
  std::int64_t width = 0;
  WhisperBlocks encoder;
  WhisperBlocks decoder;
  std::int64_t mel_bins = 80;
  std::int64_t source_positions = 1500;
  std::int64_t target_positions = 448;
  std::int64_t vocabulary = 0;
  WhisperTokens tokens;

  std::int64_t head_dim() const { return width / encoder.heads; }
  std::int64_t window_frames() const { return 2 * source_positions; }  // columns of features, of 10 ms each
};

// True for config.json of a speech model of this kind.
bool is_whisper(const JsonObject& config);

WhisperConfig read_whisper_config(const ModelPackage& package);

}  // namespace winnow
