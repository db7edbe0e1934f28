// Which class each slot of a cache has, worked out page by page from ranges of rows.

const MAX_TOUCHED_PAGES = 200000;

/** Calls `visit(begin, end)` for each range of a row set. */
function eachRange(set, visit) {
  for (let i = 0; i < set.ranges.length; i += 2)
    visit(set.ranges[i], set.ranges[i] + set.ranges[i + 1]);
}

/** Marks the part of `set` that lies on a page. */
function markPage(set, first, size, mark) {
  eachRange(set, (begin, end) => {
    for (let row = Math.max(begin, first); row < Math.min(end, first + size); row += 1)
      mark(row - first);
  });
}

function inStep(entry, step) {
  return step === null || entry.step === step;
}

/** The class of every slot of a page: of one step, or (`step` null) the worst over all steps. */
function pageClasses(details, cacheAt, page, step) {
  const cache = details.caches.items[cacheAt];
  const size = cache.page_size;
  const first = page * size;
  const classes = new Array(size).fill(cache.kind === 'guard' ? 'guard' : 'untouched');
  const worst = (slot, id) => {
    if (CLASS_BY_ID.get(id).rank < CLASS_BY_ID.get(classes[slot]).rank) classes[slot] = id;
  };
  if (page < 0 || page >= cache.pages) classes.fill('guard');
  for (const [begin, end] of cache.sinks)
    markPage({ranges: [begin, end - begin]}, first, size, (slot) => worst(slot, 'sink'));
  for (const slot of writtenByBoth(details, cacheAt, first, size, step)) worst(slot, 'same');
  for (const entry of details.classes) {
    if (entry.cache !== cacheAt || !inStep(entry, step)) continue;
    markPage(entry.rows, first, size, (slot) => worst(slot, entry.class));
  }
  return classes;
}

function writtenByBoth(details, cacheAt, first, size, step) {
  const both = new Set();
  for (const entry of details.writes) {
    if (entry.cache !== cacheAt || !inStep(entry, step)) continue;
    const eager = new Set();
    markPage(entry.eager, first, size, (slot) => eager.add(slot));
    markPage(entry.graph, first, size, (slot) => eager.has(slot) && both.add(slot));
  }
  return both;
}

/** Pages of a cache that anything touched, and those where rows differ; both sorted. */
function touchedPages(details, cacheAt, step) {
  const cache = details.caches.items[cacheAt];
  const differing = new Set();
  const touched = new Set();
  const add = (pages, set) => eachRange(set, (begin, end) => {
    const last = pageOf(cache, end - 1);
    for (let page = pageOf(cache, begin); page <= last && pages.size < MAX_TOUCHED_PAGES; page += 1)
      pages.add(page);
  });
  for (const entry of details.classes) {
    if (entry.cache === cacheAt && inStep(entry, step)) add(differing, entry.rows);
  }
  for (const entry of details.writes) {
    if (entry.cache !== cacheAt || !inStep(entry, step)) continue;
    for (const set of [entry.eager, entry.graph, entry.expected]) add(touched, set);
  }
  const sorted = (pages) => [...pages].sort((a, b) => a - b);
  return {
    differing: sorted(differing),
    quiet: sorted(touched).filter((page) => !differing.has(page))
  };
}

/** Rows whose place the page does not hold, because their ranges were too many. */
function rowsWithoutPlace(details) {
  return details.classes.reduce((sum, entry) => sum + entry.rows.left_out, 0);
}

/** What happened to one row, step by step. */
function rowHistory(details, cacheAt, row) {
  const holds = (set) => {
    let found = false;
    eachRange(set, (begin, end) => {
      found ||= row >= begin && row < end;
    });
    return found;
  };
  const steps = new Map();
  for (const entry of details.writes) {
    if (entry.cache === cacheAt && holds(entry.eager) && holds(entry.graph))
      steps.set(entry.step, 'same');
  }
  for (const entry of details.classes) {
    if (entry.cache === cacheAt && holds(entry.rows)) steps.set(entry.step, entry.class);
  }
  return [...steps].sort(([a], [b]) => a - b).map(([step, id]) => ({
                                                    step,
                                                    class: id,
                                                    detail: details.rows.items.find(
                                                        (each) => each.step === step &&
                                                            each.cache === cacheAt &&
                                                            each.row === row),
                                                  }));
}
