// Reads published benchmarks' own question files as evaluation sets, for people who have them.
//
//   milebench  {"meta_data": {"question_type"?, "task_instruction": [..]}, "data": [{"sample_id", "task_instruction_id", "task_instance":
//              {"context", "images_path": [..], "choice_list"?: [..]}, "response"}]}, one file a task; images in images/ beside it. Context
//              marks {image#1}, {image#2}, ... place images. Options: accuracy by letter; else ROUGE-L.
//   docvqa     {"data": [{"questionId", "question", "image": "documents/x.png", "answers": [..]}]}; images relative to the file. ANLS.
//   textvqa    {"data": [{"question_id", "question", "image_id", "answers": [ten]}]}; train_images/IMAGE_ID.jpg. VQA accuracy.
//   chartqa    [{"imgname", "query", "label"}]; png/IMGNAME. Relaxed accuracy.
//   ai2d       {"imageName", "questions": {TEXT: {"questionId", "answerTexts": [..], "correctAnswer": index}}}, one file a diagram or a
//              folder of them; images/IMAGENAME beside the questions' folder. Options as letters, accuracy.
//
// Questions get what the benchmark's usual prompt adds (short answers, option letters); it is part of the question's text and so of the
// fingerprint. A folder of images given by the caller replaces the usual one.
// Errors: Exception(kInvalidArgument, "file: entry N", reason) for what does not fit; kFileNotFound. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/evaluation/dataset.h"

namespace winnow::app {

enum class DatasetFormat : int { kWinnow = 1, kMileBench = 2, kDocVqa = 3, kTextVqa = 4, kChartQa = 5, kAi2d = 6 };
std::optional<DatasetFormat> datasetFormat(std::string_view name);
std::vector<std::string> datasetFormatNames();

// imageFolder: empty for the format's usual place.
Dataset importDataset(const std::string& path, DatasetFormat format, const std::string& imageFolder, const DatasetOptions& options);

}  // namespace winnow::app
