#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "app/programs/cli/answer_json.h"
#include "app/programs/cli/commands.h"
#include "app/programs/cli/console_output.h"
#include "app/programs/cli/pin_options.h"
#include "app/programs/cli/session.h"
#include "app/programs/cli/turn_options.h"
#include "engine/api/engine.h"
#include "engine/metrics/kept_figures.h"

namespace winnow::cli {
namespace {

struct ColumnMethod {
  std::string name;
  std::optional<double> retention;
};

std::optional<ColumnMethod> parse(const std::string& text) {
  const std::size_t at = text.find('@');
  ColumnMethod column{text.substr(0, at), {}};
  if (at == std::string::npos) return column;
  double value = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, problem] = std::from_chars(text.data() + at + 1, end, value);
  if (problem != std::errc() || rest != end || !(value > 0.0 && value <= 1.0)) return std::nullopt;
  column.retention = value;
  return column;
}

std::optional<MethodInfo> method_named(const std::string& name) {
  for (MethodInfo& method : list_methods()) {
    if (method.name == name) return std::move(method);
  }
  return std::nullopt;
}

// The columns of `compare` as they are written: "full", "vl-cache@0.1".

// Why this is no column (no such method, a retention that is none); empty if it is one.
std::string column_problem(const std::string& text) {
  const std::optional<ColumnMethod> column = parse(text);
  if (!column) return text + ": the number after @ must be above 0 and at most 1";
  if (!method_named(column->name)) return column->name + " is not a method; winnow-cli methods lists them";
  if (column->name == "full" && column->retention) return "full keeps everything and takes no retention";
  return {};
}

// One recipe per column: retention as written or the command's budget, the options that its method has, the exchanged parts unless it is
// full. Throws Exception(kIllegalRecipe) for an option that no column has.
std::vector<RecipeSpec> column_recipes(const TurnOptions& options, const std::vector<std::string>& columns) {
  std::vector<RecipeSpec> recipes;
  std::map<std::string, std::string> unused = options.recipe.options;
  for (const std::string& text : columns) {
    const ColumnMethod column = parse(text).value();
    const MethodInfo method = method_named(column.name).value();
    TurnOptions own = options;
    RecipeSpec& recipe = own.recipe;
    recipe.method = column.name;
    if (column.retention) {
      recipe.retention = *column.retention;
      recipe.budget_tokens.reset();
    }
    if (column.name == "full") {
      for (const PartSetting& part : kPartSettings) (recipe.*part.name).clear();
    }
    std::erase_if(recipe.options, [&](const auto& option) {
      return std::none_of(method.options.begin(), method.options.end(),
                          [&](const OptionInfo& known) { return known.name == option.first; });
    });
    std::erase_if(unused, [&](const auto& option) { return recipe.options.contains(option.first); });
    recipes.push_back(recipe_of(own));
  }
  if (!unused.empty()) {
    throw Exception(ErrorCode::kIllegalRecipe, "--method-option",
                    "no compared method has the option " + unused.begin()->first + "=" + unused.begin()->second);
  }
  return recipes;
}

// "full", "vl-cache@0.1", "snapkv@64 slots"
std::string column_label(const RecipeSpec& recipe) {
  if (keeps_everything(recipe)) return recipe.method;
  if (recipe.budget_tokens) return recipe.method + "@" + std::to_string(*recipe.budget_tokens) + " slots";
  char share[32];
  std::snprintf(share, sizeof share, "@%g", recipe.retention);
  return recipe.method + share;
}

using nlohmann::ordered_json;

// The same question under several recipes from one prefill. The method of `turn` is not used.
struct CompareOptions : CommandOptions {
  std::vector<std::string> columns;  // as compare_command.cpp reads them
  bool interleaved = false;          // a token of each column in turn
};

// One sink per column, and one for what all share.
class ComparisonSink : public EventSink {
 public:
  struct Column {
    std::string label;
    ConsoleSink sink;
    bool shares_prefill = true;
  };

  // Interleaved answers cannot be streamed to one terminal: each is printed when it is complete.
  ComparisonSink(const std::vector<RecipeSpec>& recipes, OutputFormat format, ColumnOrder order)
      : format_(format), streams_(format == OutputFormat::kText && order == ColumnOrder::kOneAfterAnother) {
    const AnswerOutput output = streams_ ? AnswerOutput::kStream : AnswerOutput::kSilent;
    for (const RecipeSpec& recipe : recipes) columns.push_back({column_label(recipe), ConsoleSink(output, ProgressOutput::kTerminalOnly)});
  }

  void on_event(Event event) override {
    if (auto* done = std::get_if<Compared>(&event.body)) compared = *done;
    if (event.column == Event::kNoColumn) {
      common.on_event(std::move(event));
      return;
    }
    Column& column = columns.at(static_cast<std::size_t>(event.column));
    const auto* started = std::get_if<ColumnStarted>(&event.body);
    if (started != nullptr) column.shares_prefill = started->shares_prefill;
    const bool answered = std::holds_alternative<Finished>(event.body);
    if (streams_ ? started != nullptr : answered && format_ == OutputFormat::kText) {
      print_out("%s%s\n", column.label.c_str(), column.shares_prefill ? "" : " (read separately)");
    }
    column.sink.on_event(std::move(event));
    if (format_ == OutputFormat::kText && answered) {
      print_out("%s\n\n", streams_ ? "" : column.sink.finished->answer.c_str());
      print_err("%s\n", figures_text(column.sink).c_str());
    }
  }

