// Opening: foreign, damaged, newer and older files; locks; setting aside.
#include "app/chats/chat/database_file.h"

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <QCoreApplication>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>

#include "app/chats/chat/chat_database.h"
#include "app/chats/chat/schema.h"
#include "tests/support/read_only_folder.h"

namespace winnow::app {
namespace {

class DatabaseFileTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(m_home.isValid());
    ASSERT_TRUE(QDir().mkpath(folders().data));
  }
  ChatFolders folders() const { return {m_home.filePath(QStringLiteral("data")), m_home.filePath(QStringLiteral("cache"))}; }
  QString file() const { return ChatDatabase::databaseFile(folders()); }
  QByteArray bytes(const QString& path) const {
    QFile f(path);
    return f.open(QIODevice::ReadOnly) ? f.readAll() : QByteArray("unreadable");
  }
  void write(const QByteArray& content) {
    QFile f(file());
    ASSERT_TRUE(f.open(QIODevice::WriteOnly));
    f.write(content);
  }
  void sql(const char* statements) {
    sqlite3* db = nullptr;
    ASSERT_EQ(sqlite3_open(QFile::encodeName(file()).constData(), &db), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(db, statements, nullptr, nullptr, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
  }
  std::string refusal() {
    try {
      ChatDatabase db(folders());
    } catch (const Exception& error) {
      EXPECT_TRUE(is_storage(error.error().code));
      m_code = error.error().code;
      return error.error().reason;
    }
    return "opened";
  }
  ErrorCode refusalCode() {
    EXPECT_NE(refusal(), "opened");
    return m_code;
  }
  // The titles of the chats in the memory of a start that cannot open the file.
  QStringList inMemory() {
    const std::unique_ptr<ChatDatabase> db = ChatDatabase::inMemory(folders());
    const ConversationId made = db->createConversation(QStringLiteral("new"), {}).id;
    db->beginTurn({made, 0, QStringLiteral("q"), {}});
    QStringList titles;
    for (const Conversation& c : db->listConversations()) titles << c.title;
    return titles;
  }
  void withChat(const QString& title) {
    ChatDatabase db(folders());
    db.createConversation(title, {});
  }
  // A database as version `version` left it, with one chat, number 5, and what the statements add.
  void ofVersion(int version, const std::vector<const char*>& statements) {
    SqliteConnection db(file(), {});
    db.configureForWriting();
    for (int i = 0; i < version; ++i) db.execute(kMigrations[i]);
    db.execute(
        "INSERT INTO conversation(id, title, created_ms, updated_ms, activity, method, retention, frame_count, system_prompt) "
        "VALUES(5, 'old', 1, 1, 1, 'snapkv', 0.2, 8, '')");
    for (const char* statement : statements) db.execute(statement);
    db.execute(("PRAGMA application_id=" + std::to_string(kApplicationId)).c_str());
    db.execute(("PRAGMA user_version=" + std::to_string(version)).c_str());
  }
  QStringList filesInData() const { return QDir(folders().data).entryList(QDir::Files | QDir::Hidden); }
  ErrorCode m_code = ErrorCode::kInternal;
  QTemporaryDir m_home;
};

TEST_F(DatabaseFileTest, RefusesWhatIsNoDatabaseAndLeavesItAsItIs) {
  for (const QByteArray& content : {QByteArray("not a database"), QByteArray(5000, 'x'), QByteArray("SQLite format 3\0short", 21)}) {
    write(content);
    EXPECT_NE(refusal(), "opened");
    EXPECT_EQ(bytes(file()), content);
  }
}

TEST_F(DatabaseFileTest, RefusesADirectoryAndAPipeWithoutWaiting) {
  ASSERT_TRUE(QDir().mkpath(file()));
  EXPECT_EQ(refusal(), "it is not a regular file");
  ASSERT_TRUE(QDir().rmdir(file()));
  ASSERT_EQ(::mkfifo(QFile::encodeName(file()).constData(), 0600), 0);
  EXPECT_EQ(refusal(), "it is not a regular file");
}

TEST_F(DatabaseFileTest, RefusesTheDatabaseOfAnotherProgramUnchanged) {
  sql("PRAGMA application_id=1234; CREATE TABLE theirs(x); INSERT INTO theirs VALUES(1);");
  const QByteArray before = bytes(file());
  EXPECT_EQ(refusal(), "it belongs to another program");
  EXPECT_EQ(bytes(file()), before);
}

TEST_F(DatabaseFileTest, RefusesADatabaseWithoutAnIdThatHasTables) {
  sql("CREATE TABLE theirs(x);");
  const QByteArray before = bytes(file());
  EXPECT_EQ(refusal(), "it belongs to another program");
  EXPECT_EQ(bytes(file()), before);
}

TEST_F(DatabaseFileTest, RefusesANewerVersionUnchanged) {
  { ChatDatabase db(folders()); }
  sql("PRAGMA user_version=99;");
  const QByteArray before = bytes(file());
  EXPECT_NE(refusal().find("newer version"), std::string::npos);
  EXPECT_EQ(bytes(file()), before);
}

TEST_F(DatabaseFileTest, FindsDamagedPagesAndLeavesThem) {
  {
    ChatDatabase db(folders());
    const ConversationId id = db.createConversation({}, {}).id;
    for (int i = 0; i < 50; ++i) db.beginTurn({id, 0, QString(500, QLatin1Char('q')), {}});
  }
  QByteArray damaged = bytes(file());
  ASSERT_GT(damaged.size(), 40'000);
  // Every b-tree page but the first loses its header.
  for (qsizetype page = 4096; page < damaged.size(); page += 4096) damaged.replace(page, 16, QByteArray(16, '\x5a'));
  write(damaged);
  EXPECT_NE(refusal().find("damaged"), std::string::npos);
  EXPECT_EQ(bytes(file()), damaged);
}

// SQLite's own checks look at pages, not at what a database of ours holds: "an error of the database library", and no backup was offered.
TEST_F(DatabaseFileTest, AMissingTableIsDamage) {
  withChat(QStringLiteral("kept"));
  sql("DROP TABLE attachment");
  const QByteArray before = bytes(file());
  EXPECT_EQ(refusal(), "it is damaged: its table attachment is missing");
  EXPECT_EQ(m_code, ErrorCode::kStorageDamaged);
  EXPECT_EQ(bytes(file()), before);
  EXPECT_THROW(requireWhole(file()), Exception);
}

// SQLite looks at the form of pages: 33 of 200 random damages changed a message, and nobody noticed.
TEST_F(DatabaseFileTest, WordsThatChangedOnTheDiskAreNoticed) {
  ConversationId chat = 0;
  {
    ChatDatabase db(folders());
    chat = db.createConversation(QStringLiteral("chat"), {}).id;
    const TurnIds first = db.beginTurn({chat, 0, QStringLiteral("The code of the gate is 4711."), {}});
    db.updateStreaming(first.answer, {QStringLiteral("Noted")});
    FinishedTurn turn{.answer = first.answer, .text = QStringLiteral("Noted.")};
    db.finishTurn(turn);
    for (const StoredMessage& message : db.loadConversation(chat).messages) EXPECT_FALSE(message.damaged) << message.text.toStdString();
  }
  requireTrueWords(file());
  QByteArray flipped = bytes(file());
  ASSERT_TRUE(flipped.contains("gate is 4711"));
  write(flipped.replace("gate is 4711", "gate is 4712"));
  EXPECT_THROW(requireTrueWords(file()), Exception);
  ChatDatabase db(folders());
  const QList<StoredMessage> messages = db.loadConversation(chat).messages;
  ASSERT_EQ(messages.size(), 2);
  EXPECT_TRUE(messages[0].damaged);
  EXPECT_EQ(messages[0].text, QStringLiteral("The code of the gate is 4712.")) << "shown as it is, and said to be damaged";
  EXPECT_FALSE(messages[1].damaged);
}

// The thought of an answer, and of a compared one, is words as well.
TEST_F(DatabaseFileTest, ThoughtsThatChangedOnTheDiskAreNoticed) {
  ConversationId chat = 0;
  {
    ChatDatabase db(folders());
    chat = db.createConversation(QStringLiteral("chat"), {}).id;
    const TurnIds first = db.beginTurn({chat, 0, QStringLiteral("And?"), {}});
    FinishedTurn turn{.answer = first.answer, .text = QStringLiteral("Yes."), .thought = QStringLiteral("The key lies under stone nine.")};
    db.finishTurn(turn);
    Comparison comparison{.question = first.question};
    comparison.columns.resize(2);
    comparison.columns[0].state = ColumnState::kAnswered;
    comparison.columns[0].thought = QStringLiteral("The lamp hangs beside door four.");
    db.saveComparison(comparison);
  }
  EXPECT_NO_THROW(requireTrueWords(file()));
  const QByteArray whole = bytes(file());
  for (const auto& [before, after] : {std::pair("stone nine", "stone five"), std::pair("door four", "door five")}) {
    QByteArray flipped = whole;
    ASSERT_TRUE(flipped.contains(before));
    write(flipped.replace(before, after));
    EXPECT_THROW(requireTrueWords(file()), Exception) << after;
  }
  QByteArray flipped = whole;
  write(flipped.replace("stone nine", "stone five"));
  ChatDatabase db(folders());
  const QList<StoredMessage> messages = db.loadConversation(chat).messages;
  EXPECT_FALSE(messages[0].damaged);
  EXPECT_TRUE(messages[1].damaged);
}

TEST_F(DatabaseFileTest, UpgradesTheFifteenthVersionWhoseDigestsKnewNoThoughts) {
  ofVersion(15, {"UPDATE conversation SET title = '', draft = '  words of a draft'",
                 "INSERT INTO conversation(id, title, created_ms, updated_ms, activity, method, retention, frame_count, system_prompt) "
                 "VALUES(6, '', 1, 1, 2, 'snapkv', 0.2, 8, '')",
                 "INSERT INTO message(id, conversation_id, sequence, role, state, text, thought, created_ms) VALUES"
                 "(1, 6, 1, 2, 1, '', '', 1), (2, 6, 2, 3, 1, 'an answer', 'a thought', 1), (3, 6, 3, 3, 1, 'changed', '', 1)",
                 "UPDATE message SET digest = 7 WHERE id = 3",
                 "INSERT INTO attachment VALUES(1, 6, 1, 0, 1, CAST('/a/b/kitchen sink.png' AS BLOB), '', 10, 64, 36, 0.0, 8, 0.0, 0.0, "
                 "-1.0, 1024, '', '', 0, 0, x'', '')"});
  ChatDatabase db(folders());
  EXPECT_EQ(db.conversation(5).preview, QStringLiteral("words of a draft"));
  EXPECT_EQ(db.conversation(6).preview, QStringLiteral("kitchen sink.png"));
  ASSERT_EQ(db.search(QStringLiteral("sink")).size(), 1);
  const QList<StoredMessage> messages = db.loadConversation(6).messages;
  EXPECT_FALSE(messages[0].damaged);
  EXPECT_FALSE(messages[1].damaged);
  EXPECT_TRUE(messages[2].damaged) << "an upgrade does not make good what was damaged";
}

TEST_F(DatabaseFileTest, UpgradesTheTwentiethVersionWhoseWordsOfFilesHadNoTimes) {
  const char* attached =
      "INSERT INTO attachment(id, conversation_id, message_id, ordinal, kind, path, sha256, size_bytes, width_px, height_px, duration_s, "
      "plan_frame_count, plan_every_s, plan_from_s, plan_to_s, plan_max_frames) VALUES"
      "(1, 5, 9, 0, 2, CAST('/films/lyon.mp4' AS BLOB), 'aa', 10, 64, 36, 4.0, 8, 0.0, 0.0, -1.0, 1024), "
      "(2, 5, 9, 1, 2, CAST('/films/copy.mp4' AS BLOB), 'aa', 10, 64, 36, 4.0, 8, 0.0, 0.0, -1.0, 1024)";
  ofVersion(
      20, {"INSERT INTO message(id, conversation_id, sequence, role, state, text, created_ms) VALUES(9, 5, 0, 2, 1, 'what?', 1)", attached,
           "INSERT INTO attachment_fts(rowid, name, said, described) VALUES(1, 'lyon.mp4', 'Good morning.', ''), "
           "(2, 'copy.mp4', 'Good morning.', 'A red kite.')"});
  ChatDatabase db(folders());
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".before-v21")));
  EXPECT_EQ(db.search(QStringLiteral("lyon")).size(), 1);
  for (const char* words : {"morning", "kite"}) {
    const QList<SearchHit> hits = db.search(QLatin1String(words));
    ASSERT_EQ(hits.size(), 1) << words;
    EXPECT_LT(hits[0].place->line.startS, 0) << "no time is known";
  }
  EXPECT_FALSE(db.loadConversation(5).messages[0].attachments[0].hasContents);
  db.storeLines("aa", LineKind::kSubtitle, {{LineKind::kSubtitle, 1.0, 2.0, 0, 0, QStringLiteral("Good morning.")}});
  EXPECT_EQ(db.search(QStringLiteral("morning")).front().place->line.startS, 1.0);
}

