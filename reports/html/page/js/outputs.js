// Outputs of real lanes that differ.

function outputsPanel(details) {
  const list = details.outputs;
  if (!list.items.length && !list.left_out) return null;
  const columns = [
    'step', 'layer', 'lane', 'largest difference', 'mean relative', 'representable values apart',
    'finite', 'reference attention on the graph\'s cache'
  ];
  const rows = list.items.map(
      (output) => [
          [output.step, output.carried && [' ', chip('carried pass', 'plain')]],
          output.layer,
          output.lane,
          figure(output.max_abs),
          percent(output.mean_rel),
          distance(output.max_code_distance),
          output.non_finite ? h('strong', {class: 'bad'}, 'no') : 'yes',
          output.reproduced === undefined ? 'not tried' :
              output.reproduced           ? 'gives the same: the cache is to blame' :
                                            'does not: attention is to blame',
  ]);
  return panel(
      'outputs', 3, 'Outputs that differ', table('Outputs that differ', columns, rows),
      leftOut(list, 'output'));
}

/** Distances of a NaN are the largest 64-bit number, which says nothing. */
function distance(value) {
  return value > 2 ** 53 ? 'not comparable' : whole(value);
}
