#include "app/media/files/foreign_subtitles.h"

#include <QRegularExpression>
#include <QString>

namespace winnow::app {
namespace {

#define CONVERT_SUBTITLES "which are not read; this converts them: ffmpeg -i FILE NEW.srt"
#define SAVE_SUBTITLES "which are not read; save them as .srt or .vtt"

constexpr qsizetype kLookedAt = 4096;  // characters from the beginning on

struct ForeignFormat {
  const char* line;  // that it is known by
  const char* sentence;
};

constexpr ForeignFormat kForeign[] = {
    {R"(^\{\d+\}\{\d*\})",
     "these are MicroDVD subtitles, which count frames and are not read; this converts them (25: their frames in a second): "
     "ffmpeg -f microdvd -subfps 25 -i FILE NEW.srt"},
    {R"(^\s*<SAMI\b)", "these are SAMI subtitles, " CONVERT_SUBTITLES},
    {R"(<(\w+:)?tt\b[^>]*ttml)", "these are TTML subtitles, " SAVE_SUBTITLES},
    {R"(^\[\d+\]\[\d*\])", "these are MPL2 subtitles, which are not read; this converts them: ffmpeg -f mpl2 -i FILE NEW.srt"},
    {R"(^\[INFORMATION\])", "these are SubViewer subtitles, " CONVERT_SUBTITLES},
    {R"(^\[\d+:\d\d([.:]\d+)?\])", "these are lyrics (LRC), " CONVERT_SUBTITLES},
    {R"(^Scenarist_SCC)", "these are closed captions (SCC), " SAVE_SUBTITLES},
    {R"(^\d+:\d\d:\d\d\.\d+,\d+:\d\d:\d\d\.\d+\s*$)", "these are SubViewer or YouTube (SBV) subtitles, " CONVERT_SUBTITLES},
    {R"(^\d\d:\d\d:\d\d:\S)", "these are TMPlayer subtitles, " CONVERT_SUBTITLES},
};

#undef CONVERT_SUBTITLES
#undef SAVE_SUBTITLES

}  // namespace

const char* foreignSubtitles(QStringView text) {
  const QString beginning = text.left(kLookedAt).toString();
  for (const ForeignFormat& format : kForeign) {
    const QRegularExpression line(QString::fromLatin1(format.line),
                                  QRegularExpression::MultilineOption | QRegularExpression::CaseInsensitiveOption);
    if (line.match(beginning).hasMatch()) return format.sentence;
  }
  return nullptr;
}

}  // namespace winnow::app
