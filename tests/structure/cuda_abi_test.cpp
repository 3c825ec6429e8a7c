// Program and CUDA plug-in may be of different builds: the version in engine/device/cuda_plugin_abi.h is what tells them apart. It is
// raised by hand, which was forgotten ten times of sixteen; here what it covers is hashed, so that it cannot change without it.
#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "engine/base/fnv.h"
#include "tests/structure/code_text.h"
#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

// Both change together.
constexpr int kVersion = 10;
constexpr std::uint64_t kHash = 3788579588506667251ULL;

const std::string kTable = "engine/device/cuda_plugin_abi.h";
const std::string kConstant = "kCudaPluginAbi = ";

std::string text_of(const std::string& path) {
  std::ifstream stream(fs::path(source_folder()) / path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// The file and all of ours that it includes, by path.
void add_included(const std::string& path, std::set<std::string>& files) {
  if (!files.insert(path).second) return;
  std::istringstream lines(text_of(path));
  const std::string include = "#include \"";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(include)) add_included(line.substr(include.size(), line.find('"', include.size()) - include.size()), files);
  }
}

// Code without comments, layout and the version itself: what the two sides have to agree on.
std::string agreed_on(const std::string& path) {
  std::string code = code_of(text_of(path));
  if (const std::size_t at = code.find(kConstant); at != std::string::npos) code.erase(at, code.find(';', at) - at);
  std::erase_if(code, [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
  return code;
}

TEST(CudaAbi, AChangeOfWhatItCoversTakesANewVersion) {
  std::set<std::string> files;
  add_included(kTable, files);
  ASSERT_GT(files.size(), 15U) << "the scan did not see the argument structures";
  std::uint64_t hash = winnow::kFnvStart;
  for (const std::string& file : files) {
    const std::string code = file + agreed_on(file);
    hash = winnow::fnv1a(std::as_bytes(std::span(code)), hash);
  }
  const std::string table = text_of(kTable);
  const std::size_t at = table.find(kConstant);
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(std::stoi(table.substr(at + kConstant.size())), kVersion) << "write the version of " << kTable << " here, with the new hash";
  EXPECT_EQ(hash, kHash) << "what program and CUDA plug-in say to each other has changed: raise kCudaPluginAbi in " << kTable
                         << ", and write both here: kVersion and kHash = " << hash << "ULL";
}

}  // namespace
