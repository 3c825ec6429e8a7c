// The three forms of a report.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "app/evaluation/figure_numbers.h"
#include "app/evaluation/report.h"

namespace winnow::app {
namespace {

using nlohmann::ordered_json;

std::string number(double value, const char* format) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string percent(double share) { return number(100.0 * share, "%.1f"); }
std::string percent(const std::optional<double>& share) { return share ? percent(*share) : std::string(); }

std::string cell(const std::string& text) {
  std::string padded(" ");
  return padded.append(text).append(" |");
}

template <class Figure>
bool any(const Report& report, std::optional<Figure> ReportRow::*figure) {
  for (const ReportRow& row : report.rows) {
    if (row.*figure) return true;
  }
  return false;
}

// Quoted where a comma, a quote or a line break would be misread.
std::string csvField(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted(1, '"');
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  quoted += '"';
  return quoted;
}

std::string percentCell(const std::optional<double>& share) { return cell(percent(share)); }
std::string errorCell(const std::optional<double>& error) { return cell(error ? number(*error, "%.3f") : std::string()); }

// How the Markdown table calls a figure of SelectionFigures, what it says of it, and how it writes it.
struct SelectionColumn {
  const char* name;
  const char* title;
  const char* meaning;
  std::string (*text)(const std::optional<double>&);
};
constexpr SelectionColumn kSelectionColumns[] = {
    {"hit_rate", "hits", "share of its best prompt columns that were kept (hits)", percentCell},
    {"output_error", "output error", "relative error of the attention's output at the first token on the compressed cache", errorCell},
    {"visual_contribution", "contribution", "share of the attention to the prompt that goes to pictures (contribution)", percentCell},
    {"visual_coverage", "coverage", "share of pictures among its best columns (coverage)", percentCell},
    {"sparsity", "sparsity", "share of entries below a hundredth of their row's maximum (sparsity)", percentCell},
    {"kept_attention", "attention", "share of the attention to the prompt that goes to what was kept (attention)", percentCell},
};

std::map<std::string, std::optional<double>> numbersOf(const SelectionFigures& selection) {
  std::map<std::string, std::optional<double>> numbers;
  visit_fields(selection, [&](const char* name, const auto& figure) { numbers[name] = numberOf(figure); });
  return numbers;
}

std::string spanOf(const Interval& interval) { return " (" + percent(interval.low) + "-" + percent(interval.high) + ")"; }

// On one line, and no cell's end.
std::string inACell(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '|'; }, ' ');
  return cell(text);
}

std::string mistakesTable(const Report& report) {
  if (report.mistakes.empty()) return {};
  std::string text = "\nWhat the full cache answers wrongly:\n\n| question | right | its answer |\n|---|---|---|\n";
  for (const FullMistake& mistake : report.mistakes)
    text.append("|").append(inACell(mistake.item)) += inACell(mistake.gold) + inACell(mistake.answer) + "\n";
  return text;
}

