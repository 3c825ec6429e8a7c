// libFuzzer over the readers of config.json: what the test of mutated configurations demands (tests/support/config_exercise.h) of bytes
// that coverage chooses. The first byte says which family; other documents are read as if they were the same file, where one is wanted.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tests/support/config_exercise.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using winnow::ModelPart;
  using winnow::test::ConfigExercise;
  if (size == 0) return 0;
  const auto families = ConfigExercise::families();
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto config = ConfigExercise::parsed(text, ModelPart::kConfig);
  if (!config) return 0;
  // An exception that leaves it is a finding.
  const winnow::test::DocumentsAlone package({{ModelPart::kConfig, *config},
                                              {ModelPart::kGeneration, *config},
                                              {ModelPart::kProcessor, *config},
                                              {ModelPart::kImageProcessor, *config},
                                              {ModelPart::kVideoProcessor, *config}});
  ConfigExercise::run(families[data[0] % families.size()], package);
  return 0;
}
