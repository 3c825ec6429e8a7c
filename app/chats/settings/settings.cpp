#include "app/chats/settings/settings.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <QJsonArray>
#include <QJsonDocument>

#include "app/chats/chat/run_json.h"
#include "engine/messages/choice_words.h"

namespace winnow::app {

namespace {

using namespace setting_keys;

constexpr std::array kAllKeys = {
    kTheme,
    kZoom,
    kSendKey,
    kMethod,
    kRetention,
    kRecipe,
    kSavedRecipes,
    kComparedRecipes,
    kComparisonOrder,
    kFrameCount,
    kMaxNewTokens,
    kLongestAnswer,
    kSampling,
    kSystemPrompt,
    kLaterQuestions,
    kLastModelFolder,
    kRecentModelFolders,
    kPrepareMode,
    kCheckAnswers,
    kListen,
    kKeepConversations,
    kAutoLoadModel,
    kServeAtStart,
    kWeights,
    kOfferGpu,
    kLastMediaFolder,
    kWindowGeometry,
    kWindowLayout,
    kSidebarVisible,
    kCachePanelVisible,
    kLastConversation,
    kQueuedChats,
};

constexpr double kMinZoom = 0.75;
constexpr double kMaxZoom = 2.0;
constexpr double kMinRetention = 0.01;
constexpr int kMaxFrames = 1024;
constexpr int kMaxRecentFolders = 10;
constexpr int kMaxWindowBytes = 64 * 1024;

QString text(const char* key) { return QString::fromLatin1(key); }

// Stored words of enums; the order is that of the enum's values.
constexpr std::array kThemes = {"system", "light", "dark"};
constexpr std::array kSendKeys = {"enter", "control-enter"};
constexpr std::array kUnasked = {"never", "on-mains", "always"};
constexpr std::array kGuards = {"keep", "prefill", "ram", "alone"};
constexpr std::array kColumnOrders = {"one-after-another", "interleaved"};

template <typename Enum, std::size_t N>
Enum enumFrom(const QString& word, const std::array<const char*, N>& words, Enum fallback) {
  for (std::size_t i = 0; i < N; ++i)
    if (word == QLatin1String(words[i])) return static_cast<Enum>(i + 1);
  return fallback;
}

template <typename Enum, std::size_t N>
QString enumWord(Enum value, const std::array<const char*, N>& words) {
  const int index = std::clamp(static_cast<int>(value), 1, static_cast<int>(N)) - 1;
  return QString::fromLatin1(words[static_cast<std::size_t>(index)]);
}

double realFrom(const QString& word, double min, double max, double fallback) {
  bool ok = false;
  const double value = word.toDouble(&ok);
  return ok && std::isfinite(value) && value >= min && value <= max ? value : fallback;
}

int integerFrom(const QString& word, int min, int max, int fallback) {
  bool ok = false;
  const int value = word.toInt(&ok);
  return ok && value >= min && value <= max ? value : fallback;
}

bool boolFrom(const QString& word, bool fallback) {
  if (word == QLatin1String("true")) return true;
  if (word == QLatin1String("false")) return false;
  return fallback;
}

QString boolWord(bool value) { return value ? QStringLiteral("true") : QStringLiteral("false"); }

QByteArray bytesFrom(const QString& word) {
  const auto decoded = QByteArray::fromBase64Encoding(word.toLatin1(), QByteArray::AbortOnBase64DecodingErrors);
  return decoded && decoded.decoded.size() <= kMaxWindowBytes ? decoded.decoded : QByteArray();
}

bool isMethodName(const QString& name) {
  return !name.isEmpty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](QChar c) {
    return (c >= QLatin1Char('a') && c <= QLatin1Char('z')) || (c >= QLatin1Char('0') && c <= QLatin1Char('9')) || c == QLatin1Char('-') ||
           c == QLatin1Char('+');
  });
}

QStringList foldersFrom(const QString& stored) {
  QStringList folders;
  for (const QJsonValue& entry : QJsonDocument::fromJson(stored.toUtf8()).array()) folders.push_back(entry.toString());
  return folders;
}

