#include "tests/support/scripted_comparison.h"

#include <algorithm>
#include <sstream>

namespace winnow::test {

namespace {

std::vector<std::string> split(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

bool is_common(const EventBody& body) {
  if (const auto* progress = std::get_if<Progress>(&body)) return progress->phase != Phase::kCompress;
  return std::holds_alternative<MediaSampled>(body);
}

bool prunes(const RecipeSpec& recipe) { return recipe.method == "fastv" || recipe.method == "fastervlm" || recipe.method == "ivtp"; }

}  // namespace

Agreement agreement_between(const std::string& answer, const std::string& full_answer) {
  const std::vector<std::string> own = split(answer), full = split(full_answer);
  Agreement agreement{.tokens = static_cast<std::int64_t>(own.size()) + 1};
  for (std::size_t i = 0; i <= own.size(); ++i) {
    const std::string here = i < own.size() ? own[i] : std::string();
    const std::string there = i < full.size() ? full[i] : std::string();
    if (here == there || (i == own.size() && i > full.size())) continue;
    agreement.differences.push_back({static_cast<std::int64_t>(i), here, there, 0.41, 0.07, 0.82});
  }
  const auto differing = static_cast<double>(agreement.differences.size());
  agreement.same = agreement.tokens - std::ssize(agreement.differences);
  agreement.top1 = 1.0 - differing / static_cast<double>(agreement.tokens);
  agreement.mean_kl = 0.25 * differing / static_cast<double>(agreement.tokens);
  if (!agreement.differences.empty()) agreement.first_diverging_word = agreement.differences.front().word;
  return agreement;
}

Script compare_script(const Request& request, const std::vector<std::string>& answers, std::chrono::milliseconds word_delay, int layers) {
  const auto& compare = std::get<Compare>(request.body);
  const auto answer_of = [&](std::size_t i) { return answers[std::min(i, answers.size() - 1)]; };
  std::string full_answer = answer_of(0);
  for (std::size_t i = 0; i < compare.recipes.size(); ++i)
    if (compare.recipes[i].method == "full") {
      full_answer = answer_of(i);
      break;
    }

  Script script;
  std::vector<Script> begins, words, ends;  // per column
  Compared compared{.prefills = 1};
  for (std::size_t i = 0; i < compare.recipes.size(); ++i) {
    Turn turn{.conversation = compare.conversation, .messages = compare.messages, .recipe = compare.recipes[i]};
    const auto column = static_cast<std::int32_t>(i);
    const bool alone = prunes(turn.recipe);
    if (alone) ++compared.prefills;
    begins.push_back({{{}, Say{ColumnStarted{!alone}, column}}});
    words.emplace_back();
    ends.emplace_back();
    for (Step& step : answer_script({request.id, turn}, answer_of(i), word_delay, layers)) {
      auto& say = std::get<Say>(step.action);
      if (is_common(say.body) && !alone) {
        if (i == 0) script.push_back(std::move(step));
        continue;
      }
      say.column = column;
      if (const auto* report = std::get_if<CacheReport>(&say.body)) {
        compared.shared_prefix_bytes = report->kv_bytes.full;
        compared.allocated_bytes += report->kv_bytes.after_event;
      }
      const bool written = std::holds_alternative<TextDelta>(say.body) || std::holds_alternative<DecodeSample>(say.body);
      Script& part = written ? words.back() : std::holds_alternative<Finished>(say.body) ? ends.back() : begins.back();
      part.push_back(std::move(step));
    }
    if (compare.scores == ColumnScores::kAll) {
      Scored scored{agreement_between(answer_of(i), full_answer)};
      if (turn.recipe.method != "full") scored.selection = SelectionFigures{0.875, {0.25}, 0.5, 0.5, 0.5, 0.75};
      ends.back().push_back({{}, Say{std::move(scored), column}});
    }
  }
  compared.allocated_bytes += compared.shared_prefix_bytes;

  const auto add = [&script](Script& part) { std::move(part.begin(), part.end(), std::back_inserter(script)); };
  if (compare.order == ColumnOrder::kOneAfterAnother) {
    for (std::size_t i = 0; i < begins.size(); ++i) {
      add(begins[i]);
      add(words[i]);
      add(ends[i]);
    }
  } else {
    for (Script& part : begins) add(part);
    std::size_t longest = 0;
    for (const Script& part : words) longest = std::max(longest, part.size());
    for (std::size_t at = 0; at < longest; at += 2) {  // a word and its sample each
      for (Script& part : words) {
        for (std::size_t k = at; k < std::min(at + 2, part.size()); ++k) script.push_back(std::move(part[k]));
      }
    }
    for (Script& part : ends) add(part);
  }
  script.push_back({{}, Say{compared}});
  return script;
}

Script score_script(const Request& request, const std::string& full_answer, std::chrono::milliseconds step_delay) {
  const auto& score = std::get<Score>(request.body);
  Script script;
  for (std::uint64_t layer = 0; layer <= 4; ++layer) script.push_back({step_delay, Say{Progress{Phase::kPrefill, layer, 4}}});
  script.push_back({step_delay, Say{Scored{agreement_between(score.answer, full_answer)}}});
  return script;
}

}  // namespace winnow::test
