#include "app/chats/chat/schema.h"

namespace winnow::app {

namespace {

// parent_id does not cascade: a long thread would exceed SQLite's trigger depth; a conversation's messages go in one statement.
constexpr char kChats[] = R"sql(
CREATE TABLE clock(tick INTEGER NOT NULL) STRICT;
INSERT INTO clock VALUES(0);

CREATE TABLE conversation(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  title TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  activity INTEGER NOT NULL,
  deleted_ms INTEGER NOT NULL DEFAULT 0,
  pinned INTEGER NOT NULL DEFAULT 0,
  message_count INTEGER NOT NULL DEFAULT 0,
  preview TEXT NOT NULL DEFAULT '',
  active_leaf INTEGER NOT NULL DEFAULT 0,
  method TEXT NOT NULL,
  retention REAL NOT NULL,
  frame_count INTEGER NOT NULL,
  system_prompt TEXT NOT NULL,
  draft TEXT NOT NULL DEFAULT '',
  anchor_message INTEGER NOT NULL DEFAULT 0,
  anchor_offset REAL NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX conversation_by_activity ON conversation(deleted_ms, pinned, activity);

CREATE TABLE message(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  conversation_id INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
  parent_id INTEGER REFERENCES message(id) DEFERRABLE INITIALLY DEFERRED,
  sequence INTEGER NOT NULL UNIQUE,
  role INTEGER NOT NULL,
  state INTEGER NOT NULL,
  text TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  failure_code INTEGER NOT NULL DEFAULT 0,
  failure TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX message_by_conversation ON message(conversation_id, sequence);
CREATE INDEX message_by_parent ON message(parent_id);
CREATE INDEX message_streaming ON message(id) WHERE state = 2;

-- message_id is NULL while the attachment belongs to the draft.
CREATE TABLE attachment(
  id INTEGER PRIMARY KEY,
  conversation_id INTEGER NOT NULL REFERENCES conversation(id) ON DELETE CASCADE,
  message_id INTEGER REFERENCES message(id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  path BLOB NOT NULL,
  sha256 TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  width_px INTEGER NOT NULL,
  height_px INTEGER NOT NULL,
  duration_s REAL NOT NULL,
  plan_frame_count INTEGER NOT NULL,
  plan_every_s REAL NOT NULL,
  plan_from_s REAL NOT NULL,
  plan_to_s REAL NOT NULL,
  plan_max_frames INTEGER NOT NULL
) STRICT;
CREATE INDEX attachment_by_conversation ON attachment(conversation_id, message_id, ordinal);
CREATE INDEX attachment_by_message ON attachment(message_id);

CREATE TABLE run(
  message_id INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
  model_name TEXT NOT NULL,
  model_folder TEXT NOT NULL,
  device TEXT NOT NULL,
  method TEXT NOT NULL,
  retention REAL NOT NULL,
  seed INTEGER NOT NULL,
  figures_json TEXT NOT NULL
) STRICT;

CREATE TABLE run_layer(
  message_id INTEGER NOT NULL REFERENCES run(message_id) ON DELETE CASCADE,
  layer INTEGER NOT NULL,
  budget INTEGER NOT NULL,
  kept REAL NOT NULL,
  kept_visual REAL NOT NULL,
  kept_text REAL NOT NULL,
  bytes INTEGER NOT NULL,
  kept_per_head TEXT NOT NULL,
  PRIMARY KEY(message_id, layer)
) STRICT, WITHOUT ROWID;

CREATE TABLE setting(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
)sql";

// Finished messages only; a streaming answer enters when it ends.
constexpr char kSearch[] = R"sql(
CREATE VIRTUAL TABLE message_fts USING fts5(text, content='message', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
INSERT INTO message_fts(rowid, text) SELECT id, text FROM message WHERE state <> 2;
)sql";

// {"asked_s": [..], "actual_s": [..]}, of a document {"tokens": ..}, of subtitles {"lines_s": [..], "lines_digest": ..}, with "notices":
// [[code, amount, of, name], ..]; empty: not sampled yet.
constexpr char kSampledTimes[] = R"sql(
ALTER TABLE attachment ADD COLUMN sampled_json TEXT NOT NULL DEFAULT '';
)sql";

// The whole recipe (recipe_json.h) beside its method and retention, which stand for it where it is empty: rows of older versions. Why a
// layer got its budget ([["entropy", 0.4], ..]) and what it held when the answer ended ([visual, text, generated]).
constexpr char kRecipes[] = R"sql(
ALTER TABLE conversation ADD COLUMN recipe_json TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN recipe_json TEXT NOT NULL DEFAULT '';
ALTER TABLE run_layer ADD COLUMN why_json TEXT NOT NULL DEFAULT '';
ALTER TABLE run_layer ADD COLUMN end_json TEXT NOT NULL DEFAULT '';
)sql";

// Comparisons of a question (run_json: comparison_rows.h), and how far an answer is the full cache's (run_json.h; empty: not
// checked).
constexpr char kComparisons[] = R"sql(
CREATE TABLE comparison(
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  message_id INTEGER NOT NULL REFERENCES message(id) ON DELETE CASCADE,
  created_ms INTEGER NOT NULL,
  column_order INTEGER NOT NULL,
  prefills INTEGER NOT NULL,
  shared_prefix_bytes INTEGER NOT NULL,
  allocated_bytes INTEGER NOT NULL,
  stopped INTEGER NOT NULL,
  failure_code INTEGER NOT NULL DEFAULT 0,
  failure TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX comparison_by_message ON comparison(message_id);

CREATE TABLE comparison_column(
  comparison_id INTEGER NOT NULL REFERENCES comparison(id) ON DELETE CASCADE,
  place INTEGER NOT NULL,
  state INTEGER NOT NULL,
  shares_prefill INTEGER NOT NULL,
  text TEXT NOT NULL,
  has_figures INTEGER NOT NULL,
  run_json TEXT NOT NULL,
  used_as INTEGER REFERENCES message(id) ON DELETE SET NULL,
  PRIMARY KEY(comparison_id, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX comparison_column_used ON comparison_column(used_as);

ALTER TABLE run ADD COLUMN agreement_json TEXT NOT NULL DEFAULT '';
)sql";

// KeptMap::toBytes() of the compression events of answers and of compared answers.
constexpr char kKeptMaps[] = R"sql(
CREATE TABLE kept_map(
  message_id INTEGER PRIMARY KEY REFERENCES message(id) ON DELETE CASCADE,
  map BLOB NOT NULL
) STRICT;

CREATE TABLE comparison_kept_map(
  comparison_id INTEGER NOT NULL,
  place INTEGER NOT NULL,
  map BLOB NOT NULL,
  PRIMARY KEY(comparison_id, place),
  FOREIGN KEY(comparison_id, place) REFERENCES comparison_column(comparison_id, place) ON DELETE CASCADE
) STRICT;
)sql";

// [[from_s, to_s], ..]; empty: nothing is pinned. An image has one range.
constexpr char kPins[] = R"sql(
ALTER TABLE attachment ADD COLUMN pins_json TEXT NOT NULL DEFAULT '';
)sql";

// The guard of a chat's later questions (engine's Guard). Until now one choice held for all chats: each goes on under it.
constexpr char kLaterQuestions[] = R"sql(
ALTER TABLE conversation ADD COLUMN later_questions INTEGER NOT NULL DEFAULT 1;
UPDATE conversation SET later_questions = CASE (SELECT value FROM setting WHERE key = 'chat/later_questions')
  WHEN 'prefill' THEN 2 WHEN 'ram' THEN 3 WHEN 'alone' THEN 4 ELSE 1 END;
)sql";

// How a chat's answers are drawn, where that is not as the settings say (run_json.h); empty: it is.
constexpr char kSampling[] = R"sql(
ALTER TABLE conversation ADD COLUMN sampling_json TEXT NOT NULL DEFAULT '';
)sql";

// Tokens of an attached text; 0 for pictures.
constexpr char kDocuments[] = R"sql(
ALTER TABLE attachment ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attachment ADD COLUMN most_tokens INTEGER NOT NULL DEFAULT 0;
)sql";

