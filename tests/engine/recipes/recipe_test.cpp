#include "engine/recipes/recipe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <utility>

#include "engine/recipes/allocators/allocator.h"
#include "engine/recipes/method_info.h"
#include "engine/recipes/methods/registry.h"
#include "engine/recipes/reducers/registry.h"
#include "engine/recipes/stored_bits.h"
#include "tests/engine/compression/named_composition.h"
#include "tests/support/measured_options.h"

namespace winnow {
namespace {

Error refusal(const std::function<void()>& call) {
  try {
    call();
  } catch (const Exception& exception) {
    return exception.error();
  }
  ADD_FAILURE() << "nothing was refused";
  return {};
}

Error refusal_of(const std::function<void(RecipeSpec&)>& change) {
  RecipeSpec spec;
  change(spec);
  return refusal([&] { Recipe::from_spec(spec); });
}

TEST(RecipeSpec, FullKeepsEverythingWhateverShareItIsAskedFor) {
  RecipeSpec full;
  full.method = "full";
  full.retention = 0.1;
  full.budget_tokens = 64;
  full.seed = 7;
  ASSERT_TRUE(keeps_everything(full));
  const RecipeSpec settled = with_its_share(full);
  EXPECT_EQ(settled.retention, 1.0);
  EXPECT_EQ(settled.budget_tokens, std::nullopt);
  EXPECT_EQ(settled.seed, 7U);
  RecipeSpec other = full;
  other.method = "snapkv";
  EXPECT_FALSE(keeps_everything(other));
  EXPECT_EQ(with_its_share(other), other);
}

// One default for window, terminal and files; legal on every kind of model.
TEST(RecipeSpec, WithoutAChoiceIsSelfStudyWhateverTheModel) {
  EXPECT_EQ(RecipeSpec().method, "self-study");
  EXPECT_EQ(RecipeSpec().retention, 0.2);
  ModelTraits text, windows, three_axes;
  text.sees = text.reads_videos = false;
  windows.window = 512;
  three_axes.position_axes = 3;
  for (const ModelTraits& model : {ModelTraits(), text, windows, three_axes}) EXPECT_EQ(recipe_problem(RecipeSpec(), model), std::nullopt);
}

TEST(Recipe, RefusesShares) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double retention : {0.0, -0.1, 1.0001, 2.0, kNan, kInfinity}) {
    const Error error = refusal_of([&](RecipeSpec& spec) { spec.retention = retention; });
    EXPECT_EQ(error.code, ErrorCode::kIllegalRecipe) << retention;
    EXPECT_EQ(error.subject, "retention");
  }
}

TEST(Recipe, RefusesBudgetsAndLengths) {
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) { spec.budget_tokens = 0; }).subject, "budget");
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) { spec.budget_tokens = -3; }).code, ErrorCode::kIllegalRecipe);
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) { spec.min_event_tokens = -1; }).subject, "min_event_tokens");
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) { spec.full_layers = -1; }).subject, "full_layers");
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) { spec.full_layers = 1025; }).subject, "full_layers");
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) {
              spec.method = "fastv";
              spec.full_layers = 3;  // tokens leave before layer 2
            }).subject,
            "full_layers");
}

TEST(Recipe, TheAbsoluteBudgetWins) {
  RecipeSpec spec;
  spec.retention = 7.0;  // not read
  spec.budget_tokens = 64;
  const Recipe recipe = Recipe::from_spec(spec);
  EXPECT_EQ(recipe.budget().tokens, 64);
  EXPECT_TRUE(recipe.compresses());
}

TEST(Recipe, NamesTheKnownMethods) {
  const Error error = refusal_of([](RecipeSpec& spec) { spec.method = "magic"; });
  EXPECT_EQ(error.code, ErrorCode::kIllegalRecipe);
  std::string known;
  for (const Method* entry : method_registry()) known += (known.empty() ? "" : ", ") + std::string(entry->name);
  EXPECT_EQ(error.reason, "there is no method \"magic\"; known are " + known);
  EXPECT_EQ(known.substr(0, 33), "full, meda, aircache, vl-cache, d");
}

TEST(Recipe, RefusesTurnPoliciesAndPositionsThatCannotBe) {
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) {
              spec.method = "fastv";
              spec.turn_policy = TurnPolicy::kWhole;
            }).subject,
            "turn_policy");
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) { spec.turn_policy = static_cast<TurnPolicy>(9); }).subject, "turn_policy");
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) {
              spec.method = "streaming-llm";
              spec.options["rope"] = "in-cache";
              spec.reducer = "look-m-average";
            }).subject,
            "rope");
  const Error votes = refusal_of([](RecipeSpec& spec) {
    spec.method = "meda";
    spec.options["event_at_first_decode"] = "true";
    spec.scorer = "snapkv";
  });
  EXPECT_EQ(votes.subject, "event_at_first_decode");
  EXPECT_EQ(votes.reason,
            "the first answer token's attention can only be added to accumulated attention; window-votes is made of other numbers");
}

