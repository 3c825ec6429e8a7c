#include "app/evaluation/needle_map.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "app/evaluation/interval.h"
#include "app/evaluation/needle_video.h"

namespace winnow::app {
namespace {

// The picture's measures in px.
constexpr int kCellWidth = 16;
constexpr int kCellHeight = 18;
constexpr int kMapGap = 26;
constexpr int kNameWidth = 130;
constexpr int kLengthWidth = 40;
constexpr int kTitleHeight = 70;
constexpr int kMapTitle = 18;
constexpr int kFootHeight = 40;

// From dark blue (never) over teal to light yellow (always): ordered also without colour vision and in grey.
constexpr std::array<std::array<double, 3>, 5> kScale = {{{34, 24, 82}, {49, 84, 141}, {33, 144, 140}, {110, 205, 88}, {253, 231, 37}}};

std::string colorOf(double share) {
  const double at = std::clamp(share, 0.0, 1.0) * (kScale.size() - 1);
  const std::size_t low = std::min(static_cast<std::size_t>(at), kScale.size() - 2);
  std::array<char, 8> text{};
  std::array<int, 3> rgb{};
  for (std::size_t c = 0; c < 3; ++c)
    rgb[c] = static_cast<int>(kScale[low][c] + (kScale[low + 1][c] - kScale[low][c]) * (at - static_cast<double>(low)) + 0.5);
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", static_cast<unsigned>(rgb[0]) & 255U, static_cast<unsigned>(rgb[1]) & 255U,
                static_cast<unsigned>(rgb[2]) & 255U);
  return text.data();
}

std::string shareLabel(double share) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), share < 0.0995 ? "%.2g %%" : "%.0f %%", 100.0 * share);  // 6.1 %, 12 %
  return text.data();
}

std::string escaped(const std::string& text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

class Picture {
 public:
  void text(int x, int y, const std::string& words, const char* style) {
    m_body.append("<text x=\"")
        .append(std::to_string(x))
        .append("\" y=\"")
        .append(std::to_string(y))
        .append("\" ")
        .append(style)
        .append(">");
    m_body.append(escaped(words)).append("</text>\n");
  }
  void cell(int x, int y, int width, int height, const std::string& color, const std::string& tip) {
    m_body.append("<rect x=\"")
        .append(std::to_string(x))
        .append("\" y=\"")
        .append(std::to_string(y))
        .append("\" width=\"")
        .append(std::to_string(width));
    m_body.append("\" height=\"")
        .append(std::to_string(height))
        .append("\" fill=\"")
        .append(color)
        .append("\"><title>")
        .append(escaped(tip))
        .append("</title></rect>\n");
  }
  std::string svg(int width, int height) const {
    const std::string size = "width=\"" + std::to_string(width) + "\" height=\"" + std::to_string(height) + "\"";
    std::string whole = "<svg xmlns=\"http://www.w3.org/2000/svg\" ";
    whole.append(size).append(" viewBox=\"0 0 ").append(std::to_string(width)).append(" ").append(std::to_string(height));
    whole.append("\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n<rect ")
        .append(size)
        .append(" fill=\"#fff\"/>\n")
        .append(m_body)
        .append("</svg>\n");
    return whole;
  }

 private:
  std::string m_body;
};

void drawMap(Picture& picture, const NeedleMap& map, const std::vector<int>& lengths, const std::vector<int>& depths, int left, int top) {
  picture.text(
      left, top - 6,
      map.recipe.name == "full" ? "everything" : shareLabel(map.recipe.spec.retention) + ", kept " + shareLabel(map.achievedRetention), "");
  for (const NeedleCell& cell : map.cells) {
    const auto row = static_cast<int>(std::find(lengths.begin(), lengths.end(), cell.frames) - lengths.begin());
    const auto column = static_cast<int>(std::find(depths.begin(), depths.end(), cell.depthPercent) - depths.begin());
    const std::string tip = map.recipe.name + ", " + std::to_string(cell.frames) + " frames, depth " + std::to_string(cell.depthPercent) +
                            " %: " + (cell.answers == 0 ? "not asked" : shareLabel(cell.score) + " of " + std::to_string(cell.answers));
    picture.cell(left + column * kCellWidth, top + row * kCellHeight, kCellWidth - 1, kCellHeight - 1,
                 cell.answers == 0 ? "#ddd" : colorOf(cell.score), tip);
  }
}

}  // namespace