// The file whose subtitles stand between a video's frames; empty: none.
constexpr char kSubtitles[] = R"sql(
ALTER TABLE attachment ADD COLUMN subtitles BLOB NOT NULL DEFAULT x'';
)sql";

// Digests find what SQLite's own checks do not see: a flipped byte within somebody's words (sqlite_connection.cpp). Kept by triggers, so
// that no writer forgets it.
constexpr char kDigests[] = R"sql(
ALTER TABLE message ADD COLUMN digest INTEGER NOT NULL DEFAULT 0;
UPDATE message SET digest = winnow_digest(text);
CREATE TRIGGER message_written AFTER INSERT ON message
BEGIN UPDATE message SET digest = winnow_digest(text) WHERE id = new.id; END;
CREATE TRIGGER message_rewritten AFTER UPDATE OF text ON message
BEGIN UPDATE message SET digest = winnow_digest(text) WHERE id = new.id; END;

ALTER TABLE comparison_column ADD COLUMN digest INTEGER NOT NULL DEFAULT 0;
UPDATE comparison_column SET digest = winnow_digest(text);
CREATE TRIGGER compared_answer_written AFTER INSERT ON comparison_column
BEGIN UPDATE comparison_column SET digest = winnow_digest(text) WHERE comparison_id = new.comparison_id AND place = new.place; END;
CREATE TRIGGER compared_answer_rewritten AFTER UPDATE OF text ON comparison_column
BEGIN UPDATE comparison_column SET digest = winnow_digest(text) WHERE comparison_id = new.comparison_id AND place = new.place; END;
)sql";

