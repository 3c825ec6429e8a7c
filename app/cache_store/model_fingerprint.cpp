#include "app/cache_store/model_fingerprint.h"

#include <QCryptographicHash>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "engine/base/error.h"

namespace winnow::app {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kTailBytes = 8U << 20;

void addTail(QCryptographicHash& hash, const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw Exception(ErrorCode::kFileUnreadable, file.string(), "cannot be opened");
  const std::uintmax_t size = fs::file_size(file);
  const std::uintmax_t tail = std::min(size, kTailBytes);
  std::vector<char> bytes(tail);
  stream.seekg(static_cast<std::streamoff>(size - tail));
  stream.read(bytes.data(), static_cast<std::streamsize>(tail));
  if (!stream) throw Exception(ErrorCode::kFileUnreadable, file.string(), "cannot be read");
  hash.addData(QByteArray::fromStdString(file.filename().string() + ":" + std::to_string(size) + ":"));
  hash.addData(QByteArrayView(bytes.data(), static_cast<qsizetype>(bytes.size())));
}

}  // namespace

std::string modelFingerprint(const std::string& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.ends_with(".safetensors") || name == "config.json" || name == "generation_config.json" || name == "winnow.json")
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  QCryptographicHash hash(QCryptographicHash::Sha256);
  for (const fs::path& file : files) addTail(hash, file);
  return hash.result().toHex().toStdString();
}

}  // namespace winnow::app
