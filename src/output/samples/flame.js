/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Draws the tree of #data: the root above, what it calls below. Texts only ever become text nodes. */
(() => {
  'use strict';
  const data = JSON.parse(document.getElementById('data').textContent);
  const graph = document.getElementById('graph'), at = document.getElementById('at');
  const search = document.getElementById('search'), found = document.getElementById('found');
  const n = data.nodes.length / 3 + 1, ROW = 18;
  const parent = new Int32Array(n), frame = new Int32Array(n), depth = new Int32Array(n);
  const self = new Float64Array(n), total = new Float64Array(n), left = new Float64Array(n);
  const children = [], hit = new Uint8Array(n);
  for (let i = 0; i < n; i++) children.push([]);
  frame[0] = -1;
  self[0] = data.root;
  for (let i = 1; i < n; i++) {
    parent[i] = data.nodes[3 * i - 3];
    frame[i] = data.nodes[3 * i - 2];
    self[i] = data.nodes[3 * i - 1];
    depth[i] = depth[parent[i]] + 1;
    children[parent[i]].push(i);
  }
  for (let i = n - 1; i >= 0; i--) {
    total[i] += self[i];
    if (i > 0) total[parent[i]] += total[i];
  }
  /* Parents come first in the list, so one pass places all of their children. */
  for (let i = 0; i < n; i++) {
    children[i].sort((a, b) => total[b] - total[a] || a - b);
    let x = left[i];
    for (const c of children[i]) {
      left[c] = x;
      x += total[c];
    }
  }
  const all = total[0];
  let zoomed = 0, focused = 0, shown = new Map();
  const name = i => (i === 0 ? 'all' : data.frames[frame[i]][1]);
  const percent = v => (all > 0 ? (100 * v / all).toFixed(1) : '0.0') + '%';
  const amount = v => Math.round(v).toLocaleString('en') + ' ' + data.unit + ', ' + percent(v);
  const about = i => name(i) + (i > 0 && data.frames[frame[i]][2] ? data.frames[frame[i]][2] : '') +
    ': ' + amount(total[i]) + '; in it ' + amount(self[i]);

  function place(i, x, width) {
    const box = document.createElement('div');
    box.className = 'k-' + (i === 0 ? 'unknown' : data.kinds[data.frames[frame[i]][0]]) +
      (hit[i] ? ' hit' : '') + (depth[i] < depth[zoomed] ? ' above' : '');
    box.style.left = 100 * x + '%';
    box.style.width = 100 * width + '%';
    box.style.top = depth[i] * ROW + 'px';
    box.tabIndex = i === focused ? 0 : -1;
    box.title = about(i);
    box.setAttribute('role', 'treeitem');
    box.setAttribute('aria-level', depth[i] + 1);
    box.setAttribute('aria-label', about(i));
    box.textContent = name(i);
    box.dataset.node = i;
    shown.set(i, box);
    graph.append(box);
  }

  function draw() {
    const least = 1 / Math.max(300, graph.clientWidth), whole = total[zoomed] || 1;
    const todo = children[zoomed].slice();
    let deepest = depth[zoomed];
    graph.replaceChildren();
    shown = new Map();
    for (let i = zoomed; ; i = parent[i]) {
      place(i, 0, 1);
      if (i === 0) break;
    }
    while (todo.length > 0) {
      const i = todo.pop();
      if (total[i] / whole < least) continue;
      place(i, (left[i] - left[zoomed]) / whole, total[i] / whole);
      deepest = Math.max(deepest, depth[i]);
      for (const c of children[i]) todo.push(c);
    }
    graph.style.height = (deepest + 1) * ROW + 'px';
    if (!shown.has(focused)) setFocus(zoomed, false);
  }

  function setFocus(i, really) {
    const before = shown.get(focused), box = shown.get(i);
    if (!box) return;
    if (before) before.tabIndex = -1;
    focused = i;
    box.tabIndex = 0;
    at.textContent = about(i);
    if (really) box.focus();
  }

  function zoom(i) {
    zoomed = focused = i;
    draw();
    setFocus(i, true);
  }

  function look() {
    let expression = null, sum = 0;
    const inside = new Uint8Array(n), matches = [];
    search.removeAttribute('aria-invalid');
    try {
      if (search.value !== '') expression = new RegExp(search.value, 'i');
    } catch (e) {
      search.setAttribute('aria-invalid', 'true');
      found.textContent = 'not a regular expression';
      return;
    }
    if (expression) for (const f of data.frames) matches.push(expression.test(f[1]));
    for (let i = 1; i < n; i++) {
      hit[i] = expression && matches[frame[i]] ? 1 : 0;
      inside[i] = hit[i] || inside[parent[i]];
      if (inside[i]) sum += self[i];
    }
    graph.classList.toggle('searched', !!expression);
    found.textContent = expression ? 'in ' + percent(sum) + ' of the ' + data.unit : '';
    draw();
  }

  function beside(i, step) {
    const row = i === 0 ? [0] : children[parent[i]];
    return row[row.indexOf(i) + step];
  }

  const keys = {
    ArrowDown: i => children[i][0], ArrowUp: i => (i > 0 ? parent[i] : undefined),
    ArrowLeft: i => beside(i, -1), ArrowRight: i => beside(i, 1), Home: () => zoomed,
  };
  const node = event => {
    const box = event.target.closest('[data-node]');
    return box ? Number(box.dataset.node) : -1;
  };
  graph.addEventListener('click', e => { if (node(e) >= 0) zoom(node(e)); });
  graph.addEventListener('mouseover', e => { if (node(e) >= 0) at.textContent = about(node(e)); });
  graph.addEventListener('focusin', e => { if (node(e) >= 0) setFocus(node(e), false); });
  graph.addEventListener('keydown', e => {
    const go = keys[e.key];
    if (go) {
      const to = go(focused);
      if (to !== undefined) setFocus(to, true);
    } else if (e.key === 'Enter' || e.key === ' ') {
      zoom(focused);
    } else {
      return;
    }
    e.preventDefault();
  });
  document.addEventListener('keydown', e => {
    if (e.key === 'Escape') {
      search.value = '';
      look();
      zoom(0);
    } else if (e.key === '/' && e.target !== search) {
      search.focus();
      e.preventDefault();
    }
  });
  document.getElementById('reset').addEventListener('click', () => zoom(0));
  document.getElementById('tools').addEventListener('submit', e => e.preventDefault());
  search.addEventListener('input', look);
  addEventListener('resize', draw);
  if (all > 0) draw();
})();