// Which recipes made the cache of an answer (run_json.h), saved with what else it came from before its first word; its figures follow.
constexpr char kCauses[] = R"sql(
ALTER TABLE run ADD COLUMN makers_json TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN has_figures INTEGER NOT NULL DEFAULT 1;
)sql";

// The model's thought before an answer; empty: none. It is not searched.
constexpr char kThoughts[] = R"sql(
ALTER TABLE message ADD COLUMN thought TEXT NOT NULL DEFAULT '';
ALTER TABLE comparison_column ADD COLUMN thought TEXT NOT NULL DEFAULT '';
)sql";

// The encoding that an attached text, or a video's subtitles, are read in; empty: by their bytes.
constexpr char kEncodings[] = R"sql(
ALTER TABLE attachment ADD COLUMN encoding TEXT NOT NULL DEFAULT '';
)sql";

// The digest of a row of words covers its thought too. What was damaged before stays so.
constexpr char kThoughtDigests[] = R"sql(
DROP TRIGGER message_written;
DROP TRIGGER message_rewritten;
UPDATE message SET digest = iif(digest = winnow_digest(text), winnow_digest(text, thought), ~winnow_digest(text, thought));
CREATE TRIGGER message_written AFTER INSERT ON message
BEGIN UPDATE message SET digest = winnow_digest(text, thought) WHERE id = new.id; END;
CREATE TRIGGER message_rewritten AFTER UPDATE OF text, thought ON message
BEGIN UPDATE message SET digest = winnow_digest(text, thought) WHERE id = new.id; END;

DROP TRIGGER compared_answer_written;
DROP TRIGGER compared_answer_rewritten;
UPDATE comparison_column SET digest = iif(digest = winnow_digest(text), winnow_digest(text, thought), ~winnow_digest(text, thought));
CREATE TRIGGER compared_answer_written AFTER INSERT ON comparison_column
BEGIN UPDATE comparison_column SET digest = winnow_digest(text, thought)
  WHERE comparison_id = new.comparison_id AND place = new.place; END;
CREATE TRIGGER compared_answer_rewritten AFTER UPDATE OF text, thought ON comparison_column
BEGIN UPDATE comparison_column SET digest = winnow_digest(text, thought)
  WHERE comparison_id = new.comparison_id AND place = new.place; END;
)sql";

// The words by which an attachment is found: the last part of its path, what is said in it (its subtitles), and what the model told itself
// about it. rowid: the attachment's; kept by chat_rows.h, as SQLite's triggers may not write it here. Chats whose first words are in a
// draft, or that begin with a file alone, are called by these.
constexpr char kAttachedWords[] = R"sql(
CREATE VIRTUAL TABLE attachment_fts USING fts5(name, said, described, tokenize='unicode61 remove_diacritics 2');
INSERT INTO attachment_fts(rowid, name, said, described)
  SELECT id, replace(CAST(path AS TEXT), rtrim(CAST(path AS TEXT), replace(CAST(path AS TEXT), '/', '')), ''), '', '' FROM attachment;

