#include "engine/model_files/quantised_tensors.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>

#include "engine/base/error.h"
#include "engine/model_files/quantised_matrix.h"

namespace winnow {
namespace {

constexpr std::int64_t kTensorBlock = 32;
constexpr std::int64_t kMostInputs = std::int64_t{1} << 24;

// A file whose matrices are made of codes when they are read. Their places lie behind the end of the file.
class QuantisedTensors final : public TensorFile {
 public:
  explicit QuantisedTensors(std::shared_ptr<const TensorFile> file) : file_(std::move(file)) {
    tensors_ = file_->tensors();
    for (const auto& [name, tensor] : tensors_) end_ = std::max(end_, tensor.end);
    first_ = end_;
  }

  const std::string& path() const noexcept override { return file_->path(); }
  bool changed() const noexcept override { return file_->changed(); }
  void read(const StoredTensor& tensor, std::uint64_t offset, std::span<std::byte> target) const override {
    if (tensor.begin < first_) return file_->read(tensor, offset, target);
    const auto found = matrices_.find(tensor.begin);
    require(found != matrices_.end(), "quantised tensors: no such matrix");
    found->second.read(offset, target);
  }

  void remove(const std::string& name) { tensors_.erase(name); }
  void add(const std::string& name, QuantisedMatrix matrix, std::shared_ptr<const std::vector<std::int32_t>> column_of) {
    StoredTensor tensor;
    tensor.type = matrix.type();
    tensor.shape = {matrix.rows(), matrix.columns()};
    tensor.begin = end_;
    tensor.end = end_ + static_cast<std::uint64_t>(matrix.rows()) * matrix.row_bytes();
    tensor.column_of = std::move(column_of);
    end_ = tensor.end;
    matrices_.emplace(tensor.begin, std::move(matrix));
    tensors_.emplace(name, std::move(tensor));
  }

 private:
  std::shared_ptr<const TensorFile> file_;
  std::map<std::uint64_t, QuantisedMatrix> matrices_;  // by where they begin
  std::uint64_t first_ = 0;                            // behind the file
  std::uint64_t end_ = 0;
};

class Builder {
 public:
  Builder(const TensorFiles& stored, const QuantisationConfig& config) : config_(config), result_{stored.path, {}} {
    for (const auto& file : stored.files) {
      files_.push_back(std::make_shared<QuantisedTensors>(file));
      for (const auto& [name, tensor] : file->tensors()) places_.emplace(name, Place{file, &tensor, files_.back().get()});
    }
  }

  TensorFiles build() {
    const bool compressed = config_.method == QuantisationMethod::kCompressedTensors;
    for (const auto& [name, place] : places_) {
      if (!compressed && is_part(name, "qweight")) add_words();
      if (compressed && is_part(name, "weight_packed")) add_packed();
      if (compressed && place.tensor->type == StoredType::kI8 && is_part(name, "weight")) add_bytes();
    }
    result_.files.assign(files_.begin(), files_.end());
    return std::move(result_);
  }

 private:
  struct Place {
    std::shared_ptr<const TensorFile> file;
    const StoredTensor* tensor;
    QuantisedTensors* changed;  // what the file becomes
  };
  using Layout = QuantisedMatrix::Layout;
  using Order = std::shared_ptr<const std::vector<std::int32_t>>;

  // True if it is that of a module, which is the one at hand from now on.
  bool is_part(const std::string& name, std::string_view part) {
    if (!name.ends_with(part) || name.size() <= part.size() || name[name.size() - part.size() - 1] != '.') return false;
    module_ = name.substr(0, name.size() - part.size());
    home_ = places_.at(name).changed;
    return true;
  }

  [[noreturn]] void refuse(const std::string& part, ErrorCode code, const std::string& reason) const {
    throw Exception(code, places_.at(module_ + part).file->path() + ": " + module_ + part, reason);
  }
  [[noreturn]] void damaged(const std::string& part, const std::string& reason) const { refuse(part, ErrorCode::kDamagedFile, reason); }

  bool has(const std::string& part) const { return places_.contains(module_ + part); }

  const Place& place(const std::string& part) const {
    const auto found = places_.find(module_ + part);
    if (found == places_.end())
      throw Exception(ErrorCode::kDamagedFile, result_.path + ": " + module_ + part, "the folder lacks this part of a quantised matrix");
    return found->second;
  }

