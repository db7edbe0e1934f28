// The slot map: pages × slots of each cache, with filters, keyboard and a view of the chosen slot.

const NARROW = matchMedia('(max-width: 620px)');
/** The map and the chosen slot stand below each other. */
const STACKED = matchMedia('(max-width: 1080px)');

function slotMapPanel(details, at) {
  if (!details.caches.items.length || !(details.writes.length || details.classes.length))
    return null;
  const view = {
    details,
    at,
    layer: firstLayer(details, at),
    step: null,
    page: null,
    hidden: new Set(),
    pages: pagesAtFirst(),
    chosen: null,
    map: h('div', {class: 'map'}),
    detail:
        h('div', {class: 'slot-detail', id: 'slot-detail', tabindex: '-1', 'aria-live': 'polite'}),
  };
  SELECTED.view = view;
  view.map.addEventListener('click', (event) => chooseCell(view, event.target.closest('.slot')));
  view.map.addEventListener('keydown', (event) => moveInMap(view, event));
  drawMap(view);
  chooseFirst(view);
  return panel(
      'slot-map', 3, 'Slot map', mapWords(details), classTotals(details), filters(view),
      h('div', {class: 'map-and-detail'}, view.map, view.detail));
}

/** The layer of the row that is shown first. */
function firstLayer(details, at) {
  const cache = firstRow(details, at)?.cache ?? details.classes[0]?.cache ?? 0;
  return details.caches.items[cache]?.layer ?? null;
}

function pagesAtFirst() {
  return NARROW.matches ? 3 : 8;
}

function mapWords(details) {
  const lost = rowsWithoutPlace(details) + details.rows_dropped;
  const dropped = lost ? ` ${count(lost, 'differing row')} more were too many to place on it.` : '';
  return muted(
      `Each cell is a slot: one token's row. Only pages that a step touched are drawn.${dropped} ` +
      'Arrow keys move, Enter shows the bytes of both arms.');
}

function redraw(view) {
  view.pages = pagesAtFirst();
  drawMap(view);
}

function drawMap(view) {
  view.columns = NARROW.matches ? 16 : 32;
  const caches = view.details.caches.items
                     .map((cache, at) => ({cache, at, pages: pagesToDraw(view, cache, at)}))
                     .filter(
                         ({cache, pages}) =>
                             inLayer(view, cache) && pages.differing.length + pages.quiet.length);
  replace(
      view.map,
      caches.length ? caches.map((each) => cacheMap(view, each)) :
                      muted('Nothing was written here.'));
  const cells = view.map.querySelectorAll('.slot');
  const chosen = [...cells].find((cell) => isChosen(view, cell)) ??
      view.map.querySelector('.slot.bad') ?? cells[0];
  if (chosen) chosen.tabIndex = 0;
}

function inLayer(view, cache) {
  return view.layer === null || cache.layer === view.layer;
}

/** The page that was asked for, else those that a step touched. */
function pagesToDraw(view, cache, at) {
  if (view.page === null) return touchedPages(view.details, at, view.step);
  return {differing: view.page < cache.pages ? [view.page] : [], quiet: []};
}

function cacheMap(view, {cache, at, pages}) {
  const shown = [...pages.differing, ...pages.quiet].slice(0, view.pages).sort((a, b) => a - b);
  const rest = pages.differing.length + pages.quiet.length - shown.length;
  const label = `${cache.name}, ${cache.dtype}, pages by slots`;
  const more = rest > 0 &&
      h('button', {
                 type: 'button',
                 class: 'more',
                 onclick: () => {
                   view.pages += 32;
                   drawMap(view);
                 }
               },
        `Show more of the ${count(rest, 'touched page')} not drawn`);
  return h(
      'div', {class: 'cache'},
      h('h4', null, cache.name,
        h('span', {class: 'muted'},
          ` ${cache.dtype} · ${cache.heads} × ${cache.dim} · ${count(cache.pages, 'page')} of ${
              count(cache.page_size, 'slot')}`)),
      h('div', {role: 'grid', 'aria-label': label},
        shown.map((page) => pageMap(view, cache, at, page))),
      more);
}

function pageMap(view, cache, at, page) {
  const classes = pageClasses(view.details, at, page, view.step);
  const lines = [];
  for (let slot = 0; slot < classes.length; slot += view.columns) {
    const line = classes.slice(slot, slot + view.columns)
                     .map((id, i) => slotCell(view, cache, at, page, slot + i, id));
    lines.push(h('div', {role: 'row', class: 'line'}, line));
  }
  const name = page < 0 ? 'before' : page >= cache.pages ? 'after' : `page ${page}`;
  return h(
      'div', {role: 'rowgroup', class: 'page', 'aria-label': name},
      h('span', {class: 'page-name', 'aria-hidden': 'true'}, name), h('div', null, lines));
}

