// Finds scenarios by words. Without it the filters work.
(function () {
  'use strict';
  document.documentElement.classList.add('js');
  var field = document.querySelector('.search input');
  var found = document.querySelector('.search output');
  var rows = Array.from(document.querySelectorAll('.matrix tbody tr:not(.system)'));

  function search() {
    var words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    var n = 0;
    rows.forEach(function (r) {
      var hit = words.every(function (w) { return r.dataset.find.indexOf(w) >= 0; });
      r.classList.toggle('unfound', !hit);
      if (hit) n++;
    });
    document.querySelectorAll('.matrix tbody').forEach(function (b) {
      b.classList.toggle('unfound', !b.querySelector('tr:not(.system, .unfound)'));
    });
    found.textContent = words.length ? n + ' of ' + rows.length : '';
  }

  field.addEventListener('input', search);
  document.addEventListener('keydown', function (e) {
    if (e.key !== '/' || e.ctrlKey || e.altKey || e.metaKey || document.activeElement === field) return;
    e.preventDefault();
    field.focus();
  });
  search();
})();
