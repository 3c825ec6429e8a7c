// Which cache a question goes on from and how many tokens it reads for that: every case, a row each. A plan of it says the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "engine/generation/requests/conversation_file.h"
#include "engine/generation/requests/plan_turn.h"
#include "engine/generation/requests/run_comparison.h"
#include "engine/generation/requests/run_prepare.h"
#include "engine/generation/requests/run_turn.h"
#include "engine/generation/requests/run_watch.h"
#include "tests/engine/generation/asking.h"
#include "tests/engine/generation/tiny_model.h"
#include "tests/support/event_recorder.h"
#include "tests/support/scratch_folder.h"

namespace winnow::testing {
namespace {

// As Qwen3's without thinking: the empty block that an answer begins with is gone once it is history.
constexpr const char* kEmptyThought =
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}{% else %}{% for c in m.content %}"
    "{% if c.type == 'image' %}<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ c.text }}{% endif %}{% endfor %}{% endif %}"
    "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n<think>\n\n</think>\n\n{% endif %}";
constexpr const char* kWritesTheDay =
    "Today is {{ strftime_now('%d') }}.{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}<|im_start|>";

// One conversation of an engine. A row does to it what it says, and then asks.
class WhichCache : public ::testing::Test {
 protected:
  void speak(const char* source) { model_->chat_template = std::make_unique<ChatTemplate>(source, "<s>", "</s>"); }

  static Turn under(Turn turn, const std::string& method, double share = 0.5) {
    turn.recipe = RecipeSpec();
    turn.recipe.method = method;
    turn.recipe.retention = method == "full" ? 1.0 : share;
    turn.recipe.min_event_tokens = 0;
    return turn;
  }
  template <class Value>
  static Turn with(Turn turn, Value Turn::*field, std::type_identity_t<Value> value) {
    turn.*field = std::move(value);
    return turn;
  }
  static Turn of_kv_bits(Turn turn, int bits) {
    turn.recipe.kv_bits = bits;
    return turn;
  }
  static Turn leaving(Turn turn, const char* before) {
    turn.recipe.before = before_of(before).value();
    return turn;
  }
  static Turn on(Turn turn, const char* day) {
    turn.prompt.day = day;
    return turn;
  }
  static Turn told(Turn turn, const char* system) {
    if (turn.messages.front().role == Role::kSystem) turn.messages.erase(turn.messages.begin());
    turn.messages.insert(turn.messages.begin(), {Role::kSystem, {TextItem{system}}});
    return turn;
  }
  static Turn in_low_detail(Turn turn) {
    std::get<MediaItem>(turn.messages.front().items.front()).media.detail.level = DetailLevel::kLow;
    return turn;
  }
  static Turn after(const Turn& turn, const std::string& answer) { return follow_up(turn, answer, "And now?"); }

  // A first question. medium: a recorded case.
  Turn question(const std::string& method, const std::string& medium = "image") {
    Turn turn;
    turn.messages = {golden_.message(medium, opener_)};
    turn.sampling.max_new_tokens = 4;
    return under(std::move(turn), method);
  }
  RequestContext context() { return {*model_, &opener_, EmitEvent(events_, 1), InterruptToken()}; }
  Finished run(const Turn& turn) { return run_turn(context(), turn, states_); }
  // Answered; to be asked again.
  Turn again(const Turn& turn) {
    run(turn);
    return turn;
  }
  // Answered; what is asked next in its thread.
  Turn next(const Turn& turn) { return after(turn, run(turn).answer); }
  Turn next_with_video(const Turn& turn) {
    Turn asked = next(turn);
    asked.messages.back() = golden_.message("even_video", opener_);
    return asked;
  }
  // Answered, which is cut; the same, to be continued.
  Turn cut(Turn turn) {
    turn.answer_begun += run(turn).answer;
    return turn;
  }
  Turn prepared(const Turn& turn) {
    run_prepare(context(), turn, states_);
    return turn;
  }
  // The columns answer in the same words; the question behind them.
  Turn compared(const Turn& turn, const std::vector<std::string>& methods) {
    Compare compare = compare_of(turn, {});
    for (const std::string& method : methods) compare.recipes.push_back(under(turn, method).recipe);
    run_comparison(context(), compare, states_);
    for (ComparedColumn& column : states_.columns) column.state.thread = states_.columns.front().state.thread;
    return after(turn, said_by(states_.columns.front().state));
  }
  static std::string said_by(const Conversation& state) { return std::get<TextItem>(state.thread.back().items.front()).text; }
  static Turn camera(const std::string& words) {
    Turn turn = under({}, "kvzip-stream", 1.0);
    turn.recipe.budget_tokens = 20;
    turn.guard = Guard::kAlone;
    turn.sampling.max_new_tokens = 4;
    turn.messages = {watched_camera(0.5)};
    return asking(std::move(turn), words);
  }
  // Two frames come; the number of those that have.
  std::int64_t watch(const Turn& turn, bool begins, int first = 0) {
    std::vector<SampledFrame> frames(2);
    for (SampledFrame& frame : frames) {
      frame.asked_s = frame.actual_s = 0.5 * first;
      frame.image = patterned_picture(20, 20, first++);
    }
    return run_watch(context(), {turn, begins, std::move(frames)}, states_).frames;
  }
  // Another run of the program, with what was kept on disk.
  Turn restarted(const Turn& turn) {
    const std::string path = folder_.file("7.safetensors");
    const std::int64_t bytes = write_conversation(path, "m", states_, std::numeric_limits<std::int64_t>::max());
    states_ = bytes > 0 ? read_conversation(context(), path, "m") : ConversationStates();
    return turn;
  }

