#include "engine/weights/gguf_header.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace winnow {
namespace {

constexpr std::string_view kMagic = "GGUF";
constexpr std::uint32_t kDefaultAlignment = 32;
constexpr std::int64_t kLeastAlignment = 8;
constexpr std::int64_t kMostAlignment = std::int64_t{1} << 20;

// By number, with those that are not written any more.
constexpr std::array<std::string_view, 42> kTensorTypes = {
    "F32",      "F16",    "Q4_0",  "Q4_1",       "Q4_2",       "Q4_3",       "Q5_0",   "Q5_1",    "Q8_0",  "Q8_1",     "Q2_K",
    "Q3_K",     "Q4_K",   "Q5_K",  "Q6_K",       "Q8_K",       "IQ2_XXS",    "IQ2_XS", "IQ3_XXS", "IQ1_S", "IQ4_NL",   "IQ3_S",
    "IQ2_S",    "IQ4_XS", "I8",    "I16",        "I32",        "I64",        "F64",    "IQ1_M",   "BF16",  "Q4_0_4_4", "Q4_0_4_8",
    "Q4_0_8_8", "TQ1_0",  "TQ2_0", "IQ4_NL_4_4", "IQ4_NL_4_8", "IQ4_NL_8_8", "MXFP4",  "NVFP4",   "Q1_0"};

bool printable(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

static_assert(std::endian::native == std::endian::little, "numbers of GGUF files are read as they are stored");

// A place in the header that moves on as it is read, never beyond the header's limit or the end of the file. Reads ahead by 64 KiB.
// Errors: kDamagedFile where the file ends, kLimitExceeded at the limit.
class GgufCursor {
 public:
  GgufCursor(const GgufBytes& bytes, const std::string& path)
      : bytes_(bytes), path_(path), end_(std::min(bytes.size, kMaxGgufHeaderBytes)) {}

  std::uint64_t position() const noexcept { return position_; }

  template <typename Number>
  Number number() {
    Number number{};
    read(std::as_writable_bytes(std::span(&number, 1)));
    return number;
  }

  // Appends `count` bytes to `target`.
  void append(std::string& target, std::uint64_t count) {
    require_bytes(count);
    const std::size_t before = target.size();
    target.resize(before + static_cast<std::size_t>(count));
    read(std::as_writable_bytes(std::span(target).subspan(before)));
  }

  // Throws unless `count` more bytes are there: before memory is taken for them.
  void require_bytes(std::uint64_t count) const {
    if (count <= end_ - position_) return;
    if (end_ == bytes_.size)
      throw Exception(ErrorCode::kDamagedFile, path_, "the file ends within its header, as an unfinished download does: download it again");
    throw Exception(ErrorCode::kLimitExceeded, path_,
                    "the header is larger than the limit of " + std::to_string(kMaxGgufHeaderBytes) + " bytes");
  }

 private:
  static constexpr std::uint64_t kAheadBytes = std::uint64_t{64} << 10;

  void read(std::span<std::byte> target) {
    require_bytes(target.size());
    while (!target.empty()) {
      if (ahead_.empty()) fill();
      const std::size_t count = std::min(ahead_.size(), target.size());
      std::memcpy(target.data(), ahead_.data(), count);
      target = target.subspan(count);
      ahead_ = ahead_.subspan(count);
      position_ += count;
    }
  }

  void fill() {
    buffer_.resize(static_cast<std::size_t>(std::min(kAheadBytes, end_ - position_)));
    bytes_.read(position_, buffer_);
    ahead_ = buffer_;
  }

  const GgufBytes& bytes_;
  const std::string& path_;
  std::uint64_t end_;
  std::uint64_t position_ = 0;
  std::vector<std::byte> buffer_;
  std::span<const std::byte> ahead_;
};

// The table's entry for one tensor.
struct TensorInfo {
  std::string name;
  std::vector<std::uint64_t> dims{};  // innermost first
  std::uint32_t type = 0;
  std::uint64_t offset = 0;  // from where the data begin
};

class HeaderReader {
 public:
  HeaderReader(const GgufBytes& bytes, const std::string& path) : file_bytes_(bytes.size), path_(path), cursor_(bytes, path) {}

  GgufHeader read() {
    read_version();
    const auto tensor_count = cursor_.number<std::uint64_t>();
    const auto key_count = cursor_.number<std::uint64_t>();
    if (tensor_count > kMaxTensors) limit("more than " + std::to_string(kMaxTensors) + " tensors");
    if (key_count > kMaxGgufKeys) limit("more than " + std::to_string(kMaxGgufKeys) + " keys");
    GgufHeader header{read_metadata(key_count), {}};
    std::vector<TensorInfo> infos;
    for (std::uint64_t i = 0; i < tensor_count; ++i) infos.push_back(read_info());
    place_tensors(infos, header);
    return header;
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const { throw Exception(ErrorCode::kDamagedFile, path_, reason); }
  [[noreturn]] void limit(const std::string& reason) const { throw Exception(ErrorCode::kLimitExceeded, path_, reason); }
  [[noreturn]] void unsupported(const std::string& reason) const { throw Exception(ErrorCode::kUnsupportedFormat, path_, reason); }
  [[noreturn]] void refuse_tensor(const TensorInfo& info, const std::string& reason) const {
    throw Exception(ErrorCode::kDamagedFile, path_ + ": " + info.name, reason);
  }

  void read_version() {
    std::string magic;
    cursor_.append(magic, kMagic.size());
    if (magic != kMagic) refuse("the file does not begin with GGUF");
    const auto version = cursor_.number<std::uint32_t>();
    if (version != 0 && (version & 0xFFFFU) == 0) unsupported("a big-endian GGUF file is not read; take the little-endian one");
    if (version == 1) unsupported("GGUF of version 1 is not read; convert the model anew");
    if (version != 2 && version != 3) unsupported("GGUF of version " + std::to_string(version) + " is not known");
  }

  GgufMetadata read_metadata(std::uint64_t count) {
    GgufMetadata::Values values;
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string key = read_name(kMaxGgufKeyBytes, "key");
      if (values.contains(key)) throw Exception(ErrorCode::kDamagedFile, subject_of(key), "the key occurs twice");
      GgufValue value = read_value(key);
      values.emplace(std::move(key), std::move(value));
    }
    return {path_, std::move(values)};
  }

  std::string subject_of(std::string_view key) const { return GgufMetadata(path_, {}).subject(key); }

  std::string read_name(std::uint64_t most_bytes, const std::string& what) {
    const auto size = cursor_.number<std::uint64_t>();
    if (size > most_bytes) limit("a " + what + " longer than " + std::to_string(most_bytes) + " bytes");
    std::string name;
    cursor_.append(name, size);
    if (!printable(name)) refuse("an unusable " + what);
    return name;
  }

  GgufValue read_value(std::string_view key) {
    GgufValue value{.type = read_type(key)};
    if (value.type == GgufType::kString) {
      append_text(key, value.bytes, false);
    } else if (value.type == GgufType::kArray) {
      value.is_list = true;
      value.type = read_type(key);
      if (value.type == GgufType::kArray) throw Exception(ErrorCode::kUnsupportedFormat, subject_of(key), "lists of lists are not read");
      value.count = cursor_.number<std::uint64_t>();
      read_list(key, value);
    } else {
      cursor_.append(value.bytes, gguf_value_bytes(value.type));
    }
    if (value.type == GgufType::kBool && std::ranges::any_of(value.bytes, [](char c) { return c != 0 && c != 1; })) {
      throw Exception(ErrorCode::kDamagedFile, subject_of(key), "a truth value that is neither 0 nor 1");
    }
    return value;
  }

  GgufType read_type(std::string_view key) {
    const auto number = cursor_.number<std::uint32_t>();
    if (number > static_cast<std::uint32_t>(GgufType::kFloat64)) {
      throw Exception(ErrorCode::kDamagedFile, subject_of(key), "a value of type " + std::to_string(number) + ", which is none");
    }
    return static_cast<GgufType>(number);
  }

  void append_text(std::string_view key, std::string& bytes, bool with_size) {
    const auto size = cursor_.number<std::uint64_t>();
    if (size > kMaxGgufTextBytes) {
      throw Exception(ErrorCode::kLimitExceeded, subject_of(key), "a text longer than " + std::to_string(kMaxGgufTextBytes) + " bytes");
    }
    cursor_.require_bytes(size);
    if (with_size) bytes.append(reinterpret_cast<const char*>(&size), sizeof size);
    cursor_.append(bytes, size);
  }

  void read_list(std::string_view key, GgufValue& value) {
    if (value.count > kMaxGgufListElements - list_elements_) {
      throw Exception(ErrorCode::kLimitExceeded, subject_of(key),
                      "lists of more than " + std::to_string(kMaxGgufListElements) + " elements in all");
    }
    list_elements_ += value.count;
    if (value.type != GgufType::kString) {
      cursor_.append(value.bytes, value.count * gguf_value_bytes(value.type));  // at most 2^22 times 8
      return;
    }
    cursor_.require_bytes(value.count * sizeof(std::uint64_t));
    for (std::uint64_t i = 0; i < value.count; ++i) append_text(key, value.bytes, true);
  }

  TensorInfo read_info() {
    TensorInfo info{.name = read_name(kMaxGgufTensorNameBytes, "tensor name")};
    const auto rank = cursor_.number<std::uint32_t>();
    if (rank > kMaxGgufRank) {
      throw Exception(ErrorCode::kLimitExceeded, path_ + ": " + info.name, "more than " + std::to_string(kMaxGgufRank) + " dimensions");
    }
    for (std::uint32_t i = 0; i < rank; ++i) info.dims.push_back(cursor_.number<std::uint64_t>());
    info.type = cursor_.number<std::uint32_t>();
    info.offset = cursor_.number<std::uint64_t>();
    return info;
  }

  void place_tensors(const std::vector<TensorInfo>& infos, GgufHeader& header) const {
    const auto alignment =
        static_cast<std::uint64_t>(header.metadata.integer("general.alignment", kLeastAlignment, kMostAlignment, kDefaultAlignment));
    if (!std::has_single_bit(alignment)) {
      throw Exception(ErrorCode::kDamagedFile, path_ + ": general.alignment", "it is " + std::to_string(alignment) + ", no power of two");
    }
    const std::uint64_t data = (cursor_.position() + alignment - 1) / alignment * alignment;
    for (const TensorInfo& info : infos) {
      const std::string subject = path_ + ": " + info.name;
      StoredTensor tensor{.type = stored_type_numbered(info.type, subject)};
      const std::uint64_t bytes = stored_bytes_of(info.dims, tensor.type, subject);
      if (info.offset % alignment != 0)
        refuse_tensor(info, "the tensor does not lie on a multiple of " + std::to_string(alignment) + " bytes");
      if (data > file_bytes_ || info.offset > file_bytes_ - data || bytes > file_bytes_ - data - info.offset) {
        refuse_tensor(info, "the file ends before this tensor does, as an unfinished download does: download it again");
      }
      tensor.begin = data + info.offset;
      tensor.end = tensor.begin + bytes;
      tensor.shape.assign(info.dims.rbegin(), info.dims.rend());
      if (!header.tensors.emplace(info.name, std::move(tensor)).second) refuse_tensor(info, "the tensor occurs twice");
    }
    refuse_overlaps(header.tensors);
  }

  void refuse_overlaps(const TensorFile::Tensors& tensors) const {
    std::vector<std::pair<const std::string*, const StoredTensor*>> order;
    order.reserve(tensors.size());
    for (const auto& [name, tensor] : tensors) order.emplace_back(&name, &tensor);
    std::ranges::sort(order, {}, [](const auto& entry) { return entry.second->begin; });
    for (std::size_t i = 1; i < order.size(); ++i) {
      if (order[i].second->begin < order[i - 1].second->end) {
        throw Exception(ErrorCode::kDamagedFile, path_ + ": " + *order[i].first, "the tensor overlaps another one");
      }
    }
  }

  std::uint64_t file_bytes_;
  const std::string& path_;
  GgufCursor cursor_;
  std::uint64_t list_elements_ = 0;
};

}  // namespace

GgufHeader read_gguf_header(const GgufBytes& bytes, const std::string& path) { return HeaderReader(bytes, path).read(); }

StoredType stored_type_numbered(std::uint32_t number, const std::string& subject) {
  const bool known = number < kTensorTypes.size();
  if (const auto type = known ? stored_type_named(kTensorTypes[number]) : std::nullopt) return *type;
  throw Exception(ErrorCode::kUnsupportedFormat, subject,
                  known ? "tensors of type " + std::string(kTensorTypes[number]) + " are not read"
                        : "a tensor of type " + std::to_string(number) + ", which this program does not know");
}

std::uint64_t stored_bytes_of(std::span<const std::uint64_t> dims, StoredType type, const std::string& subject) {
  const auto refuse = [&](const std::string& reason) { throw Exception(ErrorCode::kDamagedFile, subject, reason); };
  const StoredBlock block = stored_block(type);
  const std::uint64_t row = dims.empty() ? 1 : dims.front();
  if (row % block.elements != 0)
    refuse("rows of " + std::to_string(row) + " elements are not whole blocks of " + std::string(stored_type_name(type)));
  std::uint64_t bytes = block.bytes;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) refuse("a dimension is 0");
    const std::uint64_t factor = i == 0 ? dims[i] / block.elements : dims[i];
    // Elements are at most 4 times the bytes; offsets and shapes are int64 where they are used.
    if (__builtin_mul_overflow(bytes, factor, &bytes) || bytes > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / 4)
      refuse("the shape has more elements than fit 64 bits");
  }
  return bytes;
}

}  // namespace winnow
