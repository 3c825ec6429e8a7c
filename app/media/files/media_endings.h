// Endings of the names that images, videos and sounds usually have. What a file is says its content: endings choose what a dialog shows
// first and what is taken out of a folder, and tell a text from a damaged picture.
//
// Used by media_opener.h and app/words. Any thread.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>

namespace winnow::app {

enum class EndingOf : int {
  kImage = 1,
  kVideo = 2,
  kVideoOrText = 3,  // of MPEG streams and of TypeScript's sources
  kUnread = 4,       // of pictures and playlists that Winnow does not read
  kSound = 5,
};

struct MediaEnding {
  std::string_view text;  // lower case
  EndingOf of = EndingOf::kImage;
};

inline constexpr MediaEnding kMediaEndings[] = {
    {".png", EndingOf::kImage},      {".jpg", EndingOf::kImage},        {".jpeg", EndingOf::kImage},      {".webp", EndingOf::kImage},
    {".heic", EndingOf::kImage},     {".heif", EndingOf::kImage},       {".avif", EndingOf::kImage},      {".bmp", EndingOf::kImage},
    {".gif", EndingOf::kImage},      {".mp4", EndingOf::kVideo},        {".m4v", EndingOf::kVideo},       {".mov", EndingOf::kVideo},
    {".3gp", EndingOf::kVideo},      {".webm", EndingOf::kVideo},       {".mkv", EndingOf::kVideo},       {".avi", EndingOf::kVideo},
    {".ts", EndingOf::kVideoOrText}, {".m2ts", EndingOf::kVideoOrText}, {".mts", EndingOf::kVideoOrText}, {".mpg", EndingOf::kVideo},
    {".mpeg", EndingOf::kVideo},     {".vob", EndingOf::kVideo},        {".flv", EndingOf::kVideo},       {".ogv", EndingOf::kVideo},
    {".wmv", EndingOf::kVideo},      {".asf", EndingOf::kVideo},        {".tif", EndingOf::kUnread},      {".tiff", EndingOf::kUnread},
    {".jp2", EndingOf::kUnread},     {".jxl", EndingOf::kUnread},       {".svg", EndingOf::kUnread},      {".m3u8", EndingOf::kUnread},
    {".mpd", EndingOf::kUnread},     {".mp3", EndingOf::kSound},        {".m4a", EndingOf::kSound},       {".wav", EndingOf::kSound},
    {".ogg", EndingOf::kSound},      {".flac", EndingOf::kSound},       {".opus", EndingOf::kSound},      {".aac", EndingOf::kSound},
};

// True if a name ends like one of these kinds, in whatever case.
inline bool isNamedAs(std::initializer_list<EndingOf> kinds, std::string name) {
  for (char& character : name) {
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character - 'A' + 'a');
  }
  return std::ranges::any_of(kMediaEndings, [&](const MediaEnding& ending) {
    return std::ranges::find(kinds, ending.of) != kinds.end() && name.ends_with(ending.text);
  });
}

}  // namespace winnow::app
