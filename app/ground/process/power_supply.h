// Asks the kernel if the machine runs on mains power. Used to decide what may be done unasked. Reads a few small files of sysfs:
// not for the UI thread. No errors: a machine that does not say counts as one on mains.
#pragma once

#include <functional>
#include <string>

class QObject;

namespace winnow::app {

// folder: where the kernel lists power supplies.
bool onMains(const std::string& folder = "/sys/class/power_supply");

// Asks on a thread of the pool and tells on the receiver's, unless the receiver is gone by then.
void tellMains(QObject* receiver, std::function<void(bool mains)> told);

}  // namespace winnow::app
