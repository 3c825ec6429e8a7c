#include "tests/support/faulty_vfs.h"

#include <sqlite3.h>

namespace winnow::test {

namespace {

struct Fault {
  int first = 0;  // 0: none
  int code = SQLITE_OK;
  int times = 0;
  int calls = 0;
  bool fired = false;
};
Fault fault, read_fault;
sqlite3_vfs faulty_vfs;
sqlite3_io_methods faulty_methods;

// Lies in front of the system's file object.
struct FaultyFile {
  sqlite3_file base;
  sqlite3_file* real;
};

sqlite3_vfs* real_vfs() { return static_cast<sqlite3_vfs*>(faulty_vfs.pAppData); }
sqlite3_file* real(sqlite3_file* file) { return reinterpret_cast<FaultyFile*>(file)->real; }

int next_call(Fault& of) {
  ++of.calls;
  if (of.first == 0 || of.calls < of.first || of.calls >= of.first + of.times) return SQLITE_OK;
  of.fired = true;
  return of.code;
}

int faulty_read(sqlite3_file* file, void* to, int count, sqlite3_int64 offset) {
  const int code = next_call(read_fault);
  return code != SQLITE_OK ? code : real(file)->pMethods->xRead(real(file), to, count, offset);
}
int faulty_control(sqlite3_file* file, int op, void* argument) {
  if (op != SQLITE_FCNTL_LAST_ERRNO || !read_fault.fired) return real(file)->pMethods->xFileControl(real(file), op, argument);
  *static_cast<int*>(argument) = EIO;
  return SQLITE_OK;
}

int faulty_write(sqlite3_file* file, const void* data, int count, sqlite3_int64 offset) {
  const int code = next_call(fault);
  if (code == SQLITE_OK) return real(file)->pMethods->xWrite(real(file), data, count, offset);
  if (count > 1) real(file)->pMethods->xWrite(real(file), data, count / 2, offset);  // a short write leaves its half behind
  return code;
}
int faulty_sync(sqlite3_file* file, int flags) {
  const int code = next_call(fault);
  return code != SQLITE_OK ? (code == SQLITE_FULL ? SQLITE_IOERR_FSYNC : code) : real(file)->pMethods->xSync(real(file), flags);
}
int faulty_truncate(sqlite3_file* file, sqlite3_int64 size) {
  const int code = next_call(fault);
  return code != SQLITE_OK ? SQLITE_IOERR_TRUNCATE : real(file)->pMethods->xTruncate(real(file), size);
}

int faulty_open(sqlite3_vfs*, sqlite3_filename name, sqlite3_file* file, int flags, int* out_flags) {
  auto* faulty = reinterpret_cast<FaultyFile*>(file);
  faulty->real = reinterpret_cast<sqlite3_file*>(faulty + 1);
  const int result = real_vfs()->xOpen(real_vfs(), name, faulty->real, flags, out_flags);
  faulty->base.pMethods = faulty->real->pMethods ? &faulty_methods : nullptr;
  return result;
}

sqlite3_io_methods make_methods() {
  sqlite3_io_methods m{};
  m.iVersion = 2;
  m.xClose = [](sqlite3_file* f) { return real(f)->pMethods->xClose(real(f)); };
  m.xRead = faulty_read;
  m.xWrite = faulty_write;
  m.xTruncate = faulty_truncate;
  m.xSync = faulty_sync;
  m.xFileSize = [](sqlite3_file* f, sqlite3_int64* size) { return real(f)->pMethods->xFileSize(real(f), size); };
  m.xLock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xLock(real(f), level); };
  m.xUnlock = [](sqlite3_file* f, int level) { return real(f)->pMethods->xUnlock(real(f), level); };
  m.xCheckReservedLock = [](sqlite3_file* f, int* out) { return real(f)->pMethods->xCheckReservedLock(real(f), out); };
  m.xFileControl = faulty_control;
  m.xSectorSize = [](sqlite3_file* f) { return real(f)->pMethods->xSectorSize(real(f)); };
  m.xDeviceCharacteristics = [](sqlite3_file* f) { return real(f)->pMethods->xDeviceCharacteristics(real(f)); };
  m.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
    return real(f)->pMethods->xShmMap(real(f), page, size, extend, out);
  };
  m.xShmLock = [](sqlite3_file* f, int at, int n, int flags) { return real(f)->pMethods->xShmLock(real(f), at, n, flags); };
  m.xShmBarrier = [](sqlite3_file* f) { real(f)->pMethods->xShmBarrier(real(f)); };
  m.xShmUnmap = [](sqlite3_file* f, int remove) { return real(f)->pMethods->xShmUnmap(real(f), remove); };
  return m;
}

}  // namespace

void register_faulty_vfs() {
  if (sqlite3_vfs_find(kFaultyVfs)) return;
  sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
  faulty_vfs = *system;  // everything but opening goes straight to the system's VFS
  faulty_vfs.pAppData = system;
  faulty_vfs.zName = kFaultyVfs;
  faulty_vfs.pNext = nullptr;
  faulty_vfs.szOsFile = static_cast<int>(sizeof(FaultyFile)) + system->szOsFile;
  faulty_vfs.xOpen = faulty_open;
  faulty_methods = make_methods();
  sqlite3_vfs_register(&faulty_vfs, 0);
}

void arm_fault(int k, int sqlite_code, int times) { fault = {k, sqlite_code, times, 0, false}; }
void arm_read_fault(int k, int times) { read_fault = {k, SQLITE_IOERR_CORRUPTFS, times, 0, false}; }
int faulty_calls() { return fault.calls; }
bool fault_fired() { return fault.fired || read_fault.fired; }

}  // namespace winnow::test
