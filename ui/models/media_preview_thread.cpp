#include "ui/models/media_preview_thread.h"

#include <QBuffer>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QSaveFile>
#include <algorithm>

#include "app/engine/cache_store/kept_transcripts.h"
#include "app/ground/process/own_folder.h"
#include "app/media/files/subtitles.h"
#include "app/media/files/text_encoding.h"
#include "app/media/files/thumbnails.h"
#include "app/media/process/scan_reader.h"
#include "app/words/media_names.h"

namespace winnow::ui {
namespace {

constexpr int kPosterSidePx = 320;

QImage toImage(const RgbImage& picture) {
  // The copy owns its pixels; the wrapper does not.
  return QImage(picture.rgb.data(), picture.width_px, picture.height_px, qsizetype{3} * picture.width_px, QImage::Format_RGB888).copy();
}

QByteArray toPng(const QImage& image) {
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  image.save(&buffer, "PNG");
  return bytes;
}

// The frame at one time, which is the first of a plan that begins there.
FramePlan planAt(double seconds) { return {.frame_count = 0, .every_s = 1.0, .from_s = std::max(0.0, seconds), .max_frames = 1}; }

// True for notices about the frames that were asked for, not about the file.
bool isOfThePlan(const MediaNotice& notice) { return notice.code == NoticeCode::kRepeatsLeftOut || notice.code == NoticeCode::kPlanFull; }

// Letters and digits of a text's beginning, to know its file by: "gnu general public license".
QString firstWords(const QString& text) {
  constexpr int kMostCharacters = 40;
  QString words;
  for (const QChar c : text.left(qsizetype{4} * kMostCharacters).simplified().toLower()) {
    if (words.size() >= kMostCharacters) break;
    if (c.isLetterOrNumber() && !c.isSurrogate()) {
      words += c;
    } else if (!words.isEmpty() && !words.endsWith(QLatin1Char(' '))) {
      words += QLatin1Char(' ');
    }
  }
  if (words.size() >= kMostCharacters && words.contains(QLatin1Char(' '))) words.truncate(words.lastIndexOf(QLatin1Char(' ')));
  return words.trimmed();
}

// By names alone: what a file is says its content when it is opened. A model is one or has one a folder below, as open_package() has it.
FolderContents contentsOf(const QByteArray& folder) {
  const QDir dir(QFile::decodeName(folder));
  FolderContents contents{false, app::filesIn(dir.path())};
  for (const QString& name : dir.entryList(QDir::Files))
    contents.model = contents.model || name == QLatin1String("config.json") || name.endsWith(QLatin1String(".gguf"), Qt::CaseInsensitive);
  if (contents.model || std::ranges::any_of(contents.files, [](const app::FolderFile& file) { return file.kind != MediaKind::kDocument; }))
    return contents;
  for (const QString& below : dir.entryList(QDir::Dirs | QDir::NoDotAndDotDot))
    contents.model = contents.model || QFile::exists(dir.filePath(below + QStringLiteral("/config.json")));
  return contents;
}

bool holds(const QString& path, const QByteArray& content) {
  QFile file(path);
  return file.size() == content.size() && file.open(QIODevice::ReadOnly) && file.readAll() == content;
}

// The file that holds these bytes: "Pasted picture.png", "Pasted picture 2.png" where the first holds others; written unless it is there.
QByteArray kept(const QString& folder, const QString& name, const char* ending, const QByteArray& content) {
  QString file = QDir(folder).filePath(name + QLatin1String(ending));
  for (int number = 2; QFile::exists(file) && !holds(file, content); ++number)
    file = QDir(folder).filePath(QStringLiteral("%1 %2").arg(name).arg(number) + QLatin1String(ending));
  if (QFile::exists(file)) return QFile::encodeName(file);
  if (const app::FolderState made = app::makeOwnFolder(folder); !made)
    throw Exception(ErrorCode::kFileUnwritable, QFile::encodeName(made.path).toStdString(), app::reasonOf(made.fault));
  QSaveFile out(file);
  if (!out.open(QIODevice::WriteOnly) || out.write(content) != content.size() || !out.commit())
    throw Exception(ErrorCode::kFileUnwritable, QFile::encodeName(file).toStdString(), out.errorString().toStdString());
  return QFile::encodeName(file);
}

}  // namespace

MediaPreviewThread::MediaPreviewThread(std::unique_ptr<app::MediaReader> reader, const QString& pasteFolder, app::Passwords& passwords,
                                       QObject* parent)
    : MediaPreview(parent), m_reader(std::move(reader)), m_pasteFolder(pasteFolder), m_passwords(passwords) {}

MediaPreviewThread::~MediaPreviewThread() {
  m_running.clear();
  m_all.request_cancel();
}

// None where they cannot be read.
void MediaPreviewThread::findSubtitles(const std::string& video, const app::MediaInfo& info, const std::string& encoding,
                                       MediaSummary& summary, const InterruptToken& interrupt) const {
  const std::string found = app::subtitlesOf(video, info);
  if (found.empty()) return;
  try {
    app::Subtitles read = m_reader->readSubtitles(found, encoding, interrupt);
    app::leaveOutBehind(read, info.playsS);
    summary.lines = std::move(read.lines);
    summary.subtitleNotices = std::move(read.notices);
    summary.subtitles = QByteArray::fromStdString(found);
  } catch (const Exception&) {
    // The video is what was attached: it is shown without them.
  }
}

// Finds what was heard in it: lines between the frames of a video, or a sound as a text of timed lines.
void MediaPreviewThread::findSpeech(MediaSummary& summary, const InterruptToken& interrupt) const {
  std::string file = m_transcriptOf ? m_transcriptOf(summary.sha256.toStdString()) : std::string();
  summary.isHeard = !file.empty() && app::isKeptTranscript(file);
  if (!summary.isHeard || !app::hasKeptLines(file)) return;
  try {
    if (summary.kind == MediaKind::kVideo) {
      summary.spoken = m_reader->readSubtitles(file, {}, interrupt).lines;
    } else {
      summary.passages = app::fileLines(m_reader->readSubtitles(file, {}, interrupt).lines, app::LineKind::kHeard);
      file = app::timedTextBeside(file);
      summary.words = m_reader->probe(file, interrupt).words;
    }
    summary.speech = QByteArray::fromStdString(file);
  } catch (const Exception&) {
    summary.isHeard = false;  // it can be heard anew
  }
}

// A file that is no picture and no video, and has sound: a document of what is said in it. What is named as a video keeps its fault.
bool MediaPreviewThread::describeSound(const std::string& file, MediaSummary& summary, const InterruptToken& interrupt) const {
  const QFileInfo info(QFile::decodeName(QByteArray::fromStdString(file)));
  if (app::namedAsVideo(info.fileName())) return false;
  try {
    const auto sound = m_reader->openSound({file, {}}, interrupt);
    summary.kind = MediaKind::kDocument;
    summary.hasSound = true;
    summary.durationS = sound->duration_s();
    summary.sizeBytes = info.size();
    summary.sha256 = QByteArray::fromStdString(sound->content_hash());
  } catch (const Exception&) {
    return false;
  }
  findSpeech(summary, interrupt);
  return true;
}

MediaSummary MediaPreviewThread::describe(const std::string& name, const std::string& encoding, const InterruptToken& interrupt) const {
  const app::MediaInfo info = m_reader->probe(name, interrupt, encoding);
  MediaSummary summary;
  summary.kind = info.kind;
  summary.sizeBytes = info.fileBytes;
  summary.widthPx = info.widthPx;
  summary.heightPx = info.heightPx;
  summary.durationS = info.durationS;
  summary.framesPerS = info.averageFps;
  summary.frames = std::max<qint64>(0, info.evenFrames);
  summary.codec = QString::fromStdString(info.codec);
  summary.words = info.words;
  summary.pages = info.pages;
  summary.hasSound = info.hasSound;
  if (info.kind == MediaKind::kVideo) findSubtitles(name, info, encoding, summary, interrupt);
  MediaRequest request{name, info.kind, planAt(std::min(1.0, info.durationS / 2))};
  request.encoding = encoding;
  const auto source = m_reader->openSource(request, interrupt);
  if (source->frame_count() > 0) summary.poster = toImage(app::makeThumbnail(source->read(0, 1, interrupt).front().image, kPosterSidePx));
  if (info.pages > 0)
    summary.poster = toImage(app::makeThumbnail(pageOf(name, 1, {kPosterSidePx, kPosterSidePx}, interrupt).image, kPosterSidePx));
  if (!summary.poster.isNull()) summary.posterPng = toPng(summary.poster);
  summary.notices = source->notices();
  std::erase_if(summary.notices, isOfThePlan);  // the poster's, which nobody asked for
  summary.sha256 = QByteArray::fromStdString(source->content_hash());
  if (info.kind == MediaKind::kDocument) summary.passages = app::passagesOf(source->text(), source->page_lines());
  if (info.hasSound) findSpeech(summary, interrupt);
  return summary;
}

// Runs job(token, interrupt, answer) on the thread; answer(f) runs f on the UI thread while the token is wanted.
template <typename Job>
PreviewToken MediaPreviewThread::enqueueOn(app::WorkerThread& thread, Job job) {
  const PreviewToken token = ++m_last;
  InterruptSource source(m_all.token());
  m_running.insert(token, source);
  thread.post([this, token, interrupt = source.token(), job = std::move(job)] {
    const auto answer = [this, token](auto say) {
      m_mailbox.post([this, token, say] {
        if (live(token)) say();
      });
    };
    try {
      interrupt.throw_if_requested();
      job(token, interrupt, answer);
    } catch (const Interrupted&) {
      // Cancelled: silent by contract.
    } catch (...) {
      answer([this, token, error = current_error()] { Q_EMIT failed(token, error); });
    }
    m_mailbox.post([this, token] { m_running.remove(token); });
  });
  return token;
}

// The page is drawn as large as it is shown: letters that are drawn small are sharper than scaled ones, and sooner there.
SampledFrame MediaPreviewThread::pageOf(const std::string& pdf, int page, const QSize& bound, const InterruptToken& interrupt) const {
  interrupt.throw_if_requested();
  MediaRequest request{pdf, MediaKind::kImage, {}};
  request.pages = {page, page};
  request.most_pixels = std::max<std::int64_t>(1, std::int64_t{bound.width()} * bound.height());
  return m_reader->open(request, interrupt)->read(0, 1, interrupt).at(0);
}

QStringList MediaPreviewThread::encodings() const {
  QStringList names;
  for (const std::string& name : app::encodingNames()) names << QString::fromStdString(name);
  return names;
}

PreviewToken MediaPreviewThread::probe(const QByteArray& path, const QByteArray& encoding) {
  return enqueue([this, path, encoding](PreviewToken token, const InterruptToken& interrupt, const auto& answer) {
    const std::string name = path.toStdString();
    MediaSummary summary;
    try {
      summary = describe(name, encoding.toStdString(), interrupt);
    } catch (const Exception& problem) {
      const bool foreign = problem.error().code == ErrorCode::kUnsupportedFormat || problem.error().code == ErrorCode::kDamagedFile;
      if (!foreign || !describeSound(name, summary, interrupt)) throw;
    }
    answer([this, token, summary] { Q_EMIT probed(token, summary); });
  });
}

PreviewToken MediaPreviewThread::thumbnails(const QByteArray& path, MediaKind kind, const std::vector<double>& seconds,
                                            const QSize& bound) {
  return enqueue([this, path, kind, seconds, bound](PreviewToken token, const InterruptToken& interrupt, const auto& answer) {
    const int side = std::max(1, std::max(bound.width(), bound.height()));
    const auto deliver = [&](int index, const SampledFrame& frame) {
      const QImage image = toImage(app::makeThumbnail(frame.image, side));
      const double actual = frame.actual_s;
      answer([this, token, index, actual, image] { Q_EMIT thumbnailReady(token, index, actual, image); });
    };
    if (kind == MediaKind::kImage) {
      const auto source = m_reader->open({path.toStdString(), kind, {}}, interrupt);
      for (const SampledFrame& frame : source->read(0, 1, interrupt)) deliver(0, frame);
    } else if (kind == MediaKind::kDocument) {
      for (std::size_t i = 0; i < seconds.size(); ++i)
        deliver(static_cast<int>(i), pageOf(path.toStdString(), static_cast<int>(seconds[i]), bound, interrupt));
    } else {
      for (std::size_t i = 0; i < seconds.size(); ++i) {
        interrupt.throw_if_requested();
        const auto source = m_reader->open({path.toStdString(), kind, planAt(seconds[i])}, interrupt);
        for (const SampledFrame& frame : source->read(0, 1, interrupt)) deliver(static_cast<int>(i), frame);
      }
    }
    answer([this, token] { Q_EMIT finished(token); });
  });
}

PreviewToken MediaPreviewThread::readText(const QByteArray& path, const QByteArray& encoding) {
  return enqueue([this, path, encoding](PreviewToken token, const InterruptToken& interrupt, const auto& answer) {
    MediaRequest request{path.toStdString(), MediaKind::kDocument, {}};
    request.encoding = encoding.toStdString();
    const auto source = m_reader->open(request, interrupt);
    answer([this, token, text = QString::fromStdString(source->text()), pages = source->page_lines()] {
      Q_EMIT textRead(token, text, pages);
    });
  });
}

PreviewToken MediaPreviewThread::lookInto(const QByteArray& folder) {
  return enqueue([this, folder](PreviewToken token, const InterruptToken&, const auto& answer) {
    const FolderContents contents = contentsOf(folder);
    answer([this, token, contents] { Q_EMIT lookedInto(token, contents); });
  });
}

PreviewToken MediaPreviewThread::store(const QImage& image) {
  return enqueue([this, image](PreviewToken token, const InterruptToken&, const auto& answer) {
    const QByteArray png = toPng(image);
    if (png.isEmpty()) throw Exception(ErrorCode::kUnsupportedFormat, "clipboard", "the picture cannot be encoded");
    const QByteArray path = kept(m_pasteFolder, tr("Pasted picture"), ".png", png);
    answer([this, token, path] { Q_EMIT stored(token, path); });
  });
}

PreviewToken MediaPreviewThread::storeText(const QString& text) {
  return enqueue([this, text](PreviewToken token, const InterruptToken&, const auto& answer) {
    const QString words = firstWords(text);
    const QString name = words.isEmpty() ? tr("Pasted text") : tr("Pasted text, %1").arg(words);
    const QByteArray path = kept(m_pasteFolder, name, ".txt", text.toUtf8());
    answer([this, token, path] { Q_EMIT stored(token, path); });
  });
}

PreviewToken MediaPreviewThread::scan(const QByteArray& path) {
  return enqueueOn(m_scans, [this, path](PreviewToken token, const InterruptToken& interrupt, const auto& answer) {
    const MediaRequest request{.path = path.toStdString(), .kind = MediaKind::kDocument};
    const auto source = m_reader->openSource(request, interrupt);
    const std::string file = m_scannedOf(source->content_hash(), app::scannedLanguages(interrupt));
    const auto pages = static_cast<int>(source->info().pages);
    if (!app::isKeptTranscript(file))
      app::keepText(file, app::scannedText(
                              *m_reader, request, pages, [](int, int) {}, interrupt));
    answer([this, token, file] { Q_EMIT stored(token, QByteArray::fromStdString(file)); });
  });
}

void MediaPreviewThread::unlock(const QByteArray& path, const QString& password) {
  m_passwords.set({path.toStdString(), password.toStdString()});
}

void MediaPreviewThread::cancel(PreviewToken token) {
  const auto found = m_running.find(token);
  if (found == m_running.end()) return;
  found->request_cancel();
  m_running.erase(found);
}

}  // namespace winnow::ui
