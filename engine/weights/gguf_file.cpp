#include "engine/weights/gguf_file.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/weights/foreign_format.h"
#include "engine/weights/gguf_header.h"

namespace winnow {
namespace {

constexpr std::int64_t kMostParts = 1024;
constexpr std::size_t kNumberDigits = 5;

// <stem>-00002-of-00003.gguf
struct PartName {
  std::string stem;  // with the folders before it
  std::int64_t number = 0;
  std::int64_t count = 0;

  std::string path(std::int64_t part) const { return stem + "-" + five_digits(part) + "-of-" + five_digits(count) + ".gguf"; }

 private:
  static std::string five_digits(std::int64_t number) {
    const std::string digits = std::to_string(number);
    return std::string(kNumberDigits - std::min(kNumberDigits, digits.size()), '0') + digits;
  }
};

std::optional<std::int64_t> number_of(std::string_view digits) {
  std::int64_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  return number;
}

std::optional<PartName> part_name(const std::string& path) {
  constexpr std::string_view kPattern = "-00001-of-00003.gguf";
  if (path.size() <= kPattern.size()) return std::nullopt;
  const std::string_view tail = std::string_view(path).substr(path.size() - kPattern.size());
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-" || !tail.ends_with(".gguf")) return std::nullopt;
  const auto number = number_of(tail.substr(1, kNumberDigits));
  const auto count = number_of(tail.substr(10, kNumberDigits));
  if (!number || !count) return std::nullopt;
  return PartName{path.substr(0, path.size() - kPattern.size()), *number, *count};
}

std::shared_ptr<const GgufFile> open_part(const PartName& name, std::int64_t part) {
  const std::string path = name.path(part);
  try {
    return std::make_shared<GgufFile>(path);
  } catch (const Exception& exception) {
    if (exception.error().code != ErrorCode::kFileNotFound) throw;
    throw Exception(ErrorCode::kModelFileMissing, path,
                    "part " + std::to_string(part) + " of " + std::to_string(name.count) + " is missing");
  }
}

// The part says of itself what its name says.
void check_part(const GgufFile& file, const PartName& name, std::int64_t part) {
  const GgufMetadata& metadata = file.metadata();
  const std::int64_t index = metadata.integer("split.no", 0, kMostParts - 1);
  const std::int64_t count = metadata.integer("split.count", 0, kMostParts);
  if (count != name.count || index != part - 1) {
    throw Exception(ErrorCode::kDamagedFile, file.path(),
                    "its name says part " + std::to_string(part) + " of " + std::to_string(name.count) + ", its metadata part " +
                        std::to_string(index + 1) + " of " + std::to_string(count));
  }
}

void check_tensors(const GgufFiles& model) {
  std::set<std::string_view> names;
  for (const auto& file : model.tensors.files) {
    for (const auto& [name, tensor] : file->tensors()) {
      if (!names.insert(name).second)
        throw Exception(ErrorCode::kDamagedFile, file->path() + ": " + name, "another part has this tensor too");
      if (names.size() > kMaxTensors) {
        throw Exception(ErrorCode::kLimitExceeded, model.tensors.path, "more than " + std::to_string(kMaxTensors) + " tensors");
      }
    }
  }
  const std::int64_t wanted = model.first->metadata().integer("split.tensors.count", 0, kMaxTensors);
  if (std::ssize(names) != wanted) {
    throw Exception(ErrorCode::kDamagedFile, model.tensors.path,
                    "the parts have " + std::to_string(names.size()) + " tensors where the first says " + std::to_string(wanted));
  }
}

}  // namespace

bool begins_as_gguf(const RegularFile& file) {
  std::array<char, 4> magic{};
  if (file.size_bytes() < magic.size()) return false;
  file.read_at(0, std::as_writable_bytes(std::span(magic)));
  return std::string_view(magic.data(), magic.size()) == "GGUF";
}

GgufFile::GgufFile(RegularFile file) : file_(std::move(file)), mapping_(file_) {
  if (!begins_as_gguf(file_)) refuse_foreign_content(file_);  // what says nothing of itself is refused by the header
  const auto read = [this](std::uint64_t offset, std::span<std::byte> target) { file_.read_at(offset, target); };
  GgufHeader header = read_gguf_header({file_.size_bytes(), read}, file_.path());
  metadata_ = std::move(header.metadata);
  tensors_ = std::move(header.tensors);
}

void GgufFile::read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const {
  require(offset <= tensor.bytes() && target.size() <= tensor.bytes() - offset, "a read beyond the end of a tensor");
  file_.read_at(tensor.begin + offset, target);
}

std::span<const std::byte> GgufFile::view(const StoredTensor& tensor) const { return mapping_.bytes(file_, tensor.begin, tensor.bytes()); }

GgufFiles open_gguf_files(const std::string& path) {
  auto chosen = std::make_shared<const GgufFile>(path);
  const std::int64_t count = chosen->metadata().integer("split.count", 0, kMostParts, 1);
  const std::optional<PartName> name = part_name(path);
  if (count <= 1) return {chosen, {path, {chosen}}};
  if (!name) throw Exception(ErrorCode::kDamagedFile, path, "a part of a split model under a name that does not say which part it is");
  check_part(*chosen, *name, name->number);
  GgufFiles model{nullptr, {path, {}}};
  for (std::int64_t part = 1; part <= name->count; ++part) {
    auto file = part == name->number ? chosen : open_part(*name, part);
    check_part(*file, *name, part);
    if (part == 1) model.first = file;
    model.tensors.files.push_back(std::move(file));
  }
  check_tensors(model);
  return model;
}

}  // namespace winnow
