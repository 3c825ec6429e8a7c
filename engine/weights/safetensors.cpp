#include "engine/weights/safetensors.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/json_document.h"
#include "engine/weights/foreign_format.h"

namespace winnow {
namespace {

constexpr std::uint64_t kLengthBytes = 8;  // little-endian header length before the header
constexpr std::size_t kMaxMetadataEntries = 10'000;

using TensorTable = TensorFile::Tensors;

// {"__metadata__": {string: string}, name: {"dtype": string, "shape": [n...], "data_offsets": [begin, end]}, ...} and nothing else.
class HeaderEvents : public nlohmann::json_sax<Json> {
 public:
  HeaderEvents(TensorTable& tensors, const std::string& path) : tensors_(tensors), path_(path) {}

  bool null() override { unexpected(); }
  bool boolean(bool) override { unexpected(); }
  bool binary(binary_t&) override { unexpected(); }
  bool number_integer(number_integer_t) override { refuse("a negative number in shape or data_offsets"); }
  bool number_float(number_float_t, const string_t&) override { refuse("a number that is not a whole number of 64 bits"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (state_ == State::kShape) {
      if (tensor_.shape.size() == kMaxTensorRank) limit("more than " + std::to_string(kMaxTensorRank) + " dimensions");
      if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) limit("a dimension larger than 2^63 - 1");
      tensor_.shape.push_back(static_cast<std::int64_t>(value));
    } else if (state_ == State::kOffsets) {
      if (offsets_seen_ == 2) refuse("data_offsets has more than two numbers");
      (offsets_seen_ == 0 ? tensor_.begin : tensor_.end) = value;
      ++offsets_seen_;
    } else {
      unexpected();
    }
    return true;
  }

  bool string(string_t& value) override {
    if (state_ == State::kMetadata) return true;
    if (state_ != State::kTensor || field_ != "dtype") unexpected();
    const std::optional<StoredType> type = stored_type_named(value);
    if (!type || stored_block(*type).elements != 1)
      throw Exception(ErrorCode::kUnsupportedFormat, subject(), "an element type that this program does not know");
    tensor_.type = *type;
    has_type_ = true;
    return true;
  }

  bool key(string_t& name) override {
    switch (state_) {
      case State::kTop:
        if (name == "__metadata__") {
          if (std::exchange(metadata_seen_, true)) refuse("__metadata__ occurs twice");
          in_metadata_ = true;
        } else {
          start_tensor(name);
        }
        return true;
      case State::kMetadata:
        if (metadata_keys_.size() == kMaxMetadataEntries) limit("more than " + std::to_string(kMaxMetadataEntries) + " metadata entries");
        if (!metadata_keys_.insert(std::move(name)).second) refuse("a metadata key occurs twice");
        return true;
      case State::kTensor:
        if (name != "dtype" && name != "shape" && name != "data_offsets") refuse("a field that safetensors does not have");
        if ((name == "dtype" && has_type_) || (name == "shape" && has_shape_) || (name == "data_offsets" && has_offsets_)) {
          refuse("the field " + name + " occurs twice");
        }
        field_ = std::move(name);
        return true;
      default: unexpected();
    }
  }

  bool start_object(std::size_t) override {
    if (state_ == State::kStart) {
      state_ = State::kTop;
    } else if (state_ == State::kTop) {
      state_ = std::exchange(in_metadata_, false) ? State::kMetadata : State::kTensor;
    } else {
      unexpected();
    }
    return true;
  }

  bool end_object() override {
    if (state_ == State::kTensor) finish_tensor();
    state_ = state_ == State::kTop ? State::kEnd : State::kTop;
    name_.clear();
    return true;
  }

  bool start_array(std::size_t) override {
    if (state_ != State::kTensor || (field_ != "shape" && field_ != "data_offsets")) unexpected();
    state_ = field_ == "shape" ? State::kShape : State::kOffsets;
    return true;
  }

  bool end_array() override {
    if (state_ == State::kShape) {
      has_shape_ = true;
    } else {
      if (offsets_seen_ != 2) refuse("data_offsets must have two numbers");
      has_offsets_ = true;
    }
    state_ = State::kTensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception& error) override {
    throw_json_syntax_error(path_ + ": header", position, error.what());
  }

 private:
  enum class State { kStart, kTop, kMetadata, kTensor, kShape, kOffsets, kEnd };

  std::string subject() const { return name_.empty() ? path_ + ": header" : path_ + ": " + name_; }
  [[noreturn]] void refuse(const std::string& reason) const { throw Exception(ErrorCode::kDamagedFile, subject(), reason); }
  [[noreturn]] void limit(const std::string& reason) const { throw Exception(ErrorCode::kLimitExceeded, subject(), reason); }
  [[noreturn]] void unexpected() const { refuse("a value of the wrong type"); }

  void start_tensor(string_t& name) {
    if (tensors_.size() == kMaxTensors) limit("more than " + std::to_string(kMaxTensors) + " tensors");
    if (name.size() > kMaxTensorNameBytes) limit("a tensor name longer than " + std::to_string(kMaxTensorNameBytes) + " bytes");
    const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    if (name.empty() || std::ranges::any_of(name, control) || name.find("../") != std::string::npos) refuse("an unusable tensor name");
    if (tensors_.contains(name)) throw Exception(ErrorCode::kDamagedFile, path_ + ": " + name, "the tensor occurs twice");
    name_ = std::move(name);
    tensor_ = {};
    field_.clear();
    has_type_ = has_shape_ = has_offsets_ = false;
    offsets_seen_ = 0;
  }

