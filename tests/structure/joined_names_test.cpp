// Files of one library are compiled together (winnow_join() of packaging/cmake/WinnowTargets.cmake). Two functions of anonymous namespaces
// that share a name would be overloads there, and which one is called would depend on what stands beside a file: names differ, or the
// library is APART.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/structure/code_text.h"
#include "tests/support/shell.h"
#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

// What a declaration at namespace scope declares: the word before its parameters, its value, its body or its end. Empty: another name for
// something, a template parameter list, or a member of what stands elsewhere.
std::string declared_name(const std::string& with_attributes) {
  static const std::regex attribute(R"(\[\[[^\]]*\]\])");
  const std::string head = std::regex_replace(with_attributes, attribute, "");
  static const std::regex type(R"((?:^|\s)(?:class|struct|union|enum)\s+(?:class\s+)?(\w+)\s*(?:final\s*)?(?::[^:].*)?$)");
  // A list of members' values that goes on behind a brace declares nothing.
  if (const std::size_t first = head.find_first_not_of(' '); first != std::string::npos && head[first] == ',') return {};
  std::smatch found;
  if (head.find_first_of("(=") == std::string::npos && std::regex_search(head, found, type)) return found[1];
  static const std::regex other(R"(^\s*(?:using|namespace|friend)\s|\boperator\b)");
  if (std::regex_search(head, other)) return {};
  std::size_t end = 0;
  for (int angles = 0; end < head.size() && (angles != 0 || std::string("(=[").find(head[end]) == std::string::npos); ++end) {
    angles += static_cast<int>(head[end] == '<') - static_cast<int>(head[end] == '>');
  }
  while (end > 0 && head[end - 1] == ' ') --end;
  std::size_t begin = end;
  while (begin > 0 && (std::isalnum(static_cast<unsigned char>(head[begin - 1])) != 0 || head[begin - 1] == '_')) --begin;
  const bool member = begin >= 2 && head.compare(begin - 2, 2, "::") == 0;
  // Behind a brace within a value there is no name.
  const bool number = begin < end && std::isdigit(static_cast<unsigned char>(head[begin])) != 0;
  return member || number ? std::string() : head.substr(begin, end - begin);
}

// Names of anonymous namespaces, each once.
std::set<std::string> hidden_names(const std::string& code) {
  enum class Scope { kNamespace, kAnonymous, kOther };
  static const std::regex named(R"(namespace\s+[\w:]+\s*$)");
  static const std::regex anonymous(R"(namespace\s*$)");
  std::set<std::string> found;
  std::vector<Scope> scopes;
  std::string head;
  const auto declare = [&] {
    bool hidden = false;
    for (const Scope scope : scopes) {
      if (scope == Scope::kOther) return;
      hidden = hidden || scope == Scope::kAnonymous;
    }
    if (hidden) found.insert(declared_name(head));
  };
  for (const char c : code) {
    if (c == '{') {
      const bool anonymous_one = std::regex_search(head, anonymous);
      const bool space = anonymous_one || std::regex_search(head, named);
      if (!space) declare();
      scopes.push_back(anonymous_one ? Scope::kAnonymous : space ? Scope::kNamespace : Scope::kOther);
      head.clear();
    } else if (c == '}' || c == ';') {
      if (c == ';') declare();
      if (c == '}' && !scopes.empty()) scopes.pop_back();
      head.clear();
    } else {
      head += c == '\n' ? ' ' : c;
    }
  }
  found.erase("");
  return found;
}

// Sources of each library that is compiled in lots.
std::map<std::string, std::vector<fs::path>> joined_libraries() {
  static const std::regex library(R"(winnow_(?:app_)?library\(\s*NAME\s+(\w+)([^()]*)\))");
  static const std::regex source(R"([\w/]+\.cpp)");
  std::map<std::string, std::vector<fs::path>> found;
  for (const char* layer : {"app", "engine", "kernels", "ui"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(fs::path(source_folder()) / layer)) {
      if (entry.path().filename() != "CMakeLists.txt") continue;
      const std::string text = winnow::test::file_text(entry.path());
      for (std::sregex_iterator each(text.begin(), text.end(), library), end; each != end; ++each) {
        const std::string given = (*each)[2];
        if (given.find("APART") != std::string::npos) continue;
        for (std::sregex_iterator file(given.begin(), given.end(), source); file != end; ++file)
          found[(*each)[1]].push_back(entry.path().parent_path() / file->str());
      }
    }
  }
  return found;
}

TEST(JoinedNames, AreThoseOfAnonymousNamespaces) {
  const std::string code =
      "namespace a {\nnamespace {\nconstexpr int kOne = 1;\nconstexpr std::array<int, 2> kTwo = {1, 2};\nstruct Three { int x = 0; };\n"
      "template <class T>\nstd::vector<T> four(const T& t) { if (t) { return {}; } return {}; }\n[[noreturn]] void five();\nusing Six = "
      "int;\n"
      "class Seven final : public Base {};\nint Seven::eight() { return 8; }\nchar nine[3] = {};\n}  // namespace\nint ten() { return 1; "
      "}\n}";
  EXPECT_EQ(hidden_names(code_of(code)), (std::set<std::string>{"Seven", "Three", "five", "four", "kOne", "kTwo", "nine"}));
}

TEST(JoinedNames, DifferWithinALibrary) {
  std::size_t names = 0;
  for (const auto& [library, sources] : joined_libraries()) {
    std::map<std::string, std::string> file_of;
    for (const fs::path& source : sources) {
      ASSERT_TRUE(fs::exists(source)) << source;
      for (const std::string& name : hidden_names(code_of_file(source))) {
        const auto [known, first] = file_of.emplace(name, source.filename().string());
        EXPECT_TRUE(first) << library << ": " << name << " stands in " << known->second << " and in " << source.filename();
      }
    }
    names += file_of.size();
  }
  EXPECT_GT(names, 1000U) << "the scan did not see the names";
}

}  // namespace
