// kill -9 at random moments: every acknowledged message is there afterwards, word for word, and the database is whole.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <QTemporaryDir>
#include <chrono>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "app/chats/chat/chat_database.h"
#include "app/chats/chat/database_file.h"
#include "tests/app/chats/chat/kill_texts.h"

namespace winnow::app {
namespace {

constexpr int kKills = 200;
constexpr unsigned kSeed = 20260131;

struct Acknowledged {
  std::map<MessageId, int> questions;  // question -> number
  std::map<MessageId, int> streamed;   // answer -> characters that are safe
  std::map<MessageId, int> finished;   // answer -> length
  std::map<MessageId, ConversationId> conversationOf;
  std::map<ConversationId, int> titles;
  std::map<qint64, MessageId> comparisons;  // comparison -> question
  std::set<ConversationId> deleted;
  std::string error;
};

void read(const std::string& output, Acknowledged& known) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string what;
    long long a = 0, b = 0, c = 0, d = 0;
    words >> what >> a >> b >> c >> d;
    if (what == "turn") {
      known.questions[b] = static_cast<int>(d);
      known.streamed[c] = 0;
      known.conversationOf[b] = known.conversationOf[c] = static_cast<ConversationId>(a);
    } else if (what == "stream") {
      known.streamed[a] = static_cast<int>(b);
    } else if (what == "finish") {
      known.finished[a] = static_cast<int>(b);
    } else if (what == "ask") {
      known.questions[b] = static_cast<int>(c);
      known.conversationOf[b] = static_cast<ConversationId>(a);
    } else if (what == "compare") {
      known.comparisons[b] = static_cast<MessageId>(c);
    } else if (what == "rename") {
      known.titles[static_cast<ConversationId>(a)] = static_cast<int>(b);
    } else if (what == "delete") {
      known.deleted.insert(static_cast<ConversationId>(a));
    } else {
      known.error = line;
    }
  }
}

// Starts the writer, kills it after `life` once it has said something (or at once, for lives shorter than its start).
std::string runAndKill(const QString& folder, unsigned seed, std::chrono::microseconds life) {
  int pipe_ends[2];
  if (::pipe(pipe_ends) != 0) return "error pipe";
  const std::string folder_bytes = folder.toStdString();
  const std::string seed_text = std::to_string(seed);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(pipe_ends[1], STDOUT_FILENO);
    ::close(pipe_ends[0]);
    ::close(pipe_ends[1]);
    ::execl(WINNOW_CHAT_WRITER, WINNOW_CHAT_WRITER, folder_bytes.c_str(), seed_text.c_str(), static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(pipe_ends[1]);
  std::thread killer([&] {
    std::this_thread::sleep_for(life);
    ::kill(child, SIGKILL);
  });
  std::string output;
  char buffer[4096];
  for (ssize_t count = 0; (count = ::read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<std::size_t>(count));
  killer.join();
  ::close(pipe_ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (!WIFSIGNALED(status)) output += "error the writer ended by itself\n";
  return output;
}

void verify(ChatDatabase& db, const Acknowledged& known) {
  std::map<MessageId, StoredMessage> stored;
  std::map<qint64, Comparison> compared;
  std::set<ConversationId> conversations;
  for (const auto& [message, conversation] : known.conversationOf) conversations.insert(conversation);
  for (const ConversationId id : conversations) {
    const LoadedConversation loaded = db.loadConversation(id);
    for (const StoredMessage& message : loaded.messages) {
      stored[message.id] = message;
      EXPECT_NE(message.state, MessageState::kStreaming);
    }
    for (const Comparison& comparison : loaded.comparisons) compared[comparison.id] = comparison;
    if (known.deleted.contains(id)) {
      EXPECT_NE(loaded.conversation.deletedMs, 0);
    }
    // A rename that was not acknowledged may have happened as well, so only "at least that one" can be asked: titles grow with the number.
    if (const auto title = known.titles.find(id); title != known.titles.end()) {
      EXPECT_GE(loaded.conversation.title.section(QLatin1Char(' '), 1, 1).toInt(), title->second);
    }
  }
  for (const auto& [id, number] : known.questions) {
    ASSERT_TRUE(stored.contains(id)) << "question " << id << " was acknowledged and is gone";
    EXPECT_EQ(stored[id].text, questionText(number));
    EXPECT_EQ(stored[id].conversation, known.conversationOf.at(id));
  }
  for (const auto& [id, question] : known.comparisons) {
    ASSERT_TRUE(compared.contains(id)) << "comparison " << id << " was acknowledged and is gone";
    const Comparison expected = comparisonOf(question);
    EXPECT_EQ(compared[id].question, question);
    ASSERT_EQ(compared[id].columns.size(), expected.columns.size());
    for (std::size_t i = 0; i < expected.columns.size(); ++i) EXPECT_EQ(compared[id].columns[i].text, expected.columns[i].text);
  }
  for (const auto& [id, length] : known.streamed) {
    ASSERT_TRUE(stored.contains(id)) << "answer " << id << " was acknowledged and is gone";
    const StoredMessage& answer = stored[id];
    EXPECT_GE(answer.text.size(), length);
    EXPECT_EQ(answer.text, streamedText(id, static_cast<int>(answer.text.size())));
    if (const auto finished = known.finished.find(id); finished != known.finished.end()) {
      EXPECT_EQ(answer.text.size(), finished->second);
      EXPECT_EQ(answer.state, MessageState::kComplete);
    }
  }
}

TEST(ChatDatabase, LosesNothingAcknowledgedWhenKilledAtRandomMoments) {
  QTemporaryDir folder;
  ASSERT_TRUE(folder.isValid());
  RecordProperty("seed", static_cast<int>(kSeed));
  std::mt19937 random(kSeed);
  std::size_t acknowledged = 0, comparisons = 0;
  int recovered = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    // Lives from "before main" to many turns; the database stays the same all along.
    const std::chrono::microseconds life(1'000 + random() % 120'000);
    Acknowledged known;
    read(runAndKill(folder.path(), random(), life), known);
    ASSERT_EQ(known.error, "") << "kill " << kill;
    const ChatFolders folders{folder.filePath(QStringLiteral("data")), folder.filePath(QStringLiteral("cache"))};
    ChatDatabase db(folders);
    recovered += db.recoveredAnswers();
    verify(db, known);
    // Later starts are checked on what they wrote; the whole file every tenth time, because it grows.
    if (kill % 10 == 9) {
      ASSERT_NO_THROW(requireWhole(ChatDatabase::databaseFile(folders)));
    }
    if (HasFatalFailure()) FAIL() << "kill " << kill << ", seed " << kSeed;
    acknowledged += known.questions.size();
    comparisons += known.comparisons.size();
  }
  // The kills did hit a working program, in the middle of answers, too.
  EXPECT_GT(acknowledged, 30u);
  EXPECT_GT(comparisons, 1u);
  EXPECT_GT(recovered, 3);
}

}  // namespace
}  // namespace winnow::app
