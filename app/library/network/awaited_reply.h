// Requests to another machine, and the wait for its answer on a thread that has nothing else to do, with patience and an interrupt.
//
// Used by whatever asks the network and needs the answer before it goes on: a server in the engine's place, media that a request names.
// Runs an event loop of its own, which an interrupt wakes; it is looked for before every piece, too, so that it is heard whatever arrives.
// No more than kMostHeldBytes wait to be taken: a sender that is faster has to wait. Errors: what `take` throws ends the connection and is
// thrown on; what HTTP says the reply knows itself. Threads: the reply's.
#pragma once

#include <QNetworkReply>
#include <QNetworkRequest>
#include <functional>
#include <string_view>

#include "engine/base/interrupt.h"

namespace winnow::app {

// In each of them 0 means: for ever.
struct ReplyPatience {
  int connectMs = 0;  // until the request is sent, without a byte of it taken
  int silenceMs = 0;  // without a byte of the answer
  int wholeMs = 0;    // until the whole answer is there
};

struct ReplyEnd {
  Interrupt interrupt = Interrupt::kNone;  // that ended it
  int waitedMs = 0;                        // in vain, by the patience that ended it; 0: it ended otherwise
};

using TakePiece = std::function<void(std::string_view piece)>;

ReplyEnd awaitReply(QNetworkReply& reply, const ReplyPatience& patience, const TakePiece& take, const InterruptToken& interrupt);

// A request that brings what its address names and nothing else: no redirect is followed, no cookie kept or sent, nothing comes from a
// cache or compressed; and a bound on what is held of its reply.
inline constexpr qint64 kMostHeldBytes = qint64{256} << 10;

QNetworkRequest bareRequest(const QUrl& address);
// Holds at most kMostHeldBytes of a reply that nobody has read yet: the rest waits with its sender. Called as soon as the reply is made;
// from then on it is read with readAll(), since only a read that finds nothing more tells Qt that there is room again.
void boundHeldBytes(QNetworkReply& reply);

}  // namespace winnow::app
