#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "step/plugin/plugin_library.hpp"
#include "step/segmented_capture.hpp"
#include "step/step.hpp"

namespace graphsan::step::plugin {

/// The graphs of a plug-in's step: GraphSan's captures of it, or its own.
class CapturedPlugin final : public CapturedStep {
 public:
  /// `batches` are those of the step object, which outlives this.
  explicit CapturedPlugin(const std::vector<model::StepFacts>& batches) : batches_{&batches} {}

  /// A capture by GraphSan, and what its nodes were labelled.
  void add(int bucket, std::vector<SegmentedCapture::Captured> segments,
           const std::shared_ptr<const NodeLabels>& labels);
  /// Gives the plug-in's graphs back.
  class Release {
   public:
    explicit Release(std::function<void()> release) : release_{std::move(release)} {}
    Release(const Release&) = delete;
    Release& operator=(const Release&) = delete;
    ~Release() {
      try {
        release_();
      } catch (...) {
        // The graphs are given up either way, and a destructor has nobody to tell.
      }
    }

   private:
    std::function<void()> release_;
  };

  /// The plug-in's own segments of a bucket, to be filled; `release`, which may be null, gives them
  /// back in the end.
  [[nodiscard]] std::vector<Segment>& adopt(int bucket, std::unique_ptr<Release> release);

  [[nodiscard]] std::span<const Segment> segments(int step) const override;
  [[nodiscard]] int bucket(int step) const override;

 private:
  const std::vector<model::StepFacts>* batches_;
  std::vector<std::vector<SegmentedCapture::Captured>> owned_;
  std::vector<std::unique_ptr<Release>> releases_;
  std::map<int, std::vector<Segment>> segments_;  ///< by bucket
};

}  // namespace graphsan::step::plugin
