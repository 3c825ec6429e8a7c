// Typed settings with defaults, over the key/value table of the conversation database.
//
// Used by ui and the terminal program. Values are read from a snapshot (StoreOpened::settings or ChatDatabase::settings()); each accepted
// change emits `changed` and is handed to the writer function as text, which stores it (ChatStore::setSetting). Unknown keys are
// kept untouched; a stored value that cannot be understood or lies outside its range counts as the default, and is overwritten by the next
// change only. Setters clamp or ignore values out of range, as stated.
// Threads: the thread that owns the object.
#pragma once

#include <QByteArray>
#include <QHash>
#include <QObject>
#include <QString>
#include <QStringList>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/chats/chat/conversation.h"

namespace winnow::app {

enum class Theme : int { kSystem = 1, kLight = 2, kDark = 3 };
// When the program works unasked, while nobody waits for it.
enum class Unasked : int { kNever = 1, kOnMains = 2, kAlways = 3 };
struct UnaskedWork {
  Unasked prepare = Unasked::kOnMains;              // attached media are read before a question is asked
  Unasked check = Unasked::kOnMains;                // answers are checked against the full cache
  Unasked listen = Unasked::kOnMains;               // videos are heard, where a model that hears is here
  static constexpr double kMostCheckMs = 30'000.0;  // as long as a check is expected to take at most
  static constexpr double kMostHeardS = 1'800.0;    // a shorter video is heard

  friend bool operator==(const UnaskedWork&, const UnaskedWork&) = default;
};
enum class SendKey : int { kEnter = 1, kControlEnter = 2 };

// How chats answer that say nothing else.
struct ChatDefaults {
  SamplingChoice sampling;  // every value but the seed, which may be absent: another one for each answer that is drawn
  QString systemPrompt{};   // of new chats

  friend bool operator==(const ChatDefaults&, const ChatDefaults&) = default;
};

// The action when the program starts.
struct AtStart {
  bool loadModel = true;  // the last one
  bool serve = false;     // it to other programs
  bool offerGpu = true;   // one that is here and not used
  // Chats whose draft was sent and waits for another chat's answer, first come first: what the program's end overtakes is told.
  QList<ConversationId> queued{};

  friend bool operator==(const AtStart&, const AtStart&) = default;
};

class Settings : public QObject {
  Q_OBJECT

 public:
  using WriteFunction = std::function<void(const QString& key, const QString& value)>;

  // Without a writer changes live in memory only.
  explicit Settings(WriteFunction write = {}, QObject* parent = nullptr);

  // Replaces the snapshot; emits `changed` for every key (ui re-reads). What was changed before the first one stays, and is made of what
  // comes with it: a model that was opened meanwhile is the newest of the recent ones, not the only one.
  void load(const QHash<QString, QString>& stored);

  Theme theme() const;
  void setTheme(Theme theme);
  double zoom() const;        // 0.75 ... 2.0
  void setZoom(double zoom);  // clamped, rounded to 0.05
  SendKey sendKey() const;
  void setSendKey(SendKey key);

  int defaultFrameCount() const;          // 1 ... 1024
  void setDefaultFrameCount(int frames);  // clamped
  static constexpr int kMostNewTokens = Sampling::kLongestUnasked;
  ChatDefaults chatDefaults() const;
  void setChatDefaults(const ChatDefaults& defaults);  // max_new_tokens clamped to kToTheEnd ... kMostNewTokens
  Guard laterQuestions() const;                        // of new chats
  void setLaterQuestions(Guard guard);
  // The recipe of a new chat: `self-study` at 0.2, or what was chosen for new chats; its options and parts if they belong to the stored
  // method.
  NamedRecipe defaultRecipe() const;
  // A name that no method can have is ignored ([a-z0-9+-]{1,64}); the retention is clamped to [0.01, 1].
  void setDefaultRecipe(const NamedRecipe& recipe);
  ConversationOptions conversationDefaults() const;

  // Recipes that the user named, in the order saved; names are unique.
  std::vector<NamedRecipe> savedRecipes() const;
  // Replaces the one of the same name. False, and nothing saved: no name, or kMaxSavedRecipes reached.
  bool saveRecipe(const NamedRecipe& recipe);
  void removeRecipe(const std::string& name);