TEST(Recipe, StoresItsCacheAsItSuitsTheModelOrInSoManyBits) {
  const Error error = refusal_of([](RecipeSpec& spec) { spec.kv_bits = 5; });
  EXPECT_EQ(error.subject, "kv");
  EXPECT_EQ(error.reason, "must be one of model, 32-bit, 16-bit, int8, int4");
  RecipeSpec spec{.method = "snapkv"};
  EXPECT_TRUE(Recipe::from_spec(spec).shares_prefill());
  spec.kv_bits = 8;
  EXPECT_FALSE(Recipe::from_spec(spec).shares_prefill()) << "its rows are rounded as they come";
  EXPECT_FALSE(Recipe::from_spec(spec).misfit(ModelTraits()));
  ModelTraits on_gpu{.reads_narrow_cache = false};
  ASSERT_TRUE(Recipe::from_spec(spec).misfit(on_gpu));
  EXPECT_EQ(Recipe::from_spec(spec).misfit(on_gpu)->subject, "kv");
  EXPECT_EQ(Recipe::from_spec(spec).misfit(on_gpu)->reason,
            "a cache in 8 bits is for the CPU: the GPU's attention reads numbers as it computes them");
  spec.kv_bits = 16;
  EXPECT_EQ(Recipe::from_spec(spec).misfit(on_gpu)->subject, "kv");
  on_gpu.arithmetic_bits = on_gpu.kv_bits = 16;
  for (const int bits : {0, 16, 32}) {
    spec.kv_bits = bits;
    EXPECT_FALSE(Recipe::from_spec(spec).misfit(on_gpu)) << bits;
    EXPECT_EQ(stored_bits(spec, on_gpu), 16) << "never more than it computes in";
  }
  ModelTraits held_in_four_bits{.kv_bits = 16};
  for (const auto& [asked, stored] : {std::pair{0, 16}, {32, 32}, {16, 16}, {8, 8}, {4, 4}}) {
    spec.kv_bits = asked;
    EXPECT_EQ(stored_bits(spec, held_in_four_bits), stored);
  }
}

TEST(Recipe, LeavesVisualTokensUnreadWhereThatCanBe) {
  const auto refused = [](const std::string& method, BeforeDecoder before) {
    return refusal_of([&](RecipeSpec& spec) {
      spec.method = method;
      spec.before = before;
    });
  };
  for (const Error& error : {refused("snapkv", {BeforeMethod::kEvs, 0.0}), refused("snapkv", {BeforeMethod::kEvs, std::nan("")}),
                             refused("snapkv", {BeforeMethod::kPixelPrune, 1.5}), refused("snapkv", {static_cast<BeforeMethod>(9), 0.5})}) {
    EXPECT_EQ(error.subject, "before");
    EXPECT_TRUE(error.reason.starts_with("must be none, vidcom2:SHARE")) << error.reason;
  }
  EXPECT_EQ(refused("kvzip-stream", {BeforeMethod::kEvs, 0.5}).reason,
            "what is never read is chosen over a whole video, and this method reads it clip by clip");
  EXPECT_EQ(refused("fastervlm", {BeforeMethod::kEvs, 0.5}).reason,
            "fastervlm takes visual tokens out before the decoder by a rule of its own: choose one of both");
  RecipeSpec spec{.before = {BeforeMethod::kEvs, 0.5}};
  for (const char* method : {"full", "self-study", "rekv", "fastv", "h2o"}) {
    spec.method = method;
    EXPECT_EQ(Recipe::from_spec(spec).before(), spec.before) << method;
  }
  ModelTraits model;
  EXPECT_FALSE(Recipe::from_spec(spec).misfit(model));
  spec.before = {BeforeMethod::kPixelPrune, 0.0};
  EXPECT_EQ(Recipe::from_spec(spec).misfit(model)->reason,
            "pixelprune encodes parts of a picture, and this model's vision encoder needs whole pictures");
  model.encodes_parts = true;
  EXPECT_FALSE(Recipe::from_spec(spec).misfit(model));
  model.sees = false;
  EXPECT_EQ(Recipe::from_spec(spec).misfit(model)->reason, "visual tokens can leave before the decoder, and this model reads text only");
}

