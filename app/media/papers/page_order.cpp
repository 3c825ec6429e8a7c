#include "app/media/papers/page_order.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace winnow::app {
namespace {

using Numbers = std::vector<int>;

// In heights of a line:
constexpr qreal kGap = 1.2;         // between pieces, from which on they may be of two columns
constexpr qreal kGutter = 0.7;      // the narrowest between columns
constexpr qreal kProse = 9.0;       // the narrowest column of words
constexpr qreal kUpwards = 3.0;     // a step back up the page that no line makes
constexpr qreal kTypical = 0.6;     // of a column's widest lines, which most of its lines reach
constexpr qreal kCrossing = 0.4;    // of all parts, that may lie across a gutter
constexpr std::size_t kFewest = 3;  // lines of a column
constexpr int kDeepest = 12;        // columns beside and within each other; a page that is made to have more is read as it is drawn

qreal middle(std::vector<qreal> values) {
  if (values.empty()) return 0.0;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

qreal gapBetween(const QRectF& a, const QRectF& b) { return std::max({0.0, b.left() - a.right(), a.left() - b.right()}); }

class Order {
 public:
  Order(const std::vector<PagePart>& parts, Script script) : m_parts(parts), m_script(script) {
    std::vector<qreal> heights;
    for (const PagePart& part : parts) heights.push_back(part.place.height());
    m_height = std::max(middle(std::move(heights)), 1.0);
  }

  Numbers all() {
    Numbers numbers(m_parts.size());
    std::iota(numbers.begin(), numbers.end(), 0);
    read(std::move(numbers));
    return std::move(m_read);
  }

 private:
  const QRectF& place(int number) const { return m_parts[static_cast<std::size_t>(number)].place; }

  void read(Numbers in) {
    const std::optional<qreal> gutter = in.size() < 2 * kFewest || m_depth == kDeepest ? std::nullopt : gutterOf(in);
    if (!gutter) return readLines(std::move(in));
    Numbers across;
    std::ranges::copy_if(in, std::back_inserter(across), [&](int n) { return place(n).left() < *gutter && place(n).right() > *gutter; });
    std::erase_if(in, [&](int n) { return std::ranges::find(across, n) != across.end(); });
    sortByTop(across);
    for (const int each : across) {
      Numbers above;
      std::ranges::copy_if(in, std::back_inserter(above), [&](int n) { return place(n).center().y() < place(each).center().y(); });
      std::erase_if(in, [&](int n) { return place(n).center().y() < place(each).center().y(); });
      readColumns(above, *gutter);
      m_read.push_back(each);
    }
    readColumns(in, *gutter);
  }

  void readColumns(const Numbers& in, qreal gutter) {
    Numbers left, right;
    for (const int n : in) (place(n).center().x() < gutter ? left : right).push_back(n);
    if (m_script == Script::kRightToLeft) std::swap(left, right);
    ++m_depth;
    read(std::move(left));
    read(std::move(right));
    --m_depth;
  }

  // The order is that of drawing, unless that goes back up.
  void readLines(Numbers in) {
    const auto up = std::ranges::adjacent_find(in, [&](int a, int b) { return place(b).top() < place(a).top() - kUpwards * m_height; });
    if (up != in.end()) {
      sortByTop(in);
      for (auto line = in.begin(); line != in.end();) {
        const auto end = std::find_if(line, in.end(), [&](int n) { return !onOneLine(place(*line), place(n)); });
        std::stable_sort(line, end, [&](int a, int b) {
          return m_script == Script::kLeftToRight ? place(a).left() < place(b).left() : place(a).right() > place(b).right();
        });
        line = end;
      }
    }
    m_read.insert(m_read.end(), in.begin(), in.end());
  }

  void sortByTop(Numbers& in) const {
    std::ranges::stable_sort(in, [&](int a, int b) { return place(a).top() < place(b).top(); });
  }

  // The place that fewest parts lie across, among those with a column on each side.
  std::optional<qreal> gutterOf(const Numbers& in) const {
    std::optional<qreal> found;
    std::size_t fewest = 0;
    qreal widest = 0.0;
    std::vector<qreal> rights;
    for (const int n : in) rights.push_back(place(n).right());
    std::ranges::sort(rights);
    for (qreal last = -1e9; const qreal right : rights) {
      if (right < last + 0.5) continue;
      last = right;
      const qreal at = right + kGutter * m_height / 2.0;
      Numbers before, behind;
      for (const int n : in) {
        if (place(n).right() <= at) before.push_back(n);
        if (place(n).left() >= at) behind.push_back(n);
      }
      const std::size_t across = in.size() - before.size() - behind.size();
      if (static_cast<qreal>(across) > kCrossing * static_cast<qreal>(in.size()) || (found && across > fewest)) continue;
      if (!isColumn(before) || !isColumn(behind) || !beside(before, behind)) continue;
      const qreal width = leftOf(behind) - rightOf(before);
      if (width < kGutter * m_height || (found && across == fewest && width <= widest)) continue;
      found = at;
      fewest = across;
      widest = width;
    }
    return found;
  }

  bool isColumn(const Numbers& numbers) const {
    if (numbers.size() < kFewest) return false;
    std::vector<qreal> widths;
    for (const int n : numbers) widths.push_back(place(n).width());
    std::ranges::sort(widths);
    const qreal wide = widths[widths.size() * 9 / 10];
    const qreal typical = widths[widths.size() / 2];
    return typical >= kProse * m_height && typical >= kTypical * wide;
  }

  bool beside(const Numbers& a, const Numbers& b) const {
    const auto [aTop, aBottom] = heightOf(a);
    const auto [bTop, bBottom] = heightOf(b);
    return std::min(aBottom, bBottom) - std::max(aTop, bTop) > 0.3 * std::min(aBottom - aTop, bBottom - bTop);
  }

  std::pair<qreal, qreal> heightOf(const Numbers& numbers) const {
    qreal top = 1e9, bottom = -1e9;
    for (const int n : numbers) {
      top = std::min(top, place(n).top());
      bottom = std::max(bottom, place(n).bottom());
    }
    return {top, bottom};
  }
  qreal leftOf(const Numbers& numbers) const {
    return place(*std::ranges::min_element(numbers, {}, [&](int n) { return place(n).left(); })).left();
  }
  qreal rightOf(const Numbers& numbers) const {
    return place(*std::ranges::max_element(numbers, {}, [&](int n) { return place(n).right(); })).right();
  }

  const std::vector<PagePart>& m_parts;
  const Script m_script;
  qreal m_height = 1.0;  // of a line
  int m_depth = 0;
  Numbers m_read;
};

}  // namespace

bool onOneLine(const QRectF& a, const QRectF& b) {
  const qreal both = std::min(a.bottom(), b.bottom()) - std::max(a.top(), b.top());
  return both >= 0.5 * std::min(a.height(), b.height());
}

std::vector<PagePart> partsOf(const std::vector<QRectF>& pieces) {
  std::vector<qreal> heights;
  for (const QRectF& piece : pieces) heights.push_back(piece.height());
  const qreal gap = kGap * middle(std::move(heights));
  std::vector<PagePart> parts;
  for (const QRectF& place : pieces) {
    if (!parts.empty() && onOneLine(parts.back().place, place) && gapBetween(parts.back().place, place) < gap) {
      parts.back().place |= place;
      parts.back().last = place.center();
    } else {
      parts.push_back({place, place.center(), place.center()});
    }
  }
  return parts;
}

std::vector<int> readingOrder(const std::vector<PagePart>& parts, Script script) {
  if (parts.size() <= kMostParts) return Order(parts, script).all();
  std::vector<int> drawn(parts.size());
  std::iota(drawn.begin(), drawn.end(), 0);
  return drawn;
}

}  // namespace winnow::app
