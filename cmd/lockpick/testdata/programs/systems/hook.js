// hook.js KEY [fixed]: adds a key to a state file that is read and written back whole, as
// github.com/affaan-m/ECC/issues/1441 reports it, or under a directory that is polled for.
const fs = require('fs');
const [key, fixed] = process.argv.slice(2);
const wait = ms => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
while (fixed) {
  try { fs.mkdirSync('state.lock'); break; } catch (e) { wait(50); }
}
const state = JSON.parse(fs.readFileSync('state.json', 'utf8'));
state.push(key);
fs.writeFileSync('state.json.' + key, JSON.stringify(state.sort()));
fs.renameSync('state.json.' + key, 'state.json');
if (fixed) fs.rmdirSync('state.lock');