TEST(Recipe, RefusesPartsThatDoNotFit) {
  Composition decoding = testing::composition_of("snapkv");
  decoding.phase = MethodPhase::kDecode;
  EXPECT_EQ(refusal([&] { Recipe::from_parts({}, std::move(decoding)); }).reason,
            "evicting while decoding needs a score that can follow each token; window-votes cannot");
  Composition lonely{.allocator = std::make_unique<UniformAllocator>()};
  EXPECT_EQ(refusal([&] { Recipe::from_parts({}, std::move(lonely)); }).code, ErrorCode::kIllegalRecipe);
  Composition share = testing::composition_of("vl-cache");
  share.protection.recent_share = 1.5;
  EXPECT_EQ(refusal([&] { Recipe::from_parts({}, std::move(share)); }).code, ErrorCode::kIllegalRecipe);
}

TEST(Recipe, RefusesIllegalMethodOptions) {
  const auto reason = [](const char* method, const char* name, const char* text) {
    const Error error = refusal([&] { testing::composition_of(method, {{name, text}}); });
    EXPECT_EQ(error.code, ErrorCode::kIllegalRecipe);
    EXPECT_EQ(error.subject, method);
    return error.reason;
  };
  EXPECT_EQ(reason("snapkv", "window", "0"), "window must be a whole number from 1 to 4096");
  EXPECT_EQ(reason("snapkv", "kernel", "4"), "kernel must be odd");
  EXPECT_EQ(reason("snapkv", "pooling", "sum"), "pooling must be one of average|max");
  EXPECT_EQ(reason("streaming-llm", "sinks", "-1"), "sinks must be a whole number from 0 to 1024");
  EXPECT_EQ(reason("vl-cache", "p", "0"), "p must be a number from 1e-09 to 1");
  EXPECT_EQ(reason("vl-cache", "p", "nan"), "p must be a number from 1e-09 to 1");
  EXPECT_EQ(reason("vl-cache", "window", "3"), "window is no option of this method");
  const std::string form = "profile must be shares per layer at retentions, as in 0.1=0.05:0.15/0.5=0.4:0.6";
  for (const char* text : {"", "0.5:0.25", "0.5:x", "0.1=0.5:x", "x=0.5", "0.1=0.5,0.4", "=0.5"}) {
    EXPECT_EQ(reason("prefixkv-profile", "profile", text), form) << text;
  }
  EXPECT_EQ(reason("prefixkv-profile", "profile", "0.5=0.4:0.6/0.1=0.2:0.1"),
            "profile must have rows of ascending retentions between 0 and 1");
  EXPECT_EQ(reason("prefixkv-profile", "profile", "0.1=0.5:1.5"), "profile must have shares over 0 and at most 1");
  EXPECT_EQ(reason("prefixkv-profile", "profile", "0.1=0.5/0.2=0.5:0.4"), "profile must have one share per layer in every row");
  for (const char* text : {"", "0.5:x", "0.5=0.1", "0.5,0.4"}) {
    EXPECT_EQ(reason("kvzip-head", "head_scores", text), "head_scores must be a number per head and layer, as in 0.9:0.6/0.8:0.9") << text;
  }
  EXPECT_EQ(reason("kvzip-head", "head_scores", "0.5:0.1/0.2"), "head_scores must have one number per head in every layer");
  EXPECT_EQ(reason("kvzip-head", "head_scores", "0.5:-0.1"), "head_scores must have numbers that are not negative");
  EXPECT_EQ(reason("kvzip-head", "head_scores", "nan:0.1"), "head_scores must have numbers that are not negative");
}

RecipeSpec mixed(const char* method, const char* allocator, const char* scorer, const char* reducer, const char* scope = "",
                 const char* granularity = "") {
  return RecipeSpec{
      .method = method, .allocator = allocator, .scorer = scorer, .reducer = reducer, .scope = scope, .granularity = granularity};
}

TEST(Recipe, TakesPartsFromOtherMethods) {
  const Recipe recipe = Recipe::from_spec(mixed("vl-cache", "meda", "snapkv", "average", "", "layer"));
  EXPECT_EQ(recipe.composition().allocator->name(), "cross-modal-entropy");
  EXPECT_EQ(recipe.composition().scorer->name(), "window-votes");
  EXPECT_EQ(recipe.composition().protection.window, 32);  // the window belongs to the score
  EXPECT_EQ(recipe.composition().reducer->name(), "average");
  EXPECT_EQ(recipe.composition().granularity, Granularity::kLayer);
  EXPECT_EQ(Recipe::from_spec(mixed("snapkv", "sparsity", "", "")).composition().allocator->name(), "sparsity");
}

