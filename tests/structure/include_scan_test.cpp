// Scans every #include of our sources and fails on an upward or forbidden one (ARCHITECTURE.md, layers). The failure names file and line.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

struct Include {
  std::string file;  // path from the source root, '/' separators
  int line = 0;
  std::string target;  // what stands between the quotes or angle brackets
};

bool starts_with_any(std::string_view text, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& prefix) { return text.starts_with(prefix); });
}

std::optional<std::string> include_target(const std::string& line) {
  const std::size_t hash = line.find_first_not_of(" \t");
  if (hash == std::string::npos || line[hash] != '#') return std::nullopt;
  const std::size_t word = line.find_first_not_of(" \t", hash + 1);
  if (word == std::string::npos || line.compare(word, 7, "include") != 0) return std::nullopt;
  const std::size_t open = line.find_first_of("<\"", word + 7);
  if (open == std::string::npos) return std::nullopt;
  const std::size_t close = line.find(line[open] == '<' ? '>' : '"', open + 1);
  if (close == std::string::npos) return std::nullopt;
  return line.substr(open + 1, close - open - 1);
}

std::vector<Include> scan(const std::vector<std::string>& folders) {
  const fs::path root = source_folder();
  std::vector<Include> includes;
  for (const std::string& folder : folders) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
      std::ifstream stream(entry.path());
      std::string line;
      for (int number = 1; std::getline(stream, line); ++number) {
        if (const auto target = include_target(line)) {
          includes.push_back({fs::relative(entry.path(), root).generic_string(), number, *target});
        }
      }
    }
  }
  return includes;
}

const std::vector<Include>& product_includes() {
  static const std::vector<Include> includes = scan({"app", "engine", "kernels", "ui"});
  return includes;
}

// "engine/text/x.cpp" -> "engine/text"; with depth 3 "app/media/files/x.cpp" -> "app/media/files".
std::string folder_of(const std::string& path, int depth = 2) {
  std::size_t end = path.find('/');
  for (int i = 1; i < depth && end != std::string::npos; ++i) {
    const std::size_t next = path.find('/', end + 1);
    if (next == std::string::npos) break;
    end = next;
  }
  return path.substr(0, end);
}

bool is_program(const std::string& file) { return file == "app/programs/main.cpp" || file.starts_with("app/programs/bootstrap/"); }

// What each layer may include of our own tree (ARCHITECTURE.md, layers). The program (app/programs/main.cpp, app/programs/bootstrap) sees
// every layer.
bool layer_allows(const Include& include) {
  const std::string& file = include.file;
  if (is_program(file)) return true;
  if (file.starts_with("kernels/")) return starts_with_any(include.target, {"kernels/"});
  if (file.starts_with("engine/")) return starts_with_any(include.target, {"engine/", "kernels/api/"});
  // Plain data that engine/api's headers are made of counts as its face.
  const std::vector<std::string> public_engine = {"engine/api/",
                                                  "engine/messages/",
                                                  "engine/base/",
                                                  "engine/media/",
                                                  "engine/metrics/",
                                                  "engine/recipes/recipe_spec.h",
                                                  "engine/recipes/method_info.h",
                                                  "engine/models/model_info.h",
                                                  "engine/sampling/sampling.h"};
  if (starts_with_any(include.target, public_engine)) return true;
  if (file.starts_with("app/")) return include.target.starts_with("app/");
  return starts_with_any(include.target, {"ui/", "app/"});
}

bool is_ours(const std::string& target) { return starts_with_any(target, {"app/", "engine/", "kernels/", "ui/", "tests/"}); }

std::string describe(const Include& include) { return include.file + ":" + std::to_string(include.line) + " includes " + include.target; }

TEST(IncludeScan, FindsTheTree) { EXPECT_GT(product_includes().size(), 100U) << "the scan did not see the sources"; }

TEST(IncludeScan, NoLayerIncludesUpwards) {
  for (const Include& include : product_includes()) {
    if (is_ours(include.target)) {
      EXPECT_TRUE(layer_allows(include)) << describe(include);
    }
  }
}

// Folders of one layer by rank: a folder may include folders of a lower rank and itself; those of one rank do not see each other.
void expect_order(const std::string& layer, const std::map<std::string, int>& rank, int depth = 2) {
  for (const Include& include : product_includes()) {
    if (!include.file.starts_with(layer) || !include.target.starts_with(layer) || is_program(include.file)) continue;
    const std::string from = folder_of(include.file, depth);
    const std::string to = folder_of(include.target, depth);
    ASSERT_TRUE(rank.contains(from)) << "unranked folder: " << describe(include);
    ASSERT_TRUE(rank.contains(to)) << "unranked folder: " << describe(include);
    EXPECT_TRUE(from == to || rank.at(to) < rank.at(from)) << describe(include);
  }
}

