# Joins the page's sources into one C++ file. Run as
#   cmake -DPAGE_DIR=... -DOUTPUT=... -DSTYLES=a.css,b.css -DSCRIPTS=a.js,b.js -P embed_page.cmake
# The Content-Security-Policy names the style and the script by their SHA-256, so that nothing else
# can run in the page, whatever the data holds.

function(join_files result directory list)
  string(REPLACE "," ";" names "${list}")
  set(joined "")
  foreach(name IN LISTS names)
    file(READ "${PAGE_DIR}/${directory}/${name}" text)
    string(APPEND joined "${text}")
  endforeach()
  set(${result} "${joined}" PARENT_SCOPE)
endfunction()

function(hex_to_base64 result hex)
  set(alphabet "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  string(APPEND hex "00")  # 32 bytes and one zero byte: 11 groups of three, the last digit is padding
  set(text "")
  foreach(group RANGE 0 10)
    math(EXPR at "${group} * 6")
    string(SUBSTRING "${hex}" ${at} 6 digits)
    foreach(shift 18 12 6 0)
      math(EXPR index "(0x${digits} >> ${shift}) & 63")
      string(SUBSTRING "${alphabet}" ${index} 1 letter)
      string(APPEND text "${letter}")
    endforeach()
  endforeach()
  string(SUBSTRING "${text}" 0 43 text)
  set(${result} "${text}=" PARENT_SCOPE)
endfunction()

function(content_hash result text)
  string(SHA256 hex "${text}")
  hex_to_base64(base64 "${hex}")
  set(${result} "'sha256-${base64}'" PARENT_SCOPE)
endfunction()

join_files(style css "${STYLES}")
join_files(script js "${SCRIPTS}")
content_hash(style_hash "${style}")
content_hash(script_hash "${script}")
file(READ "${PAGE_DIR}/template.html" page)
string(REPLACE "{{style-hash}}" "${style_hash}" page "${page}")
string(REPLACE "{{script-hash}}" "${script_hash}" page "${page}")
string(REPLACE "{{style}}" "${style}" page "${page}")
string(REPLACE "{{script}}" "${script}" page "${page}")

string(FIND "${page}" "{{data}}" split)
if(split EQUAL -1)
  message(FATAL_ERROR "${PAGE_DIR}/template.html has no {{data}}")
endif()
string(SUBSTRING "${page}" 0 ${split} head)
math(EXPR split "${split} + 8")
string(SUBSTRING "${page}" ${split} -1 tail)

file(WRITE "${OUTPUT}" "#include \"reports/html/html_page.hpp\"

namespace graphsan::reports::html {

std::string_view page_head() {
  return R\"page(${head})page\";
}

std::string_view page_tail() {
  return R\"page(${tail})page\";
}

}  // namespace graphsan::reports::html
")
