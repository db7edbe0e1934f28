// Writes the pages that the browser tests open: make_sample_report FOLDER

#include <filesystem>
#include <fstream>
#include <iostream>

#include "reports/reports.hpp"
#include "sample_run.hpp"

namespace {

void write_page(const std::filesystem::path& path, const graphsan::model::RunReport& run) {
  std::ofstream out{path, std::ios::binary};
  out.exceptions(std::ios::failbit | std::ios::badbit);
  graphsan::reports::make_html_report()->write(run, out);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_sample_report FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder{argv[1]};
  std::filesystem::create_directories(folder);
  write_page(folder / "seed.html", graphsan::test::seed_run());
  write_page(folder / "agreed.html", graphsan::test::agreed_run());
  write_page(folder / "interrupted.html", graphsan::test::interrupted_run());
  write_page(folder / "hostile.html", graphsan::test::hostile_run());
  write_page(folder / "large.html", graphsan::test::large_run(1'000'000));
  return 0;
}
