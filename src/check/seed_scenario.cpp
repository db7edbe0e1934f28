#include <fmt/format.h>

#include "check/run_check.hpp"

namespace graphsan::check {

namespace {

using step::minimax_m3::Batch;
using step::minimax_m3::Mode;
using step::minimax_m3::WritePath;

void add_matrix(std::vector<CaseRequest>& cases, int tokens, int bucket) {
  const struct {
    model::DType dtype;
    std::vector<WritePath> paths;
  } rows[] = {
      {model::DType::kBf16, {WritePath::kFused, WritePath::kTwoStep}},
      {model::DType::kFp8E5M2,
       {WritePath::kFused, WritePath::kTwoStep, WritePath::kInsertKvA, WritePath::kInsertKvB}},
  };
  for (const auto& row : rows) {
    for (const WritePath path : row.paths) {
      for (const Mode mode : {Mode::kPiecewise, Mode::kBreakable, Mode::kFull}) {
        CaseRequest request;
        request.config.kv_dtype = row.dtype;
        request.config.write_path = path;
        request.config.mode = mode;
        request.config.tokens = tokens;
        request.config.bucket = bucket;
        request.group = bucket > tokens
                            ? fmt::format("decode, padded: {} of {} lanes real", tokens, bucket)
                            : fmt::format("decode, full bucket: {} lanes", bucket);
        cases.push_back(std::move(request));
      }
    }
  }
}

CaseRequest needle_case(WritePath path, std::string fault, std::string title) {
  CaseRequest request;
  request.config.kv_dtype = model::DType::kFp8E5M2;
  request.config.write_path = path;
  request.config.batch = Batch::kPrompt;
  request.config.tokens = 144;
  request.config.bucket = 144;
  request.group = "needle: a prompt prefilled through the graph, then decoded";
  request.title = std::move(title);
  request.fault = std::move(fault);
  return request;
}

}  // namespace

std::vector<CaseRequest> seed_scenario() {
  std::vector<CaseRequest> cases;
  add_matrix(cases, 3, 4);
  add_matrix(cases, 4, 4);
  cases.push_back(needle_case(WritePath::kInsertKvA, "", "body A"));
  cases.push_back(
      needle_case(WritePath::kTwoStep, "elided-write:index-key", "index-K alone elided"));
  cases.push_back(needle_case(WritePath::kTwoStep, "", "the fixed path"));
  return cases;
}

}  // namespace graphsan::check
