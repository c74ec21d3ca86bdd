// Steps through counterexamples. Without it every state is shown.
(function () {
  'use strict';
  document.documentElement.classList.add('js');

  function Player(root) {
    var rows = Array.from(root.querySelectorAll('.timeline tbody tr'));
    var marks = Array.from(root.querySelectorAll('.diagram [data-step]'));
    var states = Array.from(root.querySelectorAll('.state'));
    var say = root.querySelector('.say');
    var at = root.querySelector('.at');
    var self = { root: root, id: root.dataset.id, at: -1, last: rows.length - 1 };

    self.show = function (n, moved) {
      n = Math.max(0, Math.min(self.last, n));
      if (n === self.at) return;
      self.at = n;
      rows.forEach(function (r, i) {
        r.classList.toggle('now', i === n);
        r.classList.toggle('later', i > n);
        if (i === n) r.setAttribute('aria-current', 'step');
        else r.removeAttribute('aria-current');
      });
      marks.forEach(function (m) {
        m.classList.toggle('now', Number(m.dataset.step) === n);
        m.classList.toggle('later', Number(m.dataset.step) > n);
      });
      reveal(marks[n - 1]);
      states.forEach(function (s, i) { s.classList.toggle('now', i === n); });
      root.querySelectorAll('[data-go]').forEach(function (b) {
        var back = b.dataset.go === 'first' || b.dataset.go === 'back';
        b.setAttribute('aria-disabled', String(back ? n === 0 : n === self.last));
      });
      at.textContent = n + ' / ' + self.last;
      say.textContent = rows[n].dataset.say;
      say.classList.toggle('broken', rows[n].classList.contains('broken'));
      if (!moved) return;
      rows[n].scrollIntoView({ block: 'nearest' });
      try { history.replaceState(null, '', '#' + self.id + '-' + n); } catch (e) { /* not allowed here */ }
    };

    // middle scrolls the page so that who follows a link to a step sees its row, and what was there
    // then beside it: with the diagram above it where both find room, or else in the middle.
    self.middle = function () {
      var room = rows[self.at].getBoundingClientRect().bottom - root.getBoundingClientRect().top;
      if (self.at > 0 && self.at < self.last && room > window.innerHeight) rows[self.at].scrollIntoView({ block: 'center' });
      else root.scrollIntoView({ block: 'start' });
    };

    // race scrolls a long diagram to where the last task comes in between: what goes wrong shows there.
    self.race = function () {
      var n = rows.map(function (r) { return r.classList.contains('preempts'); }).lastIndexOf(true);
      if (n > 0) reveal(marks[n - 1]);
    };

    // reveal scrolls a long diagram to a step, and nothing else.
    function reveal(strip) {
      var room = root.querySelector('.diagram .scroll');
      var at = strip ? strip.getBoundingClientRect() : null;
      var to = room.getBoundingClientRect();
      if (!at) room.scrollLeft = 0;
      else if (at.left < to.left || at.right > to.right) room.scrollLeft += at.left - to.left - to.width / 2;
    }

    self.go = function (where) {
      var to = { first: 0, back: self.at - 1, on: self.at + 1, last: self.last }[where];
      self.show(to, true);
    };

    self.visible = function () {
      var r = root.getBoundingClientRect();
      return r.bottom > 80 && r.top < window.innerHeight - 80;
    };

    root.addEventListener('click', function (e) {
      var b = e.target.closest('[data-go]');
      var r = e.target.closest('.timeline tbody tr, .diagram [data-step]');
      if (!b && !r) return;
      active = self;
      e.preventDefault();
      if (b) self.go(b.dataset.go);
      else self.show(Number(r.dataset.step), true);
    });
    return self;
  }

  var active = null;
  var players = Array.from(document.querySelectorAll('.player')).map(Player);

  function chosen() {
    var focused = players.find(function (p) { return p.root.contains(document.activeElement); });
    if (focused) return focused;
    if (active && active.visible()) return active;
    return players.find(function (p) { return p.visible(); });
  }

  document.addEventListener('keydown', function (e) {
    if (e.ctrlKey || e.altKey || e.metaKey || e.shiftKey) return;
    var p = chosen();
    if (!p) return;
    var inside = p.root.contains(document.activeElement);
    var where = { ArrowRight: 'on', ArrowLeft: 'back', Home: 'first', End: 'last' }[e.key];
    if (inside && !where) where = { ArrowDown: 'on', ArrowUp: 'back' }[e.key];
    if (!where || !inside && document.activeElement.closest('pre, code')) return;
    e.preventDefault();
    p.go(where);
  });

  function follow() {
    var m = /^#(.*)-(\d+)$/.exec(decodeURIComponent(location.hash));
    players.forEach(function (p) {
      if (m && m[1] === p.id) {
        active = p;
        p.show(Number(m[2]), false);
        p.middle();
      }
    });
  }
  players.forEach(function (p) { p.show(p.last, false); p.race(); });
  follow();
  window.addEventListener('hashchange', follow);
  window.addEventListener('load', follow); // after the browser has gone to what it takes for the place

  document.querySelectorAll('.copy').forEach(function (button) {
    button.addEventListener('click', function () {
      var code = button.parentNode.querySelector('code');
      var done = function () {
        button.textContent = 'Copied';
        setTimeout(function () { button.textContent = 'Copy'; }, 1500);
      };
      var select = function () {
        getSelection().selectAllChildren(code);
        if (document.execCommand('copy')) done();
      };
      if (navigator.clipboard) navigator.clipboard.writeText(code.textContent).then(done, select);
      else select();
    });
  });
})();