function slotCell(view, cache, at, page, slot, id) {
  const shown = view.hidden.has(id) ? 'untouched' : id;
  const bad = CLASS_BY_ID.get(shown).rank < CLASS_BY_ID.get('same').rank;
  const row = page * cache.page_size + slot;
  const cell =
      h('div', {
        role: 'gridcell',
        tabindex: '-1',
        class: `slot class-${shown}${bad ? ' bad' : ''}`,
        'data-cache': at,
        'data-row': row,
        'aria-label': `page ${page} slot ${slot}: ${classLabel(shown)}`,
        title: `${page}:${slot} ${classLabel(shown)}`,
      },
        CLASS_BY_ID.get(shown).letter);
  if (isChosen(view, cell)) cell.setAttribute('aria-selected', 'true');
  return cell;
}

function isChosen(view, cell) {
  return view.chosen !== null && Number(cell.dataset.cache) === view.chosen.cache &&
      Number(cell.dataset.row) === view.chosen.row;
}

function chooseCell(view, cell) {
  if (!cell) return;
  focusCell(view, cell);
  chooseSlot(view, Number(cell.dataset.cache), Number(cell.dataset.row));
  if (STACKED.matches) view.detail.scrollIntoView();
}

function chooseSlot(view, cache, row) {
  view.chosen = {cache, row};
  for (const cell of view.map.querySelectorAll('.slot')) {
    if (isChosen(view, cell))
      cell.setAttribute('aria-selected', 'true');
    else
      cell.removeAttribute('aria-selected');
  }
  const back =
      h('button', {type: 'button', class: 'back', onclick: () => backToMap(view)},
        '↑ Back to the map');
  replace(view.detail, back, slotDetail(view.details, cache, row));
}

function backToMap(view) {
  const cell = view.map.querySelector('.slot[tabindex="0"]');
  cell?.scrollIntoView({block: 'center'});
  cell?.focus({preventScroll: true});
}

function focusCell(view, cell) {
  for (const other of view.map.querySelectorAll('.slot[tabindex="0"]')) other.tabIndex = -1;
  cell.tabIndex = 0;
  cell.focus();
}

/**
 * Opens on a row that is worth seeing: the run's proof where it is of this case, else any that
 * differs.
 */
function firstRow(details, at) {
  const {lead} = REPORT;
  return lead?.case === at && lead.row ? {cache: lead.row[1], row: lead.row[2]} :
                                         details.rows.items[0];
}

function chooseFirst(view) {
  const first = firstRow(view.details, view.at);
  if (first)
    chooseSlot(view, first.cache, first.row);
  else
    replace(view.detail, muted('Choose a slot.'));
}

/** Opens a case at one row of its slot map. */
function showSlot(at, {cache, row}) {
  goToCase(at);
  const {view} = SELECTED;
  if (!view) return;
  view.layer = view.details.caches.items[cache].layer;
  chooseSlot(view, cache, row);
  redraw(view);
  backToMap(view);
}

const MOVES = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1]
};

function moveInMap(view, event) {
  const cell = event.target.closest('.slot');
  if (!cell) return;
  if (event.key === 'Enter' || event.key === ' ') {
    event.preventDefault();
    chooseCell(view, cell);
    return;
  }
  const target = neighbour(view, cell, event.key);
  if (!target) return;
  event.preventDefault();
  focusCell(view, target);
}

/** The cell that a key moves to; lines of all pages and caches follow each other. */
function neighbour(view, cell, key) {
  const lines = [...view.map.querySelectorAll('.line')];
  const line = cell.parentElement;
  const column = [...line.children].indexOf(cell);
  if (key === 'Home') return line.firstChild;
  if (key === 'End') return line.lastChild;
  const move = MOVES[key];
  if (!move) return null;
  if (move[1]) return lines[lines.indexOf(line) + move[1]]?.children[column] ?? null;
  if (line.children[column + move[0]]) return line.children[column + move[0]];
  const next = lines[lines.indexOf(line) + move[0]];
  return (move[0] > 0 ? next?.firstChild : next?.lastChild) ?? null;
}

NARROW.addEventListener('change', () => SELECTED.view && drawMap(SELECTED.view));