TEST_F(DatabaseFileTest, UpgradesTheEleventhVersionWhoseMessagesHadNoDigest) {
  ofVersion(11, {"INSERT INTO message(id, conversation_id, sequence, role, state, text, created_ms) VALUES(1, 5, 1, 1, 1, 'asked', 1)"});
  ChatDatabase db(folders());
  EXPECT_FALSE(db.loadConversation(5).messages.front().damaged);
}

TEST_F(DatabaseFileTest, AnEmptyFileIsAFirstStartThatWasCutOff) {
  write({});
  EXPECT_EQ(refusal(), "opened");
}

TEST_F(DatabaseFileTest, SettingAsideKeepsTheFileUnderAnotherName) {
  write("not a database");
  const QString first = ChatDatabase::setAside(folders());
  EXPECT_EQ(bytes(first), QByteArray("not a database"));
  EXPECT_EQ(refusal(), "opened");
  const QString second = ChatDatabase::setAside(folders());
  EXPECT_NE(first, second);
  EXPECT_TRUE(QFileInfo::exists(first));
}

TEST_F(DatabaseFileTest, UpgradesTheFirstVersionAndKeepsACopy) {
  ofVersion(1, {"INSERT INTO message(id, conversation_id, sequence, role, state, text, created_ms) VALUES(9, 5, 1, 2, 1, 'findable', 1)"});
  ChatDatabase db(folders());
  EXPECT_EQ(db.conversation(5).title, QStringLiteral("old"));
  const QList<SearchHit> hits = db.search(QStringLiteral("findable"));
  ASSERT_EQ(hits.size(), 1);
  EXPECT_EQ(hits[0].message, 9);
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".before-v2")));
  EXPECT_FALSE(QFileInfo::exists(file() + QStringLiteral(".before-v2.part")));
}