QStringList cleanedFolders(const QStringList& folders) {
  QStringList cleaned;
  for (const QString& folder : folders)
    if (!folder.isEmpty() && !cleaned.contains(folder) && cleaned.size() < kMaxRecentFolders) cleaned.push_back(folder);
  return cleaned;
}

}  // namespace

Settings::Settings(WriteFunction write, QObject* parent) : QObject(parent), m_write(std::move(write)) {}

void Settings::load(const QHash<QString, QString>& stored) {
  m_values = stored;
  for (const auto& [key, edit] : std::exchange(m_early, std::nullopt).value_or(Edits())) apply(key, edit);
  for (const QString& key : keys()) Q_EMIT changed(key);
}

QString Settings::value(const char* key) const { return m_values.value(text(key)); }

void Settings::store(const char* key, const QString& newValue) {
  change(text(key), [newValue](const QString&) { return newValue; });
}

void Settings::change(const QString& key, const Edit& edit) {
  if (m_early) m_early->emplace_back(key, edit);
  if (apply(key, edit)) Q_EMIT changed(key);
}

bool Settings::apply(const QString& key, const Edit& edit) {
  const QString newValue = edit(m_values.value(key));
  if (m_values.contains(key) && m_values.value(key) == newValue) return false;
  m_values.insert(key, newValue);
  if (m_write) m_write(key, newValue);
  return true;
}

Theme Settings::theme() const { return enumFrom(value(kTheme), kThemes, Theme::kSystem); }
void Settings::setTheme(Theme theme) { store(kTheme, enumWord(theme, kThemes)); }

double Settings::zoom() const { return realFrom(value(kZoom), kMinZoom, kMaxZoom, 1.0); }
void Settings::setZoom(double zoom) {
  if (!std::isfinite(zoom)) return;
  store(kZoom, QString::number(std::round(std::clamp(zoom, kMinZoom, kMaxZoom) * 20.0) / 20.0, 'f', 2));
}

SendKey Settings::sendKey() const { return enumFrom(value(kSendKey), kSendKeys, SendKey::kEnter); }
void Settings::setSendKey(SendKey key) { store(kSendKey, enumWord(key, kSendKeys)); }

QString Settings::defaultMethod() const {
  const QString stored = value(kMethod);
  return isMethodName(stored) ? stored : QLatin1String(winnow::kDefaultMethod);
}
double Settings::defaultRetention() const { return realFrom(value(kRetention), kMinRetention, 1.0, kDefaultRetention); }

int Settings::defaultFrameCount() const { return integerFrom(value(kFrameCount), 1, kMaxFrames, ConversationOptions().frameCount); }
void Settings::setDefaultFrameCount(int frames) { store(kFrameCount, QString::number(std::clamp(frames, 1, kMaxFrames))); }

ChatDefaults Settings::chatDefaults() const {
  const SamplingChoice stored = samplingFromJson(value(kSampling).toUtf8());
  ChatDefaults defaults;
  defaults.sampling = choice_of(with_choice(Sampling(), stored));
  defaults.sampling.seed = stored.seed;
  // Older versions stored their default, 256, with every other choice: nobody asked for it.
  const int before = integerFrom(value(kMaxNewTokens), 1, kMostNewTokens, Sampling::kToTheEnd);
  defaults.sampling.max_new_tokens = integerFrom(value(kLongestAnswer), 0, kMostNewTokens, before == 256 ? Sampling::kToTheEnd : before);
  defaults.systemPrompt = value(kSystemPrompt);
  return defaults;
}
void Settings::setChatDefaults(const ChatDefaults& defaults) {
  SamplingChoice sampling = defaults.sampling;
  const int tokens = sampling.max_new_tokens.value_or(Sampling::kToTheEnd);
  sampling.max_new_tokens.reset();
  store(kLongestAnswer, QString::number(std::clamp(tokens, Sampling::kToTheEnd, kMostNewTokens)));
  store(kSampling, QString::fromUtf8(samplingToJson(sampling)));
  store(kSystemPrompt, defaults.systemPrompt);
}

