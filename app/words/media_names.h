// Names that images, videos and documents usually have: what a dialog shows first and what is taken out of a folder. What a file is says
// its content. Any thread.
#pragma once

#include <QString>

namespace winnow::app {

// Papers among a folder's files.
inline constexpr char kPaperNames[] = "*.pdf *.docx *.odt *.xlsx *.ods *.epub *.eml *.htm *.html *.txt *.md *.rst *.tex *.csv";
// A dialog also shows what else is text.
inline constexpr char kOtherTextNames[] =
    "*.srt *.vtt *.json *.xml *.log *.c *.h *.cpp *.py *.js *.ts *.java *.go *.rs *.sh *.sql *.toml *.yaml *.yml";

// All images and videos that are read, as a dialog wants them: "*.png *.jpg".
QString mediaNames();
QString soundNames();
bool namedAsPicture(const QString& name);
bool namedAsVideo(const QString& name);

}  // namespace winnow::app