UPDATE conversation SET preview = substr(trim(draft), 1, 120) WHERE preview = '' AND trim(draft) <> '';
UPDATE conversation SET preview = coalesce((SELECT f.name FROM attachment a JOIN attachment_fts f ON f.rowid = a.id
  WHERE a.conversation_id = conversation.id ORDER BY a.message_id IS NULL, a.message_id, a.ordinal LIMIT 1), '') WHERE preview = '';
)sql";

// How many tokens an attached picture, or each frame, may take: a word or a number (engine's detail_word()).
constexpr char kDetails[] = R"sql(
ALTER TABLE attachment ADD COLUMN detail TEXT NOT NULL DEFAULT 'auto';
)sql";

// A part of a plan's frames (FramePlan::taken, FramePlan::set_frames).
constexpr char kParts[] = R"sql(
ALTER TABLE attachment ADD COLUMN plan_taken INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attachment ADD COLUMN plan_set_frames INTEGER NOT NULL DEFAULT 1;
)sql";

// Which pages of a document are read, or which one a picture shows (MediaRequest::pages); 0: all.
constexpr char kPages[] = R"sql(
ALTER TABLE attachment ADD COLUMN first_page INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attachment ADD COLUMN last_page INTEGER NOT NULL DEFAULT 0;
)sql";

// Lines of attached files, by their content (file_lines.h), and their index. What older versions kept of an attachment's subtitles
// and description, in one piece, becomes a line without a time.
constexpr char kFileLines[] = R"sql(
CREATE TABLE file_line(
  id INTEGER PRIMARY KEY,
  sha256 TEXT NOT NULL,
  kind INTEGER NOT NULL,
  start_s REAL NOT NULL,
  end_s REAL NOT NULL,
  line INTEGER NOT NULL,
  page INTEGER NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX file_line_by_file ON file_line(sha256, kind);
CREATE INDEX attachment_by_content ON attachment(sha256);
INSERT INTO file_line(sha256, kind, start_s, end_s, line, page, text) SELECT sha256, 2, -1, -1, 0, 0, said FROM
  (SELECT a.sha256, f.said, max(a.id) FROM attachment a JOIN attachment_fts f ON f.rowid = a.id WHERE f.said <> '' GROUP BY a.sha256)
  WHERE sha256 <> '';
INSERT INTO file_line(sha256, kind, start_s, end_s, line, page, text)
  SELECT sha256, 3, -1, -1, 0, 0, described FROM
  (SELECT a.sha256, f.described, max(a.id) FROM attachment a JOIN attachment_fts f ON f.rowid = a.id WHERE f.described <> ''
   GROUP BY a.sha256) WHERE sha256 <> '';
CREATE VIRTUAL TABLE file_line_fts USING fts5(text, content='file_line', content_rowid='id', tokenize='unicode61 remove_diacritics 2');
INSERT INTO file_line_fts(file_line_fts) VALUES('rebuild');

CREATE VIRTUAL TABLE file_name_fts USING fts5(name, tokenize='unicode61 remove_diacritics 2');
INSERT INTO file_name_fts(rowid, name) SELECT rowid, name FROM attachment_fts;
DROP TABLE attachment_fts;
)sql";

// Videos of a folder that is asked: their lines stay, and are found, without a chat that has them.
constexpr char kShelf[] = R"sql(
CREATE TABLE shelf_file(sha256 TEXT PRIMARY KEY, path BLOB NOT NULL) STRICT, WITHOUT ROWID;
)sql";

}  // namespace

const std::array<const char*, kSchemaVersion> kMigrations = {
    kChats,         kSearch,    kSampledTimes, kRecipes, kComparisons, kKeptMaps, kPins,      kLaterQuestions,
    kSampling,      kDocuments, kSubtitles,    kDigests, kCauses,      kThoughts, kEncodings, kThoughtDigests,
    kAttachedWords, kDetails,   kParts,        kPages,   kFileLines,   kShelf};

}  // namespace winnow::app
