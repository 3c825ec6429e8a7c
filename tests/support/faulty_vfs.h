// A SQLite VFS that fails the k-th write, sync or truncate, or the k-th read: the disk's faults, in memory of the test only.
//
// Used by the tests of app/chats/chat. Registered under kFaultyVfs over the system's VFS; counting starts with arm_fault().
// From the k-th call on, `times` calls fail with the given SQLite code (SQLITE_FULL, SQLITE_IOERR_WRITE ...), afterwards all is well again.
// Threads: one at a time.
#pragma once

namespace winnow::test {

inline constexpr char kFaultyVfs[] = "winnow-faulty";

void register_faulty_vfs();
// k from 1; 0 disarms.
void arm_fault(int k, int sqlite_code, int times = 1);
// From the k-th read on, `times` reads fail as those of a disk that cannot deliver, and the system's error is EIO from then on.
void arm_read_fault(int k, int times = 1);
// Calls seen since they were armed; fault_fired: the k-th came.
int faulty_calls();
bool fault_fired();

}  // namespace winnow::test
