// Rows of codes against matrices written apart (tests/golden/narrow_rows, rebuilt by tests/golden/make/make_narrow_rows_golden.py).
#include "engine/kv_cache/narrow_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/base/json_document.h"
#include "tests/support/source_folder.h"

namespace winnow {
namespace {

at::Tensor numbers_of(const Json& json, at::ScalarType type) { return at::tensor(json.get<std::vector<double>>(), at::kDouble).to(type); }

TEST(FourBits, AreThoseOfTheFormulas) {
  std::int64_t rows = 0;
  for (const Json& entry : load_json(source_folder() + "/tests/golden/narrow_rows/rows.json")) {
    const at::Tensor row = numbers_of(entry.at("row"), at::kFloat).unsqueeze(0);
    SCOPED_TRACE(row.size(1));
    const NarrowRows narrow = narrowed(row, RowCodes::kInt4);
    EXPECT_TRUE(at::equal(narrow.codes.view(at::kByte)[0], numbers_of(entry.at("codes"), at::kByte)));
    EXPECT_TRUE(at::equal(narrow.scales.view(at::kShort)[0], numbers_of(entry.at("scales"), at::kInt).to(at::kShort)));
    const at::Tensor read = upcast(narrow, RowCodes::kInt4, row.size(1), at::kFloat);
    EXPECT_TRUE(at::allclose(read[0], numbers_of(entry.at("read"), at::kFloat), 1e-5, 1e-5));
    ++rows;
  }
  EXPECT_EQ(rows, 7);
}

// 16-bit arithmetic rounds what is read: too little to change a code, and now and then enough for a scale.
TEST(FourBits, AreFoundAgainOfWhatIsRead) {
  at::manual_seed(2);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const NarrowRows once = narrowed(at::randn({500, 64}).to(type), RowCodes::kInt4);
    const NarrowRows twice = narrowed(upcast(once, RowCodes::kInt4, 64, type), RowCodes::kInt4);
    EXPECT_TRUE(at::equal(once.codes, twice.codes)) << type;
    EXPECT_EQ(at::equal(once.scales, twice.scales), type != at::kBFloat16) << type;
  }
}

}  // namespace
}  // namespace winnow