  std::string start_name(const Turn& asked) {
    static constexpr std::array<const char*, 7> kNames = {"nothing", "cut", "current", "before last", "column", "full", "prepared"};
    const TurnStart start = start_of(states_, as_run(asked), *model_);
    const auto* column = std::get_if<FromColumn>(&start);
    return kNames[start.index()] + (column != nullptr ? " " + std::to_string(column->at) : "") + (is_rewritten(start) ? ", rewritten" : "");
  }

  static constexpr std::int64_t kAll = -1;          // of the thread
  static constexpr std::int64_t kBehindMedia = -2;  // and all of it behind what is prepared

  // reads: tokens. The conversation is forgotten afterwards.
  void row(const char* situation, const Turn& turn, const std::string& start, std::int64_t reads) {
    SCOPED_TRACE(situation);
    EXPECT_EQ(start_name(turn), start);
    if (reads < 0) {
      const std::int64_t prepared = reads == kBehindMedia ? states_.prepared.value().tokens.counts().prompt : 0;
      ConversationStates nothing;
      reads = run_turn(context(), turn, nothing).figures.tokens.prompt - prepared;
    }
    const Planned planned = plan_turn(context(), turn, states_);
    EXPECT_EQ(planned.tokens.prompt, reads);
    EXPECT_EQ(planned.goes_on_from.empty(), start.starts_with("nothing") || start == "full") << "a full cache has no makers";
    EXPECT_EQ(run(turn).figures.tokens.prompt, reads);
    const CacheReport report = events_.last<CacheReport>().value();
    EXPECT_EQ(planned.kv_bytes_full, report.kv_bytes.full);
    EXPECT_EQ(planned.kv_bytes_after_event, report.kv_bytes.after_event);
    EXPECT_EQ(std::ranges::count(report.notes, CompressionNote::kThreadReadAgain), start.ends_with("rewritten") ? 1 : 0);
    states_ = {};
  }