TEST_F(DatabaseFileTest, UpgradesTheSecondVersionWhoseAttachmentsWereNotSampled) {
  ofVersion(2, {"INSERT INTO message(id, conversation_id, sequence, role, state, text, created_ms) VALUES(9, 5, 1, 2, 1, 'what?', 1)",
                "INSERT INTO attachment VALUES(1, 5, 9, 0, 2, CAST('/a.mp4' AS BLOB), '', 10, 64, 36, 4.0, 8, 0.0, 0.0, -1.0, 1024)"});
  ChatDatabase db(folders());
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".before-v3")));
  const auto attachment = [&db] { return db.loadConversation(5).messages.at(0).attachments.at(0); };
  EXPECT_EQ(attachment().path, QByteArray("/a.mp4"));
  EXPECT_EQ(attachment().plan.frame_count, 8);
  EXPECT_EQ(attachment().sampled, SampledTimes{});
  db.storeSampled(9, 0, {{1.0}, {0.96}});
  EXPECT_EQ(attachment().sampled, (SampledTimes{{1.0}, {0.96}}));
}

TEST_F(DatabaseFileTest, UpgradesTheFifthVersionWhoseAnswersHadNoKeptMaps) {
  ofVersion(5, {"INSERT INTO message(id, conversation_id, sequence, role, state, text, created_ms) VALUES(9, 5, 1, 3, 1, 'red', 1)"});
  ChatDatabase db(folders());
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".before-v6")));
  const StoredMessage answer = db.loadConversation(5).messages.at(0);
  EXPECT_EQ(answer.text, QStringLiteral("red"));
  EXPECT_FALSE(answer.hasKeptMap);
  EXPECT_EQ(db.keptMap(9), nullptr);
}

