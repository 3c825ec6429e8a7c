// Functions take at most five parameters: what always travels together is a type of its own (CONTRIBUTING.md, style). Held for engine, app
// and ui; the failure names file, line and function.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/structure/code_text.h"
#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostParameters = 5;

// Longer ones that wait for their turn, with what they have: they may shrink, not grow.
const std::map<std::string, std::size_t> kLonger = {
    {"copy_in", 6},
    {"merge_parts", 6},
    {"plain_attention_with_lse", 6},
    {"prefill_attention", 7},
    {"shared_entry_attention", 6},
    {"for_past_tiles", 6},
    {"add_parts", 6},
    {"share_rows", 7},
    {"write_centers", 6},
    {"prefill_layer", 8},
    {"write_tile", 8},
    {"tile_of", 6},
    {"vertical_pass", 6},
    {"runEvaluation", 6},
    {"cell", 6},
    {"drawMap", 6},
    {"prepareScaler", 6},
    {"insertMessage", 6},
    {"FrameViewer", 6},
    {"fillRounded", 6},
};

struct Function {
  std::string name;
  int line = 0;
  std::size_t parameters = 0;
};

// Parenthesised lists that follow a name and are followed by what ends a declaration or begins a body. Calls look alike where they are
// statements of their own; in headers there are hardly any, and in sources only lists before a body count.
std::vector<Function> functions_in(const std::string& code, bool header) {
  static const std::set<std::string> keywords = {"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "alignas"};
  std::vector<Function> found;
  for (std::size_t open = code.find('('); open != std::string::npos; open = code.find('(', open + 1)) {
    std::size_t begin = open;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(code[begin - 1])) != 0 || code[begin - 1] == '_')) --begin;
    const std::string name = code.substr(begin, open - begin);
    if (name.empty() || keywords.contains(name)) continue;
    int depth = 0;
    std::size_t commas = 0;
    std::size_t close = open;
    bool empty = true;
    for (; close < code.size(); ++close) {
      const char c = code[close];
      if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
      if (c == ')' || c == ']' || c == '}' || (c == '>' && code[close - 1] != '-')) --depth;
      if (depth == 0) break;
      if (close > open && std::isspace(static_cast<unsigned char>(c)) == 0) empty = false;
      if (c == ',' && depth == 1) ++commas;
    }
    std::istringstream rest(code.substr(std::min(close + 1, code.size()), 200));
    std::string next;
    while (rest >> next && (next == "const" || next == "override" || next == "noexcept" || next == "final")) {
    }
    const bool body = next.starts_with("{") || next == ":" || next == "->";
    const bool declared = header && (next.starts_with(";") || next.starts_with("const;") || next.starts_with("override;") || next == "=");
    if (!body && !declared) continue;
    const int line = 1 + static_cast<int>(std::count(code.begin(), code.begin() + static_cast<std::ptrdiff_t>(open), '\n'));
    found.push_back({name, line, empty ? 0 : commas + 1});
  }
  return found;
}

TEST(ParameterCount, TheScanSeesDeclarationsAndDefinitions) {
  const std::string code = code_of(
      "int one(const std::map<int, int>& a, int b = f(1, 2));  // not(a, b, c, d, e, f)\n"
      "void Class::two(int a, int b, int c, int d, int e, int f) const {\n"
      "  call(\"(\", 1, 2, 3, 4, 5);\n}\n"
      "Class::Class(int a) : a_(a) {}\n"
      "virtual void none() const = 0;\n");
  std::vector<std::string> seen;
  for (const Function& function : functions_in(code, true)) {
    seen.push_back(function.name + " " + std::to_string(function.parameters) + " " + std::to_string(function.line));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"one 2 1", "two 6 2", "call 6 3", "Class 1 5", "a_ 1 5", "none 0 6"}));
  EXPECT_EQ(functions_in(code, false).front().name, "two");
}

TEST(ParameterCount, IsAtMostFive) {
  const fs::path root = source_folder();
  int seen = 0;
  for (const char* folder : {"engine", "app", "ui"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const bool header = entry.path().extension() == ".h";
      if (!header && entry.path().extension() != ".cpp") continue;
      for (const Function& function : functions_in(code_of_file(entry.path()), header)) {
        ++seen;
        const auto longer = kLonger.find(function.name);
        EXPECT_LE(function.parameters, longer != kLonger.end() ? longer->second : kMostParameters)
            << fs::relative(entry.path(), root).generic_string() << ":" << function.line << " " << function.name;
      }
    }
  }
  EXPECT_GT(seen, 3000) << "the scan did not see the functions";
}

}  // namespace
