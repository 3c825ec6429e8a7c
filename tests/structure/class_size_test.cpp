// A class does one job: at most 25 public methods, constructors and overridden ones included, signals not, and 300 lines of body, in
// headers and sources, private classes of classes included. Held for engine, app and ui; the failure names the class. Those with more
// methods are listed in larger_classes.txt with what they have; git shows that the list only shrinks. Those with more lines stand below.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/structure/code_text.h"
#include "tests/structure/command_output.h"
#include "tests/support/shell.h"
#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

constexpr int kMostMethods = 25;

constexpr int kMostLines = 300;

// By file and name. None may grow.
const std::map<std::string, int> kLongerClasses = {{"engine/text/template/template_parser.cpp Parser", 525}};

constexpr const char* kList = "tests/structure/larger_classes.txt";

// A line a class: its name and its public methods.
std::map<std::string, int> larger_classes(const std::string& text) {
  std::istringstream lines(text);
  std::map<std::string, int> listed;
  std::string name;
  for (int methods = 0; lines >> name >> methods;) listed[name] = methods;
  return listed;
}

// What a later list has that an earlier one did not allow.
std::vector<std::string> grown(const std::map<std::string, int>& earlier, const std::map<std::string, int>& later) {
  std::vector<std::string> found;
  for (const auto& [name, methods] : later) {
    const auto before = earlier.find(name);
    if (before == earlier.end() || methods > before->second) found.push_back(name);
  }
  return found;
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Whether a member's declaration is a function's: its first parenthesis stands outside of <> and right behind a name or an operator, with
// no initialiser before it.
bool declares_function(const std::string& member) {
  if (member.find("friend ") != std::string::npos || member.find("using ") != std::string::npos) return false;
  const std::size_t op = member.find("operator");
  if (op != std::string::npos) return member.find('(', op) != std::string::npos;
  int angles = 0;
  for (std::size_t i = 0; i < member.size(); ++i) {
    if (member[i] == '<') ++angles;
    if (member[i] == '>') --angles;
    if (angles > 0) continue;
    if (member[i] == '=' || member[i] == '{') return false;
    if (member[i] == '(') return i > 0 && is_name(member[i - 1]);
  }
  return false;
}

struct ClassBody {
  std::string name;
  bool is_public = false;  // its first members
  std::string text;        // between its braces
  int lines = 0;           // from its head to its last brace
};

// All that the code defines, classes within classes likewise.
std::vector<ClassBody> class_bodies(const std::string& code) {
  std::vector<ClassBody> found;
  for (const std::string keyword : {"class ", "struct "}) {
    for (std::size_t at = code.find(keyword); at != std::string::npos; at = code.find(keyword, at + 1)) {
      if (at > 0 && (is_name(code[at - 1]) || code[at - 1] == '<')) continue;
      if (at >= 5 && code.compare(at - 5, 5, "enum ") == 0) continue;
      const std::size_t open = code.find_first_of("{;()", at);
      if (open == std::string::npos || code[open] != '{') continue;
      std::istringstream head(code.substr(at + keyword.size(), open - at));
      std::string name;
      head >> name;
      if (const std::size_t colon = name.rfind(':'); colon != std::string::npos && colon + 1 < name.size()) name = name.substr(colon + 1);
      std::size_t end = open + 1;
      for (int depth = 1; end < code.size(); ++end) {
        if (code[end] == '{') ++depth;
        if (code[end] == '}' && --depth == 0) break;
      }
      const auto lines = std::count(code.begin() + static_cast<std::ptrdiff_t>(at), code.begin() + static_cast<std::ptrdiff_t>(end), '\n');
      found.push_back({name, keyword == "struct ", code.substr(open + 1, end - open - 1), static_cast<int>(lines) + 1});
    }
  }
  return found;
}

// By class: how many public methods the code declares in it. Classes within classes count for themselves.
std::map<std::string, int> public_methods(const std::string& code) {
  std::map<std::string, int> found;
  for (const ClassBody& body : class_bodies(code)) {
    bool is_public = body.is_public;
    int depth = 0;
    int& count = found[body.name];
    std::string member;
    for (std::size_t i = 0; i < body.text.size(); ++i) {
      const char c = body.text[i];
      if (c == '{' || c == '(') ++depth;
      if (c == '}' || c == ')') --depth;
      const bool label = depth == 0 && c == ':' && body.text[i + 1] != ':' && body.text[i - 1] != ':';
      if (label && (member.find("public") != std::string::npos || member.find("private") != std::string::npos ||
                    member.find("protected") != std::string::npos || member.find("Q_SIGNALS") != std::string::npos)) {
        is_public = member.find("public") != std::string::npos;
        member.clear();
        continue;
      }
      member += c;
      if (depth != 0 || (c != ';' && c != '}')) continue;
      const bool type = member.find("class ") != std::string::npos || member.find("struct ") != std::string::npos ||
                        member.find("enum ") != std::string::npos;
      // What is skipped of a type within is the type, its own methods are counted when its turn comes.
      if (is_public && !type && declares_function(member)) ++count;
      const std::size_t next = body.text.find_first_not_of(" \n", i + 1);
      if (c == '}' && next != std::string::npos && body.text[next] == ';') continue;  // of a type or an initialiser: the rest of it follows
      member.clear();
    }
  }
  return found;
}

TEST(ClassSize, TheScanCountsWhatIsPublic) {
  const std::string code = code_of(
      "class A : public B {\n public:\n  A(int a, int b = f(1)) : m_a(a) { g(); }\n  ~A() override;\n  int one() const { return "
      "m_a; }\n"
      "  virtual void two(std::function<void()> f) = 0;\n  bool operator==(const A&) const = default;\n  std::function<void(int)> member;\n"
      "  int initialised = f(3);\n  int braced{4};\n  enum class E : int { kOne = 1 };\n  struct In {\n    int three();\n    int x = 0;\n  "
      "};\n"
      "  using Run = std::function<void(int)>;\n Q_SIGNALS:\n  void told(int);\n private:\n  void hidden();\n  int m_a;\n};\nclass Later;\n"
      "struct C {\n  void four();\n  int x;\n};\n");
  const std::map<std::string, int> expected = {{"A", 5}, {"In", 1}, {"C", 1}};
  EXPECT_EQ(public_methods(code), expected);
}

TEST(ClassSize, IsAtMostTwentyFivePublicMethods) {
  const fs::path root = source_folder();
  const std::map<std::string, int> larger = larger_classes(winnow::test::file_text(root / kList));
  int seen = 0;
  for (const char* folder : {"engine", "app", "ui"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h") continue;
      for (const auto& [name, count] : public_methods(code_of_file(entry.path()))) {
        ++seen;
        const auto known = larger.find(name);
        if (known != larger.end()) {
          EXPECT_EQ(count, known->second) << name << ": write into " << kList << " that it has fewer now; more are too many";
        } else {
          EXPECT_LE(count, kMostMethods) << fs::relative(entry.path(), root).generic_string() << " " << name;
        }
      }
    }
  }
  EXPECT_GT(seen, 500) << "the scan did not see the classes";
}

TEST(ClassSize, TheScanCountsLinesOfPrivateClassesToo) {
  const std::vector<ClassBody> found = class_bodies("class A {\n private:\n  struct In {\n    int x;\n  };\n};\nclass A::Work final {};\n");
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].lines, 6);
  EXPECT_EQ(found[1].name, "Work");
  EXPECT_EQ(found[1].lines, 1);
  EXPECT_EQ(found[2].name, "In");
  EXPECT_EQ(found[2].lines, 3);
}