  void finish_tensor() {
    if (!has_type_ || !has_shape_ || !has_offsets_) refuse("dtype, shape or data_offsets is missing");
    if (tensor_.begin > tensor_.end) refuse("data_offsets end before they begin");
    std::uint64_t bytes = stored_block(tensor_.type).bytes;  // every block of this format is one element
    for (const std::int64_t dimension : tensor_.shape) {
      if (__builtin_mul_overflow(bytes, static_cast<std::uint64_t>(dimension), &bytes))
        refuse("the shape has more elements than fit 64 bits");
    }
    if (bytes != tensor_.bytes()) {
      refuse("shape and dtype take " + std::to_string(bytes) + " bytes, data_offsets span " + std::to_string(tensor_.bytes()));
    }
    tensors_.emplace(name_, std::move(tensor_));
  }

  TensorTable& tensors_;
  const std::string& path_;
  State state_ = State::kStart;
  bool in_metadata_ = false;
  bool metadata_seen_ = false;
  std::set<std::string> metadata_keys_;
  std::string name_;  // tensor that is being read
  StoredTensor tensor_;
  std::string field_;
  bool has_type_ = false;
  bool has_shape_ = false;
  bool has_offsets_ = false;
  int offsets_seen_ = 0;
};

// Every byte of the data belongs to exactly one tensor.
void check_layout(TensorTable& tensors, std::uint64_t data_bytes, const std::string& path) {
  std::vector<std::pair<const std::string*, StoredTensor*>> order;
  order.reserve(tensors.size());
  for (auto& [name, tensor] : tensors) order.emplace_back(&name, &tensor);
  std::ranges::sort(order, {}, [](const auto& entry) { return std::pair(entry.second->begin, entry.second->end); });
  std::uint64_t expected = 0;
  for (const auto& [name, tensor] : order) {
    const std::string subject = path + ": " + *name;
    if (tensor->end > data_bytes)
      throw Exception(ErrorCode::kDamagedFile, subject,
                      "the file ends before this tensor does, as an unfinished download does: download it again");
    if (tensor->begin < expected) throw Exception(ErrorCode::kDamagedFile, subject, "the tensor overlaps another one");
    if (tensor->begin > expected) throw Exception(ErrorCode::kDamagedFile, subject, "bytes before the tensor belong to no tensor");
    expected = tensor->end;
  }
  if (expected != data_bytes) {
    throw Exception(ErrorCode::kDamagedFile, path,
                    "the header describes " + std::to_string(expected) + " bytes of data, the file has " + std::to_string(data_bytes) +
                        (data_bytes < expected ? ", as an unfinished download has: download it again" : ""));
  }
}

std::string read_header(const RegularFile& file) {
  std::array<std::byte, kLengthBytes + 1> start{};
  if (file.size_bytes() < start.size()) {
    refuse_foreign_content(file);
    throw Exception(ErrorCode::kDamagedFile, file.path(), "the file is too short for a safetensors header");
  }
  file.read_at(0, start);
  std::uint64_t length = 0;
  for (std::size_t i = kLengthBytes; i-- > 0;) length = (length << 8) | std::to_integer<std::uint64_t>(start[i]);
  const bool plausible = length >= 2 && length <= kMaxHeaderBytes && length <= file.size_bytes() - kLengthBytes;
  if (!plausible || start[kLengthBytes] != std::byte{'{'}) {
    // A pickle's first bytes are also a legal header length, so the file is taken for another format only when it is no safetensors.
    refuse_foreign_content(file);
    if (length > kMaxHeaderBytes) {
      throw Exception(ErrorCode::kLimitExceeded, file.path(),
                      "the header claims " + std::to_string(length) + " bytes, more than the limit of " + std::to_string(kMaxHeaderBytes));
    }
    if (!plausible) throw Exception(ErrorCode::kDamagedFile, file.path(), "the header claims a length that the file does not have");
    throw Exception(ErrorCode::kDamagedFile, file.path(), "the header does not begin with {");
  }
  std::string header(static_cast<std::size_t>(length), '\0');
  file.read_at(kLengthBytes, std::as_writable_bytes(std::span(header)));
  return header;
}

}  // namespace

TensorTable parse_safetensors_header(std::string_view header, std::uint64_t file_bytes, const std::string& path) {
  if (!header.starts_with('{')) throw Exception(ErrorCode::kDamagedFile, path, "the header does not begin with {");
  if (header.size() > kMaxHeaderBytes) throw Exception(ErrorCode::kLimitExceeded, path, "the header is larger than the limit");
  const std::uint64_t data_start = kLengthBytes + header.size();
  if (file_bytes < data_start) throw Exception(ErrorCode::kDamagedFile, path, "the header claims a length that the file does not have");
  require_plain_json_text(header, path + ": header");
  TensorTable tensors;
  HeaderEvents reader(tensors, path);
  if (!Json::sax_parse(header.begin(), header.end(), &reader))
    throw Exception(ErrorCode::kDamagedFile, path, "the header is not valid JSON");
  check_layout(tensors, file_bytes - data_start, path);
  for (auto& [name, tensor] : tensors) {
    tensor.begin += data_start;  // cannot wrap: both are below the file's size
    tensor.end += data_start;
  }
  return tensors;
}

SafetensorsFile::SafetensorsFile(RegularFile file) : file_(std::move(file)) {
  const std::string header = read_header(file_);
  tensors_ = parse_safetensors_header(header, file_.size_bytes(), file_.path());
  data_bytes_ = file_.size_bytes() - kLengthBytes - header.size();
}

void SafetensorsFile::read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const {
  require(offset <= tensor.bytes() && target.size() <= tensor.bytes() - offset, "a read beyond the end of a tensor");
  file_.read_at(tensor.begin + offset, target);
}

}  // namespace winnow
