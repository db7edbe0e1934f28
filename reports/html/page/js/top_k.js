// Block selections that differ: sets, scores, margin, ties, and whose fault it is.

const TOPK_WORDS = {
  'out-of-range': 'an id is out of range',
  duplicate: 'an id is selected twice',
  trivial: 'the first or the newest k blocks',
  'other-lane': 'another lane\'s set',
  earlier: 'an earlier step\'s set',
  tie: 'a tie in eager: no fault',
  mismatch: 'another selection',
};
const TOPK_OPEN = 3;

function topKPanel(details) {
  const list = details.top_k;
  if (!list.items.length && !list.left_out) return null;
  const cards = list.items.map((difference, at) => topKCard(difference, at < TOPK_OPEN));
  return panel('top-k', 3, 'Top-k selections that differ', cards, leftOut(list, 'selection'));
}

function topKCard(difference, open) {
  const where = `step ${difference.step} · layer ${difference.layer} · lane ${
      difference.lane} · head ${difference.head}`;
  return h(
      'details', {class: 'topk', open},
      h('summary', null, h('strong', null, where), ' ',
        chip(
            TOPK_WORDS[difference.kind] ?? difference.kind,
            difference.kind === 'tie' ? 'plain' : 'diverged'),
        difference.carried && chip('carried pass', 'plain')),
      idSet('eager', difference.eager_ids, difference.only_eager, '−'),
      idSet('graph', difference.graph_ids, difference.only_graph, '+'), scoreTable(difference),
      muted(marginSentence(difference)),
      muted(reproducedSentence(difference, 'selection', 'indexer')));
}

function idSet(name, ids, only, sign) {
  const chosen = new Set(only);
  const chips = ids.map(
      (id) =>
          h('li', {class: chosen.has(id) ? 'only' : ''},
            chosen.has(id) ? `${sign}${id}` : String(id)));
  return h(
      'div', {class: 'ids'}, h('span', {class: 'name'}, name),
      h('ul', {'aria-label': `blocks that ${name} selects`}, chips));
}

function scoreTable(difference) {
  const {only_eager: lost, only_graph: won} = difference;
  const rows = [...lost, ...won].map(
      (id, at) =>
          [`block ${id}`, at < lost.length ? 'eager only' : 'graph only',
           figure(difference.eager_scores[at] ?? 'nan'),
           figure(difference.graph_scores[at] ?? 'nan')]);
  if (!rows.length || !difference.eager_scores.length) return null;
  return plainTable(
      'Scores of the blocks that differ',
      ['block', 'selected by', 'eager\'s score', 'graph\'s score'], rows);
}

function marginSentence(difference) {
  if (difference.kind === 'tie')
    return 'The swapped blocks have equal scores in eager, so either choice is right.';
  const equal =
      new Set(difference.graph_scores.map(String)).size === 1 && difference.graph_scores.length > 1;
  const symptom =
      equal ? ' The scores are all equal in the graph arm: a symptom, not an excuse.' : '';
  return `Margin in eager: ${figure(difference.margin)}, so this is no tie.${symptom}`;
}

function reproducedSentence(difference, what, part) {
  if (difference.reproduced === undefined)
    return `Whether the reference ${part} gives the graph's ${
        what} from the graph's cache was not tried.`;
  if (difference.reproduced)
    return `The reference ${part} gives the same ${what} from the graph's cache: the ${
        part} is sound, the cache is to blame.`;
  return `The reference ${part} does not give this ${what} from the graph's cache: the ${
      part} is to blame.`;
}
