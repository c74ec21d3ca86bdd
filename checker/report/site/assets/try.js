// Try your own schedule: walks through the graph that the page carries. It decides nothing.
(function () {
  'use strict';
  var source = document.getElementById('try-data');
  var root = document.querySelector('.try .own');
  if (!source || !root) return;
  var data = JSON.parse(source.textContent);
  var RUN = 0, KILL = 1, STALL = 2, POWER = 3, SIGNAL = 4;
  var way = [], undone = [], notice = ''; // way: the moves taken

  function text(n) { return data.texts[n || 0]; }
  function table(n) { return data.tables[n || 0] || []; }
  function node(n) { return data.nodes[n]; }
  function at(steps) { return steps ? way[steps - 1][2] : 0; }

  function make(tag, className, content) {
    var e = document.createElement(tag);
    if (className) e.className = className;
    if (content !== undefined) e.textContent = content;
    return e;
  }
  function add(to) {
    for (var i = 1; i < arguments.length; i++) if (arguments[i]) to.appendChild(arguments[i]);
    return to;
  }
  function clear(e) { while (e.firstChild) e.removeChild(e.firstChild); }
  function ink(lane) { return 'ink-' + data.lanes[lane].ink; }
  function ofTask(m) { return m[0] === RUN || m[0] === KILL || m[0] === SIGNAL; }
  function processOf(lane) { return data.lanes[lane].name.split('.')[0]; }

  // One choice as schedules write it, and a whole schedule.
  function word(m) {
    if (m[0] === STALL) return '~';
    if (m[0] === POWER) return '*' + m[1];
    if (m[0] === KILL) return processOf(m[1]) + '!';
    if (m[0] === SIGNAL) return processOf(m[1]) + '^';
    return data.lanes[m[1]].name;
  }
  function schedule() {
    var out = [];
    for (var i = 0; i < way.length;) {
      var m = way[i], n = 1;
      if (m[0] === RUN) while (i + n < way.length && way[i + n][0] === RUN && way[i + n][1] === m[1]) n++;
      out.push(m[0] !== RUN ? word(m) : word(m) + (word(m).indexOf('.') < 0 ? '' : 'x') + n);
      i += n;
    }
    return out.join(' ');
  }
  // parse reads the text of a schedule as a list of single choices, or returns null.
  function parse(line) {
    var out = [], bad = false;
    line.split(/[ ,]+/).forEach(function (w) {
      if (!w) return;
      if (/^~+$/.test(w) || /^\*\d+$/.test(w)) {
        if (w[0] === '*') out.push(w);
        else w.split('').forEach(function (c) { out.push(c); });
        return;
      }
      var m = /^([A-Z](?:\.\d+)?)(?:x?(\d+))?(\^)?(!)?$/.exec(w);
      if (!m) { bad = true; return; }
      var n = m[2] ? Number(m[2]) : (m[3] || m[4]) && m[1].length === 1 ? 0 : 1;
      for (var i = 0; i < Math.min(n, 10000); i++) out.push(m[1]);
      if (m[3]) out.push(m[1][0] + '^');
      if (m[4]) out.push(m[1][0] + '!');
    });
    return bad ? null : out;
  }
  // follow takes the choices of a schedule as far as they are possible.
  function follow(line) {
    way = []; undone = []; notice = '';
    var words = parse(line);
    if (!words) { notice = 'This is not the text of a schedule: ' + line; words = []; }
    for (var i = 0; i < words.length; i++) {
      var m = (node(at(way.length)).m || []).find(function (m) { return word(m) === words[i]; });
      if (!m) {
        notice = 'Of this schedule ' + i + ' of ' + words.length + ' steps are possible: ' + words[i] + ' is not, here.';
        break;
      }
      way.push(m);
    }
  }

  // label tells what a move would do.
  function label(m) {
    var calls = table(m[3]);
    if (m[0] === KILL) return 'is killed';
    if (m[0] === SIGNAL) return 'gets a signal';
    if (m[0] === STALL || m[0] === POWER) return text(calls[0][0]);
    return calls.filter(function (c) { return c[2] !== 2; }).map(function (c) { return text(c[0]); }).join(', ') || 'goes on';
  }

  function moves() {
    var box = root.querySelector('.moves');
    var focused = box.contains(document.activeElement) ? document.activeElement.dataset.word : '';
    clear(box);
    (node(at(way.length)).m || []).slice().sort(function (a, b) { return a[0] - b[0] || a[1] - b[1]; }).forEach(function (m) {
      var b = make('button', ofTask(m) ? ink(m[1]) : '');
      b.type = 'button';
      b.dataset.word = word(m);
      if (m[0] !== RUN) b.classList.add('fault');
      if (ofTask(m)) add(b, make('b', 'who', m[0] === RUN ? data.lanes[m[1]].name : processOf(m[1])));
      add(b, make('span', 'call', label(m)));
      b.addEventListener('click', function () { way.push(m); undone = []; notice = ''; show(true); });
      add(box, b);
      if (b.dataset.word === focused) b.focus({ preventScroll: true });
    });
    var ends = node(at(way.length)).b ? 'A schedule ends with the step that breaks the property.' : 'Nobody can do anything any more.';
    if (!box.firstChild) add(box, make('p', 'small', ends));
  }

  function files(n) {
    return table(n.f).map(function (r) {
      return { name: text(r[0]), there: r.length > 1, inode: text(r[1]), content: text(r[2]), links: text(r[3]), open: text(r[4]), locked: text(r[5]) };
    });
  }
  function fileText(f) { return f.there ? [f.inode, f.content, f.locked].filter(Boolean).join(' ') : '—'; }

  function row(i) {
    var m = way[i], after = node(m[2]), before = files(node(at(i)));
    var tr = make('tr', (after.b ? 'broken ' : '') + (m[0] !== RUN ? 'fault ' : '') + (after.x ? 'clash' : ''));
    if (i === way.length - 1) { tr.classList.add('now'); tr.setAttribute('aria-current', 'step'); }
    var no = make('th', 'no', String(i + 1));
    no.scope = 'row';
    add(tr, no);
    data.lanes.forEach(function (l, k) {
      var mine = (ofTask(m)) && m[1] === k;
      var td = make('td', 'ink-' + l.ink + (mine ? ' acts' : ''));
      td.dataset.lane = l.name;
      if (mine && m[0] === KILL) add(td, make('span', 'tag t-fault', 'crash'));
      if (mine) table(m[3]).forEach(function (c) {
        var line = make('div', 'line' + (c[2] === 2 ? ' op' : ''));
        add(line, make('span', 'call', text(c[0])));
        if (text(c[1])) add(line, make('span', 'answer' + (c[2] === 1 ? ' failed' : ''), text(c[1])));
        add(td, line);
      });
      add(tr, td);
    });
    var disk = make('td', 'disk');
    if (m[0] === STALL || m[0] === POWER) add(disk, make('span', 'tag', m[0] === STALL ? 'stall' : 'power'), make('span', '', ' ' + label(m)));
    files(after).forEach(function (f, k) {
      if (fileText(f) === fileText(before[k])) return;
      var div = make('div');
      add(div, make('span', 'fn', f.name), document.createTextNode(' ' + fileText(f)));
      add(disk, div);
    });
    if (after.b) add(disk, make('strong', 'here', 'broken here'));
    return add(tr, disk);
  }

  function timeline() {
    var body = root.querySelector('tbody');
    clear(body);
    var start = make('tr', 'start' + (way.length ? '' : ' now'));
    var no = make('th', 'no', '0');
    no.scope = 'row';
    add(start, no);
    data.lanes.forEach(function () { add(start, make('td')); });
    var disk = make('td', 'disk');
    files(node(0)).forEach(function (f) {
      var div = make('div');
      add(div, make('span', 'fn', f.name), document.createTextNode(' ' + fileText(f)));
      add(disk, div);
    });
    add(body, add(start, disk));
    for (var i = 0; i < way.length; i++) add(body, row(i));
  }

  function grid(className, caption, heads, rows, before) {
    if (!rows.length) return null;
    var t = make('table', className), head = make('tr'), body = make('tbody');
    heads.forEach(function (h) { var th = make('th', '', h); th.scope = 'col'; add(head, th); });
    rows.forEach(function (r) {
      var line = r.map(text).join('\n');
      var tr = make('tr', before.some(function (b) { return b.map(text).join('\n') === line; }) ? '' : 'new');
      heads.forEach(function (h, k) {
        var cell = make(k ? 'td' : 'th', '', text(r[k]) || '—');
        if (!k) cell.scope = 'row';
        if (h === 'Name' && className === 'fds' && !text(r[k])) { cell.textContent = ''; add(cell, make('em', '', 'no name left')); }
        add(tr, cell);
      });
      add(body, tr);
    });
    return add(t, make('caption', '', caption), add(make('thead'), head), body);
  }

  function fileTable(now, before) {
    var t = make('table', 'files'), head = make('tr');
    ['Name', 'Inode', 'Links', 'Open in'].forEach(function (h) { var th = make('th', '', h); th.scope = 'col'; add(head, th); });
    add(t, make('caption', '', 'Files'), add(make('thead'), head));
    now.forEach(function (f, k) {
      var b = before[k], body = make('tbody'), tr = make('tr', f.there ? '' : 'missing');
      var name = make('th', '', f.name);
      name.scope = 'row';
      add(tr, name);
      if (f.there) {
        add(tr, make('td', f.inode === b.inode ? '' : 'new', f.inode), make('td', f.links === b.links ? '' : 'new', f.links),
          make('td', f.open === b.open ? '' : 'new', f.open || '—'));
      } else {
        var gone = make('td', b.there ? 'new' : '', 'not there');
        gone.colSpan = 3;
        add(tr, gone);
      }
      add(body, tr);
      if (f.there) {
        var more = make('tr', 'more'), td = make('td');
        td.colSpan = 4;
        add(td, make('code', f.content === b.content ? '' : 'new', f.content));
        if (f.locked || b.locked) add(td, document.createTextNode(' '), make('span', 'locked' + (f.locked === b.locked ? '' : ' new'), f.locked || 'unlocked'));
        add(body, add(more, td));
      }
      add(t, body);
    });
    return t;
  }

  function state() {
    var n = node(at(way.length)), b = node(at(Math.max(0, way.length - 1)));
    var box = root.querySelector('.state');
    clear(box);
    box.classList.toggle('broken', !!n.b);
    var h = make('h3', '', way.length ? 'After step ' + way.length : 'Before the first step');
    if (n.t) add(h, make('span', 'clock-now', 'clock ' + text(n.t)));
    add(box, h, make('p', 'holders' + (n.x ? ' clash' : '') + (n.n ? ' nobody' : ''), text(n.h)));
    if (n.b && text(n.w) !== text(n.h)) add(box, make('p', 'wrong-here', text(n.w)));
    add(box, fileTable(files(n), files(b)));
    add(box, grid('fds', 'Open descriptors', ['Process', 'fd', 'Inode', 'Name', 'Mode', 'Offset', 'flock'], table(n.d), table(b.d)));
    add(box, grid('cells', 'Shared memory', ['Process', 'Variable', 'Value'], table(n.c), table(b.c)));
    if (n.g) add(box, make('p', 'gone', table(n.g).map(function (g) { return text(g[0]) + ' ' + text(g[1]); }).join(', ')));
  }

  // verdict says what the way so far comes to.
  function verdict() {
    var n = node(at(way.length));
    if (notice) return notice;
    if (n.b) return 'Broken: ' + (text(n.w) || data.property) + '. This schedule breaks ' + data.property + '.';
    if (!n.m) return 'The end: nothing on this way breaks ' + data.property + '. Another may: undo, and try.';
    if (!way.length) return 'Who takes the first step?';
    if (data.late) return text(n.h) + '. ' + data.property + ' is judged when nothing can happen any more; who polls for ever in vain is not noticed here.';
    return text(n.h) + '. So far nothing breaks ' + data.property + '.';
  }

  function show(moved) {
    var n = node(at(way.length)), said = root.querySelector('.say'), line = schedule();
    timeline();
    state();
    moves();
    said.textContent = verdict();
    said.classList.toggle('broken', !!n.b);
    said.classList.toggle('fine', !n.b && !n.m);
    root.querySelector('.at').textContent = way.length === 1 ? '1 step' : way.length + ' steps';
    root.querySelector('[data-try=undo]').setAttribute('aria-disabled', String(!way.length));
    root.querySelector('[data-try=again]').setAttribute('aria-disabled', String(!way.length));
    root.querySelector('[data-try=redo]').setAttribute('aria-disabled', String(!undone.length));
    var command = root.querySelector('.replay');
    command.hidden = !way.length;
    command.querySelector('code').textContent = data.before + "'" + line + "'" + data.after;
    if (!moved) return;
    try { history.replaceState(null, '', '#try=' + line.replace(/ /g, ',')); } catch (e) { /* not allowed here */ }
    var last = root.querySelector('tbody').lastChild;
    var room = root.querySelector('.timeline');
    if (last.offsetTop + last.offsetHeight > room.scrollTop + room.clientHeight) room.scrollTop = last.offsetTop;
  }

  root.addEventListener('click', function (e) {
    var b = e.target.closest('[data-try]');
    if (!b || b.getAttribute('aria-disabled') === 'true') return;
    notice = '';
    switch (b.dataset.try) {
      case 'undo': undone.push(way.pop()); break;
      case 'redo': way.push(undone.pop()); break;
      case 'again': undone = []; way = []; break;
      case 'example': follow(data.example); break;
    }
    show(true);
  });

  function shared() {
    var m = /^#try=(.*)$/.exec(decodeURIComponent(location.hash));
    if (!m) return false;
    follow(m[1]);
    return true;
  }
  window.addEventListener('hashchange', function () {
    if (shared()) { show(false); root.scrollIntoView({ block: 'start' }); }
  });
  var linked = shared();
  show(false);
  if (linked) root.scrollIntoView({ block: 'start' });
})();
