#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "reports/console/describe.hpp"
#include "reports/console/sections.hpp"

namespace graphsan::reports::console {
namespace {

/// Words of a case that tell it from others of its group, beside dtype, path and mode.
std::vector<std::string> further_words(const model::CaseConfig& config) {
  return {config.step == "minimax-m3" ? "" : config.step,
          config.batch,
          config.layout,
          config.generation.empty() ? "" : "generation " + config.generation,
          config.convert,
          config.fault,
          config.bucket > 0 ? fmt::format("{}/{}", config.tokens, config.bucket) : std::string{}};
}

/// Which of the further words differ within a group.
std::vector<bool> varying_words(const Cases& group) {
  const std::vector<std::string> first = further_words(group.front()->config);
  std::vector<bool> varies(first.size(), false);
  for (const model::CaseReport* item : group) {
    const std::vector<std::string> words = further_words(item->config);
    for (std::size_t i = 0; i < words.size(); ++i) varies[i] = varies[i] || words[i] != first[i];
  }
  return varies;
}

std::string row_label(const model::CaseConfig& config, const std::vector<bool>& varies) {
  std::string label = config.kv_dtype + " " + config.write_path;
  const std::vector<std::string> words = further_words(config);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (varies[i] && !words[i].empty()) label += " " + words[i];
  }
  return label;
}

std::string cell_of(const model::CaseReport& report) {
  if (report.failure) return "FAILED";
  std::vector<std::string> mechanisms;
  for (const model::Finding& finding : report.findings) {
    if (std::find(mechanisms.begin(), mechanisms.end(), finding.mechanism) == mechanisms.end()) {
      mechanisms.push_back(finding.mechanism);
    }
  }
  const std::string found = join(mechanisms, "+");
  switch (report.verdict) {
    case model::Verdict::kAgreed:
      return found.empty() ? "agreed" : "agreed: " + found;
    case model::Verdict::kDiverged:
      return found.empty() ? "DIVERGED" : found;
    case model::Verdict::kHazard:
      return "hazard: " + found;
    case model::Verdict::kInconclusive:
      return found.empty() ? "inconclusive" : "inconclusive: " + found;
  }
  return {};
}

/// Labels, column heads and cells of one group, all in the order of the cases.
struct Table {
  std::vector<std::string> rows;
  std::vector<std::string> columns;
  std::map<std::pair<std::string, std::string>, Cases> cells;
};

void add_once(std::vector<std::string>& list, const std::string& word) {
  if (std::find(list.begin(), list.end(), word) == list.end()) list.push_back(word);
}

Table table_of(const Cases& group) {
  Table table;
  const std::vector<bool> varies = varying_words(group);
  for (const model::CaseReport* item : group) {
    const std::string label = row_label(item->config, varies);
    add_once(table.rows, label);
    add_once(table.columns, item->config.mode);
    table.cells[{label, item->config.mode}].push_back(item);
  }
  return table;
}

std::string cell_text(const Table& table, const std::string& row, const std::string& column) {
  const auto found = table.cells.find({row, column});
  if (found == table.cells.end()) return "-";
  std::vector<std::string> texts;
  for (const model::CaseReport* item : found->second) add_once(texts, cell_of(*item));
  return join(texts, " / ");
}

model::Verdict cell_verdict(const Table& table, const std::string& row, const std::string& column) {
  std::vector<model::Verdict> verdicts;
  const auto found = table.cells.find({row, column});
  if (found == table.cells.end()) return model::Verdict::kAgreed;
  for (const model::CaseReport* item : found->second) verdicts.push_back(item->verdict);
  return model::combine(verdicts);
}

/// `text` and spaces up to `width` columns; the spaces are counted without colours.
std::string padded(const std::string& text, const std::string& painted, std::size_t width) {
  const std::size_t columns = columns_of(text);
  return columns < width ? painted + std::string(width - columns, ' ') : painted;
}

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

std::string table_text(const Table& table, const Paint& paint) {
  std::size_t label_width = 0;
  for (const std::string& row : table.rows) label_width = std::max(label_width, columns_of(row));
  std::vector<std::size_t> widths;
  std::string line = "  " + std::string(label_width, ' ');
  for (const std::string& column : table.columns) {
    std::size_t width = columns_of(column);
    for (const std::string& row : table.rows) {
      width = std::max(width, columns_of(cell_text(table, row, column)));
    }
    widths.push_back(width);
    line += "  " + padded(column, column, width);
  }
  std::string text = without_trailing_spaces(line);
  for (const std::string& row : table.rows) {
    line = "  " + padded(row, row, label_width);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const std::string cell = cell_text(table, row, table.columns[i]);
      const auto verdict = cell_verdict(table, row, table.columns[i]);
      line += "  " + padded(cell, paint.verdict(verdict, cell), widths[i]);
    }
    text += without_trailing_spaces(line);
  }
  return text;
}

}  // namespace

std::string matrix_section(const Cases& cases, const Paint& paint) {
  std::vector<std::string> headings;
  std::map<std::string, Cases> groups;
  for (const model::CaseReport* item : cases) {
    add_once(headings, item->group);
    groups[item->group].push_back(item);
  }
  std::string text;
  for (const std::string& heading : headings) {
    const Cases& group = groups.at(heading);
    text += "\n" + paint.bold(heading.empty() ? "Cases" : heading) + "\n";
    text += table_text(table_of(group), paint);
  }
  return text;
}

}  // namespace graphsan::reports::console
