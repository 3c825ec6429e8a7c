// Names that images, videos and documents usually have: what a dialog shows first and what is taken out of a folder. What a file is says
// its content. Any thread.
#pragma once

#include <QString>

namespace winnow::ui {

inline constexpr char kPictureNames[] = "*.png *.jpg *.jpeg *.webp *.bmp *.gif";
inline constexpr char kVideoNames[] =
    "*.mp4 *.m4v *.mov *.3gp *.webm *.mkv *.avi *.ts *.m2ts *.mts *.mpg *.mpeg *.vob *.flv *.ogv *.wmv *.asf";
inline constexpr char kTextNames[] =
    "*.txt *.md *.rst *.tex *.srt *.vtt *.csv *.json *.xml *.html *.log *.c *.h *.cpp *.py *.js *.ts *.java *.go *.rs *.sh *.sql *.toml "
    "*.yaml *.yml";

bool namedAsPicture(const QString& name);
bool namedAsVideo(const QString& name);

}  // namespace winnow::ui