  // The part as a table, of one of the types; its name leaves the folder's tensors.
  StoredTable table(const std::string& part, std::initializer_list<StoredType> types) {
    const Place& found = place(part);
    if (std::ranges::find(types, found.tensor->type) == types.end())
      damaged(part, "its numbers are of type " + std::string(stored_type_name(found.tensor->type)) + ", which these are not");
    const std::vector<std::int64_t>& shape = found.tensor->shape;
    if (shape.size() > 2)
      refuse(part, ErrorCode::kUnsupportedModel, "quantised weights of " + std::to_string(shape.size()) + " dimensions are not read");
    for (const std::int64_t size : shape) {
      if (size < 1) damaged(part, "it is empty");
    }
    StoredTable table{found.file, *found.tensor, shape.empty() ? 1 : shape.front(), shape.size() < 2 ? 1 : shape.back()};
    found.changed->remove(module_ + part);
    return table;
  }
  StoredTable scales(const std::string& part) { return table(part, {StoredType::kF16, StoredType::kBF16, StoredType::kF32}); }

  void require_shape(const StoredTable& table, const std::string& part, std::int64_t rows, std::int64_t columns) const {
    if (table.rows == rows && table.columns == columns) return;
    damaged(part, "it has shape " + shape_text(table.tensor.shape) + " where the matrix's other parts say " +
                      shape_text(std::vector{rows, columns}));
  }

  // Checks that hold for all matrices, of any method. part: that the columns were counted of.
  void check(const Layout& layout, const std::string& part) const {
    if (layout.columns > kMostInputs) refuse(part, ErrorCode::kLimitExceeded, "a matrix of more than 16777216 inputs");
    if (layout.columns % layout.groups != 0)
      damaged(part, std::to_string(layout.groups) + " groups do not divide " + std::to_string(layout.columns) + " inputs");
    const std::int64_t group = layout.columns / layout.groups;
    if (group % kTensorBlock != 0) {
      refuse(part, ErrorCode::kUnsupportedModel, "groups of " + std::to_string(group) + " inputs are not read; multiples of 32 are");
    }
    if (config_.group == QuantisationConfig::kOwn) return;
    const std::int64_t wanted = config_.group == QuantisationConfig::kWholeRows ? layout.columns : config_.group;
    if (group != wanted) {
      damaged(part, "its scales are of groups of " + std::to_string(group) + " inputs where config.json says " + std::to_string(wanted));
    }
  }

  // AWQ and GPTQ.
  void add_words() {
    const bool awq = config_.method == QuantisationMethod::kAwq;
    const StoredTable codes = table("qweight", {StoredType::kI32});
    const StoredTable scale = scales("scales");
    Layout layout;
    layout.codes = awq ? CodeOrder::kInterleaved : CodeOrder::kColumns;
    layout.rows = scale.columns;
    layout.groups = scale.rows;
    layout.by_group = true;
    layout.less_one = config_.zeros_less_one;
    layout.must_be_middle = config_.symmetric;
    StoredTable zeros;
    if (!awq || has("qzeros")) {
      zeros = table("qzeros", {StoredType::kI32});
      layout.zeros = awq ? ZeroOrder::kInterleaved : ZeroOrder::kByGroup;
    }
    layout.bits = static_cast<int>(config_.bits != QuantisationConfig::kOwn ? config_.bits : own_bits(zeros, layout.rows));
    const std::int64_t in_word = 32 / layout.bits;
    if (layout.rows % in_word != 0) damaged("scales", "outputs that are no whole words of codes");
    layout.columns = awq ? codes.rows : codes.rows * in_word;
    require_shape(codes, "qweight", awq ? layout.columns : codes.rows, awq ? layout.rows / in_word : layout.rows);
    if (zeros.file != nullptr) require_shape(zeros, "qzeros", layout.groups, layout.rows / in_word);
    check(layout, "qweight");
    const Order order = awq ? nullptr : order_of("g_idx", config_.ordered, layout);
    add(layout, {codes, scale, zeros}, order);
  }

  // Single matrices may have bits of their own.
  std::int64_t own_bits(const StoredTable& zeros, std::int64_t rows) const {
    const std::int64_t bits = zeros.columns * 32 / rows;
    if (bits == 4 || bits == 8) return bits;
    refuse("qzeros", ErrorCode::kUnsupportedModel, "weights of " + std::to_string(bits) + " bits are not read; 4 and 8 are");
  }

  void add_packed() {
    const StoredTable codes = table("weight_packed", {StoredType::kI32});
    const std::vector<std::int64_t> shape = numbers<std::int64_t>(table("weight_shape", {StoredType::kI64}), "weight_shape", 2);
    Layout layout{.codes = CodeOrder::kRows, .rows = codes.rows, .columns = shape[1]};
    if (shape[0] != layout.rows || shape[1] < 1 || shape[1] > kMostInputs) damaged("weight_shape", "it is not the shape of what is packed");
    layout.bits = static_cast<int>(codes.columns * 32 / layout.columns);
    if (layout.bits != 4 && layout.bits != 8) {
      refuse("weight_packed", ErrorCode::kUnsupportedModel,
             "weights of " + std::to_string(codes.columns * 32 / layout.columns) + " bits are not read; 4 and 8 are");
    }
    require_shape(codes, "weight_packed", layout.rows, (layout.columns * layout.bits + 31) / 32);
    add_scaled(layout, codes);
  }

