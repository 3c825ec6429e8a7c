// A layer and a key-value head travel as LayerId and KvHead (engine/base/index.h): as plain integers they could be swapped unseen.
// Subscripts of vectors (std::size_t) inside a function are what they are.
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

}  // namespace