TEST(ClassSize, IsAtMostThreeHundredLines) {
  const fs::path root = source_folder();
  std::size_t seen = 0;
  for (const char* folder : {"engine", "app", "ui"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cpp") continue;
      const std::string file = fs::relative(entry.path(), root).generic_string();
      for (const ClassBody& body : class_bodies(code_of_file(entry.path()))) {
        ++seen;
        const auto known = kLongerClasses.find(file + " " + body.name);
        EXPECT_LE(body.lines, known == kLongerClasses.end() ? kMostLines : known->second) << file << " " << body.name;
      }
    }
  }
  EXPECT_GT(seen, 1'000U) << "the scan did not see the classes";
}

TEST(ClassSize, AListGrowsByAClassOrByMethods) {
  const std::map<std::string, int> first = larger_classes("A 30\nB 40\n");
  EXPECT_EQ(first.size(), 2U);
  EXPECT_TRUE(grown(first, larger_classes("A 29\nB 40\n")).empty());
  EXPECT_TRUE(grown(first, larger_classes("B 26\n")).empty());
  EXPECT_EQ(grown(first, larger_classes("A 31\nB 40\n")), std::vector<std::string>{"A"});
  EXPECT_EQ(grown(first, larger_classes("A 30\nB 40\nC 26\n")), std::vector<std::string>{"C"});
}

// From every commit that changed it to the next, and to what is here now.
TEST(ClassSize, TheListOfLargerClassesOnlyShrinks) {
  const std::string git = "git -C '" + source_folder() + "' ";
  if (!fs::exists(source_folder() + "/.git")) GTEST_SKIP() << "no git checkout but a source archive";
  const CommandOutput log = output_of(git + "log --reverse --format=%H -- " + kList);
  if (log.status != 0) GTEST_SKIP() << "git does not read this checkout: " << log.text;
  std::map<std::string, int> last;
  std::istringstream commits(log.text);
  for (std::string commit; std::getline(commits, commit);) {
    const CommandOutput file = output_of(git + "show " + commit + ":" + kList);
    if (file.status != 0) continue;  // a commit that a shallow checkout lacks, or that removed the file
    const std::map<std::string, int> listed = larger_classes(file.text);
    EXPECT_TRUE(last.empty() || grown(last, listed).empty()) << "by commit " << commit;
    last = listed;
  }
  const std::map<std::string, int> now = larger_classes(winnow::test::file_text(fs::path(source_folder()) / kList));
  EXPECT_TRUE(last.empty() || grown(last, now).empty()) << "since the last commit that changed the list";
}

}  // namespace
