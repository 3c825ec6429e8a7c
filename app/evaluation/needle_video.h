// Videos for the needle test, drawn in memory: one letter card somewhere among scenes of coloured shapes.
//
// "needle:FRAMES:DEPTH:TRIAL" names a video; NeedleOpener opens such names and leaves every other path to the opener behind it. The card is
// shown for two sampled frames (the first or last when DEPTH is 0 or 100), everything else by scenes of shapes and a few empty ones, at
// most
// 34. Depth is in per cent. The same name is the same video everywhere. Used by the terminal's eval. Errors: Exception(kInvalidArgument)
// for a malformed name. One thread per source.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/evaluation/evaluation_item.h"
#include "app/evaluation/scene_painter.h"

namespace winnow::app {

struct NeedleSpec {
  int frames = 64;
  int depthPercent = 50;
  int trial = 0;
};
std::string needleName(const NeedleSpec& spec);
std::optional<NeedleSpec> needleSpec(const std::string& name);  // nothing for a name of something else

struct NeedleScenes {
  std::vector<SceneLook> looks;
  std::vector<int> lookOfFrame;  // [frames]
  char letter = 'K';
  int firstCardFrame = 0;
};
NeedleScenes needleScenes(const NeedleSpec& spec);

// One item per length, depth and trial: "What letter is on the card?", metric accuracy. depths: how many, evenly from 0 to 100 %.
std::vector<EvaluationItem> needleItems(const std::vector<int>& lengths, int depths, int trials);

class NeedleOpener final : public MediaOpener {
 public:
  NeedleOpener(std::unique_ptr<MediaOpener> files, LetterSheet letters) : m_files(std::move(files)), m_letters(std::move(letters)) {}
  std::unique_ptr<FrameSource> open(const MediaRequest& request, const InterruptToken& interrupt) override;

 private:
  const std::unique_ptr<MediaOpener> m_files;
  const LetterSheet m_letters;
};

}  // namespace winnow::app