  void add_bytes() {
    const StoredTable codes = table("weight", {StoredType::kI8});
    Layout layout{.codes = CodeOrder::kBytes, .bits = 8, .rows = codes.rows, .columns = codes.columns};
    add_scaled(layout, codes);
  }

  // compressed-tensors: scales and zero points are the same in all formats.
  void add_scaled(Layout& layout, const StoredTable& codes) {
    const StoredTable scale = scales("weight_scale");
    const bool one = scale.rows == 1 && scale.columns == 1;
    layout.groups = one ? 1 : scale.columns;
    if (!one) require_shape(scale, "weight_scale", layout.rows, layout.groups);
    check(layout, "weight_scale");
    StoredTable zeros;
    if (has("weight_zero_point")) {
      zeros = table("weight_zero_point", {StoredType::kI32, StoredType::kI8});
      layout.zeros = zeros.tensor.type == StoredType::kI8 ? ZeroOrder::kBytes : ZeroOrder::kByRow;
      const std::int64_t lines = layout.zeros == ZeroOrder::kBytes ? layout.rows : (layout.rows * layout.bits + 31) / 32;
      if (layout.zeros == ZeroOrder::kBytes && zeros.rows == 1 && zeros.columns == 1 && layout.rows > 1)
        refuse("weight_zero_point", ErrorCode::kUnsupportedModel, "one zero point for a whole matrix is not read");
      require_shape(zeros, "weight_zero_point", lines, layout.groups);
    }
    const Order order = order_of("weight_g_idx", true, layout);
    add(layout, {codes, scale, zeros}, order);
  }

  template <class Number>
  std::vector<Number> numbers(const StoredTable& table, const std::string& part, std::int64_t count) const {
    if (table.rows != count || table.columns != 1)
      damaged(part, "it has shape " + shape_text(table.tensor.shape) + " where " + shape_text(std::vector{count}) + " are wanted");
    std::vector<Number> values(static_cast<std::size_t>(count));
    table.file->read(table.tensor, 0, std::as_writable_bytes(std::span(values)));
    return values;
  }

  // Inputs by their groups, of a list that says which group each belongs to; null: they are in this order.
  Order order_of(const std::string& part, bool asked, const Layout& layout) {
    if (!has(part)) {
      if (asked && config_.ordered) place(part);
      return nullptr;
    }
    const StoredTable list = table(part, {StoredType::kI32});
    const std::vector<std::int32_t> group_of = numbers<std::int32_t>(list, part, layout.columns);
    // compressed-tensors writes -1 everywhere for "in order".
    if (!asked || std::ranges::all_of(group_of, [](std::int32_t group) { return group == -1; })) return nullptr;
    std::vector<std::int64_t> members(static_cast<std::size_t>(layout.groups));
    for (const std::int32_t group : group_of) {
      if (group < 0 || group >= layout.groups)
        damaged(part, "it names group " + std::to_string(group) + " of " + std::to_string(layout.groups));
      ++members[static_cast<std::size_t>(group)];
    }
    for (const std::int64_t count : members) {
      if (count != layout.columns / layout.groups) damaged(part, "its groups are not all of one size");
    }
    if (std::ranges::is_sorted(group_of)) return nullptr;
    auto order = std::make_shared<std::vector<std::int32_t>>(group_of.size());
    std::iota(order->begin(), order->end(), 0);
    std::ranges::stable_sort(*order, {}, [&](std::int32_t input) { return group_of[static_cast<std::size_t>(input)]; });
    return order;
  }

  void add(const Layout& layout, QuantisedMatrix::Tables tables, const Order& order) {
    const std::string name = module_ + "weight";
    if (layout.codes != CodeOrder::kBytes && places_.contains(name))
      damaged("weight", "the folder has this matrix twice, quantised and as numbers");
    home_->add(name, {layout, std::move(tables), order, name}, order);
  }

  const QuantisationConfig& config_;
  TensorFiles result_;
  std::vector<std::shared_ptr<QuantisedTensors>> files_;
  std::map<std::string, Place> places_;  // as stored
  std::string module_;                   // with the dot, of the matrix at hand
  QuantisedTensors* home_ = nullptr;     // what the file of its codes becomes
};

}  // namespace

TensorFiles quantised_tensors(const TensorFiles& stored, const QuantisationConfig& config) { return Builder(stored, config).build(); }

}  // namespace winnow