// What the full cache's attention says about every choice; empty where it was not measured.
std::string selectionTable(const Report& report) {
  if (!any(report, &ReportRow::selection)) return {};
  std::string meanings, head = "| method | asked |", line = "|---|---:|";
  for (const SelectionColumn& column : kSelectionColumns) {
    meanings += (meanings.empty() ? "" : ", ") + std::string(column.meaning);
    head += cell(column.title);
    line += "---:|";
  }
  std::string text = "\nAttention of the answers' tokens in the full cache: " + meanings + ".\n\n" + head + "\n" + line + "\n";
  for (const ReportRow& row : report.rows) {
    if (!row.selection) continue;
    auto numbers = numbersOf(*row.selection);
    text.append("|").append(cell(row.method)) += cell(percent(row.requested));
    for (const SelectionColumn& column : kSelectionColumns) text += column.text(numbers[column.name]);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string reportJson(const Report& report) {
  ordered_json rows = ordered_json::array();
  for (const ReportRow& row : report.rows) {
    ordered_json line = {{"recipe", row.recipe},
                         {"method", row.method},
                         {"requested_retention", row.requested},
                         {"achieved_retention", row.achieved},
                         {"items", row.items},
                         {"answers", row.answers},
                         {"score", row.score},
                         {"interval_95", {row.interval.low, row.interval.high}},
                         {"groups", row.groups},
                         {"budget_jsd", row.budgetDivergence},
                         {"kv_bytes", row.kvBytes},
                         {"kv_bytes_full", row.kvBytesFull},
                         {"generated_tokens", row.generatedTokens}};
    if (row.ofFull)
      line["of_full"] = {{"items", row.ofFull->items},
                         {"score", row.ofFull->score},
                         {"interval_95", {row.ofFull->interval.low, row.ofFull->interval.high}}};
    if (row.sameAsFull) line["same_as_full"] = *row.sameAsFull;
    if (row.topAgreement) line["top1_agreement"] = *row.topAgreement;
    if (row.divergence) line["kl"] = *row.divergence;
    if (row.perplexity) line["perplexity"] = *row.perplexity;
    if (row.selection) {
      visit_fields(*row.selection, [&](const char* name, const auto& figure) {
        if (const std::optional<double> number = numberOf(figure)) line[name] = *number;
      });
    }
    rows.push_back(std::move(line));
  }
  const ordered_json whole = {{"dataset", report.dataset}, {"model", report.model},       {"metrics", report.metrics},
                              {"planned", report.planned}, {"answered", report.answered}, {"rows", rows}};
  return whole.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string reportMarkdown(const Report& report) {
  std::string text = "## ";
  text += report.dataset + "\n\n" + report.model + "; metric " + report.metrics + "; " + std::to_string(report.answered) + " of " +
          std::to_string(report.planned) + " answers. Per cent; in brackets the 95 % interval of the mean.\n\n";
  const bool same = any(report, &ReportRow::sameAsFull);
  const bool top = any(report, &ReportRow::topAgreement);
  const bool ofFull = any(report, &ReportRow::ofFull);
  const bool perplexity = any(report, &ReportRow::perplexity);
  if (ofFull) text += "Of full's: of the questions that the full cache answers. Intervals: whole documents drawn.\n\n";
  if (perplexity)
    text += "Perplexity: of the right answer, read token by token behind what was kept; its score is the mean probability of a token.\n\n";
  std::string head = "| method | asked | kept | questions | score |";
  if (ofFull) head += " of full's |";
  if (same) head += " as full |";
  if (top) head += " top-1 | KL |";
  if (perplexity) head += " perplexity |";
  head += " JSD |";
  for (const std::string& group : report.groups) head += cell(group);
  text += head + "\n|---|";
  for (std::size_t column = 4 + (ofFull ? 1 : 0) + (same ? 1 : 0) + (top ? 2 : 0) + (perplexity ? 1 : 0) + 1 + report.groups.size();
       column > 0; --column)
    text += "---:|";
  text += "\n";
  for (const ReportRow& row : report.rows) {
    text.append("|").append(cell(row.method)) += cell(percent(row.requested)) + cell(percent(row.achieved)) +
                                                 cell(std::to_string(row.items)) + cell(percent(row.score) + spanOf(row.interval));
    if (ofFull) text += cell(row.ofFull ? percent(row.ofFull->score) + spanOf(row.ofFull->interval) : "");
    if (same) text += cell(percent(row.sameAsFull));
    if (top) text += cell(percent(row.topAgreement)) + cell(row.divergence ? number(*row.divergence, "%.3f") : "");
    if (perplexity) text += cell(row.perplexity ? number(*row.perplexity, "%.3f") : "");
    text += cell(number(row.budgetDivergence, "%.3f"));
    for (const std::string& group : report.groups) text += cell(row.groups.contains(group) ? percent(row.groups.at(group)) : "");
    text += "\n";
  }
  return text + selectionTable(report) + mistakesTable(report);
}

std::string reportCsv(const Report& report) {
  std::string text =
      "dataset,recipe,method,requested_retention,achieved_retention,items,answers,score,low_95,high_95,of_full,of_full_low_95,of_full_high_"
      "95,same_as_full,top1_agreement,kl,perplexity,";
  const SelectionFigures none;
  visit_fields(none, [&](const std::string& name, const auto&) { text += name + ","; });
  text += "budget_jsd,kv_bytes,kv_bytes_full,generated_tokens";
  for (const std::string& group : report.groups) text.append(1, ',').append(csvField(group));
  text += "\n";
  const auto field = [](const std::optional<double>& value) { return value ? number(*value, "%.6g") : std::string(); };
  const auto shareOfFull = [](const ReportRow& row) {
    if (!row.ofFull) return std::string(",,,");
    const ShareOfFull& share = *row.ofFull;
    return number(share.score, "%.6g") + "," + number(share.interval.low, "%.6g") + "," + number(share.interval.high, "%.6g") + ",";
  };
  for (const ReportRow& row : report.rows) {
    text += csvField(report.dataset) + "," + csvField(row.recipe) + "," + csvField(row.method) + "," + field(row.requested) + "," +
            field(row.achieved) + "," + std::to_string(row.items) + "," + std::to_string(row.answers) + "," + field(row.score) + "," +
            field(row.interval.low) + "," + field(row.interval.high) + "," + shareOfFull(row) + field(row.sameAsFull) + "," +
            field(row.topAgreement) + "," + field(row.divergence) + "," + field(row.perplexity) + ",";
    const SelectionFigures selection = row.selection.value_or(none);
    visit_fields(selection,
                 [&](const char*, const auto& figure) { text += (row.selection ? field(numberOf(figure)) : std::string()) + ","; });
    text += field(row.budgetDivergence) + "," + number(row.kvBytes, "%.0f") + "," + number(row.kvBytesFull, "%.0f") + "," +
            field(row.generatedTokens);
    for (const std::string& group : report.groups)
      text.append(1, ',').append(row.groups.contains(group) ? field(row.groups.at(group)) : std::string());
    text += "\n";
  }
  return text;
}

}  // namespace winnow::app
