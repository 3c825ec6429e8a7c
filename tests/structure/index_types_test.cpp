// A layer and a key-value head travel as LayerId and KvHead (engine/base/index.h): as plain integers they could be swapped unseen. What is
// indexed by layer is a PerLayer (engine/base/per_layer.h), which takes nothing else. Subscripts of heads inside a function are what they
// are.
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "tests/structure/code_text.h"
#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

std::vector<std::string> plain_integers(const std::string& code) {
  static const std::regex parameter(R"([(,]\s*(?:const )?(?:std::)?(?:u?int\d+_t|int|long)\s+(layer|kv_head)\s*[,)=])");
  std::vector<std::string> found;
  for (std::sregex_iterator match(code.begin(), code.end(), parameter), end; match != end; ++match) {
    if (!match->prefix().str().ends_with("for ")) found.push_back(match->str(1));
  }
  return found;
}

TEST(IndexTypes, TheScanSeesPlainIntegers) {
  EXPECT_EQ(plain_integers("void f(std::int64_t layer, const Row& row, int kv_head = 0);"), (std::vector<std::string>{"layer", "kv_head"}));
  EXPECT_TRUE(
      plain_integers("void f(LayerId layer, KvHead kv_head, std::int64_t layers); for (std::size_t layer = 0; layer < 2;)").empty());
}

TEST(IndexTypes, NoFunctionOfTheEngineTakesALayerOrAHeadAsAnInteger) {
  const fs::path root = source_folder();
  int named = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "engine")) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    const std::string code = code_of_file(entry.path());
    named += code.find("LayerId layer") != std::string::npos ? 1 : 0;
    for (const std::string& name : plain_integers(code)) ADD_FAILURE() << fs::relative(entry.path(), root).generic_string() << ": " << name;
  }
  EXPECT_GT(named, 30) << "the scan did not see the functions";
}

// Of a LayerId: "layer", "view.layer".
bool makes_a_subscript_of_a_layer(const std::string& code) {
  static const std::regex cast(R"(static_cast<std::size_t>\((?:\w+(?:\.|->))*layer\))");
  return std::regex_search(code, cast);
}

TEST(IndexTypes, TheScanSeesSubscriptsOfLayers) {
  EXPECT_TRUE(makes_a_subscript_of_a_layer("caps_[static_cast<std::size_t>(layer)]"));
  EXPECT_TRUE(makes_a_subscript_of_a_layer("const auto l = static_cast<std::size_t>(view.layer);"));
  EXPECT_FALSE(makes_a_subscript_of_a_layer("heads_[static_cast<std::size_t>(layer * kv_heads_ + head)]"));
  EXPECT_FALSE(makes_a_subscript_of_a_layer("values.resize(static_cast<std::size_t>(shape.layers))"));
}

TEST(IndexTypes, NothingOfTheEngineButPerLayerIsIndexedByALayer) {
  const fs::path root = source_folder();
  int files = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / "engine")) {
    if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
    const std::string file = fs::relative(entry.path(), root).generic_string();
    const bool found = makes_a_subscript_of_a_layer(code_of_file(entry.path()));
    EXPECT_EQ(found, file == "engine/base/per_layer.h") << file << ": make it a PerLayer";
    ++files;
  }
  EXPECT_GT(files, 300) << "the scan did not see the engine";
}

}  // namespace