TEST_F(DatabaseFileTest, UpgradesTheSixthVersionWhoseAttachmentsHadNoPins) {
  ofVersion(6, {"INSERT INTO message(id, conversation_id, sequence, role, state, text, created_ms) VALUES(9, 5, 1, 2, 1, 'what?', 1)",
                "INSERT INTO attachment VALUES(1, 5, 9, 0, 2, CAST('/a.mp4' AS BLOB), '', 10, 64, 36, 4.0, 8, 0.0, 0.0, -1.0, 1024, '')"});
  ChatDatabase db(folders());
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".before-v7")));
  const auto pins = [&db] { return db.loadConversation(5).messages.at(0).attachments.at(0).pins; };
  EXPECT_EQ(pins(), PinnedRanges{});
  Attachment pinned{.pins = {{1.0, 1.5}}};
  db.storeAsked(9, 0, pinned);
  EXPECT_EQ(pins(), (PinnedRanges{{1.0, 1.5}}));
}

// One choice about later questions held for all chats: each keeps it.
TEST_F(DatabaseFileTest, UpgradesTheSeventhVersionWhoseChatsHadOneChoiceForAll) {
  ofVersion(7, {"INSERT INTO setting VALUES('chat/later_questions', 'alone')"});
  ChatDatabase db(folders());
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".before-v8")));
  ConversationOptions options = db.listConversations().at(0).options;
  EXPECT_EQ(options.laterQuestions, Guard::kAlone);
  EXPECT_EQ(options.recipe.spec.method, "snapkv");
  options.laterQuestions = Guard::kRam;
  EXPECT_EQ(db.setOptions(5, options).options.laterQuestions, Guard::kRam);
  EXPECT_EQ(db.listConversations().at(0).options.laterQuestions, Guard::kRam);
  EXPECT_EQ(db.createConversation(QStringLiteral("new"), options).options.laterQuestions, Guard::kRam);
}

