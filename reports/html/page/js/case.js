// The chosen case: its words and figures, and the panels that show it.

/** What a case is called wherever it stands alone: `fp8_e5m2 insert-kv-a piecewise, body A`. */
function caseTitle(entry) {
  const name = configName(entry);
  return [name, ownTitle(entry)].filter(Boolean).join(', ') || entry.title || 'unnamed case';
}

function configName({config}) {
  return [config.kv_dtype, config.write_path, config.mode].filter(Boolean).join(' ');
}

/** The part of a case's title that its configuration does not say. */
function ownTitle(entry) {
  const name = configName(entry);
  return entry.title.startsWith(name) ? entry.title.slice(name.length).replace(/^[ ,:·]+/, '') :
                                        entry.title;
}

function caseSection(at) {
  const entry = REPORT.cases[at];
  const details = entry.details;
  const heading =
      h('h2', {id: 'case-title', tabindex: '-1'},
        `Case ${at + 1} of ${REPORT.cases.length}: ${caseTitle(entry)}`);
  const parts = [h('div', {class: 'case-head'}, heading, caseSteps(at)), caseFacts(entry)];
  if (!details) {
    parts.push(
        muted(
            'The details of this case were left out to keep the page small. Run it alone to see them:'),
        command(entry.reproduce));
    return parts;
  }
  const panels = casePanels(details, at);
  return [...parts, caseReasonBox(entry), caseNav(panels), panels];
}

function caseSteps(at) {
  const step = (to, text) =>
      h('button', {
        type: 'button',
        disabled: to < 0 || to >= REPORT.cases.length,
        onclick: () => goToCase(to),
      },
        text);
  return h('div', {class: 'steps'}, step(at - 1, '← Previous case'), step(at + 1, 'Next case →'));
}

function caseFacts(entry) {
  const {config, details} = entry;
  const lanes = config.padded ? `${config.tokens} real of ${config.bucket} (padded)` :
                                `${config.tokens} of ${config.bucket}`;
  return facts([
    ['verdict', verdictChip(verdictOf(entry))],
    ['kv dtype', config.kv_dtype],
    ['write path', config.write_path],
    ['mode', config.mode],
    ['capture metadata', details?.capture_metadata],
    ['group', entry.group],
    ['batch', config.batch],
    ['lanes', config.bucket ? lanes : null],
    ['layout', config.layout],
    ['generation', config.generation],
    ['fp8 conversion', config.convert],
    ['layers', config.layers || null],
    ['TP', config.tp || null],
    ['page size', config.page_size || null],
    ['context', config.context ? whole(config.context) : null],
    ['steps', config.steps || null],
    ['seed', config.step === 'minimax-m3' ? config.seed : null],
    ['planted fault', config.fault],
    ['rows compared', details && whole(details.rows_compared)],
    ['rows differing', details && whole(details.rows_differing)],
    ['rows left out', details && whole(details.rows_left_out)],
    ['replays', details && whole(details.replays)],
    ['graph nodes', details && whole(details.nodes)],
  ]);
}

function caseReasonBox(entry) {
  const {failure, reason} = entry.details;
  const box = [];
  if (failure) {
    const at = failure.step >= 0 ? `, step ${failure.step}` : '';
    box.push(
        h('p', null, h('strong', null, `Failed in ${failure.phase}${at}: `), failure.what),
        h('p', null, failure.remedy));
  }
  if (reason) box.push(h('p', null, reason));
  return box.length ? h('div', {class: `reason ${verdictOf(entry)}`}, box) : null;
}

/** The panels that have something to show, in reading order. */
function casePanels(details, at) {
  return [
    findingsPanel(details),
    chainPanel(details),
    slotMapPanel(details, at),
    topKPanel(details),
    outputsPanel(details),
    launchesPanel(details),
    ruledOutPanel(details),
    experimentsPanel(details),
    stepsPanel(details),
    notesPanel(details),
  ].filter(Boolean);
}

function caseNav(panels) {
  const links = panels.map((each) => h('a', {href: `#${each.id}`}, each.firstChild.textContent));
  return h('nav', {class: 'case-nav', 'aria-label': 'Panels of this case'}, links);
}

/** A link to a case, that also works when its address is the page's already. */
function caseLink(at, text, attributes = {}) {
  const follow = (event) => {
    event.preventDefault();
    goToCase(at);
  };
  return h('a', {...attributes, href: `#case-${at}`, onclick: follow}, text);
}

function goToCase(at) {
  history.replaceState(null, '', `#case-${at}`);
  selectCase(at, true);
}

/** Shows a case; with `go`, moves focus to it as well. */
function selectCase(at, go) {
  const section = document.getElementById('case');
  SELECTED.at = at;
  SELECTED.view = null;
  replace(section, caseSection(at));
  markSelected(at);
  if (!go) return;
  const heading = document.getElementById('case-title');
  heading.focus({preventScroll: true});
  section.scrollIntoView();
}
