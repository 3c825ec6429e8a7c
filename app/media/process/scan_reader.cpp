#include "app/media/process/scan_reader.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <QElapsedTimer>
#include <QProcess>
#include <QStandardPaths>
#include <algorithm>
#include <csignal>
#include <cstddef>
#include <utility>

#include "app/media/files/scanned_text.h"
#include "engine/base/error.h"

namespace winnow::app {
namespace {

constexpr int kMostMs = 60'000;                  // for a page
constexpr int kLookMs = 50;                      // for an interrupt
constexpr int kMostAnswer = 1 << 20;             // bytes for a page
constexpr int kMostLanguages = 4;                // each takes its time
constexpr std::int64_t kPagePixels = 9'000'000;  // A4 at 300 dots per inch, which is what Tesseract is made for
constexpr rlim_t kMemoryBytes = rlim_t{2} << 30;
constexpr rlim_t kProcessorS = 120;

// These folders alone can be read, and nothing can be written.
void holdToFolders() {
  const landlock_ruleset_attr all{(1U << 13) - 1};  // the rights of its first version
  const auto rules = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &all, sizeof all.handled_access_fs, 0));
  if (rules < 0) return;  // the kernel has none: the bounds hold all the same
  for (const char* const folder : {"/usr", "/lib", "/lib64", "/bin", "/etc"}) {
    landlock_path_beneath_attr beneath{};
    beneath.allowed_access = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
    beneath.parent_fd = ::open(folder, O_PATH | O_CLOEXEC);
    if (beneath.parent_fd >= 0) ::syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0);
  }
  ::syscall(SYS_landlock_restrict_self, rules, 0);
}

void refuseSockets() {
#if defined(__x86_64__)
  constexpr std::uint32_t kMachine = AUDIT_ARCH_X86_64;
#else
  constexpr std::uint32_t kMachine = AUDIT_ARCH_AARCH64;
#endif
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kMachine, 0, 2),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{std::size(steps), steps};
  ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

// Runs in the child, between fork and exec: system calls alone.
void confine() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const auto& [what, most] :
       {std::pair{RLIMIT_CORE, rlim_t{0}}, {RLIMIT_FSIZE, rlim_t{0}}, {RLIMIT_AS, kMemoryBytes}, {RLIMIT_CPU, kProcessorS}}) {
    const rlimit limit{most, most};
    ::setrlimit(what, &limit);
  }
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  holdToFolders();
  refuseSockets();
}

[[noreturn]] void refuse(const std::string& why) { throw Exception(ErrorCode::kUnsupportedFormat, "Tesseract", why); }

// Returns its standard output.
QString tesseract(const QStringList& arguments, const QByteArray& input, const InterruptToken& interrupt) {
  QProcess process;
  process.setProgram(tesseractProgram());
  if (process.program().isEmpty())
    throw Exception(ErrorCode::kFileNotFound, "Tesseract",
                    "it is not installed, and text is read from scans by it alone (Debian: apt install tesseract-ocr)");
  process.setArguments(arguments);
  QProcessEnvironment environment;
  for (const auto& [name, value] : {std::pair("PATH", "/usr/bin:/bin"), {"LC_ALL", "C.UTF-8"}, {"OMP_THREAD_LIMIT", "1"}})
    environment.insert(QLatin1String(name), QLatin1String(value));
  process.setProcessEnvironment(environment);
  process.setChildProcessModifier(confine);
  process.start();
  if (!process.waitForStarted()) refuse("it cannot be started");
  process.write(input);
  process.closeWriteChannel();
  QElapsedTimer clock;
  clock.start();
  QByteArray answer;
  const auto end = [&](const std::string& why) {
    process.kill();
    process.waitForFinished();
    interrupt.throw_if_requested();
    refuse(why);
  };
  while (!process.waitForFinished(kLookMs) && process.state() != QProcess::NotRunning) {
    answer += process.readAllStandardOutput();
    process.readAllStandardError();
    if (interrupt.requested() || clock.elapsed() > kMostMs) end("it took longer than a minute for a page");
    if (answer.size() > kMostAnswer) end("it answered with too much");
  }
  answer += process.readAllStandardOutput();
  if (process.exitStatus() != QProcess::NormalExit || process.exitCode() != 0) refuse("it failed");
  return QString::fromUtf8(answer);
}

QByteArray greyPicture(const RgbImage& picture) {
  QByteArray bytes = "P5\n" + QByteArray::number(picture.width_px) + ' ' + QByteArray::number(picture.height_px) + "\n255\n";
  for (std::size_t i = 0; i + 2 < picture.rgb.size(); i += 3)
    bytes += static_cast<char>((299 * picture.rgb[i] + 587 * picture.rgb[i + 1] + 114 * picture.rgb[i + 2]) / 1000);
  return bytes;
}

}  // namespace

QString tesseractProgram() { return QStandardPaths::findExecutable(QStringLiteral("tesseract")); }

QString scannedLanguages(const InterruptToken& interrupt) {
  QStringList names = tesseract({QStringLiteral("--list-langs")}, {}, interrupt).split(u'\n', Qt::SkipEmptyParts).mid(1);  // a heading
  for (const char* const none : {"osd", "equ"}) names.removeAll(QLatin1String(none));
  return names.isEmpty() || names.size() > kMostLanguages ? QStringLiteral("eng") : names.join(u'+');
}

std::string scannedText(const MediaReader& reader, const MediaRequest& document, int pages, const PageScanned& progress,
                        const InterruptToken& interrupt) {
  const QStringList arguments{QStringLiteral("stdin"), QStringLiteral("stdout"), QStringLiteral("-l"),    scannedLanguages(interrupt),
                              QStringLiteral("--psm"), QStringLiteral("3"),      QStringLiteral("--dpi"), QStringLiteral("300")};
  const int first = std::max(1, document.pages.first);
  const int last = document.pages.last > 0 ? std::min(document.pages.last, pages) : pages;
  std::string text;
  bool any = false;
  for (int page = first; page <= last; ++page) {
    MediaRequest picture{.path = document.path, .kind = MediaKind::kImage, .pages = {page, page}, .most_pixels = kPagePixels};
    const auto drawn = reader.openSource(picture, interrupt)->read(0, 1, interrupt);
    const QString words = tesseract(arguments, greyPicture(drawn.at(0).image), interrupt).remove(QChar(u'\f')).trimmed();
    any = any || !words.isEmpty();
    text += scannedMark(page) + words.toStdString() + "\n";
    progress(page - first + 1, last - first + 1);
  }
  if (!any) refuse("it finds no words in these pages");
  return text;
}

}  // namespace winnow::app