TEST_F(DatabaseFileTest, UpgradesTheEighthVersionWhoseChatsHadNoSampling) {
  ofVersion(8, {"UPDATE conversation SET system_prompt = 'be brief', later_questions = 3"});
  ChatDatabase db(folders());
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".before-v9")));
  ConversationOptions options = db.conversation(5).options;
  EXPECT_TRUE(options.sampling.empty()) << "as the settings say, as before";
  EXPECT_EQ(options.systemPrompt, QStringLiteral("be brief"));
  EXPECT_EQ(options.laterQuestions, Guard::kRam);
  options.sampling.temperature = 0.7;
  EXPECT_EQ(db.setOptions(5, options).options.sampling, options.sampling);
}

TEST_F(DatabaseFileTest, UpgradesTheNinthVersionWhoseAttachmentsWereNoDocuments) {
  ofVersion(9,
            {"INSERT INTO message(id, conversation_id, sequence, role, state, text, created_ms) VALUES(9, 5, 0, 2, 1, 'what?', 1)",
             "INSERT INTO attachment VALUES(1, 5, 9, 0, 2, CAST('/a.mp4' AS BLOB), '', 10, 64, 36, 4.0, 8, 0.0, 0.0, -1.0, 1024, '', '')"});
  ChatDatabase db(folders());
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".before-v10")));
  const Attachment video = db.loadConversation(5).messages.at(0).attachments.at(0);
  EXPECT_EQ(video.kind, MediaKind::kVideo);
  EXPECT_EQ(video.words, 0);
  Attachment text{.kind = MediaKind::kDocument, .path = "/a.txt", .words = 7, .mostTokens = 5};
  const MessageId question = db.beginTurn({5, 9, QStringLiteral("and this?"), {text}}).question;
  SampledTimes sampled{.tokens = 11};
  db.storeSampled(question, 0, sampled);
  const Attachment stored = db.loadConversation(5).messages.at(1).attachments.at(0);
  EXPECT_EQ(stored.kind, MediaKind::kDocument);
  EXPECT_EQ(stored.words, 7);
  EXPECT_EQ(stored.mostTokens, 5);
  EXPECT_EQ(stored.sampled, sampled);
}

TEST_F(DatabaseFileTest, UpgradesTheTwelfthVersionWhoseAnswersDidNotTellWhatMadeTheirCache) {
  ofVersion(12, {"INSERT INTO message(id, conversation_id, sequence, role, state, text, created_ms) VALUES(9, 5, 1, 3, 1, 'red', 1)",
                 "INSERT INTO run(message_id, model_name, model_folder, device, method, retention, seed, figures_json) "
                 "VALUES(9, 'llava', '/models/llava', 'cpu', 'snapkv', 0.2, 0, '{}')"});
  ChatDatabase db(folders());
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".before-v13")));
  const StoredMessage answer = db.loadConversation(5).messages.at(0);
  EXPECT_TRUE(answer.hasCause);
  EXPECT_TRUE(answer.hasRun);
  EXPECT_TRUE(answer.run.makers.isEmpty());
  ASSERT_EQ(namedMakers(answer.run).size(), 1) << "its own recipe, as before";
  EXPECT_EQ(namedMakers(answer.run).front().spec.method, "snapkv");
  EXPECT_FALSE(recipeOfNew(answer.run).has_value());
}