std::vector<NeedleMap> needleMaps(const std::vector<EvaluationItem>& items, const EvaluationPlan& plan, const ItemLog& log) {
  std::vector<NeedleMap> maps;
  for (const GridRecipe& recipe : plan.recipes) {
    std::map<std::pair<int, int>, NeedleCell> cells;
    std::vector<double> achieved;
    for (const EvaluationItem& item : items) {
      const std::optional<NeedleSpec> spec = needleSpec(item.id);
      if (!spec) continue;
      NeedleCell& cell = cells[{spec->frames, spec->depthPercent}];
      cell.frames = spec->frames;
      cell.depthPercent = spec->depthPercent;
      for (const std::uint64_t seed : seedsOf(plan, recipe)) {
        const AnswerRecord* record = log.find(item.id, recipe.name, seed);
        if (record == nullptr) continue;
        cell.score = (cell.score * cell.answers + record->score) / (cell.answers + 1);
        ++cell.answers;
        achieved.push_back(record->achievedRetention);
      }
    }
    NeedleMap map{recipe, {}, mean(achieved)};
    for (const auto& [place, cell] : cells) map.cells.push_back(cell);
    maps.push_back(std::move(map));
  }
  return maps;
}

std::string needleCsv(const std::vector<NeedleMap>& maps) {
  std::string text = "recipe,method,requested_retention,frames,depth_percent,answers,score\n";
  for (const NeedleMap& map : maps) {
    for (const NeedleCell& cell : map.cells) {
      std::array<char, 96> numbers{};
      std::snprintf(numbers.data(), numbers.size(), ",%g,%d,%d,%d,%.6g\n", map.recipe.spec.retention, cell.frames, cell.depthPercent,
                    cell.answers, cell.score);
      text.append(map.recipe.name).append(",").append(map.recipe.title).append(numbers.data());
    }
  }
  return text;
}

std::string needleSvg(const std::vector<NeedleMap>& maps, const std::string& title) {
  std::vector<int> lengths;
  std::vector<int> depths;
  std::vector<std::string> methods;
  std::map<std::string, int> mapsOfMethod;
  const auto remember = [](auto& list, const auto& value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
  };
  for (const NeedleMap& map : maps) {
    remember(methods, map.recipe.title);
    ++mapsOfMethod[map.recipe.title];
    for (const NeedleCell& cell : map.cells) {
      remember(lengths, cell.frames);
      remember(depths, cell.depthPercent);
    }
  }
  std::sort(lengths.begin(), lengths.end());
  std::sort(depths.begin(), depths.end());
  int most = 1;
  for (const auto& [method, count] : mapsOfMethod) most = std::max(most, count);
  const int mapWidth = kCellWidth * static_cast<int>(depths.size());
  const int mapHeight = kCellHeight * static_cast<int>(lengths.size());
  const int rowHeight = mapHeight + kMapTitle + kMapGap;
  const int width = kNameWidth + kLengthWidth + most * (mapWidth + kMapGap);
  const int height = kTitleHeight + static_cast<int>(methods.size()) * rowHeight + kFootHeight;

  Picture picture;
  picture.text(16, 26, title, "font-size=\"15\" font-weight=\"bold\"");
  picture.text(16, 46,
               "Across: where the card is, from the first frame to the last. Down: frames of the video. Colour: share of right answers. "
               "Asked and really kept are named.",
               "fill=\"#555\"");
  for (std::size_t row = 0; row < methods.size(); ++row) {
    const int top = kTitleHeight + static_cast<int>(row) * rowHeight + kMapTitle;
    picture.text(16, top + mapHeight / 2 + 4, methods[row], "font-size=\"13\"");
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      picture.text(kNameWidth + kLengthWidth - 6, top + static_cast<int>(i) * kCellHeight + 13, std::to_string(lengths[i]),
                   "text-anchor=\"end\" fill=\"#555\"");
    }
    int column = 0;
    for (const NeedleMap& map : maps) {
      if (map.recipe.title != methods[row]) continue;
      drawMap(picture, map, lengths, depths, kNameWidth + kLengthWidth + column++ * (mapWidth + kMapGap), top);
    }
  }
  const int foot = height - kFootHeight + 4;
  for (int step = 0; step <= 10; ++step)
    picture.cell(kNameWidth + kLengthWidth + step * kCellWidth, foot, kCellWidth, 12, colorOf(step / 10.0), shareLabel(step / 10.0));
  picture.text(kNameWidth + kLengthWidth - 6, foot + 10, "0 %", "text-anchor=\"end\" fill=\"#555\"");
  picture.text(kNameWidth + kLengthWidth + 11 * kCellWidth + 6, foot + 10, "100 % right", "fill=\"#555\"");
  return picture.svg(std::max(width, 700), height);
}

}  // namespace winnow::app
