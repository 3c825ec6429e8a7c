// Documents of a speech model with one value wrong or missing: each opens with sizes that can be, or is refused by name.
#include <gtest/gtest.h>

#include <filesystem>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/file_bytes.h"
#include "engine/base/json_document.h"
#include "engine/model_files/open_package.h"
#include "engine/speech/whisper_config.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace winnow::speech_test {
namespace {

void expect_possible(const WhisperConfig& config) {
  for (const std::int64_t size :
       {config.width, config.encoder.layers, config.decoder.layers, config.encoder.heads, config.encoder.intermediate,
        config.decoder.intermediate, config.mel_bins, config.source_positions, config.target_positions, config.vocabulary})
    EXPECT_TRUE(size > 0 && size <= std::int64_t{1} << 24) << size;
  EXPECT_EQ(config.width % config.encoder.heads, 0);
  for (const auto& ids : {config.tokens.suppressed, config.tokens.suppressed_first}) {
    for (const std::int64_t id : ids) EXPECT_TRUE(id >= 0 && id < config.vocabulary) << id;
  }
}

TEST(HostileWhisper, EachValueInTurnIsWrongOrMissing) {
  const std::vector<Json> wrong = {-1,     0,       7,    std::int64_t{1} << 40,           0.5,
                                   "text", nullptr, true, Json::array({-1, "x", 1 << 30}), Json::object()};
  int opened = 0, refused = 0;
  for (const std::string name : {"english", "several"}) {
    const std::string golden = source_folder() + "/tests/golden/whisper/" + name;
    test::ScratchFolder folder;
    for (const char* file : {"tokenizer.json", "tokenizer_config.json", "config.json", "generation_config.json"})
      std::filesystem::copy(golden + "/" + file, folder.file(file));
    for (const std::string document : {"config.json", "generation_config.json"}) {
      const Json whole = parse_json(read_file_bytes(golden + "/" + document, 1 << 20), document);
      for (const auto& [key, value] : whole.items()) {
        for (std::size_t i = 0; i <= wrong.size(); ++i) {
          Json changed = whole;
          i < wrong.size() ? static_cast<void>(changed[key] = wrong[i]) : static_cast<void>(changed.erase(key));
          folder.write(document, changed.dump());
          try {
            expect_possible(read_whisper_config(*open_package(folder.path())));
            ++opened;
          } catch (const Exception& exception) {
            EXPECT_FALSE(exception.error().subject.empty() || exception.error().reason.empty()) << key;
            ++refused;
          }
        }
      }
      folder.write(document, whole.dump());
    }
  }
  EXPECT_GT(opened, 100);
  EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace winnow::speech_test