TEST_F(DatabaseFileTest, UpgradesTheTenthVersionWhoseVideosHadNoSubtitles) {
  ofVersion(10,
            {"INSERT INTO message(id, conversation_id, sequence, role, state, text, created_ms) VALUES(9, 5, 0, 2, 1, 'what?', 1)",
             "INSERT INTO attachment VALUES(1, 5, 9, 0, 2, CAST('/a.mp4' AS BLOB), '', 10, 64, 36, 4.0, 8, 0.0, 0.0, -1.0, 1024, '', '', "
             "0, 0)"});
  ChatDatabase db(folders());
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".before-v11")));
  Attachment video = db.loadConversation(5).messages.at(0).attachments.at(0);
  EXPECT_EQ(video.path, "/a.mp4");
  EXPECT_TRUE(video.subtitles.isEmpty());
  const Attachment without = video;
  video.subtitles = "/a\xFF.srt";
  EXPECT_FALSE(asksTheSame(video, without));
  const MessageId question = db.beginTurn({5, 9, QStringLiteral("and this?"), {video}}).question;
  const SampledTimes sampled{{1.0, 3.0}, {0.96, 3.0}, 0, {0.5, 2.25, 2.25}};
  db.storeSampled(question, 0, sampled);
  const Attachment stored = db.loadConversation(5).messages.at(1).attachments.at(0);
  EXPECT_EQ(stored.subtitles, "/a\xFF.srt");
  EXPECT_EQ(stored.sampled, sampled);
  EXPECT_TRUE(asksTheSame(stored, video));
}

TEST_F(DatabaseFileTest, UpgradesTheSeventeenthVersionWhosePicturesHadNoDetail) {
  ofVersion(17, {"INSERT INTO message(id, conversation_id, sequence, role, state, text, created_ms) VALUES(9, 5, 0, 2, 1, 'what?', 1)",
                 "INSERT INTO attachment VALUES(1, 5, 9, 0, 1, CAST('/a.png' AS BLOB), '', 10, 64, 36, 0.0, 8, 0.0, 0.0, -1.0, 1024, '', "
                 "'', 0, 0, x'', '')"});
  ChatDatabase db(folders());
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".before-v18")));
  Attachment picture = db.loadConversation(5).messages.at(0).attachments.at(0);
  EXPECT_EQ(picture.path, "/a.png");
  EXPECT_EQ(picture.detail, MediaDetail());
  const Attachment asTheModel = picture;
  for (const MediaDetail& detail : {MediaDetail{DetailLevel::kHigh}, MediaDetail{DetailLevel::kTokens, 512}}) {
    picture.detail = detail;
    EXPECT_FALSE(asksTheSame(picture, asTheModel));
    const MessageId question = db.beginTurn({5, 9, QStringLiteral("and this?"), {picture}}).question;
    for (const StoredMessage& message : db.loadConversation(5).messages) {
      if (message.id != question) continue;
      ASSERT_EQ(message.attachments.size(), 1);
      EXPECT_EQ(message.attachments[0].detail, detail);
      EXPECT_TRUE(asksTheSame(message.attachments[0], picture));
    }
  }
  EXPECT_EQ(db.loadConversation(5).messages.at(0).attachments.at(0).detail, MediaDetail());
}

TEST_F(DatabaseFileTest, UpgradesTheFourteenthVersionWhoseTextsHadTheEncodingOfTheirBytes) {
  ofVersion(14, {"INSERT INTO message(id, conversation_id, sequence, role, state, text, created_ms) VALUES(9, 5, 0, 2, 1, 'what?', 1)",
                 "INSERT INTO attachment VALUES(1, 5, 9, 0, 3, CAST('/a.txt' AS BLOB), '', 10, 0, 0, 0.0, 8, 0.0, 0.0, -1.0, 1024, '', '', "
                 "7, 0, x'')"});
  ChatDatabase db(folders());
  EXPECT_TRUE(QFileInfo::exists(file() + QStringLiteral(".before-v15")));
  Attachment text = db.loadConversation(5).messages.at(0).attachments.at(0);
  EXPECT_EQ(text.path, "/a.txt");
  EXPECT_TRUE(text.encoding.isEmpty());
  const Attachment byItsBytes = text;
  text.encoding = "KOI8-R";
  EXPECT_FALSE(asksTheSame(text, byItsBytes));
  const MessageId question = db.beginTurn({5, 9, QStringLiteral("and this?"), {text}}).question;
  const Attachment stored = db.loadConversation(5).messages.at(1).attachments.at(0);
  EXPECT_EQ(stored.encoding, "KOI8-R");
  EXPECT_TRUE(asksTheSame(stored, text));
  EXPECT_TRUE(db.loadConversation(5).messages.at(0).attachments.at(0).encoding.isEmpty());
  Q_UNUSED(question);
}

