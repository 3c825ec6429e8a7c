// A type has one definition: two headers that define the same qualified name are linked into one program, and which one counts is luck.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "tests/structure/code_text.h"
#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

// What a brace opens: the name of a namespace or type that is defined there, else nothing.
std::string name_before_brace(const std::string& head, bool& type) {
  static const std::regex space(R"((?:inline\s+)?namespace\s+([\w:]+)\s*$)");
  static const std::regex defined(R"((?:^|[^\w])(?:class|struct|union|enum)\s+(?:class\s+)?(\w+)\s*(?:final\s*)?(?::[^:].*)?$)");
  std::smatch found;
  type = false;
  if (std::regex_search(head, found, space)) return found[1];
  if (head.find("template") != std::string::npos && head.find('<', head.find("template")) == std::string::npos) return {};
  if (!std::regex_search(head, found, defined) || head.find('(') != std::string::npos || head.find('=') != std::string::npos) return {};
  type = true;
  return found[1];
}

// Qualified names of the types that a header defines, those within types too; what a function hides is not seen from outside.
std::vector<std::string> defined_types(const std::string& code) {
  std::vector<std::string> found;
  std::vector<std::string> scopes;
  std::string head;
  for (const char c : code) {
    if (c == '{') {
      bool type = false;
      scopes.push_back(name_before_brace(head, type));
      std::string name;
      bool named = true;
      for (const std::string& scope : scopes) {
        named = named && !scope.empty();
        name += (name.empty() ? "" : "::") + scope;
      }
      if (type && named) found.push_back(name);
      head.clear();
    } else if (c == '}') {
      if (!scopes.empty()) scopes.pop_back();
      head.clear();
    } else if (c == ';') {
      head.clear();
    } else {
      head += c == '\n' ? ' ' : c;
    }
  }
  return found;
}

TEST(OneDefinition, IsFoundInNamespacesAndTypes) {
  const std::string code =
      "namespace a::b {\nclass C final : public D {\n struct E { int f = 0; };\n enum class G : int { kH };\n void i() { if (j) { } }\n};\n"
      "template <class T>\nstruct K { };\nstruct L;\n}\nnamespace a { struct C { }; }";
  EXPECT_EQ(defined_types(code), (std::vector<std::string>{"a::b::C", "a::b::C::E", "a::b::C::G", "a::b::K", "a::C"}));
}

TEST(OneDefinition, NoQualifiedNameStandsInTwoHeaders) {
  const fs::path root = source_folder();
  std::map<std::string, std::string> header_of;
  for (const char* folder : {"app", "engine", "kernels", "ui"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cuh") continue;
      const std::string header = fs::relative(entry.path(), root).generic_string();
      for (const std::string& name : defined_types(code_of_file(entry.path()))) {
        const auto [known, first] = header_of.emplace(name, header);
        EXPECT_TRUE(first) << name << " is defined in " << known->second << " and in " << header;
      }
    }
  }
  EXPECT_GT(header_of.size(), 700U) << "the scan did not see the types";
}

}  // namespace
