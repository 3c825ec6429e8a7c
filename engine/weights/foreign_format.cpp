#include "engine/weights/foreign_format.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::string_view kPickleAdvice = "PyTorch pickle weights can run code and are not read; convert the model to safetensors";

struct Extension {
  std::string_view ending;
  std::string_view reason;
};

constexpr std::array<Extension, 9> kExtensions = {{
    {".bin", kPickleAdvice},
    {".pt", kPickleAdvice},
    {".pth", kPickleAdvice},
    {".ckpt", kPickleAdvice},
    {".pkl", kPickleAdvice},
    {".gguf", "a GGUF file is a model by itself: choose the file, not a folder with a config.json"},
    {".onnx", "ONNX weights are not read; take the model's safetensors folder or convert to safetensors"},
    {".h5", "TensorFlow weights are not read; convert the model to safetensors"},
    {".msgpack", "Flax weights are not read; convert the model to safetensors"},
}};

// A folder with more entries is searched no further: this only finds a better sentence for an error.
constexpr int kMaxEntries = 100'000;

}  // namespace

void refuse_foreign_content(const RegularFile& file) {
  std::array<char, 4> magic{};
  if (file.size_bytes() < magic.size()) return;
  file.read_at(0, std::as_writable_bytes(std::span(magic)));
  const std::string_view start(magic.data(), magic.size());
  const bool pickle = magic[0] == '\x80' && magic[1] >= 2 && magic[1] <= 5;
  std::string_view reason;
  if (pickle || start == "PK\x03\x04") reason = kPickleAdvice;
  if (start == "GGUF") reason = kExtensions[5].reason;
  if (start == "\x89HDF") reason = kExtensions[7].reason;
  if (!reason.empty()) throw Exception(ErrorCode::kUnsupportedFormat, file.path(), std::string(reason));
}

void refuse_foreign_name(const std::string& path) {
  const auto* found = std::ranges::find_if(kExtensions, [&](const Extension& e) { return path.ends_with(e.ending); });
  if (found != kExtensions.end()) throw Exception(ErrorCode::kUnsupportedFormat, path, std::string(found->reason));
}

void refuse_foreign_folder(const std::string& folder) {
  std::error_code error;
  int seen = 0;
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator() && seen < kMaxEntries; entry.increment(error), ++seen) {
    refuse_foreign_name(folder + "/" + entry->path().filename().string());
  }
}

}  // namespace winnow