TEST(Recipe, RefusesMixturesThatCannotWork) {
  const auto subject = [](const RecipeSpec& spec) { return refusal([&] { Recipe::from_spec(spec); }).subject; };
  EXPECT_EQ(subject(mixed("h2o", "", "snapkv", "")), "scorer");       // cannot follow decode rows
  EXPECT_EQ(subject(mixed("h2o", "prefixkv", "", "")), "allocator");  // made for one event
  EXPECT_EQ(subject(mixed("h2o", "", "", "nearest-index")), "reducer");
  EXPECT_EQ(subject(mixed("snapkv", "", "", "value-push")), "reducer");
  EXPECT_EQ(subject(mixed("cam", "", "", "", "", "layer")), "granularity");
  EXPECT_EQ(subject(mixed("meda", "", "", "", "visual")), "scope");
  EXPECT_EQ(subject(mixed("vl-cache", "pyramidkv", "", "")), "allocator");
  EXPECT_EQ(subject(mixed("full", "meda", "", "")), "method");
  EXPECT_EQ(subject(mixed("vl-cache", "nothing", "", "")), "allocator");
  EXPECT_EQ(subject(mixed("vl-cache", "", "", "", "images")), "scope");
}

// Every part says itself what it does not fit with.
TEST(Recipe, PartsSayWhatTheyDoNotFitWith) {
  const auto refused = [](const char* method, const std::function<void(Composition&)>& change) {
    Composition composition = testing::composition_of(method);
    change(composition);
    const auto refusal = composition.reducer->fits(composition);
    return refusal ? refusal->setting : "";
  };
  const auto nothing = [](Composition&) {};
  EXPECT_EQ(refused("ems", nothing), "");
  EXPECT_EQ(refused("ems", [](Composition& parts) { parts.phase = MethodPhase::kOnce; }), "method");
  EXPECT_EQ(refused("ems", [](Composition& parts) { parts.decode.local_rows = 0; }), "reducer");
  EXPECT_EQ(refused("ems", [](Composition& parts) { parts.granularity = Granularity::kLayer; }), "granularity");
  EXPECT_EQ(refused("ems", [](Composition& parts) { parts.scope = Scope::kVisual; }), "scope");
  EXPECT_EQ(refused("ems", [](Composition& parts) { parts.protection.window = 0; }), "window");
  EXPECT_EQ(refused("cam", nothing), "");
  EXPECT_EQ(refused("cam", [](Composition& parts) { parts.phase = MethodPhase::kOnce; }), "reducer");
  EXPECT_EQ(refused("cam", [](Composition& parts) { parts.scope = Scope::kVisual; }), "reducer");
  EXPECT_EQ(refused("elastic-cache", nothing), "");
  EXPECT_EQ(refused("elastic-cache", [](Composition& parts) { parts.phase = MethodPhase::kDecode; }), "reducer");
}

TEST(Recipe, EveryReducerIsKnownByItsOwnName) {
  std::vector<std::string> names;
  for (const std::shared_ptr<const Reducer>& reducer : all_reducers(0)) {
    RecipeSpec spec = mixed("ems", "", "", reducer->name().c_str());
    if (reducer->sharing() == nullptr) spec.scorer = "h2o";
    if (recipe_problem(spec)) spec = mixed("elastic-cache", "", "", reducer->name().c_str());  // at the event only
    EXPECT_EQ(Recipe::from_spec(spec).composition().reducer->name(), reducer->name());
    names.push_back(reducer->name());
  }
  EXPECT_EQ(names.size(), 8U);
  const Error unknown = refusal([&] { Recipe::from_spec(mixed("h2o", "", "", "nobody")); });
  EXPECT_EQ(unknown.subject, "reducer");
  for (const std::string& name : names) EXPECT_NE(unknown.reason.find(name), std::string::npos) << name;
}

TEST(Recipe, WhatIsMeasuredBeforehandMustHaveBeenMeasured) {
  EXPECT_EQ(refusal_of([](RecipeSpec& spec) { spec.method = "prefixkv-profile"; }).subject, "profile");
  const Error heads = refusal_of([](RecipeSpec& spec) { spec.method = "kvzip-head"; });
  EXPECT_EQ(heads.subject, "head_scores");
  EXPECT_NE(heads.reason.find("kvzip_head_scores in winnow.json"), std::string::npos) << heads.reason;
}

TEST(Recipe, KnowsWhenItDoesNothing) {
  RecipeSpec spec{.method = "full"};
  EXPECT_FALSE(Recipe::from_spec(spec).compresses());
  spec.budget_tokens = 10;
  EXPECT_FALSE(Recipe::from_spec(spec).compresses());
  spec = {};
  spec.retention = 1.0;
  EXPECT_FALSE(Recipe::from_spec(spec).compresses());
}

