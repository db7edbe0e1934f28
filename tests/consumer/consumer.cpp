// What a program outside the project does with an installed GraphSan: reads a recording and says
// what it found.
#include <exception>
#include <graphsan/record/recording.hpp>
#include <graphsan/reports/reports.hpp>
#include <graphsan/version.hpp>
#include <iostream>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: consumer RECORDING\n";
    return 2;
  }
  try {
    const graphsan::model::RunReport report = graphsan::record::read_recording(argv[1]);
    std::cout << "graphsan " << graphsan::kVersion << ", report schema "
              << graphsan::reports::kJsonSchemaVersion << '\n';
    for (const graphsan::model::CaseReport& one : report.cases) {
      std::cout << one.config.kv_dtype << ' ' << one.config.write_path << ": "
                << to_string(one.verdict) << '\n';
      for (const graphsan::model::Finding& finding : one.findings) {
        std::cout << "  " << finding.mechanism << '\n';
      }
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 4;
  }
}