  // The last set that was compared, in the order of its columns; empty: none yet.
  std::vector<NamedRecipe> comparedRecipes() const;
  void setComparedRecipes(const std::vector<NamedRecipe>& recipes);
  ColumnOrder comparisonOrder() const;
  void setComparisonOrder(ColumnOrder order);

  QString lastModelFolder() const;                 // empty: none chosen yet
  void setLastModelFolder(const QString& folder);  // also enters the recent list
  QStringList recentModelFolders() const;          // newest first, at most ten
  QString lastMediaFolder() const;
  void setLastMediaFolder(const QString& folder);
  UnaskedWork unasked() const;
  void setUnasked(const UnaskedWork& work);
  bool keepConversations() const;  // what was read of a chat stays on disk
  void setKeepConversations(bool on);
  AtStart atStart() const;
  void setAtStart(const AtStart& atStart);
  WeightFormat weights() const;  // how models' numbers are held
  void setWeights(WeightFormat format);

  QByteArray windowGeometry() const;  // QWidget::saveGeometry; empty: none
  void setWindowGeometry(const QByteArray& bytes);
  QByteArray windowLayout() const;  // QMainWindow::saveState: docks and panels
  void setWindowLayout(const QByteArray& bytes);
  bool sidebarVisible() const;
  void setSidebarVisible(bool visible);
  bool cachePanelVisible() const;
  void setCachePanelVisible(bool visible);
  ConversationId lastConversation() const;  // 0: none
  void setLastConversation(ConversationId id);

  void reset(const QString& key);  // back to the default
  static QStringList keys();

 Q_SIGNALS:
  void changed(const QString& key);

 private:
  QString defaultMethod() const;
  double defaultRetention() const;
  using Edit = std::function<QString(const QString& before)>;
  using Edits = std::vector<std::pair<QString, Edit>>;

  QString value(const char* key) const;
  void store(const char* key, const QString& newValue);
  void change(const QString& key, const Edit& edit);
  bool apply(const QString& key, const Edit& edit);  // false: it is as before

  QHash<QString, QString> m_values;
  std::optional<Edits> m_early{std::in_place};  // nothing: the stored values have come
  WriteFunction m_write;
};

// Keys as stored; never renamed without a migration.
namespace setting_keys {
inline constexpr char kTheme[] = "appearance/theme";
inline constexpr char kZoom[] = "appearance/zoom";
inline constexpr char kSendKey[] = "chat/send_key";
inline constexpr char kMethod[] = "cache/method";
inline constexpr char kRetention[] = "cache/retention";
inline constexpr char kRecipe[] = "cache/recipe";
inline constexpr char kSavedRecipes[] = "cache/saved_recipes";
inline constexpr char kComparedRecipes[] = "compare/recipes";
inline constexpr char kComparisonOrder[] = "compare/order";
inline constexpr char kFrameCount[] = "media/frame_count";
inline constexpr char kMaxNewTokens[] = "chat/max_new_tokens";  // of older versions, read only
inline constexpr char kLongestAnswer[] = "chat/longest_answer";
inline constexpr char kSampling[] = "chat/sampling";
inline constexpr char kSystemPrompt[] = "chat/system_prompt";
inline constexpr char kLaterQuestions[] = "chat/later_questions";
inline constexpr char kLastModelFolder[] = "models/last_folder";
inline constexpr char kRecentModelFolders[] = "models/recent_folders";
inline constexpr char kPrepareMode[] = "media/prepare";
inline constexpr char kCheckAnswers[] = "answers/check";
inline constexpr char kListen[] = "media/listen";
inline constexpr char kKeepConversations[] = "media/keep";
inline constexpr char kAutoLoadModel[] = "models/auto_load";
inline constexpr char kServeAtStart[] = "models/serve_at_start";
inline constexpr char kWeights[] = "models/weights";
inline constexpr char kOfferGpu[] = "models/offer_gpu";
inline constexpr char kLastMediaFolder[] = "media/last_folder";
inline constexpr char kWindowGeometry[] = "window/geometry";
inline constexpr char kWindowLayout[] = "window/layout";
inline constexpr char kSidebarVisible[] = "window/sidebar";
inline constexpr char kCachePanelVisible[] = "window/cache_panel";
inline constexpr char kLastConversation[] = "window/last_conversation";
inline constexpr char kQueuedChats[] = "chat/queued";
}  // namespace setting_keys

}  // namespace winnow::app