TEST(Recipe, AsksForOneVlCachePass) {
  RecipeSpec spec{.method = "vl-cache"};
  const Recipe recipe = Recipe::from_spec(spec);
  ASSERT_EQ(recipe.needs().attention.size(), 1U);  // sums and sparsity over the same rows
  EXPECT_TRUE(recipe.needs().attention[0].column_sums);
  EXPECT_EQ(recipe.needs().attention[0].sparsity_p, 0.01);
  EXPECT_FALSE(recipe.static_budgets());
}

// The entropy of all rows is MEDA's way out where a modality is missing: it is not computed where both are there.
TEST(Recipe, NeedsOfASegmentLeaveOutWhatItsTokensMakeSuperfluous) {
  using enum Modality;
  const Recipe recipe = Recipe::from_spec([] { return RecipeSpec{.method = "meda"}; }());
  const auto entropy_of_rows = [&](const std::vector<Modality>& modality) {
    SegmentInfo segment{.tokens = std::ssize(modality), .modality = modality};
    const StatisticsNeeds needs = recipe.needs_for(segment);
    EXPECT_EQ(needs.attention.size(), 1U);
    EXPECT_TRUE(needs.cross_modal);
    return needs.attention.front().row_entropy;
  };
  EXPECT_FALSE(entropy_of_rows({kSystem, kVisual, kVisual, kText}));
  EXPECT_TRUE(entropy_of_rows({kText, kText}));
  EXPECT_TRUE(entropy_of_rows({kVisual, kVisual}));
  EXPECT_TRUE(recipe.needs().attention.front().row_entropy);
}

TEST(MethodList, DescribesEveryRegisteredMethod) {
  const std::vector<MethodInfo> methods = list_methods();
  ASSERT_EQ(methods.size(), method_registry().size());
  for (std::size_t i = 0; i < methods.size(); ++i) {
    const Method* const entry = method_registry()[i];
    const Composition composition = testing::composition_of(entry->name);
    EXPECT_EQ(methods[i].name, entry->name);
    EXPECT_EQ(composition.method, entry->name);
    EXPECT_FALSE(methods[i].title.empty());
    EXPECT_FALSE(methods[i].source.empty());
    EXPECT_EQ(methods[i].phase, composition.phase) << entry->name;
    // A card that says "knows the question" must be backed by a statistic, and one that names none must need none.
    RecipeSpec spec{.method = entry->name};
    spec = test_support::as_measured(spec, 2, 2);
    const bool uses_views = !Recipe::from_spec(spec).needs().empty() || composition.pruning.has_value();
    EXPECT_TRUE(uses_views || !methods[i].query_aware) << entry->name;
    EXPECT_EQ(methods[i].needs.empty(), !uses_views) << entry->name;
  }
}

TEST(MethodList, OptionsThatNeedAnothersValueComeWithIt) {
  const auto names = [](const std::string& method, const std::map<std::string, std::string>& given) {
    std::string all;
    for (const OptionInfo& option : method_options(method, given)) all += option.name + " ";
    return all;
  };
  EXPECT_EQ(names("keydiff", {}), "event compete floor ");
  EXPECT_EQ(names("keydiff", {{"event", "clips"}}), "event clip newest compete floor ");
  EXPECT_EQ(names("expected-attention", {}), "stats horizon eps compete floor ");
  EXPECT_EQ(names("expected-attention", {{"stats", "answer"}, {"ask", "How many?"}}), "stats horizon eps ask answer compete floor ");
  // What cannot be read counts as not given, the rest still does.
  EXPECT_EQ(names("expected-attention", {{"stats", "answer"}, {"answer", "many"}}), "stats horizon eps ask answer compete floor ");
  EXPECT_EQ(names("keydiff", {{"event", "sometimes"}, {"clip", "8"}}), "event compete floor ");
  EXPECT_EQ(names("self-study", {}), "ask words with norms answer text_answer compete floor ");
  EXPECT_EQ(names("self-study", {{"with", "nothing"}}), "ask words with norms answer compete floor ");
  // Each can be read, both together cannot.
  EXPECT_EQ(names("self-study", {{"words", "request"}, {"with", "kvzip"}}), names("self-study", {{"words", "request"}}));
  EXPECT_THROW(names("nobody's", {}), Exception);
}

TEST(Recipes, AProblemIsToldWithoutThrowing) {
  RecipeSpec spec;
  EXPECT_FALSE(recipe_problem(spec));
  spec.allocator = "pyramid";
  const std::optional<Error> problem = recipe_problem(spec);
  ASSERT_TRUE(problem);
  EXPECT_EQ(problem->subject, "allocator");
  EXPECT_NE(problem->reason.find("window-votes"), std::string::npos) << problem->reason;
}