TEST_F(DatabaseFileTest, ASecondWinnowIsToldWhoHasTheFolder) {
  ChatDatabase first(folders());
  EXPECT_EQ(refusal(), "another Winnow is using it (process " + std::to_string(QCoreApplication::applicationPid()) + ")");
  EXPECT_THROW(ChatDatabase::setAside(folders()), Exception);
}

// A process killed right after it made the lock file leaves it empty.
TEST_F(DatabaseFileTest, AnEmptyLockFileLocksNobodyOut) {
  QFile lock(folders().data + QStringLiteral("/winnow.lock"));
  ASSERT_TRUE(lock.open(QIODevice::WriteOnly));
  lock.close();
  EXPECT_EQ(refusal(), "opened");
}

TEST_F(DatabaseFileTest, TheCodeSaysWhatIsWrong) {
  write("not a database");
  EXPECT_EQ(refusalCode(), ErrorCode::kStorageDamaged);
  ASSERT_TRUE(QFile::remove(file()));
  { ChatDatabase db(folders()); }
  sql("PRAGMA user_version=99;");
  EXPECT_EQ(refusalCode(), ErrorCode::kStorageNewer);
  ASSERT_TRUE(QFile::remove(file()));
  ChatDatabase first(folders());
  EXPECT_EQ(refusalCode(), ErrorCode::kStorageInUse);
}

TEST_F(DatabaseFileTest, AnotherProgramsLockIsInUse) {
  { ChatDatabase db(folders()); }
  sqlite3* other = nullptr;
  ASSERT_EQ(sqlite3_open(QFile::encodeName(file()).constData(), &other), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(other, "PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE; PRAGMA user_version=7;", nullptr, nullptr, nullptr),
            SQLITE_OK);
  EXPECT_EQ(refusalCode(), ErrorCode::kStorageInUse);
  sqlite3_close(other);
}

TEST_F(DatabaseFileTest, AFolderThatMayNotBeWrittenIsReadOnlyWithAndWithoutAFile) {
  withChat(QStringLiteral("old"));
  {
    const test::ReadOnlyFolder locked(folders().data);
    if (!locked.holds()) GTEST_SKIP() << "this user writes everywhere on this file system";
    EXPECT_EQ(refusalCode(), ErrorCode::kStorageReadOnly);
    EXPECT_EQ(inMemory(), (QStringList{QStringLiteral("new"), QStringLiteral("old")})) << "the chats can still be read";
  }
  EXPECT_EQ(refusal(), "opened");
  ASSERT_TRUE(QDir(folders().data).removeRecursively());
  const test::ReadOnlyFolder locked(m_home.path());
  EXPECT_EQ(refusalCode(), ErrorCode::kStorageReadOnly);
  EXPECT_EQ(inMemory(), QStringList{QStringLiteral("new")});
}

TEST_F(DatabaseFileTest, InMemoryNothingIsWrittenAnywhere) {
  withChat(QStringLiteral("old"));
  const QByteArray before = bytes(file());
  const QStringList files = filesInData();
  EXPECT_EQ(inMemory(), (QStringList{QStringLiteral("new"), QStringLiteral("old")}));
  EXPECT_EQ(bytes(file()), before);
  EXPECT_EQ(filesInData(), files);
  EXPECT_EQ(inMemory(), (QStringList{QStringLiteral("new"), QStringLiteral("old")})) << "something of the first one stayed";
}

TEST_F(DatabaseFileTest, InMemoryADatabaseThatCannotBeReadIsAnEmptyOne) {
  write("not a database");
  EXPECT_EQ(inMemory(), QStringList{QStringLiteral("new")});
  ASSERT_TRUE(QFile::remove(file()));
  withChat(QStringLiteral("old"));
  sql("PRAGMA user_version=99;");
  EXPECT_EQ(inMemory(), QStringList{QStringLiteral("new")});
  EXPECT_EQ(refusalCode(), ErrorCode::kStorageNewer) << "and stays as it is";
}

TEST_F(DatabaseFileTest, LoadExtensionAndSchemaWritesAreOff) {
  SqliteConnection db(file(), {});
  EXPECT_THROW(db.execute("SELECT load_extension('x')"), Exception);
  db.execute("CREATE TABLE t(x)");
  db.execute("PRAGMA writable_schema=ON");
  EXPECT_THROW(db.execute("UPDATE sqlite_schema SET sql = 'x'"), Exception);
}

