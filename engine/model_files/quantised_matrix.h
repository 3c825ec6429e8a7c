// A matrix stored as codes, scales and zero points, converted to rows of quantised blocks (kernels/api/block_types.h).
//
// Made by quantised_tensors.h, which has checked all shapes. A value is (code - zero) * scale; it stays what it is, but for scales in more
// digits than 16 bits hold. Which of the block types: Q4_0 and Q8_0 where zero is the middle of the codes, U4Z and U8Z elsewhere. Reads a
// bounded part at a time (some MiB). Errors: Exception; those of TensorFile, kDamagedFile where the middle is not zero against what
// config.json says. No torch. Threads: const, may be used by several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/weights/tensor_file.h"

namespace winnow {

// A tensor of two dimensions, and the file that it is in.
struct StoredTable {
  std::shared_ptr<const TensorFile> file;  // null: there is none
  StoredTensor tensor;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
};

// How codes lie in their table. Words have 32 bits, the first code in the lowest.
enum class CodeOrder : int {
  kRows = 1,         // [out, words along the inputs]: compressed-tensors
  kColumns = 2,      // [words along the inputs, out]: GPTQ
  kInterleaved = 3,  // [in, words of 8 outputs, of which the even ones come first]: AWQ
  kBytes = 4,        // [out, in], signed
};

// How zero points lie in theirs.
enum class ZeroOrder : int {
  kMiddle = 1,       // there are none
  kByGroup = 2,      // [groups, words along the outputs]: GPTQ
  kInterleaved = 3,  // the same, as AWQ's codes
  kByRow = 4,        // [words along the outputs, groups]: compressed-tensors
  kBytes = 5,        // [out, groups], signed
};

class QuantisedMatrix {
 public:
  struct Layout {
    CodeOrder codes = CodeOrder::kRows;
    ZeroOrder zeros = ZeroOrder::kMiddle;
    int bits = 4;
    std::int64_t rows = 0;        // outputs
    std::int64_t columns = 0;     // inputs, whole groups
    std::int64_t groups = 1;      // of a row, each a multiple of 32 inputs
    bool by_group = false;        // scales are [groups, out], else [out, groups] or one for all
    bool less_one = false;        // what is stored of a zero point is one less
    bool must_be_middle = false;  // zero points are stored, and have to be the middle
  };

  struct Tables {
    StoredTable codes;
    StoredTable scales;
    StoredTable zeros;  // no file: there are none
  };

  // tables: of the sizes that the layout says. column_of: as StoredTensor's. name: for errors.
  QuantisedMatrix(const Layout& layout, Tables tables, std::shared_ptr<const std::vector<std::int32_t>> column_of, std::string name)
      : layout_(layout),
        codes_(std::move(tables.codes)),
        scales_(std::move(tables.scales)),
        zeros_(std::move(tables.zeros)),
        column_of_(std::move(column_of)),
        name_(std::move(name)) {}

  static StoredType type_of(const Layout& layout);
  StoredType type() const { return type_of(layout_); }
  std::int64_t rows() const { return layout_.rows; }
  std::int64_t columns() const { return layout_.columns; }
  std::uint64_t row_bytes() const;
  // Bytes [offset, offset + target.size()) of all blocks, row after row.
  void read(std::uint64_t offset, std::span<std::byte> target) const;

 private:
  struct Rows {
    std::int64_t first = 0;
    std::int64_t end = 0;
    std::int64_t count() const { return end - first; }
  };
  std::vector<std::uint8_t> codes_of(Rows rows) const;  // [count, columns], inputs in the order of the folder
  std::vector<float> scales_of(Rows rows) const;        // [count, groups]
  std::vector<std::uint8_t> zeros_of(Rows rows) const;  // [count, groups]; empty: the middle
  void pack(Rows rows, std::byte* blocks) const;

  Layout layout_;
  StoredTable codes_;
  StoredTable scales_;
  StoredTable zeros_;
  std::shared_ptr<const std::vector<std::int32_t>> column_of_;
  std::string name_;
};

}  // namespace winnow