TEST(IncludeScan, StagesOfGenerationFollowTheirOrder) {
  const std::string generation = "engine/generation/";
  const std::map<std::string, int> rank = {{"context", 0}, {"conversation", 1}, {"segment", 2}, {"prefill", 3},
                                           {"reading", 4}, {"answer", 5},       {"requests", 6}};
  for (const Include& include : product_includes()) {
    if (!include.file.starts_with(generation) || !include.target.starts_with(generation)) continue;
    const std::string from = folder_of(include.file.substr(generation.size() - 1)).substr(1);
    const std::string to = folder_of(include.target.substr(generation.size() - 1)).substr(1);
    ASSERT_TRUE(rank.contains(from) && rank.contains(to)) << "no stage: " << describe(include);
    EXPECT_LE(rank.at(to), rank.at(from)) << describe(include);
  }
}

TEST(IncludeScan, EngineFoldersFollowTheirOrder) {
  const std::map<std::string, int> rank = {
      {"engine/base", 0},       {"engine/media", 1},       {"engine/text", 1},     {"engine/sampling", 1},   {"engine/metrics", 1},
      {"engine/weights", 2},    {"engine/model_files", 3}, {"engine/kv_cache", 2}, {"engine/layers", 3},     {"engine/vision", 4},
      {"engine/models", 5},     {"engine/speech", 6},      {"engine/recipes", 3},  {"engine/messages", 6},   {"engine/compression", 5},
      {"engine/generation", 7}, {"engine/api", 8},         {"engine/device", 1},   {"engine/cuda_plugin", 8}};
  expect_order("engine/", rank);
}

TEST(IncludeScan, AppHousesFollowTheirOrder) {
  expect_order("app/", {{"app/ground", 0},
                        {"app/media", 1},
                        {"app/library", 1},
                        {"app/chats", 1},
                        {"app/engine", 2},
                        {"app/words", 3},
                        {"app/programs", 4}});
}

TEST(IncludeScan, RoomsOfAppFollowTheirOrder) {
  expect_order("app/", {{"app/ground/threads", -1},    {"app/ground/process", 0},     {"app/ground/notices", 0},
                        {"app/ground/diagnostics", 0}, {"app/ground/recipes", 1},     {"app/ground/resources", 1},
                        {"app/ground/worker", 1},      {"app/media/files", 1},        {"app/media/live", 1},
                        {"app/media/papers", 2},       {"app/media/process", 3},      {"app/library/network", 1},
                        {"app/library/downloads", 2},  {"app/library/hub", 3},        {"app/library/gpu", 3},
                        {"app/library/models", 4},     {"app/chats/kept_map", 1},     {"app/chats/chat", 2},
                        {"app/chats/settings", 3},     {"app/engine/process", 2},     {"app/engine/remote", 3},
                        {"app/engine/host", 3},        {"app/engine/cache_store", 3}, {"app/engine/program", 4},
                        {"app/engine/source", 4},      {"app/engine/video_shelf", 4}, {"app/words", 5},
                        {"app/programs/server", 6},    {"app/programs/cli", 7}},
               3);
}

TEST(IncludeScan, UiFoldersFollowTheirOrder) {
  expect_order("ui/", {{"ui/theme", 0},
                       {"ui/recipes", 2},
                       {"ui/chat_view", 3},
                       {"ui/composer", 3},
                       {"ui/watch", 3},
                       {"ui/models", 4},
                       {"ui/inspector", 5},
                       {"ui/compare", 6},
                       {"ui/contents", 7},
                       {"ui/video_shelf", 7},
                       {"ui/kept_map", 7},
                       {"ui/model_library", 8},
                       {"ui/settings_view", 8},
                       {"ui/shell", 9}});
}

TEST(IncludeScan, RoomsOfTheShellFollowTheirOrder) {
  expect_order("ui/shell/",
               {{"ui/shell/ground", 0}, {"ui/shell/model", 1}, {"ui/shell/chat", 2}, {"ui/shell/turns", 3}, {"ui/shell/window", 4}}, 3);
}

