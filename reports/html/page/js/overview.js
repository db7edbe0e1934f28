// The first screen: verdict, cause, the row that proves it, the fix.

function topBar(report) {
  const title = h('p', {class: 'brand'}, h('strong', null, 'GraphSan'), ' report');
  const about =
      [report.scenario && `scenario ${report.scenario}`, deviceName(report), report.started_at];
  const links =
      [['#summary', 'Verdict'], ['#matrix', 'Matrix'], ['#case', 'Case'], ['#run', 'Run']];
  const nav =
      h('nav', {'aria-label': 'Report'}, links.map(([to, text]) => h('a', {href: to}, text)));
  return [title, h('p', {class: 'about'}, about.filter(Boolean).join(' · ')), nav, themeToggle()];
}

function deviceName(report) {
  return report.environment.device_name || report.environment.device;
}

function themeToggle() {
  const dark = () => {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  };
  const button = h('button', {type: 'button', id: 'theme'});
  const label = () => {
    button.textContent = dark() ? 'Light theme' : 'Dark theme';
  };
  button.addEventListener('click', () => {
    document.documentElement.dataset.theme = dark() ? 'light' : 'dark';
    label();
  });
  label();
  return button;
}

function banners(report) {
  const made = [];
  if (!report.complete) made.push(incompleteBanner(report));
  if (report.environment.device === 'host') made.push(simulationBanner());
  return made;
}

function incompleteBanner(report) {
  return h(
      'div', {class: 'banner incomplete', role: 'alert'},
      h('strong', null, 'This run is incomplete.'), ` ${sentence(report.incomplete_reason)} `,
      'What follows is what was recorded until then; the run as a whole never counts as agreed.');
}

function simulationBanner() {
  return h(
      'div', {class: 'banner simulation', role: 'note'},
      h('strong', null, 'Simulation on the host device.'),
      ' CUDA graphs were imitated on the CPU. This report claims nothing about any GPU.');
}

function summary(report) {
  const lead = leadOf(report);
  const verdict =
      h('div', {class: 'headline'}, headline(report), cause(report, lead), fixBox(lead));
  const proof = proofCard(report, lead);
  return h(
      'section', {id: 'summary', class: `summary ${report.verdict}`, 'aria-labelledby': 'verdict'},
      verdict, proof);
}

/** The case, finding and row that the report leads with; null where nothing diverged. */
function leadOf(report) {
  if (!report.lead) return null;
  const entry = report.cases[report.lead.case];
  const finding = entry.details?.findings[report.lead.finding] ?? null;
  return {at: report.lead.case, entry, finding, row: report.lead.row ?? null};
}

function headline(report) {
  const verdict = report.verdict;
  return [
    h('h1', {id: 'verdict'},
      h('span', {class: 'mark', 'aria-hidden': 'true'}, VERDICTS[verdict].mark),
      verdict[0].toUpperCase() + verdict.slice(1)),
    h('p', {class: 'tally'}, `${tally(report.cases)}. Exit code ${report.exit_code}.`),
  ];
}

function tally(cases) {
  const totals = new Map();
  for (const entry of cases) totals.set(verdictOf(entry), (totals.get(verdictOf(entry)) ?? 0) + 1);
  const parts = Object.keys(VERDICTS).filter((verdict) => totals.has(verdict));
  const words = parts.map((verdict) => `${totals.get(verdict)} ${verdict}`).join(', ');
  return cases.length ? `${count(cases.length, 'case')}: ${words}` : 'No case was run';
}

function cause(report, lead) {
  if (!lead) return h('p', {class: 'cause'}, quietCause(report));
  const group = lead.entry.group ? ` (${lead.entry.group})` : '';
  const where = caseLink(lead.at, caseTitle(lead.entry) + group);
  if (!lead.finding) {
    return [
      h('p', {class: 'cause'}, 'Eager and graph differ, and no mechanism explains it yet.'),
      h('p', {class: 'where'}, 'Seen first in ', where)
    ];
  }
  return [
    h('p', {class: 'cause'}, sentence(lead.finding.summary)),
    h('p', {class: 'where'}, chip(lead.finding.mechanism, 'mechanism'), ' ',
      statusChip(lead.finding.status), ' in ', where),
  ];
}

function quietCause(report) {
  if (report.verdict === 'agreed')
    return 'Every row, selection and output that was compared is the same in both arms.';
  const reasons = report.cases.filter((entry) => entry.verdict === 'inconclusive').map(caseReason);
  return reasons.find(Boolean) ?? 'Nothing was compared, so nothing can be said.';
}

function caseReason(entry) {
  const details = entry.details;
  return details?.failure ? `${details.failure.what} (${details.failure.phase})` : details?.reason;
}

function statusChip(status) {
  return chip(status === 'confirmed' ? '✓ confirmed' : '? suspected', status);
}

function fixBox(lead) {
  if (!lead) return null;
  const parts = [];
  if (lead.finding?.fix) parts.push(h('h2', null, 'Fix'), h('p', null, lead.finding.fix));
  if (lead.entry.reproduce) parts.push(h('h2', null, 'Reproduce'), command(lead.entry.reproduce));
  return parts.length ? h('div', {class: 'fix'}, parts) : null;
}
