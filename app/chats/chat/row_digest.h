// winnow_digest(...), an SQL function of every connection: a checksum of a row's words.
//
// SQLite checks the form of its pages, not what stands in them: a flipped byte within a message's text went unnoticed. Triggers keep the
// digest of each message and compared answer beside its words (schema.cpp); who reads them compares. Values of any type and number; the
// same values give the same integer in every version, as it is stored. Errors: SQLITE_NOMEM. Threads: the connection's.
#pragma once

struct sqlite3;

namespace winnow::app {

// Returns SQLite's result code.
int addRowDigest(sqlite3* connection);

}  // namespace winnow::app