TEST(IncludeScan, LibrariesStayInTheirFolders) {
  struct Rule {
    const char* what;
    std::vector<std::string> headers;
    std::vector<std::string> allowed;
  };
  const std::vector<Rule> rules = {
      {"torch", {"ATen/", "c10/", "torch/"}, {"engine/"}},
      {"CUDA", {"cuda", "cublas", "nvrtc"}, {"kernels/cuda/", "engine/cuda_plugin/"}},
      {"Highway", {"hwy/"}, {"kernels/"}},
      {"FFmpeg", {"libavformat/", "libavcodec/", "libavutil/", "libswscale/", "libswresample/"}, {"app/media/files/"}},
      {"OpenCV", {"opencv2/"}, {"app/media/files/"}},
      {"SQLite", {"sqlite3.h"}, {"app/chats/chat/", "app/ground/diagnostics/"}},
      {"md4c", {"md4c.h"}, {"ui/chat_view/"}},
      {"PCRE2", {"pcre2.h"}, {"engine/text/"}},
      {"zlib", {"zlib.h"}, {"engine/speech/", "app/library/network/"}},
      {"libzip", {"zip.h"}, {"app/library/downloads/", "app/media/papers/"}},
      {"libxml2", {"libxml/"}, {"app/media/papers/"}},
      {"Qt PDF", {"QPdfDocument", "QPdfSelection", "QtPdf/"}, {"app/media/papers/"}},
      {"Qt Network",
       {"QNetwork", "QSsl", "QTcp", "QHostAddress", "QtNetwork/"},
       {"app/library/downloads/", "app/library/network/", "app/engine/remote/", "app/programs/server/public_address",
        "app/programs/server/remote_media"}},
  };
  for (const Include& include : product_includes()) {
    for (const Rule& rule : rules) {
      if (!starts_with_any(include.target, rule.headers)) continue;
      EXPECT_TRUE(starts_with_any(include.file, rule.allowed)) << rule.what << ": " << describe(include);
    }
    if (starts_with_any(include.target, {"ATen/", "c10/", "torch/"})) {
      EXPECT_FALSE(starts_with_any(include.file, {"engine/api/", "engine/base/", "engine/media/", "engine/text/", "engine/metrics/"}) &&
                   include.file.ends_with(".h"))
          << "torch in a public header: " << describe(include);
    }
  }
}

TEST(IncludeScan, QtStaysAboveTheEngineAndWidgetsInUi) {
  const auto is_qt = [](const std::string& target) {
    return (target.size() > 1 && target[0] == 'Q' && std::isupper(static_cast<unsigned char>(target[1])) != 0) || target.starts_with("Qt");
  };
  const std::vector<std::string> widgets_and_gui = {"QWidget",     "QApplication", "QPainter", "QMainWindow",    "QLabel",
                                                    "QPushButton", "QDialog",      "QMenu",    "QDockWidget",    "QTextEdit",
                                                    "QPixmap",     "QIcon",        "QFont",    "QColor",         "QtWidgets/",
                                                    "QtGui/",      "QtQuick/",     "QtQml/",   "QGuiApplication"};
  for (const Include& include : product_includes()) {
    if (!is_qt(include.target)) continue;
    EXPECT_TRUE(starts_with_any(include.file, {"app/", "ui/"})) << describe(include);
    if (include.file.starts_with("app/") && !is_program(include.file)) {
      EXPECT_FALSE(starts_with_any(include.target, widgets_and_gui)) << describe(include);
      const bool pictures = starts_with_any(include.file, {"app/media/files/", "app/media/papers/"});
      EXPECT_FALSE(include.target == "QImage" && !pictures) << describe(include);
    }
  }
}

TEST(IncludeScan, KernelHeadersKnowNoFramework) {
  for (const Include& include : product_includes()) {
    if (!include.file.starts_with("kernels/")) continue;
    EXPECT_FALSE(starts_with_any(include.target, {"ATen/", "c10/", "torch/", "engine/", "nlohmann/"})) << describe(include);
  }
}

TEST(IncludeScan, SourcesUseNoForbiddenFacility) {
  // std::regex overflows the stack on long input; torch::load and pickle run code from files.
  const std::array<std::string, 4> forbidden = {std::string("std::") + "regex", std::string("torch::") + "load",
                                                std::string("torch::jit::") + "load", std::string("pickle_") + "load"};
  const fs::path root = source_folder();
  for (const char* folder : {"app", "engine", "kernels", "ui"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu") continue;
      std::ifstream stream(entry.path());
      std::string line;
      for (int number = 1; std::getline(stream, line); ++number) {
        const std::string code = line.substr(0, line.find("//"));
        for (const std::string& word : forbidden) {
          EXPECT_EQ(code.find(word), std::string::npos) << entry.path() << ":" << number << " uses " << word;
        }
      }
    }
  }
}

}  // namespace
