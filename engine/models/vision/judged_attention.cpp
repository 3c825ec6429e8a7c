#include "engine/models/vision/judged_attention.h"

#include <algorithm>
#include <cmath>

#include "engine/layers/attention.h"

namespace winnow {

at::Tensor through_attention(const at::Tensor& weights, const at::Tensor& query, const at::Tensor& key) {
  const double scale = 1.0 / std::sqrt(static_cast<double>(query.size(2)));
  const at::Tensor keys = key.to(at::kFloat).transpose(1, 2);
  const std::int64_t n = weights.size(0);
  const std::int64_t tile_rows = std::max<std::int64_t>(1, kPlainTileElements / (query.size(0) * n));
  at::Tensor through;
  for (std::int64_t first = 0; first < n; first += tile_rows) {
    const std::int64_t rows = std::min(tile_rows, n - first);
    const at::Tensor scaled = query.narrow(1, first, rows).to(at::kFloat) * scale;
    const at::Tensor attention = at::softmax(at::bmm(scaled, keys), 2).mean(0);
    const at::Tensor part = at::mv(attention.t(), weights.narrow(0, first, rows));
    through = through.defined() ? through.add_(part) : part;
  }
  return through;
}

}  // namespace winnow