TEST(Recipes, WhatWasMeasuredIsTakenUnlessTheRecipeBringsItsOwn) {
  const MeasuredOptions measured = {{"profile", "0.1=0.15:0.05/0.5=0.6:0.4"}, {"head_scores", "0.9:0.6/0.8:0.9"}};
  for (const auto& [method, option] : {std::pair{"prefixkv-profile", "profile"}, std::pair{"kvzip-head", "head_scores"}}) {
    RecipeSpec spec{.method = method};
    EXPECT_TRUE(recipe_problem(spec));
    EXPECT_FALSE(recipe_problem(with_measured_options(spec, measured)));
    EXPECT_EQ(with_measured_options(spec, measured).options, (std::map<std::string, std::string>{{option, measured.at(option)}}));
    EXPECT_TRUE(recipe_problem(with_measured_options(spec, {})));
    spec.options[option] = "0.2=0.1:0.3";
    EXPECT_EQ(with_measured_options(spec, measured), spec);
  }
  RecipeSpec spec{.method = "vl-cache"};
  EXPECT_EQ(with_measured_options(spec, measured), spec);
}

// The recipe editor offers what the reader would accept.
TEST(Recipes, EveryOptionSaysWhatItTakes) {
  int options = 0;
  for (const MethodInfo& method : list_methods()) {
    for (const OptionInfo& option : method.options) {
      ++options;
      RecipeSpec spec{.method = method.name};
      spec = test_support::as_measured(spec, 2, 2);
      std::vector<std::string> accepted = option.words;
      std::vector<std::string> refused = {"no such word"};
      if (option.type == OptionType::kWhole) {
        accepted = {option.otherwise,
                    std::to_string(static_cast<std::int64_t>(option.odd ? option.high - (static_cast<std::int64_t>(option.high) % 2 == 0)
                                                                        : option.high)),
                    std::to_string(static_cast<std::int64_t>(option.low))};
        refused.push_back(std::to_string(static_cast<std::int64_t>(option.high) + 1));
        if (option.odd) refused.push_back("4");
      } else if (option.type == OptionType::kReal) {
        accepted = {option.otherwise};
        refused.push_back(std::to_string(option.high + 1.0));
        EXPECT_LE(option.low, std::stod(option.otherwise)) << method.name << " " << option.name;
        EXPECT_GE(option.high, std::stod(option.otherwise)) << method.name << " " << option.name;
      } else if (option.type == OptionType::kProfile) {
        accepted = {"0.1=0.15:0.05/0.5=0.6:0.4"};
      } else if (option.type == OptionType::kHeadTable) {
        accepted = {"0.9:0.6/0.8:0.9"};
      } else if (option.type == OptionType::kSentences) {
        accepted = {"What is shown?", " What is shown? | How many stars are there? "};
        refused = {"", " ", "What is shown?||How many?", "|", std::string(5000, 'a'), "a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a|a"};
      } else {
        EXPECT_EQ(option.words.front(), option.otherwise) << method.name << " " << option.name;
      }
      for (const std::string& text : accepted) {
        spec.options[option.name] = text;
        EXPECT_FALSE(recipe_problem(spec)) << method.name << " " << option.name << "=" << text << ": " << recipe_problem(spec)->reason;
      }
      for (const std::string& text : refused) {
        spec.options[option.name] = text;
        EXPECT_TRUE(recipe_problem(spec)) << method.name << " " << option.name << "=" << text;
      }
    }
  }
  EXPECT_GT(options, 40);
}

