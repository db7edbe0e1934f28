# Included by reports/CMakeLists.txt: sets GRAPHSAN_HTML_SOURCES, the page's sources joined into one
# C++ file among them. Styles and scripts are joined in the order given here.
set(page_styles base.css panels.css slots.css narrow_print.css)
set(page_scripts
  dom.js words.js decode.js overview.js proof.js matrix.js case.js findings.js chain.js slot_index.js
  slot_map.js slot_filters.js slot_detail.js top_k.js outputs.js launches.js budget.js run.js main.js)

set(page_dir ${CMAKE_CURRENT_LIST_DIR}/page)
set(page_cpp ${CMAKE_CURRENT_BINARY_DIR}/html_page.cpp)
list(TRANSFORM page_styles PREPEND ${page_dir}/css/ OUTPUT_VARIABLE page_files)
list(TRANSFORM page_scripts PREPEND ${page_dir}/js/ OUTPUT_VARIABLE page_script_files)
list(APPEND page_files ${page_script_files})
list(JOIN page_styles "," page_styles)
list(JOIN page_scripts "," page_scripts)

add_custom_command(
  OUTPUT ${page_cpp}
  COMMAND ${CMAKE_COMMAND} -DPAGE_DIR=${page_dir} -DOUTPUT=${page_cpp} -DSTYLES=${page_styles}
          -DSCRIPTS=${page_scripts} -P ${CMAKE_CURRENT_LIST_DIR}/embed_page.cmake
  DEPENDS ${CMAKE_CURRENT_LIST_DIR}/embed_page.cmake ${page_dir}/template.html ${page_files}
  COMMENT "Embedding the report's page"
  VERBATIM)

set(GRAPHSAN_HTML_SOURCES
  html_report.cpp html/case_data.cpp html/graph_data.cpp html/json_values.cpp html/page_data.cpp
  html/row_data.cpp ${page_cpp})