Guard Settings::laterQuestions() const { return enumFrom(value(kLaterQuestions), kGuards, Guard::kKeep); }
void Settings::setLaterQuestions(Guard guard) { store(kLaterQuestions, enumWord(guard, kGuards)); }

NamedRecipe Settings::defaultRecipe() const {
  NamedRecipe recipe;
  const std::string method = defaultMethod().toStdString();
  try {
    const std::string stored = value(kRecipe).toStdString();
    if (!stored.empty()) recipe = recipeFromJson(stored, kRecipe);
  } catch (const Exception&) {  // a value that cannot be understood counts as the default
  }
  if (recipe.spec.method != method) recipe = {};
  recipe.spec.method = method;
  recipe.spec.retention = defaultRetention();
  return recipe;
}
void Settings::setDefaultRecipe(const NamedRecipe& recipe) {
  const QString method = QString::fromStdString(recipe.spec.method);
  if (isMethodName(method)) store(kMethod, method);
  const double retention = recipe.spec.retention;
  if (std::isfinite(retention)) store(kRetention, QString::number(std::clamp(retention, kMinRetention, 1.0), 'g', 6));
  store(kRecipe, QString::fromStdString(recipeToJson(recipe, -1)));
}

std::vector<NamedRecipe> Settings::savedRecipes() const { return recipesFromJson(value(kSavedRecipes).toStdString()); }
bool Settings::saveRecipe(const NamedRecipe& recipe) {
  if (recipe.name.empty() || recipe.name.size() > kMaxRecipeName) return false;
  const std::vector<NamedRecipe> saved = savedRecipes();
  if (saved.size() >= kMaxSavedRecipes && std::ranges::find(saved, recipe.name, &NamedRecipe::name) == saved.end()) return false;
  change(text(kSavedRecipes), [recipe](const QString& before) {
    std::vector<NamedRecipe> recipes = recipesFromJson(before.toStdString());
    const auto same = std::ranges::find(recipes, recipe.name, &NamedRecipe::name);
    if (same != recipes.end()) {
      *same = recipe;
    } else if (recipes.size() < kMaxSavedRecipes) {
      recipes.push_back(recipe);
    }
    return QString::fromStdString(recipesToJson(recipes));
  });
  return true;
}
void Settings::removeRecipe(const std::string& name) {
  change(text(kSavedRecipes), [name](const QString& before) {
    std::vector<NamedRecipe> recipes = recipesFromJson(before.toStdString());
    std::erase_if(recipes, [&](const NamedRecipe& saved) { return saved.name == name; });
    return QString::fromStdString(recipesToJson(recipes));
  });
}

std::vector<NamedRecipe> Settings::comparedRecipes() const {
  std::vector<NamedRecipe> recipes = recipesFromJson(value(kComparedRecipes).toStdString());
  if (recipes.size() > Compare::kMostRecipes) recipes.resize(Compare::kMostRecipes);
  return recipes;
}
void Settings::setComparedRecipes(const std::vector<NamedRecipe>& recipes) {
  if (recipes.size() <= Compare::kMostRecipes) store(kComparedRecipes, QString::fromStdString(recipesToJson(recipes)));
}

ColumnOrder Settings::comparisonOrder() const { return enumFrom(value(kComparisonOrder), kColumnOrders, ColumnOrder::kOneAfterAnother); }
void Settings::setComparisonOrder(ColumnOrder order) { store(kComparisonOrder, enumWord(order, kColumnOrders)); }

ConversationOptions Settings::conversationDefaults() const {
  ConversationOptions options;
  options.recipe = defaultRecipe();
  options.frameCount = defaultFrameCount();
  options.laterQuestions = laterQuestions();
  options.systemPrompt = value(kSystemPrompt);
  return options;
}