// A machine that went off, or a copy of the file alone: what was last written may stand in the log beside it only.
TEST_F(DatabaseFileTest, WithoutItsLogTheFileIsAnEarlierStateAndNoDamage) {
  ChatDatabase db(folders());
  const ConversationId first = db.createConversation(QStringLiteral("first"), {}).id;
  { SqliteConnection(file(), {}).execute("PRAGMA wal_checkpoint(TRUNCATE)"); }
  for (int i = 0; i < 50; ++i) db.createConversation(QStringLiteral("later %1").arg(i), {});
  const QString log = file() + QStringLiteral("-wal");
  ASSERT_GT(QFileInfo(log).size(), 0);
  QTemporaryDir other;
  const ChatFolders copied{other.filePath(QStringLiteral("data")), other.filePath(QStringLiteral("cache"))};
  ASSERT_TRUE(QDir().mkpath(copied.data));
  ASSERT_TRUE(QFile::copy(file(), ChatDatabase::databaseFile(copied)));
  {
    ChatDatabase lost(copied);
    const QList<Conversation> left = lost.listConversations();
    ASSERT_EQ(left.size(), 1);
    EXPECT_EQ(left[0].id, first);
    lost.createConversation(QStringLiteral("goes on"), {});
  }
  EXPECT_EQ(ChatDatabase(copied).listConversations().size(), 2);
  // With its log, as a crash leaves both, nothing is lost.
  ASSERT_TRUE(QFile::remove(ChatDatabase::databaseFile(copied)));
  ASSERT_TRUE(QFile::copy(file(), ChatDatabase::databaseFile(copied)));
  ASSERT_TRUE(QFile::copy(log, ChatDatabase::databaseFile(copied) + QStringLiteral("-wal")));
  EXPECT_EQ(ChatDatabase(copied).listConversations().size(), 51);
}

// Someone puts an older file back by hand and leaves the log of the newer one beside it. What the two make together is no state that ever
// was: it is either refused as damaged, and left as it is, or it is a whole database.
TEST_F(DatabaseFileTest, AnOlderFileBesideANewerLogIsRefusedOrWhole) {
  const QString old = m_home.filePath(QStringLiteral("old.db"));
  withChat(QStringLiteral("old"));
  ASSERT_TRUE(QFile::copy(file(), old));
  QTemporaryDir crashed;
  const ChatFolders mixed{crashed.filePath(QStringLiteral("data")), crashed.filePath(QStringLiteral("cache"))};
  ASSERT_TRUE(QDir().mkpath(mixed.data));
  ASSERT_TRUE(QFile::copy(old, ChatDatabase::databaseFile(mixed)));
  {
    ChatDatabase db(folders());
    for (int i = 0; i < 300; ++i) db.createConversation(QString(500, QLatin1Char('x')), {});
    { SqliteConnection(file(), {}).execute("PRAGMA wal_checkpoint(TRUNCATE)"); }
    for (int i = 0; i < 3; ++i) db.createConversation(QStringLiteral("newest"), {});
    ASSERT_TRUE(QFile::copy(file() + QStringLiteral("-wal"), ChatDatabase::databaseFile(mixed) + QStringLiteral("-wal")));
  }
  const QByteArray before = bytes(ChatDatabase::databaseFile(mixed));
  try {
    ChatDatabase db(mixed);
    const auto count = static_cast<qsizetype>(db.listConversations().size());
    EXPECT_EQ(db.createConversation(QStringLiteral("one more"), {}).title, QStringLiteral("one more"));
    EXPECT_EQ(db.listConversations().size(), count + 1);
  } catch (const Exception& error) {
    EXPECT_EQ(error.error().code, ErrorCode::kStorageDamaged) << error.what();
    EXPECT_EQ(bytes(ChatDatabase::databaseFile(mixed)), before);
  }
}

TEST_F(DatabaseFileTest, WritesAreDurableAtCommit) {
  auto db = openDatabaseFile(file(), {});
  EXPECT_EQ(db->pragmaInteger("PRAGMA synchronous"), 2);  // FULL
  EXPECT_EQ(db->pragmaInteger("PRAGMA foreign_keys"), 1);
  EXPECT_EQ(db->pragmaInteger("PRAGMA trusted_schema"), 0);
}

}  // namespace
}  // namespace winnow::app
