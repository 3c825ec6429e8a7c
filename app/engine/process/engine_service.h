// An engine for the program at the other end of a channel: what winnow-engine does, and what scripted engines of tests do in its place.
//
// Requests run on the calling thread, one after another or as many together as the engine takes in; a thread of its own takes what comes
// meanwhile, so that interrupts reach a request that runs or waits. When the channel ends the process does, at once and whatever runs:
// nothing is left behind however the program ended. Files are written under other names until they are whole, so that nothing half is found
// later. Passwords that the program tells are held for the reader of media.
#pragma once

#include <functional>
#include <memory>

#include "app/ground/process/open_file.h"
#include "app/media/files/passwords.h"
#include "engine/api/engine.h"

namespace winnow::app {

// make: called on this thread. Errors: none; the process ends, also where the program sends what is no request.
[[noreturn]] void serveEngine(OpenFile channel, const std::function<std::unique_ptr<Engine>()>& make, Passwords& passwords);

}  // namespace winnow::app
