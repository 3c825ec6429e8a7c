// Places in an answer as links that lead to them: times of one video, "0:15" or "1:02:03", to its frame; pages of one paper, "page 12" or
// "p. 12", to the page.
//
// Made by block_document.h of what stands in the text; no address that a model writes is one of them. Used by the transcript and by who
// opens the frame or the page. Pure.
#pragma once

#include <QString>
#include <QUrl>
#include <optional>
#include <vector>

#include "engine/media/frame_source.h"
#include "ui/chat_view/markdown_parser.h"

namespace winnow::ui {

// The places that there are.
struct LinkedPlaces {
  double timesUpToS = 0;  // of the video, from 0; 0: none
  PageRange pages{};      // of the paper; PageRange(): none

  friend bool operator==(const LinkedPlaces&, const LinkedPlaces&) = default;
};

// Cuts the runs at each such place, and links it. Code, formulas and links stay as they are.
void linkPlaces(std::vector<TextRun>& runs, const LinkedPlaces& places);

// The seconds, or the page, that such a link leads to; not set: it is another link.
std::optional<double> timeOf(const QUrl& link);
std::optional<int> pageOf(const QUrl& link);
inline bool leadsToPlace(const QUrl& link) { return timeOf(link) || pageOf(link); }

// A link in words: its address, or where it leads.
QString linkText(const QUrl& link);

}  // namespace winnow::ui