  GoldenFolder golden_{"qwen2_vl/published"};
  MemoryMediaOpener opener_;
  std::unique_ptr<LoadedModel> model_ = load_folder(golden_.in_fp32(), {}, InterruptToken());
  ConversationStates states_;
  EventRecorder events_;
  const test::ScratchFolder folder_;
  const c10::InferenceMode inference_;
};

TEST_F(WhichCache, OfAThread) {
  row("nothing was asked", question("full"), "nothing", kAll);
  row("its answer", next(question("full")), "current", 20);
  row("its second answer", next(next(question("full"))), "current", 20);
  row("another method", under(next(question("snapkv")), "full"), "current", 20);
  row("the last question again", again(next(question("full"))), "before last", 20);
  row("another question in its place, twice", asking(again(asking(again(next(question("full"))), "Why?")), "Who?"), "before last", 16);
  row("the first question again", again(question("full")), "nothing", kAll);
  const Turn second = next(question("full"));
  next(next(second));
  row("the question before the last", second, "nothing", kAll);
  row("an edited answer", after(question("full"), run(question("full")).answer + "!"), "nothing", kAll);
  Turn shorter = next(next(question("full")));
  shorter.messages.erase(shorter.messages.begin() + 1, shorter.messages.begin() + 3);
  row("an answer was left out", shorter, "nothing", kAll);
  row("the named cache", with(next(question("full")), &Turn::goes_on_from, {{question("full").recipe, true}}), "current", 20);
  row("the named cache is gone", with(next(question("full")), &Turn::goes_on_from, {{question("snapkv").recipe, true}}), "nothing", kAll);
  row("other pins", with(next(question("full")), &Turn::pins, {{0}}), "nothing", kAll);
  const std::vector<Pin> pins = {{0, 0.0, 0.5}, {0, 1.0, 1.5}};
  row("pins in another order", with(next(with(question("full", "even_video"), &Turn::pins, pins)), &Turn::pins, {pins[1], pins[0]}),
      "current", 20);
  row("a pin of what is attached now", with(next_with_video(question("full")), &Turn::pins, {{1, 0.0, 0.5}}), "current", 53);
  row("another type of the cache", of_kv_bits(next(question("full")), 16), "nothing", kAll);
  row("the same type by its name", of_kv_bits(next(question("full")), 32), "current", 20);
  row("less of the picture is read", leaving(next(question("full")), "random:0.5"), "nothing", kAll);
  row("as much of it", next(leaving(question("full"), "random:0.5")), "current", 20);
  row("all of it again", leaving(next(leaving(question("full"), "random:0.5")), "none"), "nothing", kAll);
  row("of words nothing is left out", leaving(next(asking(question("full", "text"), "One?")), "random:0.5"), "current", 20);
  row("a picture in another detail", in_low_detail(next(question("full"))), "nothing", kAll);
  next(question("full"));
  states_ = {};
  row("the engine's process has ended", after(question("full"), "It is."), "nothing", kAll);
  speak(kEmptyThought);
  row("a template that writes it otherwise", next(question("full")), "nothing, rewritten", kAll);
  speak(kWritesTheDay);
  const Turn today = next(on(asking(question("full", "text"), "One?"), "2026-11-27"));
  row("another day, which the template writes", on(today, "2026-11-28"), "nothing, rewritten", kAll);
}

TEST_F(WhichCache, UnderAGuard) {
  const Turn ram = with(question("snapkv"), &Turn::guard, Guard::kRam);
  row("prefill", with(next(question("full")), &Turn::guard, Guard::kPrefill), "nothing", kAll);
  row("ram", next(ram), "full", 24);
  row("ram, the last question again", again(next(ram)), "full", 24);
  row("ram, which was not on", with(next(question("snapkv")), &Turn::guard, Guard::kRam), "nothing", kAll);
  row("ram, less of the picture is read", leaving(next(ram), "random:0.5"), "nothing", kAll);
  row("ram, other pins", with(next(ram), &Turn::pins, {{0}}), "nothing", kAll);
  row("ram, off again", with(next(ram), &Turn::guard, Guard::kKeep), "current", 20);
  row("alone", with(next(question("snapkv")), &Turn::guard, Guard::kAlone), "nothing", kAll);
  speak(kEmptyThought);
  row("ram, a template that writes it otherwise", next(ram), "nothing, rewritten", kAll);
}

TEST_F(WhichCache, AfterAComparison) {
  const std::vector<std::string> methods = {"full", "snapkv"};
  row("a used answer", compared(question("snapkv"), methods), "column 1", 20);
  row("in the same words, the first", under(compared(question("full"), methods), "h2o"), "column 0", 20);
  row("in the same words, the named one",
      with(compared(question("full"), methods), &Turn::goes_on_from, {{question("snapkv").recipe, true}}), "column 1", 20);
  const Turn used = compared(again(question("snapkv")), methods);
  states_.current->thread = states_.columns.front().state.thread;
  row("in the same words, the chat's", used, "current", 20);
  row("a used answer, the last question again", again(compared(question("snapkv"), methods)), "before last", 20);
  const Turn late = compared(question("snapkv"), methods);
  run(asking(question("full"), "Why?"));
  row("a used answer, after another question", late, "nothing", kAll);
  const Turn with_pin = with(question("snapkv"), &Turn::pins, {{0}});
  row("with its pins", compared(with_pin, methods), "column 1", 20);
  row("without its pins", with(compared(with_pin, methods), &Turn::pins, {}), "nothing", kAll);
  const Turn second = next(question("snapkv"));
  compared(second, methods);
  row("the chat is left as it was", second, "current", 20);
}

TEST_F(WhichCache, AboutPreparedMedia) {
  const Turn first = question("kvzip");
  row("a question", prepared(first), "prepared", 25);
  row("read by an earlier question", asking(again(first), "Who?"), "prepared", 12);
  row("of another share", under(prepared(first), "kvzip", 0.4), "nothing", kAll);
  row("of which less is read", leaving(prepared(first), "random:0.5"), "nothing", kAll);
  row("with a pin", with(prepared(first), &Turn::pins, {{0}}), "nothing", kAll);
  row("in another detail", in_low_detail(prepared(first)), "nothing", kAll);
  Turn later = prepared(question("kvzip", "even_video"));
  std::get<MediaItem>(later.messages.back().items.front()).media.plan.from_s = 0.5;
  row("from another second on", later, "nothing", kAll);
  row("behind what the system says", prepared(told(first, "Be short.")), "prepared", 25);
  row("behind other words of the system", told(prepared(told(first, "Be short.")), "Say much."), "nothing", kAll);
  row("guard prefill, the first question", with(prepared(first), &Turn::guard, Guard::kPrefill), "prepared", 25);
  row("guard prefill, a later one", with(next(first), &Turn::guard, Guard::kPrefill), "nothing", kAll);
  row("guard alone, a later one", with(next(first), &Turn::guard, Guard::kAlone), "prepared", 16);
  row("the thread goes on", next(first), "current", 20);
  row("a second medium behind the first", prepared(next_with_video(first)), "prepared", 23);
  row("its question under another method", under(again(next_with_video(first)), "full"), "before last", 53);
  row("frames that every question fetches", next(question("rekv", "even_video")), "prepared", kBehindMedia);
  speak(kEmptyThought);
  row("a template that writes the thread otherwise", next(first), "prepared, rewritten", kBehindMedia);
}

TEST_F(WhichCache, OfAWatchedSource) {
  const Turn source = camera(""), asked = camera("What is there?");
  watch(source, true);
  row("a question", asked, "prepared", 18);
  watch(source, true);
  row("a later question", next(asked), "prepared", 16);
  // The next clip.
  EXPECT_THROW(watch(source, false), Exception) << "nothing was seen";
  EXPECT_EQ(watch(source, true), 2);
  run(asked);
  EXPECT_EQ(watch(source, false, 2), 4);
  Turn other = source;
  std::get<MediaItem>(other.messages.back().items.front()).media.path = "another camera";
  EXPECT_THROW(watch(other, false, 4), Exception);
  EXPECT_EQ(watch(source, true), 2) << "begun anew";
  restarted(source);
  EXPECT_THROW(watch(source, false, 2), Exception) << "what was seen is in no file";
  watch(source, true);
  prepared(question("kvzip"));
  EXPECT_THROW(watch(source, false, 2), Exception) << "read in its place";
}

TEST_F(WhichCache, WhereAnAnswerWasCut) {
  row("it goes on", cut(question("snapkv")), "cut", 0);
  row("cut twice", cut(cut(question("snapkv"))), "cut", 0);
  row("under a guard", cut(with(question("snapkv"), &Turn::guard, Guard::kPrefill)), "cut", 0);
  Turn other = cut(next(question("snapkv")));
  other.answer_begun += "!";
  row("other words", other, "before last", 20);
  row("other pins", with(cut(question("snapkv")), &Turn::pins, {{0}}), "nothing", kAll);
  row("another method", under(cut(question("snapkv")), "full"), "nothing", kAll);
  const Turn second = next(question("snapkv"));
  run(cut(second));
  row("its question again", second, "before last", 20);
  Turn longer = cut(question("snapkv"));
  row("the thread behind it", after(question("snapkv"), longer.answer_begun + run(longer).answer), "current", 20);
  Turn column = question("snapkv");
  compared(column, {"snapkv"});
  column.answer_begun = said_by(states_.columns.front().state);
  row("in a comparison", column, "cut", 0);
  const Turn whole = cut(next(question("snapkv")));
  states_.current->answer_open = false;
  row("it had come to its end", whole, "before last", 20);
}

TEST_F(WhichCache, KeptOnDisk) {
  row("a thread", restarted(next(question("snapkv"))), "current", 20);
  row("a picture with its detail", restarted(next(in_low_detail(question("full")))), "current", 20);
  row("prepared media", restarted(prepared(question("kvzip"))), "prepared", 25);
  row("a thread of which less was read", restarted(next(leaving(question("snapkv"), "random:0.5"))), "current", 20);
  row("prepared media of which less was read", restarted(prepared(leaving(question("kvzip"), "random:0.5"))), "prepared", 25);
  row("a cut answer", restarted(cut(question("snapkv"))), "cut", 0);
  row("not the last question again", restarted(again(next(question("snapkv")))), "nothing", kAll);
  row("no columns", restarted(compared(question("snapkv"), {"snapkv"})), "nothing", kAll);
  row("no full cache", restarted(next(with(question("snapkv"), &Turn::guard, Guard::kRam))), "nothing", kAll);
  row("nothing that is still evicted", restarted(next(question("h2o"))), "nothing", kAll);
}

}  // namespace
}  // namespace winnow::testing
