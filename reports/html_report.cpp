#include <ostream>

#include "reports/html/html_page.hpp"
#include "reports/html/page_data.hpp"
#include "reports/reports.hpp"

namespace graphsan::reports {
namespace {

/// A page people can mail: at most 5 MB whatever the run's size.
constexpr std::size_t kMaxPageBytes = 5'000'000;

class HtmlReport final : public ReportWriter {
 public:
  void write(const model::RunReport& report, std::ostream& out) const override {
    const std::size_t frame = html::page_head().size() + html::page_tail().size();
    out << html::page_head() << html::page_data(report, kMaxPageBytes - frame) << html::page_tail();
  }
};

}  // namespace

std::unique_ptr<ReportWriter> make_html_report() { return std::make_unique<HtmlReport>(); }

}  // namespace graphsan::reports
