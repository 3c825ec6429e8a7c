#include "app/engine/cache_store/model_fingerprint.h"

#include <QCryptographicHash>
#include <vector>

#include "engine/api/stored_files.h"
#include "engine/base/file_bytes.h"

namespace winnow::app {
namespace {

constexpr std::uint64_t kWholeBytes = std::uint64_t{32} << 20;
constexpr std::uint64_t kHeaderBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kBlockBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kBlocks = 128;  // the last of them is the end of the file

void addBytes(QCryptographicHash& hash, const RegularFile& file, std::uint64_t first, std::uint64_t count) {
  std::vector<std::byte> bytes(count);
  file.read_at(first, bytes);
  hash.addData(QByteArrayView(reinterpret_cast<const char*>(bytes.data()), static_cast<qsizetype>(bytes.size())));
}

void addFile(QCryptographicHash& hash, const std::string& name, const RegularFile& file) {
  const std::uint64_t size = file.size_bytes();
  hash.addData(QByteArray::fromStdString(name + ":" + std::to_string(size) + ":"));
  if (size <= kWholeBytes) return addBytes(hash, file, 0, size);
  addBytes(hash, file, 0, kHeaderBytes);
  const std::uint64_t room = size - kHeaderBytes - kBlockBytes;
  for (std::uint64_t block = 1; block <= kBlocks; ++block)
    addBytes(hash, file, kHeaderBytes + room / kBlocks * block + room % kBlocks * block / kBlocks, kBlockBytes);
}

}  // namespace

std::string modelFingerprint(const std::string& model, const std::string& weights, const std::string& projector) {
  QCryptographicHash hash(QCryptographicHash::Sha256);
  hash.addData(QByteArray::fromStdString("weights " + weights + ";"));
  for (const auto& [name, file] : files_of_model(model, projector)) addFile(hash, name, file);
  return hash.result().toHex().toStdString();
}

}  // namespace winnow::app
