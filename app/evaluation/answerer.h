// Who answers in an evaluation: one question under several recipes, each as if it were alone, or several questions about the same media
// under one.
//
// EngineAnswerer drives an Engine; tests script their own. One thread, the engine's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/api/engine.h"

namespace winnow::app {

struct RecipeAnswer {
  std::string answer;
  std::string thought{};  // before it; not judged
  TurnFigures figures;
  std::vector<std::string> notices;  // of the media that were read for it: "clip.mp4: parts of the video are damaged"
  // Against the full cache under teacher forcing; absent where it was not measured.
  std::optional<double> topAgreement;
  std::optional<double> divergence;
  std::optional<double> loss;  // mean -ln of the probability of its tokens, by the recipe's own cache
  std::optional<SelectionFigures> selection;
};

class Answerer {
 public:
  virtual ~Answerer() = default;
  // One answer per recipe, in their order; at most Compare::kMostRecipes. Throws the engine's Exception, and Interrupted on Stop or Cancel.
  virtual std::vector<RecipeAnswer> answers(const Message& question, const std::vector<RecipeSpec>& recipes,
                                            const InterruptToken& interrupt) = 0;
  // Questions about the same media, one after the other. Guard keep: one conversation; alone: each alone, of a cache that was compressed
  // once where the recipe does so before a question. One answer per question. Throws as answers().
  virtual std::vector<RecipeAnswer> series(const std::vector<Message>& questions, const RecipeSpec& recipe, Guard guard,
                                           const InterruptToken& interrupt) = 0;
  // `text` read as the answer to the question, under the cache that the recipe leaves before it. Throws as answers().
  virtual RecipeAnswer given(const Message& question, const std::string& text, const RecipeSpec& recipe,
                             const InterruptToken& interrupt) = 0;
};

// All recipes from one vision pass and one prefill, greedily. A model must have been loaded. The engine is borrowed.
class EngineAnswerer final : public Answerer {
 public:
  // thoughtTokens: as Sampling's; thoughts are no part of answers.
  EngineAnswerer(Engine& engine, int maxNewTokens, int thoughtTokens, ColumnScores scores) : m_engine(engine), m_scores(scores) {
    m_sampling.max_new_tokens = maxNewTokens;
    m_sampling.thought_tokens = thoughtTokens;
  }
  std::vector<RecipeAnswer> answers(const Message& question, const std::vector<RecipeSpec>& recipes,
                                    const InterruptToken& interrupt) override;
  std::vector<RecipeAnswer> series(const std::vector<Message>& questions, const RecipeSpec& recipe, Guard guard,
                                   const InterruptToken& interrupt) override;
  RecipeAnswer given(const Message& question, const std::string& text, const RecipeSpec& recipe, const InterruptToken& interrupt) override;

 private:
  Turn turnOf(const RecipeSpec& recipe, Guard guard) const;
  RecipeAnswer answered(const Turn& turn, const InterruptToken& interrupt);
  void forget();

  Engine& m_engine;
  Sampling m_sampling;
  const ColumnScores m_scores;
  RequestId m_lastId = 0;
};

}  // namespace winnow::app
