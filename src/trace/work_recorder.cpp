#include "trace/work_recorder.hpp"

#include <algorithm>
#include <iterator>

#include "trace/work_value.hpp"

namespace graphsan::trace {

std::vector<model::Work> eager_work(std::span<const device::WorkRecord> records) {
  std::vector<model::Work> work;
  for (const device::WorkRecord& record : records) {
    if (!record.captured) work.push_back(to_work(record, static_cast<int>(work.size())));
  }
  return work;
}

std::vector<device::WorkRecord> captured_records(std::span<const device::WorkRecord> records) {
  std::vector<device::WorkRecord> captured;
  std::ranges::copy_if(records, std::back_inserter(captured), &device::WorkRecord::captured);
  return captured;
}

}  // namespace graphsan::trace
