#pragma once

#include <string_view>

namespace graphsan::reports::html {

/// The page before and after its data. Generated at build time from page/ by embed_page.cmake.
[[nodiscard]] std::string_view page_head();
[[nodiscard]] std::string_view page_tail();

}  // namespace graphsan::reports::html
