#include "app/chats/settings/settings.h"

#include <gtest/gtest.h>

#include <limits>

namespace winnow::app {
namespace {

using Stored = QHash<QString, QString>;

QString key(const char* name) { return QString::fromLatin1(name); }

std::string methodOf(const Settings& settings) { return settings.defaultRecipe().spec.method; }
double retentionOf(const Settings& settings) { return settings.defaultRecipe().spec.retention; }

NamedRecipe named(const std::string& name) { return {.name = name}; }

void choose(Settings& settings, const std::string& method, double retention) {
  NamedRecipe recipe{.spec = {.method = method, .retention = retention}};
  settings.setDefaultRecipe(recipe);
}

TEST(Settings, StartWithTheAgreedDefaults) {
  Settings settings;
  EXPECT_EQ(settings.theme(), Theme::kSystem);
  EXPECT_EQ(settings.zoom(), 1.0);
  EXPECT_EQ(methodOf(settings), "self-study");
  EXPECT_EQ(retentionOf(settings), 0.2);
  EXPECT_EQ(settings.defaultFrameCount(), 64);
  EXPECT_EQ(settings.lastModelFolder(), QString());
  EXPECT_TRUE(settings.sidebarVisible());
  const ConversationOptions options = settings.conversationDefaults();
  EXPECT_EQ(options.recipe.spec.method, "self-study");
  EXPECT_TRUE(options.recipe.name.empty());
  EXPECT_EQ(settings.unasked(), (UnaskedWork{Unasked::kOnMains, Unasked::kOnMains}));
  EXPECT_EQ(settings.weights(), WeightFormat::kAuto);
  EXPECT_TRUE(settings.keepConversations());
  EXPECT_EQ(settings.atStart(), (AtStart{true, false}));
  EXPECT_EQ(settings.laterQuestions(), Guard::kKeep);
  EXPECT_EQ(options.frameCount, 64);
  EXPECT_TRUE(options.sampling.empty());
  EXPECT_EQ(options.systemPrompt, QString());
  const SamplingChoice sampling = settings.chatDefaults().sampling;
  Sampling unasked{.max_new_tokens = Sampling::kLongestUnasked, .room_tokens = Sampling::kRoom};
  EXPECT_EQ(with_choice(Sampling(), sampling), unasked) << "greedy, to the end";
  EXPECT_FALSE(sampling.seed.has_value());
}

// Older versions stored their default of 256 tokens with any other choice, and answers ended in the middle of a word.
TEST(Settings, AnswersGoOnToTheirEndUnlessSomebodyLimitsThem) {
  const auto limit = [](const Stored& stored) {
    Settings settings;
    settings.load(stored);
    return settings.chatDefaults().sampling.max_new_tokens;
  };
  EXPECT_EQ(limit({}), Sampling::kToTheEnd);
  EXPECT_EQ(limit({{setting_keys::kMaxNewTokens, "256"}}), Sampling::kToTheEnd);
  EXPECT_EQ(limit({{setting_keys::kMaxNewTokens, "300"}}), 300);
  EXPECT_EQ(limit({{setting_keys::kMaxNewTokens, "300"}, {setting_keys::kLongestAnswer, "256"}}), 256);
  EXPECT_EQ(limit({{setting_keys::kMaxNewTokens, "300"}, {setting_keys::kLongestAnswer, "0"}}), Sampling::kToTheEnd);
}

TEST(Settings, WhatWasSetComesBackFromTheStoredText) {
  Stored written;
  Settings first([&](const QString& k, const QString& v) { written.insert(k, v); });
  first.setTheme(Theme::kDark);
  first.setZoom(1.25);
  first.setSendKey(SendKey::kControlEnter);
  choose(first, "snapkv", 0.05);
  first.setDefaultFrameCount(128);
  ChatDefaults answers = first.chatDefaults();
  answers.sampling.max_new_tokens = 512;
  answers.sampling.temperature = 0.7;
  answers.sampling.seed = 11;
  answers.systemPrompt = QStringLiteral("Be brief.");
  first.setChatDefaults(answers);
  first.setLastModelFolder(QStringLiteral("/m/caf\u00e9"));
  first.setWindowGeometry(QByteArray("\0\xff\x01", 3));
  first.setSidebarVisible(false);
  first.setLastConversation(77);
  first.setWeights(WeightFormat::kInt4);
  Settings second;
  second.load(written);
  EXPECT_EQ(second.theme(), Theme::kDark);
  EXPECT_EQ(second.zoom(), 1.25);
  EXPECT_EQ(second.sendKey(), SendKey::kControlEnter);
  EXPECT_EQ(methodOf(second), "snapkv");
  EXPECT_EQ(retentionOf(second), 0.05);
  EXPECT_EQ(second.defaultFrameCount(), 128);
  EXPECT_EQ(second.chatDefaults(), answers);
  EXPECT_EQ(second.conversationDefaults().systemPrompt, QStringLiteral("Be brief."));
  EXPECT_TRUE(second.conversationDefaults().sampling.empty()) << "a new chat goes by the settings, also by what they become";
  EXPECT_EQ(second.lastModelFolder(), QStringLiteral("/m/caf\u00e9"));
  EXPECT_EQ(second.recentModelFolders(), QStringList{QStringLiteral("/m/caf\u00e9")});
  EXPECT_EQ(second.windowGeometry(), QByteArray("\0\xff\x01", 3));
  EXPECT_FALSE(second.sidebarVisible());
  EXPECT_EQ(second.weights(), WeightFormat::kInt4);
  EXPECT_EQ(written.value(key(setting_keys::kWeights)), QStringLiteral("int4"));
  written[key(setting_keys::kWeights)] = QStringLiteral("int2");
  second.load(written);
  EXPECT_EQ(second.weights(), WeightFormat::kAuto) << "of another version";
  EXPECT_EQ(second.lastConversation(), 77u);
}

TEST(Settings, EachChoiceAboutLaterQuestionsComesBack) {
  for (const Guard guard : {Guard::kAlone, Guard::kPrefill, Guard::kRam, Guard::kKeep}) {
    Stored written;
    Settings first([&](const QString& k, const QString& v) { written.insert(k, v); });
    first.setLaterQuestions(guard);
    ASSERT_EQ(written.size(), 1);
    Settings second;
    second.load(written);
    EXPECT_EQ(second.laterQuestions(), guard);
  }
}

TEST(Settings, ValuesThatCannotBeUnderstoodCountAsDefaults) {
  Settings settings;
  Stored stored;
  for (const QString& k : Settings::keys()) stored.insert(k, QStringLiteral("\u2603 nonsense"));
  stored.insert(key(setting_keys::kRetention), QStringLiteral("nan"));
  stored.insert(key(setting_keys::kZoom), QStringLiteral("1e9"));
  stored.insert(key(setting_keys::kFrameCount), QStringLiteral("-3"));
  settings.load(stored);
  EXPECT_EQ(settings.theme(), Theme::kSystem);
  EXPECT_EQ(settings.zoom(), 1.0);
  EXPECT_EQ(methodOf(settings), "self-study");
  EXPECT_EQ(retentionOf(settings), 0.2);
  EXPECT_EQ(settings.defaultFrameCount(), 64);
  EXPECT_EQ(settings.chatDefaults().sampling, Settings().chatDefaults().sampling);
  EXPECT_EQ(settings.laterQuestions(), Guard::kKeep);
  EXPECT_TRUE(settings.recentModelFolders().isEmpty());
  EXPECT_TRUE(settings.windowGeometry().isEmpty());
  EXPECT_TRUE(settings.sidebarVisible());
  EXPECT_EQ(settings.lastConversation(), 0u);
}

TEST(Settings, SettersClampOrIgnore) {
  Settings settings;
  settings.setZoom(9.0);
  EXPECT_EQ(settings.zoom(), 2.0);
  settings.setZoom(1.13);
  EXPECT_EQ(settings.zoom(), 1.15);
  settings.setZoom(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(settings.zoom(), 1.15);
  choose(settings, "kvzip+", 0.0);
  EXPECT_EQ(retentionOf(settings), 0.01);
  choose(settings, "kvzip+", 4.0);
  EXPECT_EQ(retentionOf(settings), 1.0);
  ChatDefaults answers{.sampling = {.max_new_tokens = 1'000'000}};
  settings.setChatDefaults(answers);
  EXPECT_EQ(settings.chatDefaults().sampling.max_new_tokens, Settings::kMostNewTokens);
  settings.setChatDefaults({});
  EXPECT_EQ(settings.chatDefaults().sampling.max_new_tokens, Sampling::kToTheEnd);
  settings.setDefaultFrameCount(100'000);
  EXPECT_EQ(settings.defaultFrameCount(), 1024);
  EXPECT_EQ(methodOf(settings), "kvzip+");
  choose(settings, "self-study", 0.2);
  choose(settings, "no such; method", 0.2);
  EXPECT_EQ(methodOf(settings), "self-study");
}

TEST(Settings, ChangesAreWrittenAndToldOnce) {
  int written = 0;
  QStringList changed;
  Settings settings([&](const QString&, const QString&) { ++written; });
  QObject::connect(&settings, &Settings::changed, [&](const QString& k) { changed << k; });
  settings.load({});
  EXPECT_EQ(written, 0) << "loading writes nothing";
  EXPECT_EQ(changed, Settings::keys());
  changed.clear();
  settings.setTheme(Theme::kLight);
  settings.setTheme(Theme::kLight);
  EXPECT_EQ(written, 1);
  EXPECT_EQ(changed, QStringList{key(setting_keys::kTheme)});
}

TEST(Settings, ResetGoesBackToTheDefault) {
  Settings settings;
  choose(settings, "self-study", 0.5);
  settings.setTheme(Theme::kDark);
  settings.reset(key(setting_keys::kTheme));
  EXPECT_EQ(settings.theme(), Theme::kSystem);
  EXPECT_EQ(retentionOf(settings), 0.5);
  settings.reset(key(setting_keys::kRetention));
  EXPECT_EQ(retentionOf(settings), 0.2);
}

TEST(Settings, ANewChatTakesTheWholeRecipeOfTheLastChoice) {
  Stored written;
  Settings first([&](const QString& k, const QString& v) { written.insert(k, v); });
  NamedRecipe mixture;
  mixture.name = "mine";
  mixture.spec.method = "h2o";
  mixture.spec.retention = 0.1;
  mixture.spec.options["recent_share"] = "0.25";
  mixture.spec.allocator = "meda";
  first.setDefaultRecipe(mixture);
  Settings second;
  second.load(written);
  EXPECT_EQ(second.conversationDefaults().recipe, mixture);
  written.insert(key(setting_keys::kMethod), QStringLiteral("snapkv"));  // options of another method would not be understood
  second.load(written);
  EXPECT_EQ(second.defaultRecipe().spec.method, "snapkv");
  EXPECT_TRUE(second.defaultRecipe().spec.options.empty());
}

TEST(Settings, SavedRecipesHaveANameAndAreReplacedByIt) {
  Stored written;
  Settings first([&](const QString& k, const QString& v) { written.insert(k, v); });
  NamedRecipe one;
  EXPECT_FALSE(first.saveRecipe(one)) << "a recipe without a name";
  EXPECT_TRUE(first.savedRecipes().empty());
  one.name = "one";
  NamedRecipe two = one;
  two.name = "two";
  first.saveRecipe(one);
  first.saveRecipe(two);
  one.spec.retention = 0.5;
  first.saveRecipe(one);
  Settings second;
  second.load(written);
  EXPECT_EQ(second.savedRecipes(), (std::vector<NamedRecipe>{one, two}));
  second.removeRecipe("one");
  EXPECT_EQ(second.savedRecipes(), (std::vector<NamedRecipe>{two}));
}

TEST(Settings, TheSetThatWasComparedIsRememberedInItsOrder) {
  Stored written;
  Settings first([&](const QString& k, const QString& v) { written.insert(k, v); });
  EXPECT_TRUE(first.comparedRecipes().empty());
  EXPECT_EQ(first.comparisonOrder(), ColumnOrder::kOneAfterAnother);
  NamedRecipe full, mixed;
  full.spec.method = "full";
  mixed.spec.retention = 0.07;
  mixed.spec.allocator = "meda";
  first.setComparedRecipes({mixed, full});
  first.setComparisonOrder(ColumnOrder::kInterleaved);
  Settings second;
  second.load(written);
  EXPECT_EQ(second.comparedRecipes(), (std::vector<NamedRecipe>{mixed, full}));
  EXPECT_EQ(second.comparisonOrder(), ColumnOrder::kInterleaved);
  first.setComparedRecipes(std::vector<NamedRecipe>(Compare::kMostRecipes + 1, full));
  EXPECT_EQ(first.comparedRecipes().size(), 2u) << "more than the engine takes";
  written.insert(QLatin1String(setting_keys::kComparedRecipes), QStringLiteral("[{\"method\": 3}, 7"));
  written.insert(QLatin1String(setting_keys::kComparisonOrder), QStringLiteral("sideways"));
  second.load(written);
  EXPECT_TRUE(second.comparedRecipes().empty());
  EXPECT_EQ(second.comparisonOrder(), ColumnOrder::kOneAfterAnother);
}

TEST(Settings, RecentFoldersAreNewestFirstWithoutDuplicatesAtMostTen) {
  Settings settings;
  for (int i = 0; i < 12; ++i) settings.setLastModelFolder(QStringLiteral("/m/%1").arg(i));
  settings.setLastModelFolder(QStringLiteral("/m/5"));
  const QStringList recent = settings.recentModelFolders();
  ASSERT_EQ(recent.size(), 10);
  EXPECT_EQ(recent[0], QStringLiteral("/m/5"));
  EXPECT_EQ(recent[1], QStringLiteral("/m/11"));
  EXPECT_EQ(recent.count(QStringLiteral("/m/5")), 1);
}

// The chats may be opened after the first model: what was chosen meanwhile was lost, and the list of recent models with it.
TEST(Settings, WhatIsChangedBeforeTheStoredValuesComeStays) {
  Stored stored;
  const auto write = [&](const QString& k, const QString& v) { stored.insert(k, v); };
  Settings before(write);
  before.load({});
  before.setLastModelFolder(QStringLiteral("/m/old"));
  before.setTheme(Theme::kLight);
  before.setZoom(1.5);
  before.saveRecipe(named("mine"));
  before.saveRecipe(named("not wanted"));
  const Stored snapshot = stored;
  Settings settings(write);
  settings.setLastModelFolder(QStringLiteral("/m/new"));
  settings.setTheme(Theme::kDark);
  settings.reset(QLatin1String(setting_keys::kZoom));
  settings.saveRecipe(named("early"));
  settings.removeRecipe("not wanted");
  EXPECT_EQ(settings.theme(), Theme::kDark) << "at once";
  settings.load(snapshot);
  for (const bool nextStart : {false, true}) {
    if (nextStart) settings.load(stored);
    EXPECT_EQ(settings.lastModelFolder(), QStringLiteral("/m/new"));
    EXPECT_EQ(settings.recentModelFolders(), (QStringList{QStringLiteral("/m/new"), QStringLiteral("/m/old")}));
    EXPECT_EQ(settings.theme(), Theme::kDark);
    EXPECT_EQ(settings.zoom(), 1.0);
    ASSERT_EQ(settings.savedRecipes().size(), 2u);
    EXPECT_EQ(settings.savedRecipes()[0].name, "mine");
    EXPECT_EQ(settings.savedRecipes()[1].name, "early");
  }
  settings.load(snapshot);
  EXPECT_EQ(settings.theme(), Theme::kLight) << "told once: later snapshots are taken as they are";
}

}  // namespace
}  // namespace winnow::app