TEST(Recipe, WhatComesBeforeTheQuestionRefusesWhatNeedsIt) {
  const auto subject = [](const std::string& method, const std::function<void(RecipeSpec&)>& change) {
    return refusal_of([&](RecipeSpec& spec) {
             spec.method = method;
             change(spec);
           })
        .subject;
  };
  EXPECT_EQ(subject("kvzip", [](RecipeSpec& spec) { spec.scorer = "snapkv"; }), "scorer");
  EXPECT_EQ(subject("kvzip", [](RecipeSpec& spec) { spec.scope = "all"; }), "granularity");
  EXPECT_EQ(subject("random-context", [](RecipeSpec& spec) { spec.scope = "all"; }), "scope");
  EXPECT_EQ(subject("kvzip", [](RecipeSpec& spec) { spec.turn_policy = TurnPolicy::kWhole; }), "turn_policy");
  EXPECT_EQ(subject("random-context",
                    [](RecipeSpec& spec) {
                      spec.scope = "visual";
                      spec.turn_policy = TurnPolicy::kWhole;
                    }),
            "turn_policy");
  EXPECT_EQ(subject("kvzip", [](RecipeSpec& spec) { spec.allocator = "vl-cache"; }), "allocator");
  EXPECT_EQ(subject("kvzip", [](RecipeSpec& spec) { spec.reducer = "shared-entries"; }), "reducer");
  EXPECT_EQ(subject("kvzip", [](RecipeSpec& spec) { spec.reducer = "value-push"; }), "reducer");
  EXPECT_EQ(subject("self-study", [](RecipeSpec& spec) { spec.granularity = "head"; }), "granularity") << "its allocator is global";
  EXPECT_EQ(subject("snapkv", [](RecipeSpec& spec) { spec.scorer = "description"; }), "scorer");
  EXPECT_EQ(subject("snapkv", [](RecipeSpec& spec) { spec.scorer = "keydiff"; }), "scorer");
  EXPECT_EQ(subject("h2o", [](RecipeSpec& spec) { spec.scorer = "expected-attention"; }), "scorer");
  EXPECT_EQ(subject("snapkv", [](RecipeSpec& spec) { spec.granularity = "ragged"; }), "granularity");
  EXPECT_EQ(subject("snapkv", [](RecipeSpec& spec) { spec.allocator = "global"; }), "granularity");
  EXPECT_EQ(subject("snapkv", [](RecipeSpec& spec) { spec.allocator = "whole-heads"; }), "granularity");
  EXPECT_EQ(subject("kvzip", [](RecipeSpec& spec) { spec.scorer = "measured-heads"; }), "head_scores");
  EXPECT_EQ(subject("expected-attention",
                    [](RecipeSpec& spec) {
                      spec.options = {{"ask", "Which color?"}};
                    }),
            "expected-attention")
      << "the media's own queries ask nothing";
}

TEST(Recipe, WhatComesBeforeTheQuestionTakesPartsThatDoNotNeedIt) {
  const auto legal = [](const std::string& method, const std::function<void(RecipeSpec&)>& change) {
    RecipeSpec spec{.method = method};
    change(spec);
    const std::optional<Error> problem = recipe_problem(spec);
    EXPECT_FALSE(problem) << method << ": " << problem->reason;
  };
  legal("kvzip", [](RecipeSpec& spec) { spec.scorer = "random"; });
  legal("kvzip", [](RecipeSpec& spec) { spec.allocator = "self-study"; });
  legal("kvzip", [](RecipeSpec& spec) { spec.granularity = "layer"; });
  legal("kvzip", [](RecipeSpec& spec) { spec.scorer = "self-study"; });
  legal("self-study", [](RecipeSpec& spec) { spec.reducer = "average"; });
  legal("random-context", [](RecipeSpec& spec) { spec.scorer = "kvzip+"; });
  legal("snapkv", [](RecipeSpec& spec) { spec.scope = "context"; });
  legal("keydiff", [](RecipeSpec& spec) { spec.allocator = "global", spec.granularity = "ragged"; });
  legal("kvzip", [](RecipeSpec& spec) { spec.scorer = "expected-attention"; });
  legal("kvzip", [](RecipeSpec& spec) { spec.allocator = "whole-heads"; });
  legal("expected-attention", [](RecipeSpec& spec) { spec.scope = "visual"; });
  legal("expected-attention", [](RecipeSpec& spec) { spec.options = {{"ask", "Which color?"}, {"stats", "request"}}; });
}

ProbeNeed probe_of(const std::string& method, const std::map<std::string, std::string>& options) {
  RecipeSpec spec{.method = method, .options = options};
  return Recipe::from_spec(spec).needs().probe.value();
}

