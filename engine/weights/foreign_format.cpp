#include "engine/weights/foreign_format.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "engine/base/error.h"
#include "engine/base/known_format.h"

namespace winnow {
namespace {

constexpr std::string_view kPickleAdvice = "PyTorch pickle weights can run code and are not read; convert the model to safetensors";
constexpr std::string_view kOnnxAdvice = "ONNX weights are not read; take the model's safetensors folder or convert to safetensors";
constexpr std::string_view kTensorFlowAdvice = "TensorFlow weights are not read; convert the model to safetensors";

struct Ending {
  std::string_view text;
  ErrorCode code;
  std::string_view reason;
};

constexpr std::string_view kChooseTheGguf = "a GGUF file is a model by itself: choose the file, not a folder with a config.json";
constexpr std::string_view kUnfinished = "this is an unfinished download: let the program that fetches it end, or download the file again";

constexpr auto kEndings = std::to_array<Ending>({
    {".bin", ErrorCode::kUnsupportedFormat, kPickleAdvice},
    {".pt", ErrorCode::kUnsupportedFormat, kPickleAdvice},
    {".pth", ErrorCode::kUnsupportedFormat, kPickleAdvice},
    {".ckpt", ErrorCode::kUnsupportedFormat, kPickleAdvice},
    {".pkl", ErrorCode::kUnsupportedFormat, kPickleAdvice},
    {".onnx", ErrorCode::kUnsupportedFormat, kOnnxAdvice},
    {".h5", ErrorCode::kUnsupportedFormat, kTensorFlowAdvice},
    {".msgpack", ErrorCode::kUnsupportedFormat, "Flax weights are not read; convert the model to safetensors"},
    {".incomplete", ErrorCode::kNotFetched, kUnfinished},
    {".part", ErrorCode::kNotFetched, kUnfinished},
    {".partial", ErrorCode::kNotFetched, kUnfinished},
    {".crdownload", ErrorCode::kNotFetched, kUnfinished},
    {".aria2", ErrorCode::kNotFetched, kUnfinished},
});

// A folder with more entries is searched no further: this only finds a better sentence for an error.
constexpr int kMaxEntries = 100'000;

Error refusal(const std::string& path, const KnownFormat& format) {
  const std::string what = std::string("this is ") + format.name;
  switch (format.kind) {
    case FormatKind::kArchive: return {ErrorCode::kArchive, path, what + ": unpack it and choose the GGUF file or the model folder in it"};
    case FormatKind::kPickle: return {ErrorCode::kUnsupportedFormat, path, what + "; " + std::string(kPickleAdvice)};
    case FormatKind::kOldGguf:
      return {ErrorCode::kUnsupportedFormat, path, what + ", which is not read: take the model as GGUF, or convert it anew"};
    case FormatKind::kGguf: return {ErrorCode::kUnsupportedFormat, path, std::string(kChooseTheGguf)};
    case FormatKind::kWeights:
      return {ErrorCode::kUnsupportedFormat, path, what + ", which is not read: take the model as safetensors or GGUF"};
    case FormatKind::kPointer:
    case FormatKind::kPage:
    case FormatKind::kPicture:
    case FormatKind::kMedia:
    case FormatKind::kDocument:
    case FormatKind::kPaper:
    case FormatKind::kProgram: break;
  }
  return {ErrorCode::kNoModel, path, what + ", not a model: a model is a GGUF file or a folder with a config.json"};
}

// True for letters that any encoding has: a header's length is made of other bytes.
bool is_plain_text(std::string_view head) {
  return std::ranges::all_of(head, [](unsigned char c) { return (c >= 0x20 && c < 0x7F) || c == '\n' || c == '\r' || c == '\t'; });
}

}  // namespace

void refuse_foreign_content(const RegularFile& file) {
  std::array<std::byte, kFormatHeadBytes> room{};
  const std::span<std::byte> head(room.data(), std::min<std::size_t>(room.size(), file.size_bytes()));
  file.read_at(0, head);
  if (const std::optional<Error> error = unfetched(head, file.path())) throw Exception(*error);
  if (const KnownFormat* format = known_format(head)) throw Exception(refusal(file.path(), *format));
  refuse_foreign_name(file.path());
  const bool named_as_weights = file.path().ends_with(".gguf") || file.path().ends_with(".safetensors");
  if (named_as_weights && is_plain_text({reinterpret_cast<const char*>(head.data()), head.size()})) {
    throw Exception(ErrorCode::kNotFetched, file.path(),
                    "this is a text, not weights: where a server's answer was saved in place of the file, download it again");
  }
}

void refuse_foreign_name(const std::string& path) {
  const auto* found = std::ranges::find_if(kEndings, [&](const Ending& each) { return path.ends_with(each.text); });
  if (found != kEndings.end()) throw Exception(found->code, path, std::string(found->reason));
}

void refuse_foreign_folder(const std::string& folder) {
  std::error_code error;
  int seen = 0;
  for (auto entry = std::filesystem::directory_iterator(folder, error);
       !error && entry != std::filesystem::directory_iterator() && seen < kMaxEntries; entry.increment(error), ++seen) {
    const std::string path = folder + "/" + entry->path().filename().string();
    if (path.ends_with(".gguf")) throw Exception(ErrorCode::kUnsupportedFormat, path, std::string(kChooseTheGguf));
    refuse_foreign_name(path);
  }
}

}  // namespace winnow
