// Puts the page together.

const REPORT = JSON.parse(document.getElementById('report-data').textContent);
/** The case that is shown, and its slot map. */
const SELECTED = {
  at: -1,
  view: null
};

function start() {
  document.title = `GraphSan: ${REPORT.verdict}${REPORT.scenario ? `, ${REPORT.scenario}` : ''}`;
  replace(document.getElementById('top'), topBar(REPORT));
  const section = h('section', {id: 'case', class: 'panel', 'aria-labelledby': 'case-title'});
  replace(
      document.getElementById('main'), banners(REPORT), summary(REPORT),
      REPORT.cases.length > 0 && [matrix(REPORT), section], runSection(REPORT));
  replace(
      document.getElementById('foot'),
      `Written by GraphSan ${
          REPORT
              .tool_version}. This file is complete in itself and asks for nothing on the network.`);
  if (REPORT.cases.length) selectCase(caseOfHash() ?? REPORT.lead?.case ?? 0, false);
  addEventListener('hashchange', followHash);
  addEventListener('beforeprint', () => document.querySelectorAll('details').forEach((each) => {
    each.open = true;
  }));
}

function caseOfHash() {
  const found = /^#case-(\d+)$/.exec(location.hash);
  const at = found ? Number(found[1]) : -1;
  return at >= 0 && at < REPORT.cases.length ? at : null;
}

function followHash() {
  const at = caseOfHash();
  if (at !== null && at !== SELECTED.at) selectCase(at, true);
}

start();