TEST(Recipe, AProbesRowsFollowFromTheOptions) {
  const ByAttention norms{true};
  EXPECT_EQ(probe_of("kvzip", {{"chunk", "64"}}), ProbeNeed(RepetitionProbe{64, {}}));
  EXPECT_EQ(probe_of("kvzip+", {}), ProbeNeed(RepetitionProbe{2000, norms}));
  EXPECT_EQ(probe_of("kvzip+", {{"rows", "reading"}}), ProbeNeed(RepetitionProbe{2000, norms, Repetition::kAsRead}));
  EXPECT_EQ(probe_of("self-study", {{"with", "reading"}}), ProbeNeed(DescriptionProbe{{}, 256, Repetition::kAsRead, norms, 64}));
  EXPECT_EQ(probe_of("self-study", {}), probe_of("self-study", {{"with", "reading"}}));
  EXPECT_EQ(probe_of("self-study", {{"with", "kvzip"}, {"text_answer", "96"}}),
            ProbeNeed(DescriptionProbe{{}, 256, Repetition::kRunAgain, norms, 96}));
  EXPECT_EQ(probe_of("self-study", {{"answer", "16"}}), ProbeNeed(DescriptionProbe{{}, 16, Repetition::kAsRead, norms, 16}));
  EXPECT_EQ(probe_of("self-study", {{"with", "nothing"}, {"answer", "16"}}), ProbeNeed(DescriptionProbe{{}, 16, {}, norms}));
  EXPECT_EQ(probe_of("self-study", {{"words", "request"}, {"ask", "Where?"}}), ProbeNeed(RequestProbe{{"Where?"}, norms}));
  EXPECT_EQ(probe_of("self-study-stream", {}), ProbeNeed(DescriptionProbe{{}, 256, {}, ByAttention{}}));
  EXPECT_EQ(probe_of("kvzip-stream", {}), ProbeNeed(RepetitionProbe{0, {}}));
  EXPECT_EQ(probe_of("kvzip-stream", {{"proxy", "text"}}), ProbeNeed(RequestProbe{}));
  EXPECT_EQ(probe_of("kvzip-stream", {{"proxy", "template"}, {"norms", "true"}}), ProbeNeed(TemplateProbe{norms}));
  EXPECT_EQ(probe_of("rekv", {{"sim", "cosine"}}), ProbeNeed(QuestionProbe{true}));
  const ByExpectation expected{{512}, 0.02};
  EXPECT_EQ(probe_of("expected-attention", {{"stats", "request"}}), ProbeNeed(RequestProbe{{}, expected}));
  EXPECT_EQ(probe_of("expected-attention", {{"stats", "answer"}}), ProbeNeed(DescriptionProbe{{}, 256, {}, expected}));
  EXPECT_TRUE(asked_instead(QuestionProbe{}).empty());
  EXPECT_EQ(asked_instead(RequestProbe{{"Where?"}, {}}).front(), "Where?");
}

// In the order of their values, so that no value is left out between them.
TEST(MethodPhases, EachHasARowAndAWordOfItsOwn) {
  std::set<std::string> words;
  int value = 0;
  for (const PhaseEntry& entry : kPhases) {
    EXPECT_EQ(static_cast<int>(entry.phase), ++value);
    EXPECT_EQ(&phase_entry(entry.phase), &entry);
    EXPECT_TRUE(words.insert(entry.word).second) << entry.word;
    EXPECT_TRUE(entry.facts.before_question || !(entry.facts.in_clips || entry.facts.fetches)) << entry.word;
  }
  EXPECT_THROW(phase_entry(static_cast<MethodPhase>(value + 1)), Exception);
}

// By the parts that a method and its options come to, not by the method's name.
TEST(Describe, AnOptionMayChangeThePhase) {
  RecipeSpec spec{.method = "keydiff"};
  EXPECT_EQ(describe(spec)->phase, MethodPhase::kContext);
  EXPECT_TRUE(describe(spec)->before_question);
  EXPECT_FALSE(describe(spec)->in_clips);
  spec.options["event"] = "clips";
  EXPECT_EQ(describe(spec)->phase, MethodPhase::kStream);
  EXPECT_TRUE(describe(spec)->before_question);
  EXPECT_TRUE(describe(spec)->in_clips);
  spec.options["event"] = "never";
  EXPECT_FALSE(describe(spec));
  spec.options.clear();
  spec.method = "rekv";
  EXPECT_TRUE(describe(spec)->fetches);
  spec.method = "snapkv";
  EXPECT_FALSE(describe(spec)->before_question);
  spec.method = "nobody";
  EXPECT_FALSE(describe(spec));
}

TEST(RecipeProblem, WhatWorksOnPicturesAloneIsRefusedOfAModelThatReadsTextOnly) {
  ModelTraits text{.sees = false};
  RecipeSpec spec;
  for (const char* method : {"rekv", "fastv"}) {
    spec.method = method;
    ASSERT_TRUE(recipe_problem(spec, text)) << method;
    EXPECT_NE(recipe_problem(spec, text)->reason.find("reads text only"), std::string::npos) << recipe_problem(spec, text)->reason;
    EXPECT_FALSE(recipe_problem(spec, ModelTraits())) << method;
  }
  for (const char* method : {"full", "self-study", "kvzip+", "snapkv", "h2o"}) {
    spec.method = method;
    EXPECT_FALSE(recipe_problem(spec, text)) << method;
  }
}

}  // namespace
}  // namespace winnow