  ConsoleSink common{AnswerOutput::kSilent};
  std::vector<Column> columns;
  std::optional<Compared> compared;

 private:
  OutputFormat format_;
  bool streams_;
};

ordered_json comparison_json(ComparisonSink& sink, ColumnOrder order, const ModelInfo& model) {
  ordered_json columns = ordered_json::array();
  for (ComparisonSink::Column& column : sink.columns) {
    if (!column.sink.finished) break;  // stopped before it
    if (column.shares_prefill) column.sink.media = sink.common.media;
    ordered_json object = answer_json(column.sink, model);
    object["prefill"] = column.shares_prefill ? "shared" : "own";
    add_scores(object, column.sink);
    columns.push_back(std::move(object));
  }
  return {{"order", order == ColumnOrder::kInterleaved ? "interleaved" : "one-after-another"},
          {"prefills", sink.compared->prefills},
          {"shared_prefix_bytes", sink.compared->shared_prefix_bytes},
          {"allocated_bytes", sink.compared->allocated_bytes},
          {"stopped", sink.compared->stopped},
          {"columns", columns}};
}

std::string number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

// The figures side by side. "same choice": share of tokens at which the full cache would have chosen the same; "hits": share of the prompt
// tokens which the full cache's first answer token looks at most that were kept.
std::string comparison_table(const ComparisonSink& sink) {
  std::vector<std::vector<std::string>> rows = {
      {"method", "kept", "KV", "first token", "tokens/s", "agreement", "KL", "first different word", "hits"}};
  for (const ComparisonSink::Column& column : sink.columns) {
    if (!column.sink.finished) break;
    const TurnFigures& f = column.sink.finished->figures;
    std::vector<std::string> row = {column.label, number("%.1f %%", 100.0 * kept_share(f)), bytes_text(f.kv_bytes.after_event),
                                    number("%.0f ms", f.timings_ms.ttft), number("%.1f", f.tokens_per_s)};
    if (const std::optional<Agreement>& agreement = column.sink.agreement) {
      row.push_back(number("%.1f %%", 100.0 * agreement->top1));
      row.push_back(agreement->mean_kl ? number("%.4f", *agreement->mean_kl) : "-");
      row.push_back(agreement->differences.empty() ? "none" : std::to_string(*agreement->first_diverging_word + 1));
    } else {
      row.insert(row.end(), 3, "-");
    }
    const std::optional<SelectionFigures>& selection = column.sink.selection;
    row.push_back(selection && selection->hit_rate ? number("%.1f %%", 100.0 * *selection->hit_rate) : "-");
    rows.push_back(std::move(row));
  }
  std::string text;
  for (const std::vector<std::string>& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      std::size_t width = 0;
      for (const std::vector<std::string>& other : rows) width = std::max(width, other[i].size());
      const std::string space(width - row[i].size(), ' ');
      text += (i == 0 ? row[i] + space : "  " + space + row[i]);
    }
    text += '\n';
  }
  return text;
}

ExitStatus run_compare(CompareOptions options) {
  if (options.columns.size() > Compare::kMostRecipes) throw CLI::ValidationError("--method", "compares at most eight methods");
  take_question(options);
  Session session;
  listen_to_media(session, options.turn, options.listen);
  Compare request;
  request.conversation = 1;
  request.messages = first_thread(options.turn, options.question);
  request.recipes = column_recipes(options.turn, options.columns);
  request.pins = pins_of(options.turn.pins, request.messages);
  request.prompt = prompt_settings(options.turn);
  const ModelInfo model = session.load(load_request(options.model));
  if (!model.device_note.empty()) print_err("%s\n", model.device_note.c_str());

  const ColumnOrder order = options.interleaved ? ColumnOrder::kInterleaved : ColumnOrder::kOneAfterAnother;
  request.order = order;
  suit_model(options.turn, model);
  request.sampling = sampling_of(options.turn);
  ComparisonSink sink(request.recipes, options.format, order);
  session.run(std::move(request), sink);
  if (!sink.compared) return ExitStatus::kInterrupted;  // before the first answer
  if (options.format == OutputFormat::kJson) {
    print_out("%s\n", json_line(comparison_json(sink, order, model), 2).c_str());
  } else {
    print_err("%s", media_text(sink.common.media).c_str());
    print_out("%s%lld %s · shared prefix %s, all caches together %s\n", comparison_table(sink).c_str(),
              static_cast<long long>(sink.compared->prefills), sink.compared->prefills == 1 ? "prefill" : "prefills",
              bytes_text(sink.compared->shared_prefix_bytes).c_str(), bytes_text(sink.compared->allocated_bytes).c_str());
  }
  return sink.compared->stopped ? ExitStatus::kInterrupted : ExitStatus::kAnswered;
}

}  // namespace

RunCommand add_compare(CLI::App& command) {
  const auto options = std::make_shared<CompareOptions>();
  add_model_options(command, options->model);
  add_media_options(command, options->turn);
  command.add_option("--method", options->columns, "a method, or method@retention; repeat for up to eight columns")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false)
      ->required()
      ->check(column_problem);
  add_recipe_options(command, options->turn);
  add_sampling_options(command, options->turn);
  add_json_option(command, *options, "print one JSON object only");
  command.add_flag("--interleaved", options->interleaved, "write all answers at once, one token each in turn");
  add_listen_options(command, options->listen);
  add_question(command, *options, "ask about a bundled sample video");
  return [options] { return run_compare(*options); };
}

}  // namespace winnow::cli