QString Settings::lastModelFolder() const { return value(kLastModelFolder); }
void Settings::setLastModelFolder(const QString& folder) {
  store(kLastModelFolder, folder);
  if (folder.isEmpty()) return;
  change(text(kRecentModelFolders), [folder](const QString& before) {
    const QStringList folders = cleanedFolders(QStringList(folder) + foldersFrom(before));
    return QString::fromUtf8(QJsonDocument(QJsonArray::fromStringList(folders)).toJson(QJsonDocument::Compact));
  });
}

QStringList Settings::recentModelFolders() const { return cleanedFolders(foldersFrom(value(kRecentModelFolders))); }

QString Settings::lastMediaFolder() const { return value(kLastMediaFolder); }
void Settings::setLastMediaFolder(const QString& folder) { store(kLastMediaFolder, folder); }

UnaskedWork Settings::unasked() const {
  const auto when = [this](const char* key) { return enumFrom(value(key), kUnasked, Unasked::kOnMains); };
  return {when(kPrepareMode), when(kCheckAnswers), when(kListen)};
}
void Settings::setUnasked(const UnaskedWork& work) {
  store(kPrepareMode, enumWord(work.prepare, kUnasked));
  store(kCheckAnswers, enumWord(work.check, kUnasked));
  store(kListen, enumWord(work.listen, kUnasked));
}
bool Settings::keepConversations() const { return boolFrom(value(kKeepConversations), true); }
void Settings::setKeepConversations(bool on) { store(kKeepConversations, boolWord(on)); }
AtStart Settings::atStart() const {
  AtStart atStart{boolFrom(value(kAutoLoadModel), true), boolFrom(value(kServeAtStart), false), boolFrom(value(kOfferGpu), true)};
  for (const QString& word : value(kQueuedChats).split(QLatin1Char(' '), Qt::SkipEmptyParts)) {
    if (const ConversationId id = word.toULongLong(); id != 0) atStart.queued.append(id);
  }
  return atStart;
}
void Settings::setAtStart(const AtStart& atStart) {
  store(kAutoLoadModel, boolWord(atStart.loadModel));
  store(kServeAtStart, boolWord(atStart.serve));
  store(kOfferGpu, boolWord(atStart.offerGpu));
  QStringList queued;
  for (const ConversationId id : atStart.queued) queued << QString::number(id);
  store(kQueuedChats, queued.join(QLatin1Char(' ')));
}

WeightFormat Settings::weights() const { return value_of(kWeightWords, value(kWeights).toStdString()).value_or(WeightFormat::kAuto); }
void Settings::setWeights(WeightFormat format) { store(kWeights, text(word_of(kWeightWords, format))); }

QByteArray Settings::windowGeometry() const { return bytesFrom(value(kWindowGeometry)); }
void Settings::setWindowGeometry(const QByteArray& bytes) {
  if (bytes.size() <= kMaxWindowBytes) store(kWindowGeometry, QString::fromLatin1(bytes.toBase64()));
}

QByteArray Settings::windowLayout() const { return bytesFrom(value(kWindowLayout)); }
void Settings::setWindowLayout(const QByteArray& bytes) {
  if (bytes.size() <= kMaxWindowBytes) store(kWindowLayout, QString::fromLatin1(bytes.toBase64()));
}

bool Settings::sidebarVisible() const { return boolFrom(value(kSidebarVisible), true); }
void Settings::setSidebarVisible(bool visible) { store(kSidebarVisible, boolWord(visible)); }

bool Settings::cachePanelVisible() const { return boolFrom(value(kCachePanelVisible), true); }
void Settings::setCachePanelVisible(bool visible) { store(kCachePanelVisible, boolWord(visible)); }

ConversationId Settings::lastConversation() const { return value(kLastConversation).toULongLong(); }
void Settings::setLastConversation(ConversationId id) { store(kLastConversation, QString::number(id)); }

// An empty text is no valid value of any key but a folder, where it is the default as well.
void Settings::reset(const QString& key) {
  if (m_early || !m_values.value(key).isEmpty()) change(key, [](const QString&) { return QString(); });
}

QStringList Settings::keys() {
  QStringList all;
  for (const char* key : kAllKeys) all.push_back(text(key));
  return all;
}

}  // namespace winnow::app
